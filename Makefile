# SPDX-License-Identifier: MIT
#
# make                 ./prof: static, stripped, the BPF object inside
# make CC=gcc          with another libc than musl
# make ZLIB= LZMA= IBERTY=   without these libraries, as where they are not installed
# make test            ./test.sh            make check    unit and golden only
# make asan            build/asan/prof      make fuzz     RUNS=20000 for each parser
# make coverage         which lines the tests reach
# make lint format bench screenshots completions install uninstall dist clean
# V=1 shows the commands.  A build writes nothing outside build/ but ./prof.

VERSION = 0.1

PREFIX = /usr/local
DESTDIR =

B = build
MULTIARCH := $(shell gcc -print-multiarch 2>/dev/null)
KERNEL_HEADERS = /usr/include

# musl where it is installed: a sixth of glibc's size in a static program.  Its
# wrapper hides the system's headers, and with them the kernel's.
ifeq ($(origin CC),default)
CC := $(shell command -v musl-gcc >/dev/null 2>&1 && echo musl-gcc || echo gcc)
endif
ifneq ($(findstring musl,$(CC)),)
LIBC_FLAGS = -idirafter $(KERNEL_HEADERS) \
	$(if $(MULTIARCH),-idirafter $(KERNEL_HEADERS)/$(MULTIARCH))
endif

# What reads tables of 100,000 entries is worth some bytes more.
$(patsubst %,$(B)/%.o,elf/symtab elf/frames sym/symbols sym/table lib/wanted \
	lib/input lib/index lib/names in/folded profile_build out/tree unwind/cfi \
	unwind/cfa unwind/dwarf): SPEED = -O2

# Static libraries of the distribution.  Each may be missing: prof -V says so.
# They are made for another libc, but call little that musl has not.
find_library = $(filter /%,$(shell gcc -print-file-name=lib$(1).a))
ZLIB := $(call find_library,z)
LZMA := $(call find_library,lzma)
IBERTY := $(call find_library,iberty)
LIBRARIES := $(if $(ZLIB),$(B)/libraries/z.a) \
	$(if $(LZMA),$(B)/libraries/lzma.a) \
	$(if $(IBERTY),$(B)/libraries/iberty.a)
LIBRARY_FLAGS := $(if $(ZLIB),-DPROF_ZLIB) $(if $(LZMA),-DPROF_LZMA) \
	$(if $(IBERTY),-DPROF_IBERTY)
# And what is embedded: the page of HTML output, the BPF object.
LIBRARIES += $(B)/page_embed.o $(B)/bpf_embed.o

CLANG ?= clang
OBJCOPY ?= objcopy
LLVM_STRIP ?= llvm-strip
LLVM_OBJCOPY ?= llvm-objcopy
STRIP ?= strip

# Two clones give the same bytes: compilers write down where they run, by what
# $PWD says.
export PWD := $(CURDIR)
PREFIX_MAP = '-fdebug-prefix-map=$(CURDIR)=.'

CFLAGS ?= -Os -g
WARNINGS = -Wall -Wextra
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -I. -DPROF_VERSION='"$(VERSION)"' \
	$(WARNINGS) $(LIBC_FLAGS) $(LIBRARY_FLAGS) $(PREFIX_MAP) \
	-ffunction-sections -fdata-sections -fno-strict-aliasing \
	-fno-asynchronous-unwind-tables $(CFLAGS)
# One segment less saves the padding between two: 12 KB.
ALL_LDFLAGS = -static -Wl,--gc-sections -Wl,-z,noseparate-code $(LDFLAGS)

# -mcpu=v2: what every JIT that 5.10 has can do (some lack 32-bit jumps, v3).
BPF_CFLAGS = -O2 -g -target bpf -mcpu=v2 -I. -Wall -Wextra \
	-DBPF_FOR_$(shell uname -m | tr a-z A-Z) \
	$(PREFIX_MAP) $(if $(MULTIARCH),-I$(KERNEL_HEADERS)/$(MULTIARCH))

