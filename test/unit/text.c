/* SPDX-License-Identifier: MIT */
/*
 * Numbers, seconds, and names made safe.  What is safe is written down here a
 * second time, from the standards: RFC 3629 section 4 (UTF-8), XML 1.0 section
 * 2.2 (Char), ECMA-48 (C1), and flamegraph.pl's regular expression for counts.
 */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "test/unit/unit.h"

/* ------------------------------------------------------------- numbers */

static void check_number(const char *text, int base, uint64_t want)
{
	uint64_t value = 77;

	CHECK(text_number(text, base, 0, UINT64_MAX, &value));
	CHECK_U64(value, want);
}

static void check_no_number(const char *text, int base)
{
	uint64_t value = 77;

	if (text_number(text, base, 0, UINT64_MAX, &value))
		unit_fail(__FILE__, __LINE__, "\"%s\" is a number", text);
	CHECK_U64(value, 77);
}

TEST(text_number_values)
{
	check_number("0", 10, 0);
	check_number("7", 10, 7);
	check_number("007", 10, 7);
	check_number("4294967296", 10, 1ull << 32);
	check_number("18446744073709551615", 10, UINT64_MAX);
	check_number("0", 16, 0);
	check_number("1f", 16, 31);
	check_number("ffffffffffffffff", 16, UINT64_MAX);
	check_number("0000000000000000000000001", 16, 1);
}

TEST(text_number_refusals)
{
	static const char *const bad[] = {
		"", " ", "+1", "-1", " 1", "1 ", "1\n", "0x1", "1.0", "1e3",
		"a", "1a", "0b1", "1_000", "１",
		"18446744073709551616", "18446744073709551620",
		"28446744073709551615", "99999999999999999999999999",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		check_no_number(bad[i], 10);
	check_no_number("10000000000000000", 16);
	check_no_number("g", 16);
	check_no_number("0x1f", 16);
	check_no_number("", 16);
}

TEST(text_number_bounds)
{
	uint64_t value = 77;

	CHECK(!text_number("4", 10, 5, 9, &value));
	CHECK(!text_number("10", 10, 5, 9, &value));
	CHECK_U64(value, 77);
	CHECK(text_number("5", 10, 5, 9, &value));
	CHECK_U64(value, 5);
	CHECK(text_number("9", 10, 5, 9, &value));
	CHECK_U64(value, 9);
}

TEST(text_seconds_values)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "1", 1000000000 }, { "0", 0 }, { "2.5", 2500000000 },
		{ "0.1", 100000000 }, { "0.000000001", 1 },
		{ "10.000000001", 10000000001 }, { "0.999999999", 999999999 },
		{ "1000000000", 1000000000000000000 },
		{ "3600", 3600000000000 },
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		uint64_t ns = 77;

		CHECK(text_seconds(good[i].text, &ns));
		CHECK_U64(ns, good[i].ns);
	}
}

TEST(text_seconds_refusals)
{
	static const char *const bad[] = {
		"", ".", "-1", "+1", " 1", "1 ", "1.5.2", "1..5", "1,5", "1e3",
		"0x1", "nan", "inf", "1s", "1.x", "1.-5", "1000000001",
		"18446744073709551616", "99999999999999999999999999999.5",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		uint64_t ns = 77;

		if (text_seconds(bad[i], &ns))
			unit_fail(__FILE__, __LINE__, "\"%s\" are seconds",
				  bad[i]);
		CHECK_U64(ns, 77);
	}
}

/* --------------------------------------------------------------- growth */

TEST(text_grows)
{
	struct text text = { 0 };

	for (int i = 0; i < 100000; i++)
		text_add(&text, "abc", 3);
	CHECK_U64(text.length, 300000);
	CHECK_U64(strlen(text.data), 300000);
	text_format(&text, "%d-%s", 42, "x");
	CHECK_TEXT(text.data + 300000, "42-x");
	text_free(&text);
	CHECK(!text.data);
	text_format(&text, "%s", "");
	CHECK_TEXT(text.data, "");
	text_free(&text);
}

/* ---------------------------------------------------------- safe names */

