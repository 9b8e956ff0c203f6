/*
 * init.c - PID 1 of a test machine
 *
 * Runs one command as if it had been run on the host: its output goes byte for
 * byte to two serial ports, its exit status to a third, then the machine goes
 * off.  No shell, no libraries, and no file system but the initramfs, so that
 * a test can see how a program does with nothing mounted.
 *
 * What to do is in /plan, which test/vm/run writes: "key=value" items, each
 * ended by a NUL, obeyed in this order.
 *
 *	status=4:67		device number of the port for the status
 *	stdout=4:65		and of those for the command's output
 *	stderr=4:66
 *	sysctl=kernel.x=1	set a sysctl
 *	mount=/proc		mount what belongs there
 *	arg=/bin/prof		argv[0], which is the file too, argv[1], ...
 *
 * On the status port, one line each, in text:
 *
 *	start			all is set up, the command starts
 *	exit N			it ended: its exit status, or 128 + its signal
 *	fail WHY		the plan could not be carried out
 *
 * A port that says nothing is a machine that did not come up or went down.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

struct plan {
	int status;		/* descriptors of the ports */
	int out[2];		/* stdout, stderr */
	char **argv;
};

/* File system types by mount point; any other place gets a tmpfs. */
static const struct {
	const char *path, *type;
} mounts[] = {
	{ "/proc",			"proc" },
	{ "/sys",			"sysfs" },
	{ "/dev",			"devtmpfs" },
	{ "/sys/fs/bpf",		"bpf" },
	{ "/sys/fs/cgroup",		"cgroup2" },
	{ "/sys/kernel/debug",		"debugfs" },
	{ "/sys/kernel/security",	"securityfs" },
	{ "/sys/kernel/tracing",	"tracefs" },
};

/* The machine is started so that a reboot ends it. */
static _Noreturn void power_off(void)
{
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

static _Noreturn void fail(const struct plan *plan, const char *what)
{
	dprintf(plan->status, "fail %s: %s\n", what, strerror(errno));
	tcdrain(plan->status);
	power_off();
}

/* Cuts "key=value" in two at the sign and returns the value. */
static char *cut(const struct plan *plan, char *item)
{
	char *sign = strchr(item, '=');

	if (sign) {
		*sign = '\0';
		return sign + 1;
	}
	errno = EINVAL;
	fail(plan, item);
}

/* Opens a character device by its number: there may be no /dev. */
static int open_device(int major, int minor)
{
	const char *path = "/device";
	int fd;

	if (mknod(path, S_IFCHR | 0600, makedev(major, minor)))
		return -1;
	fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	unlink(path);
	return fd;
}

/* Opens the serial port "MAJOR:MINOR", set to pass all bytes as they are. */
static int open_port(const struct plan *plan, const char *spec)
{
	struct termios t;
	char *end;
	int major = (int)strtol(spec, &end, 10);
	int minor = *end == ':' ? (int)strtol(end + 1, NULL, 10) : 0;
	int fd = open_device(major, minor);

	if (fd < 0 || tcgetattr(fd, &t))
		fail(plan, spec);
	cfmakeraw(&t);
	t.c_cflag |= CLOCAL;
	cfsetspeed(&t, B115200);
	if (tcsetattr(fd, TCSANOW, &t))
		fail(plan, spec);
	return fd;
}

static void mount_at(const struct plan *plan, const char *path)
{
	const char *type = "tmpfs";

	for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++)
		if (!strcmp(path, mounts[i].path))
			type = mounts[i].type;
	mkdir(path, 0755);	/* below a mount it is there, or nothing helps */
	if (mount(type, path, type, 0, NULL))
		fail(plan, path);
}

/* Sets "a.b.c=value" through a /proc that is gone again afterwards. */
static void set_sysctl(const struct plan *plan, char *name)
{
	char *value = cut(plan, name);
	char path[256];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/sys/%s", name);
	for (char *p = path; *p; p++)
		if (*p == '.')
			*p = '/';

	mount_at(plan, "/proc");
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		fail(plan, path);
	close(fd);
	if (umount("/proc") || rmdir("/proc"))
		fail(plan, "/proc");
}

/* Carries out one item, except that an arg is only kept, at @argv. */
static char **obey(struct plan *plan, char *item, char **argv)
{
	char *value = cut(plan, item);

	if (!strcmp(item, "status"))
		plan->status = open_port(plan, value);
	else if (!strcmp(item, "stdout"))
		plan->out[0] = open_port(plan, value);
	else if (!strcmp(item, "stderr"))
		plan->out[1] = open_port(plan, value);
	else if (!strcmp(item, "sysctl"))
		set_sysctl(plan, value);
	else if (!strcmp(item, "mount"))
		mount_at(plan, value);
	else if (!strcmp(item, "arg"))
		*argv++ = value;
	else {
		errno = EINVAL;
		fail(plan, item);
	}
	return argv;
}

