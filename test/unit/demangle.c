/* SPDX-License-Identifier: MIT */
/*
 * Readable names.  What is expected is written down from the ABIs: Itanium C++
 * (5.1), rustc's legacy scheme, Rust RFC 2603, and D's specification of mangling.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sym/demangle.h"
#include "test/unit/unit.h"

/* ------------------------------------------------------------- suffixes */

static void check_stem(const char *name, const char *want)
{
	char stem[200];

	snprintf(stem, sizeof(stem), "%.*s", (int)demangle_stem(name), name);
	CHECK_TEXT(stem, want);
}

TEST(demangle_stem_clones)
{
	check_stem("f", "f");
	check_stem("f.cold", "f");
	check_stem("f.cold.12", "f");
	check_stem("f.part.0", "f");
	check_stem("f.isra.0.part.1.constprop.2.cold", "f");
	check_stem("f.lto_priv.0", "f");
	check_stem("f.llvm.12345678901234567890", "f");
	check_stem("_ZN1aEv.part.0@plt", "_ZN1aEv");
	check_stem("f@@V_2", "f");
}

TEST(demangle_stem_others)
{
	check_stem("", "");
	check_stem("f.", "f.");
	check_stem(".", ".");
	check_stem("f.0", "f.0");
	check_stem("f.12.34", "f.12.34");
	check_stem("f.colder", "f.colder");
	check_stem("f.xcold", "f.xcold");
	check_stem("fcold", "fcold");
	check_stem("cold", "cold");
	check_stem("part.0", "part.0");
	check_stem("f._omp_fn.0", "f._omp_fn.0");
	check_stem("main.main.func1", "main.main.func1");
	check_stem("f.cold.x", "f.cold.x");
	check_stem(".cold", "");
	check_stem("f..cold", "f.");
}

#ifdef PROF_IBERTY

/* ------------------------------------------------------------- languages */

static void check_name(const char *name, const char *want)
{
	size_t length = strlen(name);
	struct text text = { 0 };

	/* Of no byte behind the name is anything known. */
	name = (const char *)unit_fenced(name, length + 1).data;
	text_add(&text, "<", 1);
	if (demangle(&text, name) != !!want)
		unit_fail(__FILE__, __LINE__, "\"%s\": \"%s\"", name,
			  text.data);
	CHECK_TEXT(text.data + 1, want ? want : "");
	text_free(&text);
}

TEST(demangle_cplusplus)
{
	check_name("_Z1fv", "f()");
	check_name("_ZN2ns1fEi", "ns::f(int)");
	check_name("_ZNK2ns1A3getEPKcRS0_OS0_", "ns::A::get(char const*, "
		   "ns::A&, ns::A&&) const");
	check_name("_ZN1AC2Ev", "A::A()");
	check_name("_ZN1AD0Ev", "A::~A()");
	check_name("_ZN1AplERKS_", "A::operator+(A const&)");
	check_name("_ZN1AcvbEv", "A::operator bool()");
	check_name("_Z3maxIiET_S0_S0_", "int max<int>(int, int)");
	check_name("_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f()");
	check_name("_ZZ4mainENKUlvE_clEv",
		   "main::{lambda()#1}::operator()() const");
	check_name("_ZTV1A", "vtable for A");
	check_name("_ZThn16_N1A1fEv", "non-virtual thunk to A::f()");
	check_name("_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, "
		   "std::allocator<int> >::push_back(int&&)");
	check_name("_ZN1f1gB5cxx11Ev", "f::g[abi:cxx11]()");
}

TEST(demangle_clones)
{
	check_name("_ZN2ns1fEi.cold", "ns::f(int)");
	check_name("_ZN2ns1fEi.part.0.isra.0", "ns::f(int)");
	check_name("_ZN2ns1fEi.constprop.1.cold@plt", "ns::f(int)@plt");
	check_name("_ZN2ns1fEi@@V_1.2", "ns::f(int)@@V_1.2");
	check_name("_Z1fv._omp_fn.0", "f() [clone ._omp_fn.0]");
}

