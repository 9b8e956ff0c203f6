/* SPDX-License-Identifier: MIT */
/*
 * The page as bytes of the program: what stands before the profile's data,
 * page_head, and behind it, page_tail; the style of pictures, page_svg_style.
 * The first two are packed by gzip where the program is built with zlib.  The
 * build gives PAGE_HEAD and so on, the files that page/assemble.sh made.
 */
	.section .rodata

	.macro file symbol, path
	.global \symbol
	.global \symbol\()_size
\symbol:
	.incbin "\path"
\symbol\()_end:
	.balign 8
\symbol\()_size:
	.quad \symbol\()_end - \symbol
	.endm

	.balign 8
	file page_head, PAGE_HEAD
	file page_tail, PAGE_TAIL
	file page_svg_style, PAGE_SVG_STYLE
	.section .note.GNU-stack, "", %progbits
