/* SPDX-License-Identifier: MIT */
/* Records of the kernel: what they mean, and in which order they are told. */
#include <string.h>

#include <linux/perf_event.h>

#include "lib/text.h"
#include "proc/sideband.h"
#include "test/unit/unit.h"

/* A record as the kernel writes it: header, body, sample_id. */
static struct bytes make(uint32_t type, uint16_t misc, const void *body,
			 size_t size, uint64_t time)
{
	static char record[8192];
	struct perf_event_header header = { .type = type, .misc = misc };
	uint64_t sample_id[3] = { 0x0000000200000001, time, 0 };

	size = (size + 7) / 8 * 8;
	header.size = (uint16_t)(sizeof(header) + size + sizeof(sample_id));
	memset(record, 0, sizeof(record));
	memcpy(record, &header, sizeof(header));
	memcpy(record + sizeof(header), body, size);
	memcpy(record + sizeof(header) + size, sample_id, sizeof(sample_id));
	return (struct bytes){ (const uint8_t *)record, header.size };
}

static struct bytes make_task(uint32_t type, uint32_t pid, uint32_t ppid,
			      uint32_t tid, uint64_t time)
{
	struct {
		uint32_t pid, ppid, tid, ptid;
		uint64_t time;
	} body = { pid, ppid, tid, ppid, time };

	return make(type, 0, &body, sizeof(body), time);
}

static struct bytes make_comm(uint32_t pid, const char *comm, bool exec,
			      uint64_t time)
{
	struct {
		uint32_t pid, tid;
		char comm[16];
	} body = { .pid = pid, .tid = pid };

	strncpy(body.comm, comm, 15);
	return make(PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0,
		    &body, sizeof(body), time);
}

struct mmap2 {
	uint32_t pid, tid;
	uint64_t start, size, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t prot, flags;
	char path[4096];
};

static struct bytes make_map(uint32_t pid, uint64_t start, uint64_t size,
			     const char *path, uint64_t time)
{
	struct mmap2 body = {
		.pid = pid, .tid = pid, .start = start, .size = size,
		.offset = 0x1000, .major = 8, .minor = 1, .inode = 99,
		.generation = 7, .prot = 5,
	};

	strcpy(body.path, path);
	return make(PERF_RECORD_MMAP2, 0, &body,
		    sizeof(body) - sizeof(body.path) + strlen(path) + 1, time);
}

/* All that is told, as a text. */
static void tell(void *context, const struct side_event *event)
{
	static const char *const kinds[] = {
		"fork", "exit", "exec", "comm", "map", "lost",
	};

	text_format(context, "%llu %s %u", (unsigned long long)event->time,
		    kinds[event->kind], event->pid);
	if (event->kind == SIDE_FORK)
		text_format(context, " of %u", event->ppid);
	if (event->kind == SIDE_EXEC || event->kind == SIDE_COMM)
		text_format(context, " %s", event->comm);
	if (event->kind == SIDE_MAP)
		text_format(context, " %llx %s",
			    (unsigned long long)event->map.start,
			    event->map.path);
	if (event->kind == SIDE_LOST)
		text_format(context, " since %llu",
			    (unsigned long long)event->lost_since);
	text_format(context, "\n");
}

static void check_told(struct sideband *sideband, uint64_t until,
		       const char *want)
{
	struct text text = { 0 };

	text_add(&text, "", 0);
	sideband_replay(sideband, until, tell, &text);
	CHECK_TEXT(text.data, want);
	text_free(&text);
}

TEST(sideband_records)
{
	struct sideband *sideband = sideband_new();
	uint64_t lost[2] = { 1, 5 };

	sideband_add(sideband, 0, make_task(PERF_RECORD_FORK, 7, 6, 7, 10));
	sideband_add(sideband, 0, make_comm(7, "true", true, 11));
	/* Only called otherwise. */
	sideband_add(sideband, 0, make_comm(7, "else", false, 12));
	sideband_add(sideband, 0, make_map(7, 0x1000, 0x2000, "/bin/true",
					   13));
	sideband_add(sideband, 0, make_task(PERF_RECORD_EXIT, 7, 6, 7, 14));
	sideband_add(sideband, 0, make(PERF_RECORD_LOST, 0, lost,
				       sizeof(lost), 15));
	sideband_add(sideband, 0, make(PERF_RECORD_SWITCH, 0, lost, 0, 16));
	CHECK_U64(sideband_lost(sideband), 5);
	CHECK(!sideband_deaf(sideband));
	check_told(sideband, 100, "10 fork 7 of 6\n11 exec 7 true\n12 comm 7 else\n"
		   "13 map 7 1000 /bin/true\n14 exit 7\n"
		   "15 lost 0 since 14\n");
	check_told(sideband, 100, "");
	sideband_close(sideband);
	sideband_close(NULL);
}

