/* SPDX-License-Identifier: MIT */
#ifndef TEST_FAULTS_RULES_H
#define TEST_FAULTS_RULES_H

#include "test/faults/drive.h"

/*
 * Which errors a call can have, by the man pages and the kernel's source, and
 * what may come of it.  The longest beginning of a call's name counts, so that
 * "bpf MAP_CREATE" speaks of all maps that have no rule of their own; NAME#2
 * is the second call of exactly this name.
 *
 * With `~` in front of it, an error may pass without a word, because what is
 * asked for is done in another way, or is not needed.  All others have to be
 * told of, by an error or a warning.  Nothing may be wrong afterwards in
 * either case.
 */
#define MAP_ERRORS "EPERM ENOMEM EINVAL E2BIG EMFILE ENFILE ENOSYS"
#define PROG_ERRORS "EPERM EACCES EINVAL E2BIG ENOMEM EMFILE ENOSYS ENOSPC"
#define OPEN_ERRORS "~EMFILE ~ENOENT ~EACCES ~ENOMEM ~ENFILE"
#define WRITE_ERRORS "ENOSPC EIO ~EINTR ~EAGAIN ~short EDQUOT EFBIG EPIPE"

static const struct rule rules[] = {
	{ "bpf MAP_CREATE", MAP_ERRORS, ADVICE_MAP },
	{ "bpf MAP_LOOKUP_ELEM", "ENOMEM ENOENT", NO_ADVICE },
	{ "bpf MAP_UPDATE_ELEM", "ENOMEM EBUSY EPERM E2BIG", NO_ADVICE },
	{ "bpf MAP_DELETE_ELEM", "ENOENT EBUSY ENOMEM", NO_ADVICE },
	/* ENOENT too early: what is left in the map is missed, and said. */
	{ "bpf MAP_GET_NEXT_KEY", "ENOMEM EINVAL", NO_ADVICE },
	{ "bpf MAP_LOOKUP_AND_DELETE_BATCH",
	  "EINVAL ENOTSUPP ENOMEM EBUSY ~ENOSPC", NO_ADVICE },
	{ "bpf PROG_LOAD", PROG_ERRORS " ~EAGAIN", ADVICE_PROG },
	/* Once more, only for the verifier's words. */
	{ "bpf PROG_LOAD profile_hash#2", "~EPERM", NO_ADVICE },
	/* A barrier that cannot be had: membarrier(2). */
	{ "bpf MAP_CREATE inner", "~ENOMEM ~EMFILE ~EINVAL", NO_ADVICE },
	{ "bpf MAP_CREATE barrier", "~ENOMEM ~EMFILE ~EINVAL", NO_ADVICE },
	{ "membarrier", "ENOSYS EPERM", NO_ADVICE },
	/* The kernel cannot be asked: names come from /proc/kallsyms. */
	{ "bpf MAP_CREATE questions", "~EPERM ~ENOMEM ~EMFILE", NO_ADVICE },
	{ "bpf MAP_CREATE .rodata", "~EPERM ~ENOMEM ~EMFILE", NO_ADVICE },
	{ "bpf MAP_UPDATE_ELEM .rodata", "~ENOMEM ~EBUSY", NO_ADVICE },
	{ "bpf MAP_FREEZE .rodata", "~ENOTSUPP ~EBUSY ~EPERM", NO_ADVICE },
	{ "bpf PROG_LOAD name_addresses", "~EPERM ~EACCES ~EINVAL ~ENOMEM",
	  NO_ADVICE },
	{ "bpf MAP_UPDATE_ELEM questions", "~ENOMEM ~EBUSY", NO_ADVICE },
	{ "bpf PROG_TEST_RUN", "~EINVAL ~ENOTSUPP ~ENOMEM ~EINTR", NO_ADVICE },
	{ "bpf MAP_LOOKUP_ELEM questions", "~ENOMEM", NO_ADVICE },
	{ "perf_event_open clock",
	  "EACCES EPERM EMFILE ENOENT ENODEV EINVAL EBUSY EOPNOTSUPP ENOMEM "
	  "ENOSYS ESRCH", ADVICE_EVENT },
	/* A CPU that is off line forks nothing. */
	/* One that fails once is tried again, with smaller rings. */
	{ "perf_event_open forks",
	  "~EACCES ~EPERM ~EMFILE ~ENODEV ~EINVAL ~EBUSY ~ENOMEM ~ENOSYS",
	  ADVICE_EVENT },
	{ "ioctl SET_BPF", "EEXIST EINVAL ENOMEM EPERM", ADVICE_ATTACH },
	{ "ioctl ENABLE", "EINVAL", ADVICE_EVENT },
	/* It stops when it is closed. */
	{ "ioctl DISABLE", "~EINVAL", NO_ADVICE },
	{ "mmap", "~EPERM ~ENOMEM ~EAGAIN ~EINVAL", ADVICE_EVENT },

	/* Files of others, for names: a frame says why it has none. */
	{ "open", "~EMFILE ~ENOENT ~EACCES ~ENOMEM", NO_ADVICE },
	{ "fstat", "~EIO", NO_ADVICE },
	{ "ioctl ?", "~EINVAL", NO_ADVICE },
	{ "read", "~EIO ~EINTR ~short", NO_ADVICE },
	{ "open /proc/sys", OPEN_ERRORS, NO_ADVICE },
	/* Not mounted: the CPUs on which it may run. */
	{ "open /sys/", "EMFILE ~ENOENT EACCES ENOMEM", NO_ADVICE },
	/* One of the things that --check shows. */
	{ "open /sys/kernel/security", OPEN_ERRORS, NO_ADVICE },
	{ "read /sys/kernel/security", "~EINTR ~EIO ~short", NO_ADVICE },
	{ "open /proc/stat", OPEN_ERRORS, NO_ADVICE },
	{ "open /proc/self/status", OPEN_ERRORS, NO_ADVICE },
	{ "open /proc/N/status", OPEN_ERRORS, NO_ADVICE },
	{ "open /proc/kallsyms", "EMFILE ENOENT EACCES ENOMEM", NO_ADVICE },
	/* It may be of a process that has no samples: then nobody asks. */
	{ "open /proc/N/maps", "~EMFILE ~EACCES ~EPERM ~ENOMEM ~ENOENT ~ESRCH",
	  NO_ADVICE },
	{ "open /proc/N/task", "~EMFILE ~EACCES ~ENOMEM ~ENOENT ~ESRCH",
	  NO_ADVICE },
	{ "open cgroup", "ENOENT EACCES EMFILE", NO_ADVICE },
	{ "open .prof.X", "ENOSPC EACCES EROFS EMFILE ENFILE EDQUOT ~EEXIST",
	  NO_ADVICE },
	{ "open /dev/null", "EACCES EMFILE ~EINTR", NO_ADVICE },
	{ "access /dev/null", "EACCES EROFS", NO_ADVICE },
	{ "stat /dev/null", "EACCES", NO_ADVICE },
	/* The last look: is it our own stdout? */
	{ "stat /dev/null#3", "~EACCES", NO_ADVICE },
	{ "open out.folded", "EACCES EROFS EMFILE", NO_ADVICE },

	{ "read /proc/sys", "~EINTR ~EIO ~short", NO_ADVICE },
	{ "read /sys/", "~EINTR EIO ~short", NO_ADVICE },
	{ "read /proc/stat", "~EINTR ~EIO ~short", NO_ADVICE },
	{ "read /proc/N/status", "~EINTR ~ESRCH ~short", NO_ADVICE },
	{ "read /proc/kallsyms", "EIO ENOMEM ~EINTR ~short", NO_ADVICE },
	/* The end: a process that ends while it is read. */
	{ "read /proc/N/maps", "~EIO ~ENOMEM ~EINTR ~ESRCH ~short ~end",
	  NO_ADVICE },
	{ "read /proc/N/task", "~EIO ~EINTR ~ESRCH ~short", NO_ADVICE },
	/* How long a clock ran: the wall clock knows, too. */
	{ "read anon_inode:[perf_event]", "~EIO ~ENOSPC", NO_ADVICE },
	{ "read pipe:[N]", "~EINTR ~EIO", NO_ADVICE },
	{ "read .prof.X", "EIO ~EINTR ~short", NO_ADVICE },

	{ "write", WRITE_ERRORS, NO_ADVICE },
	/* Where to complain of that? */
	{ "write stderr", "~EIO ~EINTR ~EAGAIN ~EPIPE ~ENOSPC ~short",
	  NO_ADVICE },
	{ "write pipe:[N]", "~EINTR EIO", NO_ADVICE },

	{ "close", "~EINTR ~EIO", NO_ADVICE },
	{ "close .prof.X", "EIO ENOSPC EDQUOT EINTR", NO_ADVICE },
	{ "close out.folded", "EIO ENOSPC EDQUOT", NO_ADVICE },
	/* The first one is a try. */
	{ "close .prof.X#1", "~EIO ~EINTR", NO_ADVICE },
	/* After reading it. */
	{ "close .prof.X#3", "~EIO", NO_ADVICE },
	{ "close stdout.txt", "EIO ENOSPC", NO_ADVICE },
	/* The try; afterwards there is nothing to remove. */
	{ "unlink .prof.X", "~EPERM ~EIO", NO_ADVICE },
	{ "unlink .prof.X#1", "EPERM EIO EROFS", NO_ADVICE },
	{ "rename out.folded", "EACCES EIO ENOSPC EROFS ~EBUSY ~EXDEV ~EPERM",
	  NO_ADVICE },
	{ "fchown", "~EPERM ~EINVAL EIO", NO_ADVICE },
	{ "fchmod", "~EPERM EIO EROFS", NO_ADVICE },
	{ "stat out.folded", "EACCES ELOOP ENOMEM ~ENOENT", NO_ADVICE },
	{ "stat /proc/self/ns/pid", "~ENOENT ~EACCES", NO_ADVICE },
	/* Debug files are looked for in our root then. */
	{ "stat /proc/self/", "~ENOENT ~EACCES", NO_ADVICE },
	{ "stat /proc/N/", "~ENOENT ~EACCES ~ESRCH", NO_ADVICE },
	{ "stat split", "ENOENT EACCES ENOTDIR", NO_ADVICE },
	{ "lstat out.folded", "EACCES EIO", NO_ADVICE },
	/* The last look: whose is the old file? */
	{ "lstat out.folded#4", "~ENOENT EACCES EIO", NO_ADVICE },
	{ "fstat stdout", "~EIO", NO_ADVICE },
	{ "access split", "EACCES EROFS", NO_ADVICE },
	{ "access out.folded", "EACCES EROFS", NO_ADVICE },
	/* realpath(3), of each part of the path. */
	{ "readlink", "EIO EACCES", NO_ADVICE },
	{ "readlink /proc/self", "ENOENT EACCES", NO_ADVICE },
	{ "realpath", "EACCES EIO ENOMEM", NO_ADVICE },
	/* Of a file with names: they are missing then. */
	{ "fcntl DUPFD", "~EMFILE", NO_ADVICE },
	/* Of 0, 1 and 2: they are open. */
	{ "fcntl GETFD", "", NO_ADVICE },

	{ "calloc", "ENOMEM", NO_ADVICE },
	/* The libc's own, to list a directory. */
	{ "calloc at 0", "~ENOMEM", NO_ADVICE },
	{ "realloc", "ENOMEM", NO_ADVICE },
	{ "fork", "EAGAIN ENOMEM", NO_ADVICE },
	{ "pipe2", "EMFILE ENFILE", NO_ADVICE },
	{ "poll", "~EINTR ~ENOMEM", NO_ADVICE },
	{ "ppoll", "~EINTR ENOMEM EINVAL", NO_ADVICE },
	{ "waitpid", "~EINTR", NO_ADVICE },
	{ "kill", "~EPERM", NO_ADVICE },
	{ "setpriority", "~EPERM ~EACCES", NO_ADVICE },
	{ "setrlimit", "~EPERM", NO_ADVICE },
	{ "getrandom", "~EINTR ~EAGAIN ~ENOSYS", NO_ADVICE },
	{ "sched_getaffinity", "EINVAL", NO_ADVICE },

	{ "child execvp",
	  "ENOENT EACCES ENOEXEC ENOMEM E2BIG ETXTBSY ELOOP EIO", NO_ADVICE },
	{ "child read pipe:[N]", "~EINTR", NO_ADVICE },
	{ "child setpriority", "~EPERM", NO_ADVICE },
};

#endif
