/* SPDX-License-Identifier: MIT */
/*
 * command: the program that is to be profiled from its first instruction.
 *
 *	prof                          child
 *	fork ───────────────────────> reads from `gate`, and so waits
 *	arms everything
 *	a byte into `gate` ─────────> execvp (without one, prof is gone: exit)
 *	reads from `report` <──────── its errno, if that failed; else the end,
 *	                              as the pipe is close-on-exec
 *
 * What can be seen to be no program is refused before anything is armed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/text.h"
#include "sys/command.h"
#include "sys/signals.h"
#include "sys/system.h"

static int check_file(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	return access(path, X_OK) ? -errno : 0;
}

/* As execvp(3) will look for it. */
static int check_command(const char *name)
{
	const char *path = getenv("PATH");
	int error = -ENOENT;

	if (!*name)
		return -ENOENT;
	if (strchr(name, '/'))
		return check_file(name);
	if (!path)
		path = "/bin:/usr/bin";
	for (;;) {
		size_t length = strcspn(path, ":");
		struct text file = { 0 };
		int try;

		text_format(&file, "%.*s/%s", length ? (int)length : 1,
			    length ? path : ".", name);
		try = check_file(file.data);
		text_free(&file);
		if (!try)
			return 0;
		if (try == -EACCES)
			error = try;
		if (!path[length])
			return error;
		path += length + 1;
	}
}

/* In the child: waits at the gate, then becomes the program. */
static void child(int gate, int report, int priority, char **argv)
{
	ssize_t got;
	char byte;
	int error;

	do
		got = read(gate, &byte, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(1);
	system_set_priority(priority);
	/* What prof set up for itself is not the program's. */
	signals_undo();
	execvp(argv[0], argv);
	error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(error == ENOENT ? 127 : 126);
}

/*
 * Where memory runs out, exit(3) is all that is left to do; whoever waits for
 * us must still not find the command running.
 */
static pid_t running;

static void wait_for_running(void)
{
	if (!running)
		return;
	signals_allow();
	while (waitpid(running, NULL, 0) < 0 && errno == EINTR)
		;
}

/* 0: there is nothing to wait for any more. */
static void wait_at_exit(pid_t pid)
{
	static bool registered;

	running = pid;
	if (!registered)
		registered = !atexit(wait_for_running);
}

int command_open(struct command *command, char **argv)
{
	int gate[2], report[2], error;

	*command = (struct command){
		.gate = -1, .report = -1, .priority = system_priority(),
	};
	error = check_command(argv[0]);
	if (error)
		return error;
	if (pipe2(gate, O_CLOEXEC))
		return -errno;
	if (pipe2(report, O_CLOEXEC)) {
		error = -errno;
		goto fail_report;
	}
	command->pid = fork();
	if (command->pid < 0) {
		error = -errno;
		command->pid = 0;
		goto fail_fork;
	}
	if (!command->pid) {
		close(gate[1]);
		close(report[0]);
		child(gate[0], report[1], command->priority, argv);
	}
	close(gate[0]);
	close(report[1]);
	command->gate = gate[1];
	command->report = report[0];
	return 0;
fail_fork:
	close(report[0]);
	close(report[1]);
fail_report:
	close(gate[0]);
	close(gate[1]);
	return error;
}

int command_go(struct command *command)
{
	int error = 0, reported;
	ssize_t got;

	do
		got = write(command->gate, "", 1);
	while (got < 0 && errno == EINTR);
	/* A child that was killed meanwhile (EPIPE) shows in its status. */
	if (got < 0 && errno != EPIPE)
		error = -errno;
	close(command->gate);
	command->gate = -1;
	do
		got = read(command->report, &reported, sizeof(reported));
	while (got < 0 && errno == EINTR);
	close(command->report);
	command->report = -1;
	if (got == sizeof(reported))
		return -reported;
	if (!error)
		wait_at_exit(command->pid);
	return error;
}

bool command_ended(struct command *command, bool wait)
{
	int status;
	pid_t pid;

	if (command->ended || !command->pid)
		return true;
	do
		pid = waitpid(command->pid, &status, wait ? 0 : WNOHANG);
	while (pid < 0 && errno == EINTR);
	if (pid == 0)
		return false;
	command->ended = true;
	wait_at_exit(0);
	if (pid < 0)
		command->status = 127;
	else
		command->status = WIFEXITED(status) ? WEXITSTATUS(status) :
				  128 + WTERMSIG(status);
	return true;
}

void command_close(struct command *command)
{
	if (command->pid && command->gate >= 0) {
		kill(command->pid, SIGKILL);
		command_ended(command, true);
		close(command->gate);
		close(command->report);
	}
	*command = (struct command){ 0 };
}
