#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# screenshots.sh: samples a piece of work, as root, and takes two pictures of the
# page into doc/.  The work is of programs with frame pointers, and the kernel's.
set -u
cd "$(dirname "$0")/../.." || exit 1
to=build/browser

draw() {
	while :; do
		build/fp/test/page-maker $to/work.stacks \
			$to/work.{html,svg,folded} 2>/dev/null
	done
}
read_files() {
	while :; do
		tar cf - /usr/share/doc /usr/include 2>/dev/null |
			sha256sum >/dev/null
	done
}
look_around() {
	while :; do
		find /proc /usr -maxdepth 3 >/dev/null 2>&1
	done
}

if [ "${1:-}" = work ]; then
	pids=()
	for work in draw read_files look_around; do
		$work &
		pids+=("$!")
	done
	sleep 10
	kill "${pids[@]}"
	exit
fi
mkdir -p $to
make -s B=build/fp CC=gcc \
	CFLAGS='-O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls' \
	build/fp/test/page-maker || exit 1
build/fp/test/page-maker make 60000 3000 >$to/work.stacks
./prof -q -F 499 -o $to/real.html -- test/page/screenshots.sh work || exit 1
exec test/page/run --screenshots