TEST(demangle_rust_legacy)
{
	check_name("_ZN3foo3bar17h0123456789abcdefE", "foo::bar");
	check_name("_ZN3foo3bar17h0123456789abcdefE.llvm.1234", "foo::bar");
	check_name("_ZN52_$LT$$RF$T$u20$as$u20$core..fmt..Display$GT$3fmt"
		   "17h0123456789abcdefE", NULL);	/* 52 is too long */
	check_name("_ZN44_$LT$$RF$T$u20$as$u20$core..fmt..Display$GT$3fmt"
		   "17h0123456789abcdefE", "<&T as core::fmt::Display>::fmt");
	check_name("_ZN3foo28_$u7b$$u7b$closure$u7d$$u7d$"
		   "17h0123456789abcdefE", "foo::{{closure}}");
	/* Not a hash, so C++. */
	check_name("_ZN3foo17h0123E", NULL);
	check_name("_ZN3foo17h1111111111111111E", "foo::h1111111111111111");
}

TEST(demangle_rust_v0)
{
	check_name("_RNvC6mycrat3foo", "mycrat::foo");
	check_name("_RNvCs4fqI2P2rA04_6mycrat3foo", "mycrat::foo");
	check_name("_RNCNvC6mycrat3foo0", "mycrat::foo::{closure#0}");
	check_name("_RINvC6mycrat3foomE", "mycrat::foo::<u32>");
	check_name("_RNvMC6mycratNtB2_1A3get", "<mycrat::A>::get");
	check_name("_RNvXC1aNtB2_1ANtC4core5Clone5clone",
		   "<a::A as core::Clone>::clone");
}

TEST(demangle_d)
{
	check_name("_Dmain", "D main");
	check_name("_D2ns1fFiZv", "ns.f(int)");
	check_name("_D2ns1fFiZv.part.0", "ns.f(int)");
	check_name("_D8demangle__T2fnVAiA4i1i2i3i4Z1fMFZv",
		   "demangle.fn!([1, 2, 3, 4]).f()");
}

TEST(demangle_none)
{
	static const char *const names[] = {
		"", "_", "_Z", "_ZN", "_R", "_D", "main", "f.cold", "Z1fv",
		"_ZZ", "_Z1", "_Z9f", "_Z1f", "_GLOBAL_OFFSET_TABLE_",
		"_RNvC", "_RNvC1aX", "_Dfoo", "_D4f", ".cold", "_Z.cold",
		"_ZN3fooE_", "_R0", "__Z1fv", "_Z1f\x80", "_DYNAMIC", "_Exit",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		/* A variable has no parameters. */
		if (!strcmp(names[i], "_Z1f"))
			check_name(names[i], "f");
		else
			check_name(names[i], NULL);
	}
}

/* --------------------------------------------------------------- limits */

/* `count` times `part` after `name`. */
static char *repeat(const char *name, const char *part, size_t count,
		    const char *end)
{
	struct text text = { 0 };

	text_add(&text, name, strlen(name));
	while (count--)
		text_add(&text, part, strlen(part));
	text_add(&text, end, strlen(end));
	return text.data;
}

/* Substitution number `n`, from 1, in base 36: S0_, ... SZ_, S10_, ... */
static void put_substitution(struct text *text, unsigned int n)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	if (--n < 36)
		text_format(text, "S%c_", digits[n]);
	else
		text_format(text, "S%c%c_", digits[n / 36], digits[n % 36]);
}

/*
 * Types of which each has the one before twice, or the one before that: two
 * substitutions come with a step.  `end` follows, with the last one put in.
 */
static char *doubling(const char *begin, unsigned int steps, const char *end)
{
	struct text text = { 0 };

	text_format(&text, "%s1A1BIS_S_E", begin);
	for (unsigned int i = 2; i < steps; i++) {
		text_format(&text, "S0_I");
		put_substitution(&text, i);
		put_substitution(&text, i);
		text_format(&text, "E");
	}
	text_format(&text, "%s", end);
	if (*end) {
		put_substitution(&text, steps);
		text_format(&text, "v");
	}
	return text.data;
}

/* It ends, soon, with this much, or NULL for nothing. */
static size_t check_ends(char *name, bool readable)
{
	struct text text = { 0 };
	clock_t begin = clock();
	size_t length;

	CHECK(demangle(&text, name) == readable);
	CHECK((clock() - begin) / (CLOCKS_PER_SEC / 10) < 5);
	length = text.length;
	CHECK(!length == !readable && length <= DEMANGLE_MOST + 3);
	text_free(&text);
	free(name);
	return length;
}

