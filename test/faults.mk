# SPDX-License-Identifier: MIT
#
# The product with calls that fail (test/faults), and what drives it.  Included
# by test/Makefile, from the root.

# The linker sends calls of these to __wrap_NAME of faults.c.
FAULTS_CALLS = access calloc close execvp fchmod fchown fcntl fork free fstat \
	ioctl kill lstat memory_grow memory_new memory_text mmap open pipe2 \
	poll ppoll read readlink realloc realpath rename setpriority \
	setrlimit stat syscall unlink waitpid write

$(B)/test/faulty: $(B)/test/faults/faults.o $(B)/prof.o $(OBJECTS) \
		$(B)/bpf_embed.o $(LIBRARIES)
	$(call say,LD   ,$@)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) \
		$(FAULTS_CALLS:%=-Wl,--wrap=%) -o $@ $^

$(B)/test/faults/drive: $(B)/test/faults/judge.o $(B)/test/faults/texts.o

$(B)/test/faults/%: $(B)/test/faults/%.o $(OBJECTS) $(B)/bpf_embed.o \
		$(LIBRARIES)
	$(call say,LD   ,$@)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^

# Not to be compiled anew each time.
.SECONDARY: $(patsubst %,$(B)/test/faults/%.o,drive judge texts cycles kill)

faults-programs: $(B)/test/faulty $(B)/test/faults/drive \
	$(B)/test/faults/cycles $(B)/test/faults/kill

live-programs: faults-programs

.PHONY: faults-programs
