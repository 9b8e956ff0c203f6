/* SPDX-License-Identifier: MIT */
/*
 * json: texts for JSON (RFC 8259), also inside of HTML.
 *
 * Between <script> and </script> a browser looks for `</script` and `<!--`, and
 * knows no escapes but JSON's own: so `<` is never written as it is.
 */
#include <stdio.h>
#include <string.h>

#include "out/json.h"

/* How many bytes at `s` cannot stay as they are; 0: the first one can. */
static size_t special(const unsigned char *s)
{
	if (*s < 0x20 || *s == 0x7f || *s == '"' || *s == '\\' || *s == '<')
		return 1;
	/* U+2028 and U+2029 end a line of JavaScript. */
	if (s[0] == 0xe2 && s[1] == 0x80 && (s[2] == 0xa8 || s[2] == 0xa9))
		return 3;
	return 0;
}

void json_string(struct file_out *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	file_out_write(out, "\"", 1);
	while (*s) {
		const unsigned char *from = s;
		size_t length = 0;
		char escaped[8];

		while (*s && !(length = special(s)))
			s++;
		file_out_write(out, (const char *)from, (size_t)(s - from));
		if (!*s)
			break;
		snprintf(escaped, sizeof(escaped), "\\u%04x",
			 length == 3 ? 0x2000u + (s[2] & 0x3fu) : *s);
		file_out_write(out, escaped, 6);
		s += length;
	}
	file_out_write(out, "\"", 1);
}
