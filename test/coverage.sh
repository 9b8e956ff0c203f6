#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# coverage.sh: which lines the tests reach, by gcov.  The tree is copied to
# build/coverage/tree and built there so that each program counts, with the
# system's libc; unit, golden, images and live tests run there as they are
# (COVERAGE_PARTS are others), then --check, as root and as nobody.
#
# Prints a table, files by room; build/coverage/ROOM#FILE.c.gcov marks the lines
# that nothing reached by #####.  bpf_prog.c runs in the kernel, where nobody
# counts.
set -u
out=$PWD/build/coverage
tree=$out/tree
rm -rf "$out"
mkdir -p "$tree"
{ git ls-files -co --exclude-standard 2>/dev/null ||
	find . -type f ! -path './build/*' ! -path ./prof; } >"$out/files"
while read -r file; do
	[ ! -e "$file" ] || printf '%s\n' "$file"
done <"$out/files" | tar -cf - -T - | tar -xf - -C "$tree"
cd "$tree" || exit 1

# Whoever runs the program adds to its counts, so all may write them.
umask 0
unset MAKEFLAGS MFLAGS MAKELEVEL
mkdir build
gcc -O1 -c -o build/coverage.o test/coverage.c || exit 1
export CC=gcc CFLAGS="-O0 -g --coverage"
export LDFLAGS="--coverage -Wl,--wrap=execvp,--wrap=_exit build/coverage.o"
# shellcheck disable=SC2086
./test.sh ${COVERAGE_PARTS:-unit golden images live} >"$out/tests" 2>&1
chmod -R a+rwX build
./prof --check >>"$out/tests" 2>&1
[ "$(id -u)" != 0 ] || setpriv --reuid=65534 --regid=65534 --clear-groups \
	./prof --check >>"$out/tests" 2>&1
# Some of these tests are about time, or about a program that does not write to
# files of its own.  Whether they pass is not the question here.
sed -n '/^# what failed/q; s/^FAIL /  &/p' "$out/tests"
grep ' passed, ' "$out/tests" | sed 's/^/  /'

for source in *.c */*.c; do
	case $source in
	bpf_prog.c | bpf/* | test/* | bench/* | build/*) continue ;;
	esac
	# File 'sys/bpf.c', and below it Lines executed:90.00% of 50
	gcov -p -o "build/${source%.c}.gcno" "$source" 2>/dev/null |
		awk -v source="$source" '
			/^File/ { mine = $0 == "File '\''" source "'\''" }
			/^Lines executed/ && mine {
				split($0, part, /[:% ]+/)
				print source, part[3], part[5]
			}'
done | sort -u >"$out/lines"
mv ./*.gcov "$out"

awk '{
	room = $1
	if (!sub("/.*", "", room))
		room = "root"
	hit = $2 * $3 / 100
	files[room] = files[room] sprintf("  %-24s %6d %8.1f %%\n", $1, $3, $2)
	lines[room] += $3
	hits[room] += hit
	all += $3
	all_hits += hit
}
END {
	printf "%-26s %6s %10s\n", "file", "lines", "reached"
	# These two have a bound to keep; then the others.
	n = split("root sys", rooms)
	for (room in lines)
		if (room != "root" && room != "sys")
			rooms[++n] = room
	for (i = 1; i <= n; i++) {
		room = rooms[i]
		printf "%-26s %6d %8.1f %%\n%s", room, lines[room],
			100 * hits[room] / lines[room], files[room]
	}
	printf "%-26s %6d %8.1f %%\n", "all", all, 100 * all_hits / all
	for (i = 1; i <= 2; i++) {
		room = rooms[i]
		percent = 100 * hits[room] / lines[room]
		if (percent >= 90)
			printf "ok coverage-%s\n", room
		else if (!root)
			printf "skip coverage-%s: needs root\n", room
		else
			printf "FAIL coverage-%s: %.1f %% is below 90\n",
				room, percent
	}
}' root="$([ "$(id -u)" = 0 ] && echo 1)" "$out/lines"