/* One character by the ABNF of RFC 3629; its length, or 0. */
static size_t rfc3629(const unsigned char *s, uint32_t *point)
{
	static const struct {
		unsigned char from[4], to[4];
	} rows[] = {
		{ { 0x01 }, { 0x7f } },
		{ { 0xc2, 0x80 }, { 0xdf, 0xbf } },
		{ { 0xe0, 0xa0, 0x80 }, { 0xe0, 0xbf, 0xbf } },
		{ { 0xe1, 0x80, 0x80 }, { 0xec, 0xbf, 0xbf } },
		{ { 0xed, 0x80, 0x80 }, { 0xed, 0x9f, 0xbf } },
		{ { 0xee, 0x80, 0x80 }, { 0xef, 0xbf, 0xbf } },
		{ { 0xf0, 0x90, 0x80, 0x80 }, { 0xf0, 0xbf, 0xbf, 0xbf } },
		{ { 0xf1, 0x80, 0x80, 0x80 }, { 0xf3, 0xbf, 0xbf, 0xbf } },
		{ { 0xf4, 0x80, 0x80, 0x80 }, { 0xf4, 0x8f, 0xbf, 0xbf } },
	};
	static const unsigned char first_bits[] = { 0, 0x7f, 0x1f, 0x0f, 7 };

	for (size_t row = 0; row < sizeof(rows) / sizeof(*rows); row++) {
		size_t i = 0;

		while (i < 4 && rows[row].from[i] &&
		       s[i] >= rows[row].from[i] && s[i] <= rows[row].to[i])
			i++;
		if (!i || (i < 4 && rows[row].from[i]))
			continue;
		*point = s[0] & first_bits[i];
		for (size_t j = 1; j < i; j++)
			*point = *point * 64 + (s[j] - 0x80);
		return i;
	}
	return 0;
}

static void check_safe(const char *name, const char *safe, bool comm)
{
	const unsigned char *s = (const unsigned char *)safe;
	static regex_t count;
	static bool compiled;

	if (!compiled)
		CHECK(!regcomp(&count, "[[:space:]][0-9]+(\\.[0-9]*)?$",
			       REG_EXTENDED | REG_NOSUB));
	compiled = true;
	if (!*safe)
		unit_same_text(__FILE__, __LINE__, name, safe, "not empty");
	while (*s) {
		uint32_t point = 0;
		size_t length = rfc3629(s, &point);

		if (!length || point < 0x20 ||
		    (point >= 0x7f && point <= 0x9f) || point == ';' ||
		    point == 0xfffe || point == 0xffff)
			unit_same_text(__FILE__, __LINE__, name, safe, "safe");
		s += length;
	}
	if ((!comm && !regexec(&count, safe, 0, NULL, 0)) ||
	    safe[strlen(safe) - 1] == ' ' ||
	    (comm && (*safe == '#' || *safe == ' ')))
		unit_same_text(__FILE__, __LINE__, name, safe, "safe");
}

static const char *frame(const char *name)
{
	static struct text text;

	text.length = 0;
	text_frame(&text, name);
	CHECK_U64(text.length, strlen(text.data));
	check_safe(name, text.data, false);
	return text.data;
}

static const char *comm(const char *name)
{
	static struct text text;

	text.length = 0;
	text_comm(&text, name);
	CHECK_U64(text.length, strlen(text.data));
	check_safe(name, text.data, true);
	return text.data;
}

/* What is harmless has to stay as it is, byte for byte. */
TEST(text_frame_keeps)
{
	static const char *const plain[] = {
		"main", "std::vector<int, std::allocator<int> >::push_back(int)",
		"[libc.so.6+0x1234]", "(anonymous namespace)::f", "a b", "12",
		"12.5", "a 12x", "a 1.2.3", "a -5", "a12", "#x", "# x", "_", "~",
		"operator new[]", "main.(*T).Run", "\"quoted\"", "<b>&</b>",
		"na\xc3\xafve", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
		"\xc2\xa1", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbd",
		"\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80", "\xdf\xbf",
		"\xe0\xa0\x80",
	};

	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		CHECK_TEXT(frame(plain[i]), plain[i]);
}

/* Spaces that only Unicode knows, before digits: readers take them for a count. */
TEST(text_frame_unicode_spaces)
{
	CHECK_TEXT(frame("a\xc2\xa0" "12"), "a_12");
	CHECK_TEXT(frame("a\xe2\x80\x89" "12.5"), "a_12.5");
	CHECK_TEXT(frame("a\xe3\x80\x80" "b"), "a b");
	CHECK_TEXT(frame("\xc2\xa0"), "_");
}

TEST(text_frame_separators)
{
	CHECK_TEXT(frame("a;b"), "a:b");
	CHECK_TEXT(frame(";"), ":");
	CHECK_TEXT(frame(";;x;"), "::x:");
	CHECK_TEXT(frame(""), "[unknown]");
}

