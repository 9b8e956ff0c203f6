#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# demo.sh [USER@HOST]: installs what is missing, builds prof, samples this
# machine (or HOST, over ssh) for SECS seconds and prints folded stacks:
#
#	sudo ./demo.sh > out.folded
#	SECS=30 ./demo.sh root@vm > vm.folded
#
# Only folded stacks go to standard output.  On HOST nothing is installed and
# nothing stays: the one file is copied to a new directory, run and removed (after
# SECS, also if you do not wait for it).
set -eu
cd "$(dirname "$0")"
seconds=${SECS:-10}
host=${1:-}

say() { echo "demo.sh: $*" >&2; }

# COMMAND:PACKAGE or FILE:PACKAGE, by Debian's names.
needs="gcc:gcc make:make clang:clang llvm-objcopy:llvm llvm-strip:llvm
	strip:binutils musl-gcc:musl-tools /usr/include/linux/bpf.h:linux-libc-dev
	/usr/include/zlib.h:zlib1g-dev /usr/include/lzma.h:liblzma-dev
	/usr/include/libiberty/demangle.h:libiberty-dev"

missing() {
	local pair

	for pair in $needs; do
		command -v "${pair%%:*}" >/dev/null ||
			[ -e "${pair%%:*}" ] || echo "${pair##*:}"
	done | sort -u
}

install_missing() {
	local packages

	packages=$(missing | tr '\n' ' ')
	[ -n "$packages" ] || return 0
	if command -v apt-get >/dev/null; then
		[ "$(id -u)" = 0 ] || {
			say "needs root to install: $packages"
			exit 1
		}
		say "installing: $packages"
		# shellcheck disable=SC2086
		{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive \
			apt-get -qq install -y --no-install-recommends \
			$packages; } >&2
	elif command -v dnf >/dev/null; then
		say "install first: dnf install gcc make clang llvm binutils" \
			"musl-gcc musl-libc-static kernel-headers" \
			"zlib-devel zlib-static xz-devel xz-static binutils-devel"
		exit 1
	elif command -v apk >/dev/null; then
		say "install first: apk add gcc make musl-dev clang llvm" \
			"binutils linux-headers bash zlib-dev zlib-static" \
			"xz-dev xz-static binutils-dev"
		exit 1
	else
		say "install first, by the names they have here: $packages"
		exit 1
	fi
}

# As the owner of the clone, so that `make` works for him afterwards.
build() {
	local owner

	owner=$(stat -c %U .)
	if [ "$(id -u)" = 0 ] && [ "$owner" != root ] &&
		id -u "$owner" >/dev/null 2>&1; then
		runuser -u "$owner" -- make -s
	else
		make -s
	fi
}

install_missing
build >&2
if [ -z "$host" ]; then
	[ "$(id -u)" = 0 ] || {
		say "sampling needs root: sudo ./demo.sh > out.folded"
		exit 1
	}
	exec ./prof -d "$seconds"
fi

# One connection: the file goes in, the folded stacks come out.
# shellcheck disable=SC2029
ssh "$host" "d=\$(mktemp -d) && trap 'rm -rf \"\$d\"' EXIT &&
	trap 'exit 1' HUP INT TERM && cat >\"\$d/prof\" && chmod 700 \"\$d/prof\" &&
	if [ \"\$(id -u)\" = 0 ]; then \"\$d/prof\" -d $seconds
	else sudo -n \"\$d/prof\" -d $seconds; fi" <prof
