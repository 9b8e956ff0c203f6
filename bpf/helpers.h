/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * helpers: what bpf_prog.c calls and how it declares maps.
 *
 * A call of a helper is an instruction whose immediate is the helper's number
 * (enum bpf_func_id in <linux/bpf.h>): a function at that address makes the
 * compiler write just this.  A map is declared as a variable whose type
 * spells its attributes, because types survive in .BTF, where loader.c reads
 * them: the length of an array is a number, the target of a pointer a type.
 */
#ifndef BPF_HELPERS_H
#define BPF_HELPERS_H

#include <linux/bpf.h>

/* As <stdbool.h> has it, which is not there without a libc. */
#define bool _Bool
#define true 1
#define false 0

#define SECTION(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))

#define MAP_NUMBER(name, value) int (*name)[value]
#define MAP_TYPE(name, c_type) c_type *name

static void *(*bpf_map_lookup_elem)(void *map, const void *key) =
	(void *)BPF_FUNC_map_lookup_elem;
static long (*bpf_map_update_elem)(void *map, const void *key,
				   const void *value, __u64 flags) =
	(void *)BPF_FUNC_map_update_elem;
static __u64 (*bpf_ktime_get_ns)(void) = (void *)BPF_FUNC_ktime_get_ns;
static __u64 (*bpf_get_current_pid_tgid)(void) =
	(void *)BPF_FUNC_get_current_pid_tgid;
static long (*bpf_get_current_comm)(void *comm, __u32 size) =
	(void *)BPF_FUNC_get_current_comm;
static long (*bpf_get_stack)(void *context, void *ip, __u32 size,
			     __u64 flags) = (void *)BPF_FUNC_get_stack;
static long (*bpf_get_stackid)(void *context, void *map, __u64 flags) =
	(void *)BPF_FUNC_get_stackid;
static long (*bpf_snprintf)(char *text, __u32 size, const char *format,
			    __u64 *data, __u32 data_size) =
	(void *)BPF_FUNC_snprintf;
static long (*bpf_get_ns_current_pid_tgid)(__u64 device, __u64 inode,
					   struct bpf_pidns_info *info,
					   __u32 size) =
	(void *)BPF_FUNC_get_ns_current_pid_tgid;
static long (*bpf_current_task_under_cgroup)(void *map, __u32 index) =
	(void *)BPF_FUNC_current_task_under_cgroup;
static long (*bpf_tail_call)(void *context, void *programs, __u32 index) =
	(void *)BPF_FUNC_tail_call;
static long (*bpf_probe_read_user)(void *to, __u32 size, const void *from) =
	(void *)BPF_FUNC_probe_read_user;
static long (*bpf_probe_read_kernel)(void *to, __u32 size, const void *from) =
	(void *)BPF_FUNC_probe_read_kernel;
static void *(*bpf_ringbuf_reserve)(void *ring, __u64 size, __u64 flags) =
	(void *)BPF_FUNC_ringbuf_reserve;
static void (*bpf_ringbuf_submit)(void *data, __u64 flags) =
	(void *)BPF_FUNC_ringbuf_submit;
static void (*bpf_ringbuf_discard)(void *data, __u64 flags) =
	(void *)BPF_FUNC_ringbuf_discard;
static void *(*bpf_get_current_task_btf)(void) =
	(void *)BPF_FUNC_get_current_task_btf;
static void *(*bpf_task_pt_regs)(void *task) = (void *)BPF_FUNC_task_pt_regs;

#endif
