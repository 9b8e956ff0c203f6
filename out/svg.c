/* SPDX-License-Identifier: MIT */
/*
 * svg: a flame graph that needs no script: SVG 1.1.
 *
 *	host: ...                 what was sampled, and the colours
 *	┌─────────────────────┐   all
 *	├─────────┬───┬───────┘
 *	├──┬───┬──┤   │           a box a node, as wide as its share; children
 *	└──┤   ├──┴───┘           hang on their parent, by name
 *	   └───┘
 *	n frames are too narrow   below NARROW of a pixel: not drawn, but counted
 *
 * Each box has a title, which browsers show when it is pointed at.  Colours are
 * classes, so that one file is light here and dark there.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "lib/text.h"
#include "out/svg.h"
#include "out/tree.h"

/* page/embed.S */
extern const char page_svg_style[];
extern const uint64_t page_svg_style_size;

enum {
	WIDTH = 1200, MARGIN = 10, ROW = 18,
	HEAD = 86, FOOT = 34,
	SHADES = 4,
};

static const double INNER = WIDTH - 2 * MARGIN;
static const double NARROW = 0.6;
static const double COLUMN = 7.24;	/* of a monospaced font of 12 px */

/* Behind those of the tree: of a node whose samples are all idle. */
enum { KIND_IDLE = TREE_KINDS, KINDS };

struct picture {
	const struct profile *profile;
	const struct meta *meta;
	struct tree tree;
	struct text text;	/* what is not yet in the file */
	struct file_out *out;
	uint64_t drawn, narrow;
	bool kinds[KINDS];		/* that there is a box of it */
	uint32_t deepest;		/* of what is drawn */
};

static void flush(struct picture *picture)
{
	file_out_write(picture->out, picture->text.data, picture->text.length);
	picture->text.length = 0;
}

static void add(struct text *text, const char *words)
{
	text_add(text, words, strlen(words));
}

/* printf(3) takes half of the time of a picture; this is a tenth of it. */
static void add_number(struct text *text, uint64_t number)
{
	char digits[24];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	text_add(text, digits + at, sizeof(digits) - at);
}

/* Of a number above 0 as many digits behind the point as `scale` has zeros. */
static void add_decimal(struct text *text, double number, unsigned int scale)
{
	uint64_t scaled = (uint64_t)(number * scale + 0.5);

	add_number(text, scaled / scale);
	add(text, ".");
	while (scale /= 10)
		text_add(text, &"0123456789"[scaled / scale % 10], 1);
}

static void add_xml(struct text *text, const char *words)
{
	const char *from = words;

	for (; *words; words++) {
		const char *other = *words == '&' ? "&amp;" :
				    *words == '<' ? "&lt;" :
				    *words == '>' ? "&gt;" :
				    *words == '"' ? "&quot;" :
				    (unsigned char)*words < 0x20 ? "?" : NULL;

		if (!other)
			continue;
		text_add(text, from, (size_t)(words - from));
		text_add(text, other, strlen(other));
		from = words + 1;
	}
	text_add(text, from, (size_t)(words - from));
}

/* How many columns the character at `s` takes, and how many bytes. */
static unsigned int columns_of(const char *s, size_t *bytes)
{
	const unsigned char *u = (const unsigned char *)s;

	*bytes = *u < 0x80 ? 1 : *u < 0xe0 ? 2 : *u < 0xf0 ? 3 : 4;
	for (size_t i = 1; i < *bytes; i++)
		if ((u[i] & 0xc0) != 0x80)
			*bytes = i;
	/* From U+1100 on they can be as wide as two: then those fit, too. */
	return *u > 0xe1 || (*u == 0xe1 && u[1] >= 0x84) ? 2 : 1;
}

/* Of `name` what fits into so many columns, an ellipsis for the rest. */
static void add_cut(struct text *text, const char *name, unsigned int columns)
{
	size_t length = 0, kept = 0, bytes;
	unsigned int used = 0;
	char *part;

	while (name[length] && used <= columns) {
		used += columns_of(name + length, &bytes);
		length += bytes;
		if (used < columns)
			kept = length;
	}
	if (used <= columns) {
		add_xml(text, name);
		return;
	}
	part = memory_text(name, kept);
	add_xml(text, part);
	text_add(text, "\xe2\x80\xa6", 3);
	free(part);
}

/* ---------------------------------------------------------------- the nodes */

static const char *const kind_names[KINDS] = {
	[TREE_USER] = "user", [TREE_UNNAMED] = "user, no name",
	[TREE_KERNEL] = "kernel", [TREE_MODULE] = "kernel module",
	[TREE_JIT] = "JIT", [TREE_NOTE] = "note", [TREE_THREAD] = "thread",
	[KIND_IDLE] = "idle",
};

