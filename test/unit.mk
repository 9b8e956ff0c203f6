# SPDX-License-Identifier: MIT
#
# Unit tests, the driver of the golden tests, fuzz targets, and all of them and
# prof itself under sanitizers.  Included by test/Makefile, from the root.
#
#	build/test/unit		build/test/fold
#	build/asan/test/unit	build/asan/test/fold	build/asan/prof
#	build/fuzz/TARGET

# The linker sends calls of these to __wrap_NAME of the tests: redirect.c gives
# other files, sets.c equal hashes, fake_bpf.c is the kernel.
REDIRECT_WRAPS = -Wl,--wrap=lines_open -Wl,--wrap=file_read_text \
	-Wl,--wrap=namespace_check_proc -Wl,--wrap=regular_open
UNIT_WRAPS = $(REDIRECT_WRAPS) -Wl,--wrap=index_hash

UNIT_SOURCES := $(wildcard test/unit/*.c)
UNIT_NAMES := $(UNIT_SOURCES:test/unit/%.c=%)
# The fake kernel takes the place of this one.
UNIT_PRODUCT := $(filter-out sys/bpf.c,$(SOURCES))

# build/test/unit is the program, so its objects are elsewhere.
$(B)/test/o/%.o: test/unit/%.c Makefile test/unit.mk
	@mkdir -p $(@D)
	$(call say,CC   ,$<)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/test/unit: $(UNIT_NAMES:%=$(B)/test/o/%.o) \
		$(UNIT_PRODUCT:%.c=$(B)/%.o) $(B)/bpf_embed.o $(LIBRARIES)
	$(call say,LD   ,$@)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(UNIT_WRAPS) \
		-o $@ $^

$(B)/test/fold: $(B)/test/golden/fold.o $(B)/test/o/redirect.o $(OBJECTS) \
		$(LIBRARIES)
	$(call say,LD   ,$@)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) \
		$(REDIRECT_WRAPS) -o $@ $^

$(B)/test/page-maker: $(B)/test/page/page.o $(OBJECTS) $(LIBRARIES)
	$(call say,LD   ,$@)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^

# ------------------------------------------------------------- sanitizers

# gcc and the system's libc, linked dynamically: sanitizers know no musl.
ASAN_CC = gcc
ASAN_CFLAGS = -std=c11 -D_GNU_SOURCE -I. -DPROF_VERSION='"$(VERSION)"' \
	$(WARNINGS) $(LIBRARY_FLAGS) -fno-strict-aliasing -g -O1 -fno-omit-frame-pointer \
	-fsanitize=address,undefined -fno-sanitize-recover=all

$(B)/asan/%.o: %.c Makefile test/unit.mk
	@mkdir -p $(@D)
	$(call say,ASAN ,$<)$(ASAN_CC) $(ASAN_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/asan/test/o/%.o: test/unit/%.c Makefile test/unit.mk
	@mkdir -p $(@D)
	$(call say,ASAN ,$<)$(ASAN_CC) $(ASAN_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/asan/prof: $(B)/asan/prof.o $(SOURCES:%.c=$(B)/asan/%.o) \
		$(B)/bpf_embed.o $(LIBRARIES)
	$(call say,LD   ,$@)$(ASAN_CC) $(ASAN_CFLAGS) -o $@ $^

$(B)/asan/test/unit: $(UNIT_NAMES:%=$(B)/asan/test/o/%.o) \
		$(UNIT_PRODUCT:%.c=$(B)/asan/%.o) $(B)/bpf_embed.o $(LIBRARIES)
	@mkdir -p $(@D)
	$(call say,LD   ,$@)$(ASAN_CC) $(ASAN_CFLAGS) $(UNIT_WRAPS) -o $@ $^

$(B)/asan/test/fold: $(B)/asan/test/golden/fold.o \
		$(B)/asan/test/o/redirect.o $(SOURCES:%.c=$(B)/asan/%.o) \
		$(LIBRARIES)
	$(call say,LD   ,$@)$(ASAN_CC) $(ASAN_CFLAGS) $(REDIRECT_WRAPS) \
		-o $@ $^

$(B)/asan/test/page-maker: $(B)/asan/test/page/page.o \
		$(SOURCES:%.c=$(B)/asan/%.o) $(LIBRARIES)
	$(call say,LD   ,$@)$(ASAN_CC) $(ASAN_CFLAGS) -o $@ $^

# ---------------------------------------------------------------- fuzzing

FUZZ_CFLAGS = -std=c11 -D_GNU_SOURCE -I. -DPROF_VERSION='"$(VERSION)"' \
	$(WARNINGS) $(LIBRARY_FLAGS) -fno-strict-aliasing -g -O1 -fno-omit-frame-pointer \
	-fsanitize=address,undefined -fno-sanitize-recover=all

$(B)/fuzz/o/%.o: %.c Makefile test/unit.mk
	@mkdir -p $(@D)
	$(call say,FUZZ ,$<)$(CLANG) $(FUZZ_CFLAGS) \
		-fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

# An archive, of which each target takes what it calls: the loader calls the
# kernel, which is a stub, the others do not.
$(B)/fuzz/o/prof.a: $(UNIT_PRODUCT:%.c=$(B)/fuzz/o/%.o) \
		$(B)/fuzz/o/test/fuzz/fuzz.o $(B)/fuzz/o/test/fuzz/frame.o \
		$(B)/fuzz/o/test/fuzz/recording.o \
		$(B)/fuzz/o/test/fuzz/bpf_stub.o
	$(Q)rm -f $@ && ar rcs $@ $^

FUZZ_TARGETS = loader kallsyms options maps sideband text unpack demangle \
	image symbols notes frames pclntab minidebug perfmap folded pprof \
	cfi walk

$(FUZZ_TARGETS:%=$(B)/fuzz/%): $(B)/fuzz/%: $(B)/fuzz/o/test/fuzz/%.o \
		$(B)/fuzz/o/test/unit/redirect.o $(B)/fuzz/o/prof.a $(LIBRARIES)
	$(call say,LD   ,$@)$(CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer \
		$(REDIRECT_WRAPS) -o $@ $^

asan: $(B)/asan/prof $(B)/asan/test/unit $(B)/asan/test/fold \
	$(B)/asan/test/page-maker

.PHONY: asan
