/* SPDX-License-Identifier: MIT */
#ifndef PROC_NAMESPACE_H
#define PROC_NAMESPACE_H

#include <stdint.h>

/*
 * Our PID namespace, as bpf_get_ns_current_pid_tgid() wants it named; both 0
 * if it is the first one, or if /proc is not there to tell.
 */
void namespace_name(uint64_t *device, uint64_t *inode);

/*
 * Whether /proc numbers processes as our PID namespace does: 0.  -ENOENT where
 * /proc is not mounted, -EXDEV where it is another namespace's: there
 * /proc/PID would be somebody else.
 */
int namespace_check_proc(void);

#endif