static unsigned int kind_of(const struct tree *tree, size_t i)
{
	const struct tree_node *node = &tree->nodes[i];

	if (node->samples && node->idle == node->samples)
		return KIND_IDLE;
	return i ? tree->labels[node->label].kind : TREE_THREAD;
}

/* The same name has the same shade in every picture. */
static unsigned int shade_of(const char *name)
{
	uint32_t hash = 0;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x01000193;
	return (hash ^ hash >> 15) % SHADES;
}

static double share_of(const struct picture *picture, uint64_t samples)
{
	uint64_t all = picture->tree.nodes[0].samples;

	return all ? (double)samples / (double)all : 0;
}

/* Which nodes are drawn, how high that is, and of which kinds they are. */
static bool *choose(struct picture *picture)
{
	struct tree *tree = &picture->tree;
	bool *drawn = memory_new(tree->node_count, sizeof(*drawn));

	for (size_t i = 0; i < tree->node_count; i++) {
		const struct tree_node *node = &tree->nodes[i];

		drawn[i] = !i || share_of(picture, node->samples) * INNER >=
				 NARROW;
		picture->drawn += drawn[i];
		picture->kinds[kind_of(tree, i)] |= drawn[i];
		picture->narrow += !drawn[i] && node->samples;
		if (drawn[i] && node->depth > picture->deepest)
			picture->deepest = node->depth;
	}
	return drawn;
}

/* "123 samples", or of what else was counted. */
static void add_amount(struct picture *picture, uint64_t samples)
{
	const struct meta *meta = picture->meta;

	add_number(&picture->text, samples);
	add(&picture->text, " ");
	if (meta->unit && strcmp(meta->unit, "count"))
		add_xml(&picture->text, meta->unit);
	else
		add_xml(&picture->text, meta->type && samples != 1 ?
			meta->type : samples == 1 ? "sample" : "samples");
}

static void add_title(struct picture *picture, size_t i, const char *name,
		      unsigned int kind)
{
	const struct tree *tree = &picture->tree;
	const struct tree_node *node = &tree->nodes[i];
	const struct profile *profile = picture->profile;
	struct text *text = &picture->text;
	const char *path = !i ? "" : profile->names.text[
		profile->images[tree->labels[node->label].image].path];

	add(text, "<title>");
	add_xml(text, name);
	add(text, "\n");
	add_decimal(text, 100 * share_of(picture, node->samples), 100);
	add(text, " %, ");
	add_amount(picture, node->samples);
	if (node->self) {
		add(text, "; ");
		add_decimal(text, 100 * share_of(picture, node->self), 100);
		add(text, " % in itself");
	}
	if (i) {
		add(text, "\n");
		add(text, kind_names[kind]);
	}
	if (*path) {
		add(text, " \xc2\xb7 ");
		add_xml(text, path);
	}
	add(text, "</title>");
}

static void add_box(struct text *text, unsigned int kind, unsigned int shade,
		    double left, double width, unsigned int y)
{
	char class[] = { (char)('0' + kind), (char)('0' + shade), '\0' };

	add(text, "<rect class=\"k");
	add(text, class);
	add(text, "\" x=\"");
	add_decimal(text, left, 10);
	add(text, "\" y=\"");
	add_number(text, y);
	add(text, "\" width=\"");
	add_decimal(text, width, 10);
	add(text, "\" height=\"17\"/>");
}

static void draw_node(struct picture *picture, size_t i, double left)
{
	const struct tree *tree = &picture->tree;
	const struct tree_node *node = &tree->nodes[i];
	const char *name = i ? picture->profile->names.text[
		tree->labels[node->label].name] : "all";
	double width = INNER * (i ? share_of(picture, node->samples) : 1);
	unsigned int kind = kind_of(tree, i);
	unsigned int y = HEAD + node->depth * ROW;
	struct text *text = &picture->text;
	double columns = (width - 8) / COLUMN;

	add(text, "<g>");
	add_title(picture, i, name, kind);
	add_box(text, kind, shade_of(name), left,
		width > 2 ? width - 1 : width, y);
	if (columns >= 3) {
		add(text, "<text x=\"");
		add_decimal(text, left + 4, 10);
		add(text, "\" y=\"");
		add_number(text, y + 13);
		add(text, "\">");
		add_cut(text, name, (unsigned int)columns);
		add(text, "</text>");
	}
	add(text, "</g>\n");
	if (text->length > 65536)
		flush(picture);
}

