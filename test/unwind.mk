# SPDX-License-Identifier: MIT
#
# What the tests of user stacks need.  Included by test/Makefile, from the root.

# Programs as distributions build them: without frame pointers.
PLAIN_CFLAGS = -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls \
	-pthread -Wall -Wextra
PLAIN = $(B)/test/plain/whole $(B)/test/plain/whole-static \
	$(B)/test/plain/whole-debug $(B)/test/plain/whole.so

$(B)/test/plain/%: test/victims/plain/%.c
	@mkdir -p $(@D)
	$(call say,CC   ,$<)gcc $(PLAIN_CFLAGS) -o $@ $<

$(B)/test/plain/%-static: test/victims/plain/%.c
	@mkdir -p $(@D)
	$(call say,CC   ,$<)gcc $(PLAIN_CFLAGS) -static -no-pie -o $@ $< 2>&1 | \
		grep -v 'statically linked' || true

# What is for debuggers alone: .debug_frame, beside the C library's .eh_frame.
$(B)/test/plain/%-debug: test/victims/plain/%.c
	@mkdir -p $(@D)
	$(call say,CC   ,$<)gcc $(PLAIN_CFLAGS) -fno-unwind-tables \
		-fno-asynchronous-unwind-tables -o $@ $<

$(B)/test/plain/%.so: test/victims/plain/library.c
	@mkdir -p $(@D)
	$(call say,CC   ,$<)gcc $(PLAIN_CFLAGS) -fPIC -shared -o $@ $<

# prof, but each sample is looked at on its way into the profile.
$(B)/test/truth: $(B)/prof.o $(B)/test/live/truth.o $(OBJECTS) $(LIBRARIES)
	$(call say,LD   ,$@)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) \
		-Wl,--wrap=main -Wl,--wrap=profile_add \
		-Wl,--wrap=profile_free -o $@ $^

# The same under asan, for all files of a machine.
$(B)/asan/test/rows: $(B)/asan/test/live/rows.o $(SOURCES:%.c=$(B)/asan/%.o) \
		$(LIBRARIES)
	$(call say,LD   ,$@)$(ASAN_CC) $(ASAN_CFLAGS) -o $@ $^

unwind-programs: $(PLAIN) $(B)/test/truth $(B)/test/rows

.PHONY: unwind-programs
