/* SPDX-License-Identifier: MIT */
/*
 * advice: the same errno has another remedy for each system call.
 *
 *	bpf(2)		EACCES: the verifier.  E2BIG: too large
 *	perf events	EACCES: perf_event_paranoid.  EBUSY, EEXIST, ENODEV
 *	both		EPERM, EINVAL, ENOENT, ENOSYS, EOPNOTSUPP, ENOMEM,
 *			EMFILE, ENFILE
 *
 * Remedies that hang on more than call and errno stand where the call is made.
 *
 * Sources: man 2 bpf and perf_event_open, section ERRORS; kernel/bpf/syscall.c
 * and kernel/events/core.c for what the man pages leave out.
 */
#include <errno.h>
#include <stddef.h>

#include "lib/log.h"
#include "sys/advice.h"
#include "sys/system.h"

static const char *advice_permission(enum advice_on on)
{
	uint64_t paranoid = system_sysctl("kernel/perf_event_paranoid", 0);

	if (on != ADVICE_EVENT)
		return "run as root, or with CAP_BPF and CAP_PERFMON "
		       "(CAP_SYS_ADMIN before Linux 5.8); containers also "
		       "need a seccomp profile that allows bpf(2)";
	if (paranoid > 2)
		return "run as root, or with CAP_SYS_ADMIN, which this "
		       "kernel asks for while kernel.perf_event_paranoid is "
		       "above 2; CAP_PERFMON is enough at 2";
	return "run as root, or with CAP_PERFMON; or lower it: "
	       "sysctl kernel.perf_event_paranoid=-1";
}

static const char *advice_invalid(enum advice_on on)
{
	switch (on) {
	case ADVICE_EVENT:
		return "a frequency above "
		       "kernel.perf_event_max_sample_rate is refused; else "
		       "this kernel knows no such event, or the CPU is not "
		       "one of its own (see /sys/devices/system/cpu/possible)";
	case ADVICE_PROG:
		return "prof needs Linux 5.10 or later; what the verifier "
		       "says ends with its complaint";
	case ADVICE_TRY:
		return "prof needs Linux 5.10 or later; if it is, the "
		       "verifier says why (prof without --check shows it)";
	case ADVICE_MAP:
		return "a smaller --memory makes smaller maps; "
		       "prof needs Linux 5.10 or later";
	default:
		return "this kernel cannot run BPF programs on perf events "
		       "(CONFIG_BPF_EVENTS)";
	}
}

const char *advice(enum advice_on on, int error)
{
	switch (-error) {
	case EPERM:
		if (on == ADVICE_MAP && system_lift_memlock())
			return "run as root, or with CAP_BPF and CAP_PERFMON; "
			       "before Linux 5.11 also raise the limit: "
			       "ulimit -l unlimited";
		return advice_permission(on);
	case EACCES:
		if (on == ADVICE_TRY)
			return "the verifier refuses it (prof without --check "
			       "shows its words)";
		if (on == ADVICE_PROG)
			return advice_invalid(on);
		return advice_permission(on);
	case ENOSYS:
		return on == ADVICE_EVENT || on == ADVICE_ATTACH ?
		       "this kernel was built without CONFIG_PERF_EVENTS, or "
		       "a seccomp profile hides perf_event_open(2)" :
		       "this kernel was built without CONFIG_BPF_SYSCALL, or "
		       "a seccomp profile hides bpf(2)";
	case EMFILE:
		return "one descriptor is needed per CPU: ulimit -n 8192, "
		       "or fewer CPUs with -C";
	case ENFILE:
		return "the whole system is out of open files: "
		       "sysctl fs.file-max";
	case ENODEV:
		return "the CPU is off line (see "
		       "/sys/devices/system/cpu/online); choose with -C";
	case ENOENT:
	case EOPNOTSUPP:
		return on == ADVICE_EVENT || on == ADVICE_ATTACH ?
		       "this kernel or this CPU has no such event" :
		       "this kernel is too old, or was built without it";
	case ENOMEM:
		return "the kernel has no memory left for it: a lower -F or "
		       "--memory needs less";
	case EINVAL:
	case E2BIG:
		return advice_invalid(on);
	case EEXIST:
		return "another program is attached to this event";
	case EBUSY:
		return "something else has the event for itself";
	default:
		return NULL;
	}
}

void advice_tell(enum advice_on on, int error)
{
	const char *what_to_do = advice(on, error);

	if (what_to_do)
		log_advice("%s", what_to_do);
}
