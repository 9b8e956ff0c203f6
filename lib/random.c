/* SPDX-License-Identifier: MIT */
/*
 * random: secrets for hashes and names.
 *
 * Early in a boot the kernel has no entropy yet, and getrandom(2) would wait
 * for it; GRND_INSECURE (Linux 5.6) takes what is there.
 */
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/random.h"

void random_fill(void *to, size_t size)
{
	enum { GRND_INSECURE_FLAG = 4 };
	const uint8_t *process = (const void *)getauxval(AT_RANDOM);
	struct timespec now = { 0 };
	uint8_t *bytes = to;

	if (syscall(SYS_getrandom, to, size, GRND_INSECURE_FLAG) ==
	    (long)size)
		return;
	/* Sixteen random bytes of this process, stretched; and the time. */
	for (size_t i = 0; i < size; i++) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		bytes[i] = (uint8_t)((process ? process[i % 16] : 0) ^
				     (uint64_t)now.tv_nsec ^ i * 0x9d);
	}
}
