/* SPDX-License-Identifier: MIT */
/*
 * summary: adds up what a report tells.
 *
 *	stacks ── tree ──> self and total of nodes
 *	       ─────────── self and total of functions: the nodes of one label; in
 *			   total a node below another one of its label does not
 *			   count again (recursion)
 *	       ─────────── processes; small ones are added up by name, as a build
 *			   has thousands
 */
#include <stdlib.h>
#include <string.h>

#include "lib/index.h"
#include "lib/memory.h"
#include "out/summary.h"

/* A process is one of its own from this share on. */
static const double PROCESS_SHARE = 0.02;

static void add(struct amount *sum, struct amount more)
{
	sum->now += more.now;
	sum->before += more.before;
}

static bool is_any(struct amount amount)
{
	return amount.now || amount.before;
}

double summary_share(const struct summary *summary, struct amount amount)
{
	return summary->busy.now ?
	       (double)amount.now / (double)summary->busy.now : 0;
}

double summary_share_before(const struct summary *summary,
			    struct amount amount)
{
	return summary->busy.before ?
	       (double)amount.before / (double)summary->busy.before : 0;
}

double summary_change(const struct summary *summary, struct amount amount)
{
	return summary_share(summary, amount) -
	       summary_share_before(summary, amount);
}

/* -------------------------------------------------------------------- nodes */

static struct amount amount_of(const struct profile_stack *stack)
{
	return (struct amount){ stack->samples, stack->before };
}

static void count_nodes(struct summary *summary)
{
	const struct profile *profile = summary->profile;
	const struct tree *tree = &summary->tree;

	summary->self = memory_new(tree->node_count, sizeof(*summary->self));
	summary->total = memory_new(tree->node_count, sizeof(*summary->total));
	for (size_t i = 0; i < profile->stack_count; i++) {
		struct amount amount = amount_of(&profile->stacks[i]);

		if (profile->stacks[i].mode == MODE_IDLE)
			add(&summary->idle, amount);
		else
			add(&summary->self[tree->leaf_of[i]], amount);
	}
	for (size_t i = tree->node_count; i-- > 0;) {
		add(&summary->total[i], summary->self[i]);
		if (i)
			add(&summary->total[tree->nodes[i].parent],
			    summary->total[i]);
	}
	summary->busy = summary->total[0];
}

/* ---------------------------------------------------------------- functions */

/* Nodes come each before its children, so the way to one is always at hand. */
static void count_labels(const struct summary *summary, struct amount *self,
			 struct amount *total)
{
	const struct tree *tree = &summary->tree;
	uint32_t *way = memory_new(tree->node_count + 1, sizeof(*way));
	uint32_t *on_way = memory_new(tree->label_count, sizeof(*on_way));
	uint32_t depth = 0;	/* of the node before; the root is not on it */

	for (size_t i = 1; i < tree->node_count; i++) {
		const struct tree_node *node = &tree->nodes[i];

		for (; depth >= node->depth; depth--)
			on_way[way[depth]]--;
		depth = node->depth;
		way[depth] = node->label;
		add(&self[node->label], summary->self[i]);
		if (!on_way[node->label]++)
			add(&total[node->label], summary->total[i]);
	}
	free(on_way);
	free(way);
}

static void find_functions(struct summary *summary)
{
	const struct profile *profile = summary->profile;
	const struct tree *tree = &summary->tree;
	struct amount *self = memory_new(tree->label_count, sizeof(*self));
	struct amount *total = memory_new(tree->label_count, sizeof(*total));

	count_labels(summary, self, total);
	summary->functions = memory_new(tree->label_count,
					sizeof(*summary->functions));
	for (size_t i = 0; i < tree->label_count; i++) {
		const struct tree_label *label = &tree->labels[i];

		if (!is_any(self[i]))
			continue;
		summary->functions[summary->function_count++] =
			(struct summary_function){
				profile->names.text[label->name],
				profile->names.text[
					profile->images[label->image].name],
				label->kind, self[i], total[i],
			};
	}
	free(self);
	free(total);
}

static int cmp_amount(struct amount x, struct amount y)
{
	if (x.now != y.now)
		return x.now > y.now ? -1 : 1;
	if (x.before != y.before)
		return x.before > y.before ? -1 : 1;
	return 0;
}

static int cmp_function(const void *a, const void *b)
{
	const struct summary_function *x = a, *y = b;
	int order = cmp_amount(x->self, y->self);

	if (!order)
		order = cmp_amount(x->total, y->total);
	if (!order)
		order = strcmp(x->name, y->name);
	if (!order)
		order = strcmp(x->image, y->image);
	return order ? order : (x->kind > y->kind) - (x->kind < y->kind);
}

/* ---------------------------------------------------------------- processes */

/* What makes processes one row: while they are gathered, and in the end. */
struct row_key {
	uint32_t tgid, comm;	/* one of them is 0 */
	uint32_t idle;
};

struct row {
	struct row_key key;
	uint32_t comm;
	bool is_main;		/* comm is that of the first thread */
	uint64_t most;		/* samples of whom it is of, else */
	uint32_t count;
	uint32_t tgid;		/* of the last one that was added */
	struct amount samples;
};

struct rows {
	struct row *row;
	size_t count, capacity;
	struct index index;
};

static bool row_equal(const void *array, uint32_t position, const void *wanted)
{
	return !memcmp(&((const struct row *)array)[position].key, wanted,
		       sizeof(struct row_key));
}

static struct row *find_row(struct rows *rows, const struct row_key *key)
{
	uint64_t hash = index_hash(key, sizeof(*key));
	uint32_t position = index_find(&rows->index, hash, row_equal,
				       rows->row, key);

