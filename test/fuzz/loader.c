/* SPDX-License-Identifier: MIT */
/*
 * Damaged BPF objects: loaded or refused, without a byte read outside and with
 * all descriptors closed.
 *
 * The first two bytes say which calls of the kernel fail, the rest is the
 * object.  One input is the object whole, in memory that ends where it ends.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "loader.h"
#include "test/fuzz/bpf_stub.h"
#include "test/fuzz/fuzz.h"

/* The number that the next descriptor will get: rises if one is left open. */
static int next_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	MUST(fd >= 0);
	close(fd);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct loader *loader;
	uint8_t *copy;
	int before;

	if (size < 2)
		return 0;
	bpf_stub_maps = data[0];
	bpf_stub_loads = data[1];
	data += 2;
	size -= 2;
	before = next_descriptor();
	copy = malloc(size ? size : 1);
	MUST(copy);
	memcpy(copy, data, size);
	loader = loader_open((struct bytes){ copy, size }, "fuzz");
	if (loader) {
		loader_resize(loader, "stacks0", 16, 0);
		loader_choose(loader, "name_addresses");
		loader_choose(loader, "profile_stackid");
		if (!loader_choose(loader, "profile_hash") &&
		    !loader_load(loader))
			MUST(loader_prog_fd(loader, "profile_hash") >= 0);
		loader_map_fd(loader, "stacks0");
		loader_key_size(loader, "counts0");
		loader_value_size(loader, "tallies");
	}
	loader_close(loader);
	free(copy);
	MUST(next_descriptor() == before);
	return 0;
}
