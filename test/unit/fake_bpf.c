/* SPDX-License-Identifier: MIT */
/* fake_bpf: the functions of sys/bpf.h without a kernel. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/unit/fake_bpf.h"
#include "test/unit/unit.h"

struct fake_bpf fake_bpf;

struct fake_map *fake_map(const char *name)
{
	for (size_t i = fake_bpf.map_count; i-- > 0;)
		if (!strcmp(fake_bpf.maps[i].name, name))
			return &fake_bpf.maps[i];
	return NULL;
}

static size_t value_size(const struct fake_map *map)
{
	return map->attr.value_size * map->values;
}

void *fake_get(const struct fake_map *map, const void *key)
{
	for (uint32_t i = 0; i < map->count; i++)
		if (!memcmp(map->keys + i * map->attr.key_size, key,
			    map->attr.key_size))
			return map->data + i * value_size(map);
	return NULL;
}

void fake_put(struct fake_map *map, const void *key, const void *value)
{
	void *there = fake_get(map, key);

	CHECK(there || map->count < map->attr.max_entries);
	if (!there) {
		map->keys = realloc(map->keys, (map->count + 1) *
				    (size_t)map->attr.key_size);
		map->data = realloc(map->data, (map->count + 1) *
				    value_size(map));
		CHECK(map->keys && map->data);
		memcpy(map->keys + map->count * map->attr.key_size, key,
		       map->attr.key_size);
		there = map->data + map->count++ * value_size(map);
	}
	memcpy(there, value, value_size(map));
}

static void fake_remove(struct fake_map *map, uint32_t at)
{
	size_t key = map->attr.key_size, value = value_size(map);
	uint32_t behind = --map->count - at;

	memmove(map->keys + at * key, map->keys + (at + 1) * key,
		behind * key);
	memmove(map->data + at * value, map->data + (at + 1) * value,
		behind * value);
}

void fake_bpf_reset(void)
{
	for (size_t i = 0; i < fake_bpf.map_count; i++) {
		free(fake_bpf.maps[i].keys);
		free(fake_bpf.maps[i].data);
	}
	for (size_t i = 0; i < fake_bpf.program_count; i++)
		free(fake_bpf.programs[i].insns);
	memset(&fake_bpf, 0, sizeof(fake_bpf));
}

static struct fake_map *map_of(int fd)
{
	for (size_t i = fake_bpf.map_count; i-- > 0;)
		if (fake_bpf.maps[i].fd == fd)
			return &fake_bpf.maps[i];
	unit_fail(__FILE__, __LINE__, "descriptor %d is no map", fd);
}

static int new_descriptor(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	CHECK(fd > STDERR_FILENO);
	return fd;
}

/* Arrays have all their elements from the beginning. */
static void fill_array(struct fake_map *map)
{
	char *zeros = calloc(1, value_size(map));

	CHECK(zeros);
	for (uint32_t i = 0; i < map->attr.max_entries; i++)
		fake_put(map, &i, zeros);
	free(zeros);
}

int bpf_map_create(const struct bpf_map_attr *attr)
{
	struct fake_map *map = &fake_bpf.maps[fake_bpf.map_count];

	if (fake_bpf.fail_map &&
	    fake_bpf.map_count + 1 == (size_t)fake_bpf.fail_map)
		return fake_bpf.map_error;
	CHECK(fake_bpf.map_count < 32);
	/* The kernel refuses such as well. */
	if (!attr->max_entries || !attr->key_size || attr->key_size > 512 ||
	    !attr->value_size || attr->value_size > 1 << 20)
		return -EINVAL;
	if ((attr->type == BPF_MAP_TYPE_ARRAY ||
	     attr->type == BPF_MAP_TYPE_PERCPU_ARRAY) &&
	    (attr->key_size != 4 || attr->max_entries > 1 << 12))
		return -EINVAL;
	*map = (struct fake_map){ .attr = *attr, .values = 1 };
	strncpy(map->name, attr->name, sizeof(map->name) - 1);
	map->attr.name = map->name;
	map->fd = new_descriptor();
	fake_bpf.map_count++;
	if (attr->type == BPF_MAP_TYPE_PERCPU_ARRAY)
		map->values = FAKE_CPUS;
	if (attr->type == BPF_MAP_TYPE_ARRAY ||
	    attr->type == BPF_MAP_TYPE_PERCPU_ARRAY)
		fill_array(map);
	return map->fd;
}

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	struct fake_map *map = map_of(fd);
	const void *there = fake_get(map, key);

	if (!there)
		return -ENOENT;
	memcpy(value, there, value_size(map));
	return 0;
}

