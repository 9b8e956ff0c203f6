/* SPDX-License-Identifier: MIT */
/*
 * The compiled BPF object as bytes of the program: bpf_object, and how
 * many they are: bpf_object_size.  The build gives BPF_OBJECT, the file's path;
 * it is packed by gzip where there is zlib to unpack it (embedded.c).
 */
	.section .rodata
	.balign 8
	.global bpf_object
	.global bpf_object_size
bpf_object:
	.incbin BPF_OBJECT
bpf_object_end:
	.balign 8
bpf_object_size:
	.quad bpf_object_end - bpf_object
	.section .note.GNU-stack, "", %progbits
