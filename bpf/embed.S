/* SPDX-License-Identifier: MIT */
/*
 * The compiled BPF object as bytes of the program: bpf_object .. _end.  The
 * build gives BPF_OBJECT, the path of the file.
 */
	.section .rodata
	.balign 8
	.global bpf_object
	.global bpf_object_end
bpf_object:
	.incbin BPF_OBJECT
bpf_object_end:
	.byte 0
	.section .note.GNU-stack, "", %progbits
