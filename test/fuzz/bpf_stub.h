/* SPDX-License-Identifier: MIT */
/* bpf_stub: sys/bpf.h without a kernel, for loader.c of this directory. */
#ifndef TEST_FUZZ_BPF_STUB_H
#define TEST_FUZZ_BPF_STUB_H

#include <stdint.h>

/* Bit i: the i-th map that is created fails, the i-th load fails. */
extern uint8_t bpf_stub_maps, bpf_stub_loads;

#endif
