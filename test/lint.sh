#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# lint.sh: static analysers over all that is ours; any word from one is a
# failure.  What is silenced is silenced here, with its reason.
#
# The program and its tests; the parts for the kernel (bpf_prog.c and *.bpf.c) by
# clang alone, as only that knows their machine.
product=$(ls ./*.c ./*/*.c | sed 's,^\./,,' |
	grep -vE '^(bpf_prog\.c|bpf/|test/|bench/|build/)')
tests=$(find test bench -name '*.c' ! -name '*.bpf.c' | sort)
kernel=$(ls bpf_prog.c test/live/*.bpf.c)
# The compiled object is not there for analysers.
flags=(-std=c11 -D_GNU_SOURCE= -I. -DPROF_VERSION='"0"' -DPROF_ZLIB -DPROF_LZMA
	-DPROF_IBERTY)
kernel_flags=(-O2 -target bpf -mcpu=v2 -I.
	"-DBPF_FOR_$(uname -m | tr '[:lower:]' '[:upper:]')"
	-I"/usr/include/$(gcc -print-multiarch)")
out=$(mktemp)
trap 'rm -f "$out"' EXIT

verdict() {
	if [ -s "$out" ]; then
		echo "FAIL lint-$1: $(wc -l <"$out") lines"
		head -n 30 "$out"
	else
		echo "ok lint-$1"
	fi
}

gcc_flags=("${flags[@]}" -Wall -Wextra -Wshadow -Wstrict-prototypes
	-Wmissing-prototypes -Wvla -fanalyzer -O2 -c -o /dev/null)
{
	for file in $product; do
		gcc "${gcc_flags[@]}" "$file"
	done
	# A test's memory goes with its process; a victim may have odd frames.
	for file in $tests; do
		gcc "${gcc_flags[@]}" -Wno-analyzer-malloc-leak -Wno-vla \
			"$file"
	done
} >"$out" 2>&1
verdict gcc-analyzer

{
	for file in $product $tests; do
		# gcc has attributes that it lacks.
		clang "${flags[@]}" -Wall -Wextra -Wshadow \
			-Wmissing-prototypes -Wno-unknown-attributes \
			-fsyntax-only "$file"
	done
	for file in $kernel; do
		clang "${kernel_flags[@]}" -Wall -Wextra -c -o /dev/null "$file"
	done
} >"$out" 2>&1
verdict clang

# Not: swappable parameters (an address beside a size cannot be told apart by
# type in C); reserved names and signal handlers of POSIX; snprintf_s and
# memcpy_s, which no libc here has; `if (!strcmp())`, which is how C is written;
# the size of a pointer, where an array of pointers is meant.
checks='-*,bugprone-*,cert-*,-bugprone-easily-swappable-parameters,-bugprone-reserved-identifier,-cert-dcl37-c,-cert-dcl51-cpp,-cert-sig30-c,-bugprone-signal-handler,-bugprone-assignment-in-if-condition,-cert-err33-c,-bugprone-suspicious-string-compare,-bugprone-sizeof-expression'
# In tests neither: products of small numbers; a macro that declares a variable;
# texts that shall have no end; what a script of ours hands to a program of ours;
# a pipe to sort(1); numbers that are the same in each run; a .c that is included.
tests_checks=$checks,-bugprone-implicit-widening-of-multiplication-result,-bugprone-macro-parentheses,-bugprone-misplaced-widening-cast,-bugprone-not-null-terminated-result,-cert-err34-c,-cert-env33-c,-cert-msc30-c,-cert-msc32-c,-cert-msc50-cpp,-cert-msc51-cpp,-bugprone-suspicious-include
{
	clang-tidy --quiet --checks="$checks" $product -- "${flags[@]}"
	clang-tidy --quiet --checks="$tests_checks" $tests -- "${flags[@]}"
	clang-tidy --quiet --checks="$checks" $kernel -- "${kernel_flags[@]}"
} 2>/dev/null | grep -E 'warning:|error:' >"$out"
verdict clang-tidy

cppcheck_flags=(--quiet --std=c11 --enable=warning --enable=performance
	--enable=portability --inline-suppr --suppress=missingIncludeSystem
	--error-exitcode=1 -D_GNU_SOURCE -D__x86_64__ -DPROF_VERSION='"0"' -I.
	-DPROF_ZLIB -DPROF_LZMA -DPROF_IBERTY)
{
	cppcheck "${cppcheck_flags[@]}" $product
	# It does not see that a CHECK() that fails does not return, nor that an
	# array is filled by the function that it is handed to; and takes an enum
	# for signed.
	cppcheck "${cppcheck_flags[@]}" --suppress=nullPointerRedundantCheck \
		--suppress=nullPointerArithmeticRedundantCheck \
		--suppress=ctunullpointer --suppress=uninitvar \
		--suppress=memleakOnRealloc \
		--suppress=invalidPrintfArgType_uint $tests
} >"$out" 2>&1
verdict cppcheck

# Whatever begins like a script of a shell that it knows.
mapfile -t scripts < <(find . -type f ! -path './build/*' ! -path './.git/*' \
	-exec awk 'FNR > 3 { nextfile }
		/^#!.*sh$/ || /^# shellcheck shell=/ { print FILENAME; nextfile }' {} +)
shellcheck -x -S warning -e SC1091,SC2317 "${scripts[@]}" >"$out" 2>&1
verdict shellcheck

mandoc -Tlint -Wwarning prof.1 >"$out" 2>&1
verdict mandoc