static void check_map(void *context, const struct side_event *event)
{
	(*(size_t *)context)++;
	CHECK_U64(event->pid, 7);
	CHECK_U64(event->map.start, 0x7f0000001000);
	CHECK_U64(event->map.size, 0x2000);
	CHECK_U64(event->map.offset, 0x1000);
	CHECK_U64(event->map.major, 8);
	CHECK_U64(event->map.minor, 1);
	CHECK_U64(event->map.inode, 99);
	CHECK_U64(event->map.generation, 7);
	CHECK_TEXT(event->map.path, "/a b/\n");
}

TEST(sideband_map)
{
	struct sideband *sideband = sideband_new();
	size_t count = 0;

	sideband_add(sideband, 3, make_map(7, 0x7f0000001000, 0x2000,
					   "/a b/\n", 1));
	sideband_replay(sideband, 1, check_map, &count);
	CHECK_U64(count, 1);
	sideband_close(sideband);
}

/* CPUs are read one after the other; the story is told by time. */
TEST(sideband_order)
{
	struct sideband *sideband = sideband_new();

	sideband_add(sideband, 0, make_map(7, 0x3000, 1, "/late", 40));
	sideband_add(sideband, 0, make_map(7, 0x4000, 1, "/later", 90));
	sideband_add(sideband, 1, make_task(PERF_RECORD_FORK, 7, 6, 7, 20));
	sideband_add(sideband, 1, make_comm(7, "x", true, 30));
	/* The order of a ring is right, also within one tick of a clock. */
	sideband_add(sideband, 2, make_comm(8, "x", true, 35));
	sideband_add(sideband, 2, make_map(8, 0x1000, 1, "/first", 35));
	sideband_add(sideband, 2, make_map(8, 0x1000, 1, "/second", 35));
	check_told(sideband, 10, "");
	check_told(sideband, 50, "20 fork 7 of 6\n30 exec 7 x\n35 exec 8 x\n"
		   "35 map 8 1000 /first\n35 map 8 1000 /second\n"
		   "40 map 7 3000 /late\n");
	/* What had to wait still has its path; an earlier one came late. */
	sideband_add(sideband, 1, make_map(7, 0x5000, 1, "/on its way", 80));
	check_told(sideband, 100, "80 map 7 5000 /on its way\n"
		   "90 map 7 4000 /later\n");
	sideband_close(sideband);
}

static void ignore(void *context, const struct side_event *event)
{
	(void)context;
	CHECK(event->kind != SIDE_MAP || strlen(event->map.path) < 16);
}

/* Cut anywhere, and with sizes that cannot be: no crash, no nonsense. */
TEST(sideband_bad_records)
{
	struct sideband *sideband = sideband_new();
	struct bytes whole = make_map(7, 0x1000, 0x1000, "/bin/true", 5);
	struct mmap2 body = { .pid = 7, .start = UINT64_MAX, .size = 2 };

	for (size_t size = 0; size < whole.size; size++)
		sideband_add(sideband, 0, unit_fenced(whole.data, size));
	sideband_replay(sideband, UINT64_MAX, ignore, NULL);
	/* An end that is below the start; no size; no end of the path. */
	sideband_add(sideband, 0, make(PERF_RECORD_MMAP2, 0, &body, 128, 1));
	body = (struct mmap2){ .pid = 7, .start = 1 };
	sideband_add(sideband, 0, make(PERF_RECORD_MMAP2, 0, &body, 128, 1));
	body.size = 1;
	memset(body.path, 'x', sizeof(body.path));
	sideband_add(sideband, 0, make(PERF_RECORD_MMAP2, 0, &body, 128, 1));
	check_told(sideband, UINT64_MAX, "");
	sideband_close(sideband);
}
