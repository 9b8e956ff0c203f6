/* SPDX-License-Identifier: MIT */
/* Names made safe, and numbers. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "lib/text.h"
#include "test/fuzz/fuzz.h"

/* One character of RFC 3629; XML 1.0 forbids some of them, C1 is no text. */
static size_t character(const unsigned char *s)
{
	uint32_t point;
	size_t length = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 :
			*s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;

	if (length < 2)
		return *s >= 0x20 && *s != 0x7f ? length : 0;
	point = *s & (0xff >> (length + 1));
	for (size_t i = 1; i < length; i++) {
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
		point = point << 6 | (s[i] & 0x3f);
	}
	if (point < (uint32_t[]){ 0, 0, 0xa0, 0x800, 0x10000 }[length] ||
	    point > 0x10ffff || (point >= 0xd800 && point < 0xe000) ||
	    point == 0xfffe || point == 0xffff)
		return 0;
	return length;
}

static void check(const struct text *text, bool comm)
{
	const unsigned char *s = (const unsigned char *)text->data;
	const char *end;

	MUST(text->length && strlen(text->data) == text->length);
	MUST(!strchr(text->data, ';'));
	while (*s) {
		size_t length = character(s);

		MUST(length);
		s += length;
	}
	MUST(!comm || (*text->data != ' ' && *text->data != '#'));
	/* ` 12`, ` 12.` and ` 12.5` at the end of a line are counts. */
	end = strrchr(text->data, ' ');
	if (end) {
		size_t digits = strspn(end + 1, "0123456789");

		MUST(end[1]);
		if (digits && end[1 + digits] == '.')
			digits += 1 + strspn(end + 2 + digits, "0123456789");
		MUST(comm || !digits || end[1 + digits]);
	}
}

static void names(const char *name)
{
	struct text once = { 0 }, twice = { 0 };

	text_frame(&once, name);
	check(&once, false);
	text_frame(&twice, once.data);
	MUST(!strcmp(once.data, twice.data));
	once.length = twice.length = 0;
	text_comm(&once, name);
	check(&once, true);
	text_comm(&twice, once.data);
	MUST(!strcmp(once.data, twice.data));
	text_free(&once);
	text_free(&twice);
}

static void numbers(const char *text)
{
	bool digits = *text && !text[strspn(text, "0123456789")];
	uint64_t value = 77, ns = 77;
	unsigned long long want;

	errno = 0;
	want = strtoull(text, NULL, 10);
	if (text_number(text, 10, 0, UINT64_MAX, &value))
		MUST(digits && !errno && value == want);
	else
		MUST(value == 77 && (!digits || errno));
	if (text_seconds(text, &ns)) {
		double seconds = strtod(text, NULL);
		double got = (double)ns / 1e9;

		MUST(!text[strspn(text, "0123456789.")]);
		MUST(got >= seconds - 1e-6 - seconds * 1e-9 &&
		     got <= seconds + 1e-6 + seconds * 1e-9);
	} else {
		MUST(ns == 77);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);

	names(text);
	numbers(text);
	free(text);
	return 0;
}
