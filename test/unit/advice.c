/* SPDX-License-Identifier: MIT */
/* What to do about which errno. */
#include <errno.h>
#include <string.h>

#include "lib/log.h"
#include "sys/advice.h"
#include "test/unit/redirect.h"
#include "test/unit/unit.h"

/* The advice for it has this in it. */
static void check_advice(enum advice_on on, int error, const char *part)
{
	const char *text = advice(on, error);

	if (!text || !strstr(text, part))
		unit_fail(__FILE__, __LINE__, "errno %d: %s, not %s", -error,
			  text ? text : "nothing", part);
}

TEST(advice_by_errno)
{
	check_advice(ADVICE_EVENT, -EMFILE, "ulimit -n");
	check_advice(ADVICE_MAP, -ENFILE, "fs.file-max");
	check_advice(ADVICE_EVENT, -ENODEV, "cpu/online");
	check_advice(ADVICE_MAP, -ENOMEM, "--memory");
	check_advice(ADVICE_ATTACH, -EEXIST, "another program");
	check_advice(ADVICE_EVENT, -EBUSY, "for itself");
	CHECK(!advice(ADVICE_EVENT, -EIO));
	CHECK(!advice(ADVICE_EVENT, 0));
}

/* Debian's kernels ask for more than CAP_PERFMON above 2. */
TEST(advice_by_paranoia)
{
	redirect("/proc/sys/kernel/perf_event_paranoid", "paranoid");
	unit_write_text("paranoid", "3\n");
	check_advice(ADVICE_EVENT, -EACCES, "CAP_SYS_ADMIN");
	unit_write_text("paranoid", "2\n");
	check_advice(ADVICE_EVENT, -EACCES, "with CAP_PERFMON; or");
	redirect("/proc/sys/kernel/perf_event_paranoid", NULL);
	check_advice(ADVICE_EVENT, -EACCES, "with CAP_PERFMON; or");
}

/* The same errno means another thing of another call. */
TEST(advice_by_call)
{
	check_advice(ADVICE_EVENT, -ENOSYS, "perf_event_open(2)");
	check_advice(ADVICE_ATTACH, -ENOSYS, "CONFIG_PERF_EVENTS");
	check_advice(ADVICE_MAP, -ENOSYS, "CONFIG_BPF_SYSCALL");
	check_advice(ADVICE_PROG, -ENOSYS, "bpf(2)");
	check_advice(ADVICE_EVENT, -EOPNOTSUPP, "no such event");
	check_advice(ADVICE_EVENT, -ENOENT, "no such event");
	check_advice(ADVICE_PROG, -ENOENT, "too old");
	check_advice(ADVICE_EVENT, -EINVAL, "max_sample_rate");
	check_advice(ADVICE_PROG, -EINVAL, "verifier");
	check_advice(ADVICE_PROG, -E2BIG, "5.10");
	check_advice(ADVICE_MAP, -EINVAL, "smaller");
	check_advice(ADVICE_ATTACH, -EINVAL, "CONFIG_BPF_EVENTS");
	check_advice(ADVICE_PROG, -EACCES, "verifier says");
	check_advice(ADVICE_MAP, -EACCES, "CAP_BPF");
	check_advice(ADVICE_PROG, -EPERM, "CAP_BPF");
	check_advice(ADVICE_EVENT, -EPERM, "CAP_");
}

TEST(advice_told)
{
	log_error("a map: no");
	advice_tell(ADVICE_MAP, -ENOMEM);
	CHECK(strstr(unit_messages(), "      the kernel has no memory"));
	log_error("a map: no");
	advice_tell(ADVICE_MAP, -EIO);
	CHECK_TEXT(unit_messages(), "prof: a map: no\n");
}
