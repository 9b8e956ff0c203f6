/* SPDX-License-Identifier: MIT */
#ifndef SYS_ADVICE_H
#define SYS_ADVICE_H

/* What was tried when the error came. */
enum advice_on {
	ADVICE_MAP,	/* bpf(BPF_MAP_CREATE) */
	ADVICE_PROG,	/* bpf(BPF_PROG_LOAD), the verifier's words shown */
	ADVICE_TRY,	/* the same by --check, which does not show them */
	ADVICE_EVENT,	/* perf_event_open */
	ADVICE_ATTACH,	/* PERF_EVENT_IOC_SET_BPF */
};

/* One line on what the user can do about this -errno; NULL if nothing. */
const char *advice(enum advice_on on, int error);

/* The same, told below the message that was just told. */
void advice_tell(enum advice_on on, int error);

#endif