# All but main, so that tests can link it.  Sorted: the order of objects is that
# in the program, and not every make sorts.
SOURCES := $(sort $(wildcard lib/*.c sys/*.c elf/*.c proc/*.c sym/*.c \
	unwind/*.c in/*.c out/*.c tui/*.c)) \
	kallsyms.c loader.c loader_object.c sampler.c samples.c stackid.c \
	profile.c profile_build.c profile_parts.c meta.c options.c \
	embedded.c run.c run_sample.c run_live.c check.c
OBJECTS := $(SOURCES:%.c=$(B)/%.o)

Q = $(if $(V),,@)
say = $(if $(V),,@echo "  $(1)  $(2)" &&)

all: prof

prof: $(B)/prof
	$(call say,STRIP,$@)$(STRIP) -o $@ $<

$(B)/prof: $(B)/prof.o $(OBJECTS) $(B)/bpf_embed.o $(LIBRARIES)
	$(call say,LD   ,$@)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^

$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC   ,$<)$(CC) $(ALL_CFLAGS) $(SPEED) -MMD -MP -c -o $@ $<

# Tables for the unwinding of C++ exceptions would stay in the program.  What the
# demanglers call is in sym/iberty.c, which says why.
LIBRARY_SYMBOLS = malloc:iberty_malloc realloc:iberty_realloc \
	xmalloc:iberty_xmalloc xrealloc:iberty_xrealloc free:iberty_free \
	__sprintf_chk:iberty_sprintf __snprintf_chk:iberty_snprintf \
	_sch_istable:iberty_kinds

$(B)/libraries/z.a: $(ZLIB)
$(B)/libraries/lzma.a: $(LZMA)
$(B)/libraries/iberty.a: $(IBERTY)
$(B)/libraries/iberty.a: LIBRARY_RENAMES = \
	$(foreach s,$(LIBRARY_SYMBOLS),--redefine-sym $(subst :,=,$(s)))
$(B)/libraries/%.a: Makefile
	@mkdir -p $(@D)
	$(Q)$(OBJCOPY) -R .eh_frame -R .rela.eh_frame $(LIBRARY_RENAMES) \
		$(filter %.a,$^) $@

# Changes when the compiler or its flags do, so that all is compiled again.
$(B)/flags: Makefile force
	@mkdir -p $(@D)
	@echo '$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS)' | cmp -s - $@ || \
		echo '$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS)' >$@

# Debug information goes, but .BTF stays: the maps' types are in it.  .BTF.ext
# would only add source lines to the verifier's log.
$(B)/bpf_prog.o: bpf_prog.c bpf_prog.h $(wildcard bpf/*.h arch/*.h) Makefile
	@mkdir -p $(@D)
	$(call say,BPF  ,$<)$(CLANG) $(BPF_CFLAGS) -c -o $@.tmp $<
	$(Q)$(LLVM_STRIP) -g $@.tmp
	$(Q)$(LLVM_OBJCOPY) --discard-all --remove-section=.BTF.ext \
		--remove-section=.rel.BTF.ext --remove-section=.llvm_addrsig \
		$@.tmp $@ && rm -f $@.tmp

$(B)/bpf_embed.o: bpf/embed.S $(B)/bpf_prog.o $(B)/flags
	$(Q)gzip -9nc $(B)/bpf_prog.o >$(B)/bpf_prog.o.gz
	$(call say,AS   ,$<)$(CC) \
		-DBPF_OBJECT='"$(B)/bpf_prog.o$(if $(ZLIB),.gz)"' \
		-c -o $@ bpf/embed.S

# Put together from its parts, and packed if it can be unpacked: 46 KB less.
$(B)/page_embed.o: page/embed.S $(wildcard page/*) $(B)/flags
	$(call say,PAGE ,page/flame.html)page/assemble.sh $(B)/page
	$(Q)$(CC) -DPAGE_HEAD='"$(B)/page/head$(if $(ZLIB),.gz)"' \
		-DPAGE_TAIL='"$(B)/page/tail$(if $(ZLIB),.gz)"' \
		-DPAGE_SVG_STYLE='"$(B)/page/svg.css"' -c -o $@ page/embed.S

include test/Makefile

SHARE = $(DESTDIR)$(PREFIX)/share
BASH_COMPLETIONS = $(SHARE)/bash-completion/completions
ZSH_COMPLETIONS = $(SHARE)/zsh/site-functions
FISH_COMPLETIONS = $(SHARE)/fish/vendor_completions.d

install: prof
	install -d $(DESTDIR)$(PREFIX)/bin $(SHARE)/man/man1 \
		$(BASH_COMPLETIONS) $(ZSH_COMPLETIONS) $(FISH_COMPLETIONS)
	install -m 755 prof $(DESTDIR)$(PREFIX)/bin/prof
	install -m 644 prof.1 $(SHARE)/man/man1/prof.1
	install -m 644 completions/prof.bash $(BASH_COMPLETIONS)/prof
	install -m 644 completions/_prof $(ZSH_COMPLETIONS)/_prof
	install -m 644 completions/prof.fish $(FISH_COMPLETIONS)/prof.fish

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/prof $(SHARE)/man/man1/prof.1 \
		$(BASH_COMPLETIONS)/prof $(ZSH_COMPLETIONS)/_prof \
		$(FISH_COMPLETIONS)/prof.fish

dist:
	@mkdir -p $(B)
	git archive --prefix=prof-$(VERSION)/ -o $(B)/prof-$(VERSION).tar.gz HEAD

clean:
	rm -rf $(filter-out $(B)/vm,$(wildcard $(B)/*)) prof

.PHONY: all install uninstall dist clean force
.DELETE_ON_ERROR:

-include $(shell find $(B) -name '*.d' 2>/dev/null)