int bpf_map_update_elem(int fd, const void *key, const void *value,
			uint64_t flags)
{
	struct fake_map *map = map_of(fd);

	CHECK(flags == BPF_ANY && !map->frozen);
	map->updates++;
	fake_put(map, key, value);
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	struct fake_map *map = map_of(fd);
	char *there = fake_get(map, key);

	if (!there)
		return -ENOENT;
	fake_remove(map, (uint32_t)((size_t)(there - map->data) /
				    value_size(map)));
	return 0;
}

int bpf_map_get_next_key(int fd, const void *key, void *next)
{
	struct fake_map *map = map_of(fd);
	char *there = key ? fake_get(map, key) : NULL;
	size_t at = there ? (size_t)(there - map->data) / value_size(map) + 1 :
		    0;

	if (at >= map->count)
		return -ENOENT;
	memcpy(next, map->keys + at * map->attr.key_size, map->attr.key_size);
	return 0;
}

/* As the kernel's: a bucket comes whole or, with too little room, -ENOSPC. */
int bpf_map_lookup_and_delete_batch(int fd, struct bpf_batch_token *token,
				    int first, void *keys, void *values,
				    uint32_t *count)
{
	struct fake_map *map = map_of(fd);
	uint32_t room = *count, bucket = fake_bpf.bucket ? fake_bpf.bucket : 1;

	CHECK(first || token->bucket == 0x600d);
	token->bucket = 0x600d;
	*count = 0;
	if (fake_bpf.batch_error &&
	    fake_bpf.batches++ >= fake_bpf.batch_fails_at)
		return fake_bpf.batch_error;
	while (map->count) {
		uint32_t part = bucket < map->count ? bucket : map->count;

		if (part > room - *count)
			return *count ? 0 : -ENOSPC;
		while (part--) {
			memcpy((char *)keys + *count * map->attr.key_size,
			       map->keys, map->attr.key_size);
			memcpy((char *)values + *count * value_size(map),
			       map->data, value_size(map));
			fake_remove(map, 0);
			(*count)++;
		}
	}
	return -ENOENT;
}

int bpf_map_freeze(int fd)
{
	map_of(fd)->frozen = true;
	return 0;
}

int bpf_prog_test_run(int fd)
{
	CHECK(fake_bpf.program_count &&
	      fake_bpf.programs[fake_bpf.program_count - 1].fd == fd);
	if (!fake_bpf.run_error && fake_bpf.run)
		fake_bpf.run();
	return fake_bpf.run_error;
}

int bpf_prog_load(const struct bpf_prog_attr *attr)
{
	struct fake_program *program =
		&fake_bpf.programs[fake_bpf.program_count];

	fake_bpf.loads++;
	if (fake_bpf.load_errors) {
		fake_bpf.load_errors--;
		if (attr->log && fake_bpf.log) {
			strncpy(attr->log, fake_bpf.log, attr->log_size - 1);
			if (strlen(fake_bpf.log) >= attr->log_size)
				return -ENOSPC;
		}
		return fake_bpf.load_error;
	}
	CHECK(fake_bpf.program_count < 16);
	*program = (struct fake_program){
		.insn_count = attr->insn_count, .type = attr->type,
		.flags = attr->flags,
	};
	program->insns = malloc(attr->insn_count * sizeof(*attr->insns));
	CHECK(program->insns);
	memcpy(program->insns, attr->insns,
	       attr->insn_count * sizeof(*attr->insns));
	strncpy(program->name, attr->name, sizeof(program->name) - 1);
	strncpy(program->license, attr->license, sizeof(program->license) - 1);
	program->fd = new_descriptor();
	fake_bpf.program_count++;
	return program->fd;
}
