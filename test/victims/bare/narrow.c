/* SPDX-License-Identifier: MIT */
/* narrow: burns CPU time in 32-bit mode, until it is killed.  It needs no libc. */
#define ALONE __attribute__((noinline))

static volatile unsigned int sink;

ALONE static void leaf(void)
{
	for (int i = 0; i < 100000; i++)
		sink += (unsigned int)i;
	sink++;
}

ALONE static void middle(void)
{
	leaf();
	sink++;
}

ALONE static void outer(void)
{
	middle();
	sink++;
}

void _start(void);

void _start(void)
{
	for (;;)
		outer();
}