TEST(demangle_cuts_long_ones)
{
	struct text text = { 0 };
	char *name = doubling("_Z1f", 30, "");

	CHECK(demangle(&text, name));
	CHECK_U64(text.length, DEMANGLE_MOST + 3);
	CHECK(!strncmp(text.data, "f(A, B<A, A>, B<B<A, A>, B<A, A> >", 34));
	CHECK_TEXT(text.data + DEMANGLE_MOST, "...");
	text_free(&text);
	free(name);
	/* Below, nothing is cut. */
	CHECK(check_ends(doubling("_Z1f", 6, ""), true) < DEMANGLE_MOST);
}

/* 2^35 of them are looked at before the first byte is printed. */
TEST(demangle_ends_silent_ones)
{
	check_ends(doubling("_Z1fI", 70, "EDp"), false);
	check_ends(repeat("_ZN1Acv", "T_I", 300, ""), false);
	check_ends(repeat("_ZN1Acv", "T_I", 30, "i"), false);
	CHECK_TEXT(unit_messages(), "");
}

TEST(demangle_deep_ones)
{
	static const char *const cplusplus[] = {
		"P", "R", "FP", "A_", "N1a", "1aI", "I", "J", "X", "Z", "M1a",
		"cl", "Dp", "U1a", "Xcv", "LZ1f", "DTcl",
	};
	static const char *const rust[] = {
		"N", "Nv", "I", "M", "X", "T", "S", "R", "F", "D", "INvC1a1b",
	};
	static const char *const d[] = {
		"A", "P", "G1", "HA", "F", "DF", "B1", "x", "S", "__T1aT",
		"1aF", "S1aF", "Ng",
	};
	struct text text = { 0 };

	for (size_t i = 0; i < sizeof(cplusplus) / sizeof(*cplusplus); i++) {
		char *name = repeat("_Z1f", cplusplus[i],
				    1019 / strlen(cplusplus[i]), "");

		demangle(&text, name);
		free(name);
	}
	for (size_t i = 0; i < sizeof(rust) / sizeof(*rust); i++) {
		char *name = repeat("_RINvC1a1f", rust[i],
				    2038 / strlen(rust[i]), "");

		demangle(&text, name);
		free(name);
	}
	for (size_t i = 0; i < sizeof(d) / sizeof(*d); i++) {
		char *name = repeat("_D1fF", d[i], 2043 / strlen(d[i]), "");

		demangle(&text, name);
		free(name);
	}
	text_free(&text);
}

/* Rust's back references: a tuple of the tuple before, twice. */
TEST(demangle_rust_doubling)
{
	struct text text = { 0 };
	unsigned int at = strlen("INvC1a1f");

	text_format(&text, "_RINvC1a1fTuuE");
	for (int i = 0; i < 40; i++) {
		/* Base 62: `_` is 0, `0_` is 1. */
		static const char digits[] = "0123456789abcdefghijklmnopqrst"
			"uvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
		unsigned int next = (unsigned int)text.length - 2, n = at - 1;
		char reference[8];

		if (n < 62)
			snprintf(reference, sizeof(reference), "B%c_",
				 digits[n]);
		else
			snprintf(reference, sizeof(reference), "B%c%c_",
				 digits[n / 62], digits[n % 62]);
		text_format(&text, "T%s%sE", reference, reference);
		at = next;
	}
	text_format(&text, "E");
	CHECK_U64(check_ends(text.data, true), DEMANGLE_MOST + 3);
}

TEST(demangle_long_input)
{
	/* libiberty takes no more than 1024 bytes of C++. */
	check_ends(repeat("_Z1f", "i", 1020, ""), true);
	check_ends(repeat("_Z1f", "i", 1021, ""), false);
	check_ends(repeat("_RNvC1a2000", "a", 2000, ""), true);
	check_ends(repeat("_RNvC1a2100", "a", 2100, ""), false);
	check_ends(repeat("_D1f", "3abc", 100000, ""), false);
}

/* A second lost, and no more. */
TEST(demangle_gives_up)
{
	struct text text = { 0 };
	char *name = repeat("_ZN1Acv", "T_I", 300, "");

	for (int i = 0; i < 100; i++) {
		check_name("_Z1fv", "f()");
		CHECK(!demangle(&text, name));
	}
	CHECK(strstr(unit_messages(), "took too long"));
	check_name("_Z1fv", NULL);
	CHECK(!demangle(&text, name));
	CHECK_TEXT(unit_messages(), "");
	free(name);
}

#else

TEST(demangle_not_built_in)
{
	struct text text = { 0 };

	CHECK(!demangle(&text, "_Z1fv") && !text.length);
}

#endif
