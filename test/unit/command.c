/* SPDX-License-Identifier: MIT */
/* The command to profile, and the signals around it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sys/command.h"
#include "sys/signals.h"
#include "sys/system.h"
#include "test/unit/unit.h"

static void write_script(const char *path, const char *text)
{
	unit_write_text(path, text);
	CHECK(!chmod(path, 0755));
}

/* Runs it to its end; its status. */
static int status_of(char **argv)
{
	struct command command;
	int status;

	CHECK(!command_open(&command, argv));
	CHECK(!command_go(&command));
	CHECK(command_ended(&command, true));
	status = command.status;
	command_close(&command);
	return status;
}

#define STATUS_OF(...) status_of((char *[]){ __VA_ARGS__, NULL })

TEST(command_status)
{
	size_t before = unit_descriptors();

	signals_open();
	CHECK_U64(STATUS_OF("true"), 0);
	CHECK_U64(STATUS_OF("sh", "-c", "exit 7"), 7);
	CHECK_U64(STATUS_OF("/bin/sh", "-c", "kill -9 $$"), 128 + 9);
	CHECK_U64(unit_descriptors(), before);
}

/* Nothing of it runs before the word is given. */
TEST(command_waits_at_the_gate)
{
	struct command command;
	char *argv[] = { "sh", "-c", "echo ran >ran", NULL };
	struct timespec pause = { 0, 100000000 };

	signals_open();
	CHECK(!command_open(&command, argv));
	CHECK(command.pid > 0);
	nanosleep(&pause, NULL);
	CHECK(access("ran", F_OK));
	CHECK(!command_ended(&command, false));
	CHECK(!command_go(&command));
	CHECK(command_ended(&command, true));
	CHECK(command_ended(&command, true));	/* as often as you like */
	CHECK(!access("ran", F_OK));
	command_close(&command);
}

/* A run that fails before: the child is gone, and never ran. */
TEST(command_closed_at_the_gate)
{
	size_t before = unit_descriptors();
	struct command command;
	char *argv[] = { "sh", "-c", "echo ran >ran", NULL };
	pid_t pid;

	CHECK(!command_open(&command, argv));
	pid = command.pid;
	command_close(&command);
	CHECK(kill(pid, 0) && errno == ESRCH);
	CHECK(access("ran", F_OK));
	CHECK_U64(unit_descriptors(), before);
	command_close(&command);	/* nothing more */
}

/* prof that dies takes the waiting child with it: the gate closes. */
TEST(command_gate_falls_shut)
{
	struct command command;
	char *argv[] = { "sh", "-c", "echo ran >ran", NULL };

	CHECK(!command_open(&command, argv));
	close(command.gate);
	CHECK(command_ended(&command, true));
	CHECK_U64(command.status, 1);
	CHECK(access("ran", F_OK));
	close(command.report);
}

/* What is not there is said before anything is loaded into the kernel. */
TEST(command_not_there)
{
	struct command command;

	CHECK(command_open(&command, (char *[]){ "", NULL }) == -ENOENT);
	CHECK(command_open(&command, (char *[]){ "no-such-program", NULL }) ==
	      -ENOENT);
	CHECK(command_open(&command, (char *[]){ "./nothing", NULL }) ==
	      -ENOENT);
	CHECK(command_open(&command, (char *[]){ "/", NULL }) == -EISDIR);
	unit_write_text("text", "no program");
	CHECK(!chmod("text", 0644));
	CHECK(command_open(&command, (char *[]){ "./text", NULL }) == -EACCES);
	command_close(&command);
}

/* As execvp(3) searches: the first that can be executed; "" is here. */
TEST(command_path)
{
	struct command command;

	write_script("tool", "#!/bin/sh\nexit 3\n");
	CHECK(!mkdir("first", 0755) && !mkdir("second", 0755));
	unit_write_text("first/tool", "not for execution");
	CHECK(!setenv("PATH", "first:second", 1));
	CHECK(command_open(&command, (char *[]){ "tool", NULL }) == -EACCES);
	write_script("second/tool", "#!/bin/sh\nexit 4\n");
	CHECK_U64(STATUS_OF("tool"), 4);
	CHECK(!setenv("PATH", "first::second", 1));
	CHECK_U64(STATUS_OF("tool"), 3);
	CHECK(!setenv("PATH", "", 1));
	CHECK_U64(STATUS_OF("tool"), 3);
	CHECK(!unsetenv("PATH"));
	CHECK_U64(STATUS_OF("sh", "-c", "exit 5"), 5);
	CHECK(command_open(&command, (char *[]){ "tool", NULL }) == -ENOENT);
}

