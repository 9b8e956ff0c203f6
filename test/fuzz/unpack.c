/* SPDX-License-Identifier: MIT */
/* Compressed sections: of zlib, xz and gzip, all given the same bytes. */
#include <errno.h>

#include "lib/checksum.h"
#include "lib/unpack.h"
#include "test/fuzz/fuzz.h"

typedef int unpack_fn(struct bytes in, size_t most, uint8_t **out,
		      size_t *size);

static void check(unpack_fn *unpack, struct bytes in, size_t most)
{
	size_t size = most + 1, again;
	uint8_t *out, *less;
	int error = unpack(in, most, &out, &size);
	uint32_t before;

	if (error) {
		MUST(error == -EINVAL || error == -EFBIG || error == -ENOMEM);
		MUST(!out && !size);
		return;
	}
	MUST(out && size <= most);
	/* Readable to its end. */
	before = checksum_crc32(0, (struct bytes){ out, size });
	free(out);
	/* Exactly enough is enough, and one byte less is not. */
	MUST(!unpack(in, size, &out, &again) && again == size);
	MUST(checksum_crc32(0, (struct bytes){ out, size }) == before);
	free(out);
	MUST(!size || unpack(in, size - 1, &less, &again) == -EFBIG);
}

/* The first byte says how much may come out: 1 byte to 16 MB. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct bytes in = { (uint8_t *)text + 1, size ? size - 1 : 0 };

	if (size) {
		size_t most = 1u << (*text & 31) % 25;

		check(unpack_zlib, in, most);
		check(unpack_xz, in, most);
		check(unpack_gzip, in, most);
	}
	free(text);
	return 0;
}
