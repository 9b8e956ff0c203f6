/* SPDX-License-Identifier: MIT */
#ifndef SYS_INSN_H
#define SYS_INSN_H

#include <linux/bpf.h>

#include "lib/text.h"

/*
 * Appends instruction `insn` as the verifier's log writes it.  insn[1] is read
 * only where an instruction takes two places (LD_IMM64).
 */
void insn_text(struct text *text, const struct bpf_insn *insn);

/* LD_IMM64, the only instruction of 16 bytes. */
bool insn_is_wide(const struct bpf_insn *insn);

#endif