/* It looked like a program; the kernel knows better, and says so at the go. */
TEST(command_cannot_be_executed)
{
	struct command command;
	char *argv[] = { "./script", NULL };

	write_script("script", "#!/no/such/interpreter\n");
	CHECK(!command_open(&command, argv));
	CHECK(command_go(&command) == -ENOENT);
	CHECK(command_ended(&command, true));
	CHECK_U64(command.status, 127);
	command_close(&command);
}

/* prof's own signals and priority are not the program's. */
TEST(command_inherits_what_was)
{
	signal(SIGHUP, SIG_IGN);
	signals_open();
	/* Bits of HUP (1), ignored, and PIPE (13), not. */
	CHECK_U64(STATUS_OF("sh", "-c",
			    "set -- $(sed -n 's/^SigIgn:.//p' /proc/$$/status);"
			    "[ $((0x$1 & 0x1001)) = 1 ]"), 0);
	/* Neither HUP nor INT nor TERM (15) is blocked. */
	CHECK_U64(STATUS_OF("sh", "-c",
			    "set -- $(sed -n 's/^SigBlk:.//p' /proc/$$/status);"
			    "[ $((0x$1 & 0x4003)) = 0 ]"), 0);
}

/* --------------------------------------------------------------- signals */

TEST(signals_first_one_ends_the_wait)
{
	uint64_t begin = system_now();

	signals_open();
	CHECK_U64(signals_wait(begin, NULL, 0), 0);
	raise(SIGTERM);
	CHECK_U64(signals_wait(begin + 60000000000, NULL, 0), SIGTERM);
	CHECK(system_now() - begin < 30000000000);
}

/* Ignored before, as under nohup: it stays so.  The others do not. */
TEST(signals_ignored_hangup)
{
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signals_open();
	raise(SIGHUP);
	CHECK_U64(signals_wait(system_now(), NULL, 0), 0);
	raise(SIGINT);
	CHECK_U64(signals_wait(system_now(), NULL, 0), SIGINT);
}

/* Blocked by whoever started us: they are ours now. */
TEST(signals_blocked_before)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signals_open();
	raise(SIGINT);
	CHECK_U64(signals_wait(system_now(), NULL, 0), SIGINT);
}

/* A descriptor that can be read ends the wait, too. */
TEST(signals_wait_for_descriptors)
{
	uint64_t begin = system_now();
	int ends[2];

	CHECK(!pipe(ends));
	CHECK(write(ends[1], "x", 1) == 1);
	signals_open();
	CHECK_U64(signals_wait(begin + 60000000000, ends, 1), 0);
	CHECK(system_now() - begin < 30000000000);
}

/* In a child: what a second signal does to the process. */
TEST(signals_second_one_ends_the_process)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		signals_open();
		raise(SIGINT);
		signals_wait(system_now(), NULL, 0);
		raise(SIGTERM);
		/* Seen by the first, and let through by the next at last. */
		signals_wait(system_now(), NULL, 0);
		signals_wait(system_now(), NULL, 0);
		_exit(3);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

/* Once the output is written, the first one does. */
TEST(signals_allowed)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		signals_open();
		signals_allow();
		raise(SIGINT);
		_exit(3);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
}

/* With a command, a signal that somebody sent goes on to it. */
TEST(signals_passed_on)
{
	struct command command;
	char *argv[] = { "sleep", "60", NULL };

	signals_open();
	CHECK(!command_open(&command, argv));
	CHECK(!command_go(&command));
	signals_pass_on(command.pid);
	kill(getpid(), SIGTERM);
	/* It is not ours: the wait goes on until the child has ended. */
	CHECK_U64(signals_wait(system_now() + 1000000, NULL, 0), 0);
	CHECK(command_ended(&command, true));
	CHECK_U64(command.status, 128 + SIGTERM);
	command_close(&command);
}
