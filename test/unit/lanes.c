/* SPDX-License-Identifier: MIT */
/*
 * The hash of stacks, compiled for this machine: that it mixes, that it does
 * not collide by chance, and that nobody can make it collide on purpose.
 */
#include <stdlib.h>
#include <string.h>

#include "bpf/lanes.h"
#include "bpf_prog.h"
#include "lib/memory.h"
#include "test/unit/unit.h"

static struct seeds new_seeds(uint64_t *random)
{
	struct seeds seeds = { .start = unit_random(random) };

	for (int i = 0; i < 3; i++)
		seeds.multiply[i] = unit_random(random) | 1;
	return seeds;
}

/* As bpf_prog.c does it: whole chunks of eight, the rest is zero. */
static struct lanes hash(const struct seeds *seeds, uint64_t kind,
			 const uint64_t *words, size_t depth)
{
	struct lanes lanes;

	lanes_start(&lanes, seeds, kind | depth);
	for (size_t i = 0; i < depth; i += 8)
		for (size_t j = i; j < i + 8; j++)
			lanes_add(&lanes, seeds, words[j]);
	return (struct lanes){ lanes_end(lanes.a), lanes_end(lanes.b) };
}

/*
 * Each bit of each word flips each bit of each lane in about half of all
 * draws of the seeds: of 1000 draws 500, with a standard deviation of 16.
 */
TEST(lanes_avalanche)
{
	enum { DRAWS = 1000, WORDS = 8 };
	static unsigned int flips[2][WORDS * 64][64];
	uint64_t random = 7;

	for (int draw = 0; draw < DRAWS; draw++) {
		struct seeds seeds = new_seeds(&random);
		uint64_t words[WORDS];
		struct lanes plain;

		for (size_t i = 0; i < WORDS; i++)
			words[i] = 0xffffffff81000000 +
				   unit_random(&random) % 0x1000000;
		plain = hash(&seeds, 0x100, words, WORDS);
		for (size_t in = 0; in < WORDS * 64; in++) {
			struct lanes other;

			words[in / 64] ^= 1ull << in % 64;
			other = hash(&seeds, 0x100, words, WORDS);
			words[in / 64] ^= 1ull << in % 64;
			for (size_t out = 0; out < 64; out++) {
				flips[0][in][out] +=
					(plain.a ^ other.a) >> out & 1;
				flips[1][in][out] +=
					(plain.b ^ other.b) >> out & 1;
			}
		}
	}
	for (size_t lane = 0; lane < 2; lane++)
		for (size_t in = 0; in < WORDS * 64; in++) {
			unsigned int sum = 0;

			for (size_t out = 0; out < 64; out++) {
				unsigned int n = flips[lane][in][out];

				sum += n;
				if (n < DRAWS * 35 / 100 ||
				    n > DRAWS * 65 / 100)
					unit_fail(__FILE__, __LINE__,
						  "lane %c: word %zu bit %zu "
						  "flips bit %zu %u times",
						  lane ? 'b' : 'a', in / 64,
						  in % 64, out, n);
			}
			if (sum < DRAWS * 64 * 45 / 100 ||
			    sum > DRAWS * 64 * 55 / 100)
				unit_fail(__FILE__, __LINE__, "lane %c: word "
					  "%zu bit %zu flips %.1f bits",
					  lane ? 'b' : 'a', in / 64, in % 64,
					  (double)sum / DRAWS);
		}
}

/*
 * As real ones are: all alike but for a word or two.  The quotient of number
 * and 1448 is in one word and the remainder in another: no two are the same.
 */
static void similar_stack(uint64_t *words, size_t depth, size_t number)
{
	uint64_t random = 8;

	for (size_t i = 0; i < 32; i++) {
		uint64_t bits = unit_random(&random);

		words[i] = i < depth ? 0xffffffff81000000 + bits % 0x1000000 :
			   0;
	}
	words[number % 3] += number / 1448 * 4;
	words[depth - 1 - number % 5] += number % 1448 * 16 + 16;
}

static void check_no_doubles(uint64_t *lane, size_t count)
{
	qsort(lane, count, sizeof(*lane), cmp_u64);
	for (size_t i = 1; i < count; i++)
		if (lane[i] == lane[i - 1])
			unit_fail(__FILE__, __LINE__, "two stacks have 0x%llx",
				  (unsigned long long)lane[i]);
}