TEST(text_frame_control_bytes)
{
	CHECK_TEXT(frame("a\nb"), "a?b");
	CHECK_TEXT(frame("a\r"), "a?");
	CHECK_TEXT(frame("\t"), "?");
	CHECK_TEXT(frame("\x1b[31mred"), "?[31mred");
	CHECK_TEXT(frame("\x7f"), "?");
	CHECK_TEXT(frame("\x01\x1f"), "??");
	/* C1: CSI and NEL, whole, and the two beside them that are none. */
	CHECK_TEXT(frame("\xc2\x9b""31m"), "?31m");
	CHECK_TEXT(frame("\xc2\x85"), "?");
	CHECK_TEXT(frame("\xc2\x80"), "?");
	CHECK_TEXT(frame("\xc2\x9f"), "?");
	CHECK_TEXT(frame("\xc2\xa1"), "\xc2\xa1");
}

/* Characters that break lines or turn the direction; and their neighbours. */
TEST(text_frame_format_characters)
{
	CHECK_TEXT(frame("a\xe2\x80\xa8z"), "a?z");	/* U+2028 */
	CHECK_TEXT(frame("a\xe2\x80\xa9z"), "a?z");	/* U+2029 */
	CHECK_TEXT(frame("a\xe2\x80\xaez"), "a?z");	/* U+202E */
	CHECK_TEXT(frame("a\xe2\x80\xaaz"), "a?z");	/* U+202A */
	CHECK_TEXT(frame("a\xe2\x80\x8ez"), "a?z");	/* U+200E */
	CHECK_TEXT(frame("a\xe2\x80\x8fz"), "a?z");	/* U+200F */
	CHECK_TEXT(frame("a\xe2\x81\xa6z"), "a?z");	/* U+2066 */
	CHECK_TEXT(frame("a\xe2\x81\xa9z"), "a?z");	/* U+2069 */
	CHECK_TEXT(frame("a\xef\xbb\xbfz"), "a?z");	/* U+FEFF */
	CHECK_TEXT(frame("\xe2\x80\xa7"), "\xe2\x80\xa7");
	CHECK_TEXT(frame("\xe2\x80\xb0"), "\xe2\x80\xb0");
	CHECK_TEXT(frame("\xe2\x80\x93"), "\xe2\x80\x93");
	CHECK_TEXT(frame("\xe2\x81\xaa"), "\xe2\x81\xaa");
	CHECK_TEXT(frame("\xef\xbb\xbe"), "\xef\xbb\xbe");
}

/* How many U+FFFD stand for a bad sequence is not said; what stays is. */
TEST(text_frame_invalid_utf8)
{
	static const char *const bad[] = {
		"\x80", "\xbf", "\xc0\xaf", "\xc1\xbf", "\xc0\xbb", "\xfe",
		"\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xe0\x80\xaf",
		"\xe0\x9f\xbf", "\xf0\x80\x80\xaf", "\xf0\x8f\xbf\xbf",
		"\xed\xa0\x80", "\xed\xbf\xbf", "\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80", "\xf8\x88\x80\x80\x80", "\xef\xbf\xbe",
		"\xef\xbf\xbf", "\xc3\x28",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char name[32];
		const char *safe;

		strcpy(name, "a");
		strcat(name, bad[i]);
		strcat(name, "z");
		safe = frame(name);
		CHECK(safe[0] == 'a' && safe[strlen(safe) - 1] == 'z');
		CHECK(strstr(safe, "\xef\xbf\xbd"));
		CHECK(!strchr(safe, '/'));
		/* At the end of the name nothing behind it may be read. */
		name[strlen(name) - 1] = '\0';
		CHECK(strstr(frame(name), "\xef\xbf\xbd"));
	}
	/* A bad byte does not swallow the good ones behind it. */
	CHECK(strchr(frame("\xc3("), '('));
	CHECK(!strcmp(frame("\xe2\x82;") + strlen(frame("\xe2\x82;")) - 1, ":"));
}

TEST(text_frame_counts)
{
	CHECK_TEXT(frame("a 12"), "a_12");
	CHECK_TEXT(frame("a 12.5"), "a_12.5");
	CHECK_TEXT(frame("a 12."), "a_12.");
	CHECK_TEXT(frame("a b 0"), "a b_0");
	CHECK_TEXT(frame(" 12"), "_12");
	CHECK_TEXT(frame("a 1 2"), "a 1_2");
	CHECK_TEXT(frame("a  12"), "a _12");
	CHECK_TEXT(frame("a "), "a_");
	CHECK_TEXT(frame(" "), "_");
	frame("a 12 ");
	frame("a 12\n");
	frame("a 1;2");
	frame("a\n12");
}