/* The plan's text stays in memory: argv points into it. */
static void read_plan(struct plan *plan)
{
	int fd = open("/plan", O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *text, **argv;

	if (fd < 0 || fstat(fd, &st))
		fail(plan, "/plan");
	text = malloc(st.st_size + 1);
	argv = plan->argv = calloc(st.st_size + 1, sizeof(*argv));
	if (!text || !argv || read(fd, text, st.st_size) != st.st_size)
		fail(plan, "/plan");
	text[st.st_size] = '\0';
	close(fd);
	unlink("/plan");

	for (char *item = text, *next; item < text + st.st_size; item = next) {
		next = item + strlen(item) + 1;
		argv = obey(plan, item, argv);
	}
	if (argv == plan->argv) {
		errno = EINVAL;
		fail(plan, "no arg");
	}
}

/* In the child: stdin is empty, stdout and stderr are pipes, not terminals. */
static _Noreturn void exec_command(const struct plan *plan, const int out[2])
{
	static char *env[] = { "PATH=/bin", "HOME=/", NULL };
	sigset_t none;
	int err, null = open_device(1, 3);

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	dup2(null, 0);
	dup2(out[0], 1);
	dup2(out[1], 2);
	execve(plan->argv[0], plan->argv, env);
	err = errno;
	dprintf(2, "init: %s: %s\n", plan->argv[0],
		err == ENOENT ? "not there, or not static" : strerror(err));
	_exit(err == ENOENT ? 127 : 126);
}

/* Copies what a pipe holds; false at its end. */
static int copy(int from, int to)
{
	static char buf[65536];
	ssize_t n = read(from, buf, sizeof(buf));

	if (n < 0)
		return errno == EINTR;
	for (ssize_t done = 0, w; done < n; done += w) {
		w = write(to, buf + done, n - done);
		if (w < 0)
			w = 0;	/* a full port: try again */
	}
	return n > 0;
}

static int shell_status(int st)
{
	return WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st);
}

/* Reaps all that has ended; sets *status when the command is among it. */
static void reap(pid_t command, int *status)
{
	int st;
	pid_t pid;

	while ((pid = waitpid(-1, &st, WNOHANG)) > 0)
		if (pid == command)
			*status = shell_status(st);
}

/*
 * Passes the output on until both pipes are at their end.  A daemon left behind
 * holds them open: once the command is dead, a short silence is an end too.
 */
static int pump(pid_t command, const int in[2], const int out[2])
{
	const struct timespec silence = { .tv_nsec = 200000000 };
	struct pollfd fds[2] = {
		{ .fd = in[0], .events = POLLIN },
		{ .fd = in[1], .events = POLLIN },
	};
	int status = -1, left = 2, st;
	sigset_t none;

	sigemptyset(&none);
	while (left) {
		int n = ppoll(fds, 2, status < 0 ? NULL : &silence, &none);

		if (n == 0)
			break;
		for (int i = 0; n > 0 && i < 2; i++)
			if (fds[i].revents && !copy(fds[i].fd, out[i])) {
				fds[i].fd = -1;
				left--;
			}
		reap(command, &status);
	}
	if (status < 0 && waitpid(command, &st, 0) == command)
		status = shell_status(st);
	return status;
}

static void on_child(int sig)
{
	(void)sig;		/* there to end the ppoll() */
}

int main(void)
{
	struct plan plan = { .status = -1 };
	int out[2], err[2], status;
	sigset_t child;
	pid_t command;

	read_plan(&plan);

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	(void)signal(SIGCHLD, on_child);
	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		fail(&plan, "pipe");
	dprintf(plan.status, "start\n");
	command = fork();
	if (command < 0)
		fail(&plan, "fork");
	if (command == 0)
		exec_command(&plan, (int[]){ out[1], err[1] });
	close(out[1]);
	close(err[1]);
	status = pump(command, (int[]){ out[0], err[0] }, plan.out);

	/* The status comes last: where it is, the output is complete. */
	tcdrain(plan.out[0]);
	tcdrain(plan.out[1]);
	dprintf(plan.status, "exit %d\n", status);
	tcdrain(plan.status);
	power_off();
}