TEST(lanes_no_collision_in_2_million)
{
	enum { COUNT = 2000000 };
	uint64_t *a = malloc(COUNT * sizeof(*a)), random = 9;
	uint64_t *b = malloc(COUNT * sizeof(*b));
	struct seeds seeds = new_seeds(&random);

	CHECK(a && b);
	for (size_t i = 0; i < COUNT; i++) {
		uint64_t words[32];
		struct lanes lanes;

		similar_stack(words, 24, i);
		lanes = hash(&seeds, 0x100, words, 24);
		a[i] = lanes.a;
		b[i] = lanes.b;
	}
	check_no_doubles(a, COUNT);
	check_no_doubles(b, COUNT);
	free(a);
	free(b);
}

/* Pairs of equal neighbours of a sorted array. */
static size_t equal_pairs(uint64_t *keys, size_t count)
{
	size_t pairs = 0;

	qsort(keys, count, sizeof(*keys), cmp_u64);
	for (size_t i = 1; i < count; i++)
		pairs += keys[i] == keys[i - 1];
	return pairs;
}

/*
 * What is alike in one lane is not in the other: of 400,000 stacks by 16 bits
 * of each lane 19 pairs are expected (n^2 / 2^33), of both as good as one.
 */
TEST(lanes_are_independent)
{
	enum { COUNT = 400000 };
	uint64_t *low = malloc(COUNT * sizeof(*low)), random = 19;
	uint64_t *high = malloc(COUNT * sizeof(*high));
	struct seeds seeds = new_seeds(&random);

	CHECK(low && high);
	for (size_t i = 0; i < COUNT; i++) {
		uint64_t words[32];
		struct lanes lanes;

		similar_stack(words, 24, i);
		lanes = hash(&seeds, 0x100, words, 24);
		low[i] = (lanes.a & 0xffff) << 16 | (lanes.b & 0xffff);
		high[i] = lanes.a >> 48 << 16 | lanes.b >> 48;
	}
	CHECK(equal_pairs(low, COUNT) < 60);
	CHECK(equal_pairs(high, COUNT) < 60);
	free(low);
	free(high);
}

/* ----------------------------------------------------------- on purpose */

static uint64_t rotate(uint64_t x, unsigned int by)
{
	return by ? x << by | x >> (64 - by) : x;
}

/* h = (h ^ x) * odd; h ^= h >> shift: what this attack is made for. */
static uint64_t weak_hash(const struct seeds *seeds, unsigned int shift,
			  const uint64_t *words)
{
	uint64_t h = seeds->start;

	for (size_t i = 0; i < 8; i++) {
		h = (h ^ words[i]) * seeds->multiply[0];
		h ^= h >> shift;
	}
	return h;
}

/*
 * The highest bit of word i comes through a multiplication as it is; a shift
 * adds one bit more.  The same two bits of word i + 1 take both away again:
 * the weak hash collides for each seed, and ours must for none.
 */
TEST(lanes_differences_do_not_cancel)
{
	uint64_t random = 10;

	for (int draw = 0; draw < 300; draw++) {
		struct seeds seeds = new_seeds(&random);
		uint64_t words[8];
		struct lanes plain;

		for (size_t i = 0; i < 8; i++)
			words[i] = unit_random(&random);
		plain = hash(&seeds, 0x200, words, 8);
		for (size_t i = 0; i < 7; i++)
			for (unsigned int shift = 1; shift < 64; shift++) {
				uint64_t top = 1ull << 63, weak, other;
				struct lanes lanes;

				weak = weak_hash(&seeds, shift, words);
				words[i] ^= top;
				words[i + 1] ^= top | top >> shift;
				other = weak_hash(&seeds, shift, words);
				lanes = hash(&seeds, 0x200, words, 8);
				words[i] ^= top;
				words[i + 1] ^= top | top >> shift;
				CHECK_U64(other, weak);
				CHECK(lanes.a != plain.a);
				CHECK(lanes.b != plain.b);
			}
	}
}

/* All pairs of one bit in a word and one or two in the next one or two. */
TEST(lanes_few_bits_do_not_cancel)
{
	uint64_t random = 11;

	for (int draw = 0; draw < 8; draw++) {
		struct seeds seeds = new_seeds(&random);
		uint64_t words[8] = { 0 };
		struct lanes plain;

		for (size_t i = 0; i < 8 && draw; i++)
			words[i] = unit_random(&random);
		plain = hash(&seeds, 0x200, words, 8);
		for (unsigned int x = 0; x < 64; x++)
			for (unsigned int y = 0; y < 64; y++)
				for (unsigned int z = 0; z < 65; z++) {
					uint64_t next = 1ull << y;
					struct lanes lanes;

					if (z < 64)
						next |= 1ull << z;
					words[2] ^= 1ull << x;
					words[3] ^= next;
					lanes = hash(&seeds, 0x200, words, 8);
					words[2] ^= 1ull << x;
					words[3] ^= next;
					CHECK(lanes.a != plain.a);
					CHECK(lanes.b != plain.b);
				}
	}
}