TEST(text_frame_appends)
{
	struct text text = { 0 };

	text_add(&text, "x ", 2);
	text_frame(&text, "12");
	text_frame(&text, "");
	text_comm(&text, "#");
	CHECK_TEXT(text.data, "x 12[unknown]_");
	text_free(&text);
}

TEST(text_comm_hazards)
{
	CHECK_TEXT(comm("bash"), "bash");
	CHECK_TEXT(comm("Web Content"), "Web Content");
	CHECK_TEXT(comm("a 12"), "a 12");
	CHECK_TEXT(comm("a 12.5"), "a 12.5");
	CHECK_TEXT(comm(""), "[unknown]");
	CHECK_TEXT(comm(" "), "_");
	CHECK_TEXT(comm("   "), "_ _");
	CHECK_TEXT(comm("#1"), "_1");
	CHECK_TEXT(comm("a#"), "a#");
	CHECK_TEXT(comm("a;b"), "a:b");
	CHECK_TEXT(comm("kworker/0:1-mm"), "kworker/0:1-mm");
	CHECK_TEXT(comm("\n#x"), "?#x");
	CHECK(strstr(comm("\xff"), "\xef\xbf\xbd"));
	/* Cut in the middle of a character, as the kernel does it. */
	CHECK(!strncmp(comm("abcdefghijklmn\xe2\x82"), "abcdefghijklmn", 14));
}

/* All names of two bytes, and a million of up to twelve hostile ones. */
TEST(text_names_are_safe)
{
	static const char hostile[] = "a 129.;#\n\x1b\x7f\xc2\x80\x9b\xa0\xbf"
				      "\xc0\xe0\xed\xef\xf0\xf4\xf5\xff\xbe";
	uint64_t random = 1;
	char name[16];

	for (unsigned int i = 0; i < 65536; i++) {
		name[0] = (char)(i >> 8);
		name[1] = (char)i;
		name[2] = '\0';
		frame(name);
		comm(name);
	}
	for (int i = 0; i < 1000000; i++) {
		uint64_t bits = unit_random(&random);
		size_t length = bits % 12;

		for (size_t j = 0; j < length; j++) {
			bits = bits >> 5 | bits << 59;
			name[j] = hostile[bits % (sizeof(hostile) - 1)];
		}
		name[length] = '\0';
		if (i & 1)
			frame(name);
		else
			comm(name);
	}
}

/* What is safe already is not changed again. */
TEST(text_frame_is_idempotent)
{
	uint64_t random = 2;

	for (int i = 0; i < 100000; i++) {
		char name[8], once[64];

		for (size_t j = 0; j < 7; j++)
			name[j] = (char)unit_random(&random);
		name[7] = '\0';
		strcpy(once, frame(name));
		CHECK_TEXT(frame(once), once);
	}
}

static const char *words(const char *in)
{
	static char out[200];
	struct text text = { 0 };

	text_safe(&text, in);
	snprintf(out, sizeof(out), "%s", text.data ? text.data : "");
	text_free(&text);
	return out;
}

TEST(text_safe_words)
{
	CHECK_TEXT(words("a; b 12"), "a; b 12");
	CHECK_TEXT(words("a\nb\tc\x1b[2J"), "a b c?[2J");
	CHECK_TEXT(words("\xff\xc2\x9b"), "\xef\xbf\xbd?");
	CHECK_TEXT(words(""), "");
}

TEST(text_words_of_a_shell)
{
	struct text text = { 0 };

	text_word(&text, "-d");
	text_word(&text, "");
	text_word(&text, "a b");
	text_word(&text, "it's");
	CHECK_TEXT(text.data, "-d'''a b''it'\\''s'");
	text_free(&text);
}

TEST(text_digits_of_numbers)
{
	struct text text = { 0 };

	text_digits(&text, 0, 10, 0);
	text_digits(&text, UINT64_MAX, 10, 3);
	text_digits(&text, 0xabc, 16, 5);
	text_digits(&text, 7, 10, 3);
	CHECK_TEXT(text.data, "018446744073709551615  abc  7");
	text_free(&text);
}
