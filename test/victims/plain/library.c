/* SPDX-License-Identifier: MIT */
/* whole.so: a library that whole.c loads while it runs. */
static volatile unsigned long sink;

__attribute__((noinline, noclone, noipa)) static void inside(void (*call)(void))
{
	call();
	sink++;
}

void call(void (*back)(void));
void call(void (*back)(void))
{
	inside(back);
	sink++;
}
