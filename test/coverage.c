/* SPDX-License-Identifier: MIT */
/*
 * coverage: gcov counts are written by exit(3); here also before a process
 * becomes another program, or ends without that.  Linked by test/coverage.sh.
 */
#include <errno.h>
#include <unistd.h>

void __gcov_dump(void);
void __gcov_reset(void);
int __real_execvp(const char *file, char *const *argv);
_Noreturn void __real__exit(int status);
/* Weak, as test/faults has its own. */
__attribute__((weak)) int __wrap_execvp(const char *file, char *const *argv);
__attribute__((weak)) _Noreturn void __wrap__exit(int status);

int __wrap_execvp(const char *file, char *const *argv)
{
	int status, error;

	__gcov_dump();
	status = __real_execvp(file, argv);
	error = errno;
	/* What is written already is not to be added again. */
	__gcov_reset();
	errno = error;
	return status;
}

_Noreturn void __wrap__exit(int status)
{
	__gcov_dump();
	__real__exit(status);
}