/* A node begins where the one before it on its level ends, or its parent does. */
static void draw_nodes(struct picture *picture, const bool *drawn)
{
	const struct tree *tree = &picture->tree;
	uint64_t *left = memory_new(tree->node_count + 1, sizeof(*left));

	for (size_t i = 0; i < tree->node_count; i++) {
		const struct tree_node *node = &tree->nodes[i];
		uint64_t from = left[node->depth];

		if (drawn[i])
			draw_node(picture, i,
				  MARGIN + share_of(picture, from) * INNER);
		left[node->depth] += node->samples;
		left[node->depth + 1] = from;
	}
	free(left);
}

/* ------------------------------------------------------------ what is around */

static void add_facts(struct picture *picture)
{
	const struct meta *meta = picture->meta;
	const struct profile *profile = picture->profile;
	struct text *text = &picture->text;

	if (meta->duration)
		text_format(text, "%.1f s, ", (double)meta->duration / 1e9);
	if (meta->cpus)
		text_format(text, "%zu CPU%s, ", meta->cpus,
			    meta->cpus == 1 ? "" : "s");
	if (meta->hz)
		text_format(text, "%" PRIu64 " Hz, ", meta->hz);
	add_amount(picture, picture->tree.nodes[0].samples);
	if (profile->total && profile->by_mode[MODE_IDLE])
		text_format(text, ", %.1f %% busy", 100 -
			    100 * share_of(picture,
					   profile->by_mode[MODE_IDLE]));
	if (meta->kernel) {
		text_format(text, ", ");
		add_xml(text, meta->kernel);
	}
}

static void draw_legend(struct picture *picture)
{
	static const unsigned int order[] = {
		TREE_USER, TREE_UNNAMED, TREE_JIT, TREE_KERNEL, TREE_MODULE,
		TREE_NOTE, TREE_THREAD, KIND_IDLE,
	};
	struct text *text = &picture->text;
	double x = MARGIN;

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		const char *name = kind_names[order[i]];

		if (!picture->kinds[order[i]])
			continue;
		text_format(text, "<rect class=\"k%u1\" x=\"%.0f\" y=\"61\" "
			    "width=\"11\" height=\"11\" rx=\"3\"/>"
			    "<text class=\"note soft\" x=\"%.0f\" y=\"71\">%s"
			    "</text>\n", order[i], x, x + 17, name);
		x += 17 + 7.2 * (double)strlen(name) + 18;
	}
}

static void draw_head(struct picture *picture)
{
	const struct meta *meta = picture->meta;
	struct text *text = &picture->text;
	unsigned int height = HEAD + (picture->deepest + 1) * ROW + FOOT;
	const char *title = meta->source ? meta->source :
			    meta->host && *meta->host ? meta->host : "prof";

	text_format(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" "
		    "width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\">\n"
		    "<title>", WIDTH, height, WIDTH, height);
	add_xml(text, title);
	text_format(text, "</title>\n<style>\n");
	text_add(text, page_svg_style, (size_t)page_svg_style_size);
	text_format(text, "</style>\n<rect class=\"paper\" width=\"%d\" "
		    "height=\"%u\"/>\n<text class=\"head\" x=\"%d\" y=\"28\">",
		    WIDTH, height, MARGIN);
	add_cut(text, title, 100);
	text_format(text, "</text>\n<text class=\"note soft\" x=\"%d\" "
		    "y=\"48\">", MARGIN);
	add_facts(picture);
	text_format(text, "</text>\n");
	draw_legend(picture);
}

static void draw_foot(struct picture *picture)
{
	struct text *text = &picture->text;

	text_format(text, "<text class=\"note soft\" x=\"%d\" y=\"%u\">"
		    "%" PRIu64 " frames", MARGIN,
		    HEAD + (picture->deepest + 1) * ROW + 20, picture->drawn);
	if (picture->narrow)
		text_format(text, "; %" PRIu64 " more are too narrow to be "
			    "seen (below %.2f %%)", picture->narrow,
			    100 * NARROW / INNER);
	text_format(text, "</text>\n</svg>\n");
	flush(picture);
}

void out_svg(const struct profile *profile, const struct meta *meta,
	     struct file_out *out)
{
	struct picture picture = {
		.profile = profile, .meta = meta, .out = out,
	};
	bool *drawn;

	tree_build(&picture.tree, profile, false);
	drawn = choose(&picture);
	draw_head(&picture);
	draw_nodes(&picture, drawn);
	draw_foot(&picture);
	free(drawn);
	text_free(&picture.text);
	tree_free(&picture.tree);
}
