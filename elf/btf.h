/* SPDX-License-Identifier: MIT */
#ifndef ELF_BTF_H
#define ELF_BTF_H

#include <linux/btf.h>

#include "lib/bytes.h"

/* The types of a .BTF section, numbered from 1; 0 is void. */
struct btf {
	struct bytes types, texts;
	uint32_t *offset;	/* of each type in `types` */
	uint32_t count;
};

/* 0, or -ENOEXEC for a damaged section.  btf_close() is owed in both cases. */
int btf_open(struct btf *btf, struct bytes section);
void btf_close(struct btf *btf);

/* Type `number`; what its kind adds begins at *extra in btf->types. */
bool btf_type(const struct btf *btf, uint32_t number, struct btf_type *type,
	      uint64_t *extra);

/* The size in bytes of a variable of this type; false if it has none. */
bool btf_size(const struct btf *btf, uint32_t number, uint32_t *size);

/* The number of elements of an array type. */
bool btf_length(const struct btf *btf, uint32_t number, uint32_t *length);

#endif