	if (position != INDEX_NONE)
		return &rows->row[position];
	rows->row = memory_grow(rows->row, &rows->capacity, rows->count + 1,
				sizeof(*rows->row));
	rows->row[rows->count] = (struct row){ .key = *key };
	index_add(&rows->index, hash, (uint32_t)rows->count);
	return &rows->row[rows->count++];
}

static void free_rows(struct rows *rows)
{
	free(rows->row);
	index_free(&rows->index);
}

/* Adds a thread to its process, which is called as its first thread is. */
static void add_thread(struct rows *rows, const struct profile_task *task,
		       struct amount amount)
{
	struct row_key key = {
		.tgid = task->idle ? 0 : task->tgid,
		.comm = task->idle || task->tgid ? 0 : task->comm,
		.idle = task->idle,
	};
	struct row *row = find_row(rows, &key);
	bool is_main = task->tgid && task->tid == task->tgid;
	uint64_t samples = amount.now + amount.before;

	if ((is_main && !row->is_main) ||
	    (is_main == row->is_main && samples > row->most)) {
		row->comm = task->comm;
		row->most = samples;
		row->is_main = is_main;
	}
	row->tgid = key.tgid;
	row->count = key.tgid ? 1 : 0;
	add(&row->samples, amount);
}

static void gather_processes(const struct summary *summary, struct rows *rows)
{
	const struct profile *profile = summary->profile;
	struct amount *tasks = memory_new(profile->task_count, sizeof(*tasks));

	for (size_t i = 0; i < profile->stack_count; i++)
		if (profile->stacks[i].mode != MODE_IDLE)
			add(&tasks[profile->stacks[i].task],
			    amount_of(&profile->stacks[i]));
	for (size_t i = 0; i < profile->task_count; i++)
		if (is_any(tasks[i]))
			add_thread(rows, &profile->tasks[i], tasks[i]);
	free(tasks);
}

/* Small processes of one name become one row. */
static void merge_small(const struct summary *summary, struct rows *from,
			struct rows *to)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct row *process = &from->row[i];
		bool alone = process->key.idle ||
			     summary_share(summary, process->samples) >=
			     PROCESS_SHARE ||
			     summary_share_before(summary, process->samples) >=
			     PROCESS_SHARE;
		struct row_key key = process->key;
		struct row *row;

		if (!alone)
			key = (struct row_key){ .comm = process->comm };
		row = find_row(to, &key);
		row->comm = process->comm;
		row->tgid = process->tgid;
		row->count += process->count;
		add(&row->samples, process->samples);
	}
}

static int cmp_process(const void *a, const void *b)
{
	const struct summary_process *x = a, *y = b;
	int order = cmp_amount(x->samples, y->samples);

	if (!order)
		order = strcmp(x->comm, y->comm);
	return order ? order : (x->tgid > y->tgid) - (x->tgid < y->tgid);
}

static void find_processes(struct summary *summary)
{
	struct rows processes = { 0 }, merged = { 0 };

	gather_processes(summary, &processes);
	merge_small(summary, &processes, &merged);
	summary->processes = memory_new(merged.count,
					sizeof(*summary->processes));
	for (size_t i = 0; i < merged.count; i++) {
		const struct row *row = &merged.row[i];

		summary->processes[i] = (struct summary_process){
			.tgid = row->count == 1 ? row->tgid : 0,
			.count = row->count, .idle = row->key.idle,
			.comm = summary->profile->names.text[row->comm],
			.samples = row->samples,
		};
	}
	summary->process_count = merged.count;
	free_rows(&processes);
	free_rows(&merged);
}

/* -------------------------------------------------------------- differences */

/* In the order of their sizes, which qsort(3) cannot be told: 1 is whole. */
struct changed {
	double size;
	size_t number;
};

static int cmp_changed(const void *a, const void *b)
{
	const struct changed *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static double size_of(double change)
{
	return change < 0 ? -change : change;
}

/* Sorted are elements of `size` bytes, by what is at `offset` of each. */
static void sort_by_change(const struct summary *summary, void *elements,
			   size_t count, size_t size, size_t offset)
{
	struct changed *order = memory_new(count, sizeof(*order));
	char *sorted = memory_new(count, size), *from = elements;

	for (size_t i = 0; i < count; i++) {
		struct amount amount;

		memcpy(&amount, from + i * size + offset, sizeof(amount));
		order[i] = (struct changed){
			size_of(summary_change(summary, amount)), i,
		};
	}
	if (count)
		qsort(order, count, sizeof(*order), cmp_changed);
	for (size_t i = 0; i < count; i++)
		memcpy(sorted + i * size, from + order[i].number * size, size);
	if (count)
		memcpy(elements, sorted, count * size);
	free(sorted);
	free(order);
}

void summary_make(struct summary *summary, const struct profile *profile,
		  bool compared)
{
	*summary = (struct summary){ .profile = profile, .compared = compared };
	tree_build(&summary->tree, profile, true);
	count_nodes(summary);
	find_functions(summary);
	find_processes(summary);
	if (summary->function_count)
		qsort(summary->functions, summary->function_count,
		      sizeof(*summary->functions), cmp_function);
	if (summary->process_count)
		qsort(summary->processes, summary->process_count,
		      sizeof(*summary->processes), cmp_process);
	if (!compared)
		return;
	sort_by_change(summary, summary->functions, summary->function_count,
		       sizeof(*summary->functions),
		       offsetof(struct summary_function, self));
	sort_by_change(summary, summary->processes, summary->process_count,
		       sizeof(*summary->processes),
		       offsetof(struct summary_process, samples));
}

void summary_free(struct summary *summary)
{
	tree_free(&summary->tree);
	free(summary->self);
	free(summary->total);
	free(summary->functions);
	free(summary->processes);
	*summary = (struct summary){ 0 };
}
