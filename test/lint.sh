#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# lint.sh: static analysers over all that is ours; any word from one is a
# failure.  What is silenced is silenced here, with its reason.
sources=$(ls ./*.c ./lib/*.c ./sys/*.c ./elf/*.c ./proc/*.c ./sym/*.c ./out/*.c |
	sed 's,^\./,,' | grep -v '^bpf_prog.c')
# The compiled object is not there for analysers.
flags=(-std=c11 -D_GNU_SOURCE -I. -DPROF_VERSION='"0"' -DPROF_ZLIB -DPROF_LZMA
	-DPROF_IBERTY)
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

for file in $sources; do
	gcc "${flags[@]}" -Wall -Wextra -Wshadow -Wstrict-prototypes \
		-Wmissing-prototypes -Wvla -fanalyzer -O2 -c -o /dev/null \
		"$file" 2>&1
done >"$out"
verdict gcc-analyzer

for file in $sources; do
	clang "${flags[@]}" -Wall -Wextra -Wshadow -Wmissing-prototypes \
		-fsyntax-only "$file" 2>&1
done >"$out"
verdict clang

# Not: swappable parameters (an address beside a size cannot be told apart by
# type in C); reserved names and signal handlers of POSIX; snprintf_s and
# memcpy_s, which no libc here has; `if (!strcmp())`, which is how C is written;
# the size of a pointer, where an array of pointers is meant.
clang-tidy --quiet --checks='-*,bugprone-*,cert-*,-bugprone-easily-swappable-parameters,-bugprone-reserved-identifier,-cert-dcl37-c,-cert-dcl51-cpp,-cert-sig30-c,-bugprone-signal-handler,-bugprone-assignment-in-if-condition,-cert-err33-c,-bugprone-suspicious-string-compare,-bugprone-sizeof-expression' \
	$sources -- "${flags[@]}" 2>/dev/null | grep -E 'warning:|error:' >"$out"
verdict clang-tidy

cppcheck --quiet --std=c11 --enable=warning,performance,portability \
	--inline-suppr --suppress=missingIncludeSystem --error-exitcode=1 \
	-D_GNU_SOURCE -D__x86_64__ -DPROF_VERSION='"0"' -DPROF_ZLIB -DPROF_LZMA \
	-DPROF_IBERTY -I. $sources >"$out" 2>&1
verdict cppcheck

mapfile -t scripts < <(git ls-files '*.sh'; ls .ci/run test/*/run test/vm/fetch)
shellcheck -x -S warning -e SC1091,SC2317 "${scripts[@]}" >"$out" 2>&1
verdict shellcheck

mandoc -Tlint -Wwarning prof.1 >"$out" 2>&1
verdict mandoc
