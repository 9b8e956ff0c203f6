/* SPDX-License-Identifier: MIT */
/* Columns: how wide texts are, and what is left of names that are too long. */
#include <string.h>

#include "lib/columns.h"
#include "test/unit/unit.h"

TEST(columns_of_texts)
{
	CHECK_U64(columns_of(""), 0);
	CHECK_U64(columns_of("main"), 4);
	CHECK_U64(columns_of("gr\xc3\xbc\xc3\x9f" "e"), 5);
	CHECK_U64(columns_of("\xe6\xbc\xa2\xe5\xad\x97"), 4);	/* wide */
	CHECK_U64(columns_of("e\xcc\x81"), 1);	/* a mark on it */
	CHECK_U64(columns_of("\xf0\x9f\x98\x80"), 2);
	CHECK_U64(columns_of("\xd1\x84\xd1\x83"), 2);
	/* Not UTF-8: something, and an end. */
	CHECK_U64(columns_of("\xff\xc3" "a\xe2\x82"), 4);
}

TEST(columns_fit_whole_characters)
{
	const char *wide = "\xe6\xbc\xa2\xe5\xad\x97";

	CHECK_U64(columns_fit("main", 9), 4);
	CHECK_U64(columns_fit("main", 2), 2);
	CHECK_U64(columns_fit(wide, 4), 6);
	CHECK_U64(columns_fit(wide, 3), 3);
	CHECK_U64(columns_fit(wide, 1), 0);
	CHECK_U64(columns_fit("e\xcc\x81x", 1), 3);
}

TEST(columns_without_utf8)
{
	struct text text = { 0 };

	columns_ascii(&text, "a\xc3\xbc" "e\xcc\x81\xe6\xbc\xa2z");
	CHECK_TEXT(text.data, "a?e??z");
	text_free(&text);
	columns_ascii(&text, "");
	CHECK_TEXT(text.data, "");
	text_free(&text);
}

static void check_name(const char *name, size_t most, const char *want)
{
	struct text text = { 0 };
	size_t columns = columns_name(&text, name, most, "..");

	CHECK_TEXT(text.data, want);
	CHECK_U64(columns, columns_of(want));
	CHECK(columns <= most);
	text_free(&text);
}

TEST(columns_names_are_shortened)
{
	const char *insert = "std::map<int, foo>::insert(std::pair<int, foo>)";

	check_name(insert, 47, insert);
	check_name(insert, 46, "std::map<int, foo>::insert(..)");
	check_name(insert, 30, "std::map<int, foo>::insert(..)");
	check_name(insert, 29, "std::map<..>::insert(..)");
	check_name(insert, 24, "std::map<..>::insert(..)");
	check_name(insert, 23, "std::map..>::insert(..)");
	check_name("entry_SYSCALL_64_after_hwframe", 20,
		   "entry_S..ter_hwframe");
	check_name("x", 0, "");
	check_name("long_name", 3, "lon");
	check_name("long_name", 5, "l..me");
}

TEST(columns_operators_are_no_brackets)
{
	check_name("ns::operator<<(std::ostream&, std::string const&)", 30,
		   "ns::operator<<(..)");
	check_name("ns::operator()(int, long, long long, char)", 30,
		   "ns::operator()(..)");
	check_name("ns::operator->(int, long, long long, char)", 30,
		   "ns::operator->(..)");
	check_name("ns::operator< <std::pair<int, int> >(int, int)", 30,
		   "ns::operator< <..>(..)");
	/* Brackets that are never closed are a name's own business. */
	check_name("a<b<c(d((e", 8, "a<..d((e");
	check_name(")))>>>)))>>>", 8, "))..)>>>");
}

/* Whatever a name is, it fits, and is as wide as was told. */
TEST(columns_names_always_fit)
{
	static const char *const parts[] = {
		"<", ">", "(", ")", "operator", "->", "a", "\xe6\xbc\xa2",
		"\xcc\x81", "\xf0\x9f\x98\x80", "::", "\xff", "[", "~",
	};
	uint64_t state = 7;

	for (int i = 0; i < 20000; i++) {
		struct text name = { 0 }, cut = { 0 };
		size_t most = unit_random(&state) % 24, columns;

		text_add(&name, "", 0);
		for (uint64_t n = unit_random(&state) % 20; n--;) {
			const char *part = parts[unit_random(&state) % 14];

			text_add(&name, part, strlen(part));
		}
		text_add(&cut, "", 0);
		columns = columns_name(&cut, name.data, most,
				       i & 1 ? ".." : "\xe2\x80\xa6");
		CHECK(columns <= most);
		CHECK_U64(columns_of(cut.data), columns);
		if (columns_of(name.data) <= most)
			CHECK_TEXT(cut.data, name.data);
		text_free(&name);
		text_free(&cut);
	}
}
