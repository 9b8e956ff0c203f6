#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# floors.sh: a file includes only files of its own room and of lower floors, and
# the map at the top of prof.c names every source file.

floor_of() {
	case $1 in
	lib/* | arch/* | bpf_prog.h | bpf/*) echo 0 ;;
	sys/* | elf/* | kallsyms.[ch]) echo 1 ;;
	loader.[ch] | loader_object.[ch] | sampler.[ch] | proc/*) echo 2 ;;
	samples.[ch] | stackid.[ch] | sym/*) echo 3 ;;
	profile.[ch] | profile_build.[ch] | profile_parts.[ch] | meta.[ch] | \
		unwind/*) echo 4 ;;
	in/*) echo 5 ;;
	out/*) echo 5 ;;
	tui/*) echo 6 ;;
	prof.c | embedded.[ch] | run.[ch] | run_*.c | check.[ch] | options.[ch] | \
		bpf_prog.c) echo 7 ;;
	*) echo "no floor" ;;
	esac
}

room_of() {
	case $1 in
	bpf_prog.[ch]) echo bpf ;;
	prof.c | embedded.[ch] | run.[ch] | run_*.c | check.[ch] | options.[ch])
		echo main ;;
	samples.[ch] | stackid.[ch]) echo samples ;;
	loader.[ch] | loader_object.[ch]) echo loader ;;
	profile.[ch] | profile_build.[ch] | profile_parts.[ch]) echo profile ;;
	*/*) echo "${1%%/*}" ;;
	*) echo "${1%.*}" ;;
	esac
}

bad=0
files=$(ls ./*.c ./*.h ./*/*.c ./*/*.h | sed 's,^\./,,' |
	grep -v '^\(test\|build\|bench\)/')
for file in $files; do
	floor=$(floor_of "$file")
	if [ "$floor" = "no floor" ]; then
		echo "FAIL floors: $file has no floor"
		bad=1
		continue
	fi
	for include in $(sed -n 's/^#include "\([^"]*\)".*/\1/p' "$file"); do
		below=$(floor_of "$include")
		[ "$(room_of "$include")" = "$(room_of "$file")" ] && continue
		if [ ! -e "$include" ]; then
			echo "FAIL floors: $file includes $include, which is not there"
			bad=1
		elif [ "$below" -ge "$floor" ] 2>/dev/null; then
			echo "FAIL floors: $file (floor $floor) includes $include (floor $below)"
			bad=1
		fi
	done
	# errno stays where system calls are made.
	case $file in
	sys/* | lib/file.c) ;;
	*)
		if grep -nE '[^a-zA-Z_<.]errno[^.a-zA-Z_]' "$file" |
			grep -vE '^[0-9]+: \*|-errno|/\*' | grep -q .; then
			echo "FAIL floors: $file touches errno"
			bad=1
		fi
		;;
	esac
done
[ $bad = 0 ] && echo "ok floors ($(echo "$files" | wc -l) files)"

# The map names `room/file.[ch]` or the file itself.
map=$(sed -n '/^ \*\/$/q; p' prof.c)
bad=0
for file in $files bpf/embed.S; do
	[ "$file" = prof.c ] && continue
	if ! grep -qF -e "$file" -e "${file%.*}.[ch]" <<<"$map"; then
		echo "FAIL map: prof.c's opening does not name $file"
		bad=1
	fi
done
for file in $(grep -oE '[a-z_/0-9]+\.(\[ch\]|[chS])' <<<"$map" | sort -u); do
	case $file in
	*.\[ch\]) [ -e "${file%.*}.c" ] && [ -e "${file%.*}.h" ] ;;
	*) [ -e "$file" ] ;;
	esac || {
		echo "FAIL map: prof.c's opening names $file, which is not there"
		bad=1
	}
done
[ $bad = 0 ] && echo "ok map"

# A file that nobody can read in one sitting is two files.
bad=$(wc -l $files | awk '$1 > 700 && $2 != "total" { print $2 " (" $1 ")" }')
if [ -n "$bad" ]; then
	echo "FAIL length: above 700 lines: $bad"
else
	echo "ok length"
fi
