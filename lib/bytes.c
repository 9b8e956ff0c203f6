/* SPDX-License-Identifier: MIT */
/* bytes: the bounds-checked way to read what other people wrote. */
#include <string.h>

#include "lib/bytes.h"

bool bytes_part(struct bytes all, uint64_t offset, uint64_t size,
		struct bytes *part)
{
	*part = (struct bytes){ 0 };
	/* Two comparisons, as a sum of foreign numbers can wrap. */
	if (offset > all.size || size > all.size - offset)
		return false;
	part->data = all.data + offset;
	part->size = size;
	return true;
}

bool bytes_copy(struct bytes all, uint64_t offset, void *to, size_t size)
{
	struct bytes part;

	memset(to, 0, size);
	if (!bytes_part(all, offset, size, &part))
		return false;
	/* memcpy, as foreign offsets need not be aligned. */
	if (size)
		memcpy(to, part.data, size);
	return true;
}

const char *bytes_text(struct bytes all, uint64_t offset)
{
	if (offset >= all.size)
		return NULL;
	if (!memchr(all.data + offset, 0, all.size - offset))
		return NULL;
	return (const char *)all.data + offset;
}