/*
 * The byte swap brings the top bit down to bit 7: flipping it, or rotations
 * of what a byte swap would make of it, must not cancel it either.
 */
TEST(lanes_swapped_bits_do_not_cancel)
{
	uint64_t random = 12;

	for (int draw = 0; draw < 300; draw++) {
		struct seeds seeds = new_seeds(&random);
		uint64_t words[8];
		struct lanes plain;

		for (size_t i = 0; i < 8; i++)
			words[i] = unit_random(&random);
		plain = hash(&seeds, 0x200, words, 8);
		for (unsigned int bit = 0; bit < 64; bit++)
			for (unsigned int by = 0; by < 64; by++) {
				uint64_t flip = 1ull << bit;
				uint64_t next =
					rotate(__builtin_bswap64(flip), by);
				struct lanes lanes;

				words[0] ^= flip;
				words[1] ^= next;
				lanes = hash(&seeds, 0x200, words, 8);
				words[0] ^= flip;
				words[1] ^= next;
				CHECK(lanes.a != plain.a);
				CHECK(lanes.b != plain.b);
			}
	}
}

/* Words in another order are another stack. */
TEST(lanes_order_matters)
{
	uint64_t random = 13;

	for (int draw = 0; draw < 1000; draw++) {
		struct seeds seeds = new_seeds(&random);
		uint64_t words[16];
		struct lanes plain;

		for (size_t i = 0; i < 16; i++)
			words[i] = unit_random(&random);
		plain = hash(&seeds, 0x100, words, 16);
		for (size_t i = 0; i < 16; i++)
			for (size_t j = 0; j < i; j++) {
				uint64_t keep = words[i];
				struct lanes lanes;

				words[i] = words[j];
				words[j] = keep;
				lanes = hash(&seeds, 0x100, words, 16);
				words[j] = words[i];
				words[i] = keep;
				CHECK(lanes.a != plain.a);
				CHECK(lanes.b != plain.b);
			}
	}
}

/* Zeros at the end: a word of the stack, or only room that is not used. */
TEST(lanes_depth_matters)
{
	uint64_t random = 14, words[STACK_WORDS] = { 0 };

	for (int draw = 0; draw < 50; draw++) {
		struct seeds seeds = new_seeds(&random);
		uint64_t a[2 * STACK_DEPTH], b[2 * STACK_DEPTH];
		size_t count = 0;

		words[0] = draw ? unit_random(&random) : 0;
		for (size_t depth = 1; depth <= STACK_DEPTH; depth++)
			for (uint64_t kind = 0x100; kind <= 0x200;
			     kind += 0x100) {
				struct lanes lanes = hash(&seeds, kind, words,
							  depth);

				a[count] = lanes.a;
				b[count++] = lanes.b;
			}
		check_no_doubles(a, count);
		check_no_doubles(b, count);
	}
}

/*
 * Kind and depth begin the hash.  A first word that differs from another's in
 * just the bits in which these do, with zeros behind, must not undo that.
 */
TEST(lanes_depth_is_not_undone)
{
	uint64_t random = 18;

	for (int draw = 0; draw < 20; draw++) {
		struct seeds seeds = new_seeds(&random);
		uint64_t word = unit_random(&random);

		for (size_t depth = 1; depth <= STACK_DEPTH; depth++)
			for (uint64_t kind = 0x100; kind <= 0x200;
			     kind += 0x100) {
				uint64_t one[STACK_WORDS] = { word };
				uint64_t two[STACK_WORDS] = {
					word ^ (0x100 | 1) ^ (kind | depth),
				};
				struct lanes a, b;

				if (depth == 1 && kind == 0x100)
					continue;
				a = hash(&seeds, 0x100, one, 1);
				b = hash(&seeds, kind, two, depth);
				CHECK(a.a != b.a);
				CHECK(a.b != b.b);
			}
	}
}

/* The seeds decide: the same stack in another run has another key. */
TEST(lanes_seeds_matter)
{
	enum { DRAWS = 10000 };
	static uint64_t a[DRAWS], b[DRAWS];
	uint64_t words[8] = { 1, 2, 3 }, random = 15;

	for (size_t i = 0; i < DRAWS; i++) {
		struct seeds seeds = new_seeds(&random);
		struct lanes lanes = hash(&seeds, 0x100, words, 3);

		a[i] = lanes.a;
		b[i] = lanes.b;
	}
	check_no_doubles(a, DRAWS);
	check_no_doubles(b, DRAWS);
}
