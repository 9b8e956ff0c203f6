# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# packages.sh: what scripts need, and its installation on Debian.  Sourced by
# test.sh and bench/run, from the repository's root.
# shellcheck disable=SC2034

build_needs=(gcc:gcc make:make clang:clang llvm-objcopy:llvm llvm-strip:llvm
	musl-gcc:musl-tools /usr/include/linux/bpf.h:linux-libc-dev
	/usr/include/stdlib.h:libc6-dev /usr/include/zlib.h:zlib1g-dev
	/usr/include/lzma.h:liblzma-dev
	/usr/include/libiberty/demangle.h:libiberty-dev)
live_needs=(bpftool:bpftool bpftrace:bpftrace perf:linux-perf strace:strace
	gawk:gawk setpriv:util-linux taskset:util-linux ps:procps g++:g++
	objcopy:binutils xz:xz-utils ld.lld:lld eu-elfcompress:elfutils
	tmux:tmux go:golang-go)
long_needs=(rustc:rustc gdb:gdb)
consumers_needs=(go:golang-go node:nodejs npm:npm chromium:chromium)
browser_needs=(chromium:chromium node:nodejs npm:npm xmllint:libxml2-utils
	/usr/share/fonts/truetype/dejavu:fonts-dejavu-core)
docs_needs=(zsh:zsh fish:fish)
fuzz_needs=()
lint_needs=(clang-tidy:clang-tidy cppcheck:cppcheck shellcheck:shellcheck
	mandoc:mandoc)
vm_needs=(qemu-system-x86_64:qemu-system-x86 busybox:busybox-static cpio:cpio)

# Prints the Debian packages of which no file is there: COMMAND:PACKAGE pairs.
missing() {
	local pair

	for pair in "$@"; do
		command -v "${pair%%:*}" >/dev/null 2>&1 ||
			[ -e "${pair%%:*}" ] || echo "${pair##*:}"
	done | sort -u
}

# Installs what is missing of these pairs.
install_packages() {
	local packages

	packages=$(missing "$@")
	[ -n "$packages" ] || return 0
	if ! command -v apt-get >/dev/null; then
		echo "$0: install these, by whatever name they have" \
			"here:" $packages >&2
		return 1
	fi
	[ "$(id -u)" = 0 ] || {
		echo "$0: needs root to install:" $packages >&2
		return 1
	}
	# shellcheck disable=SC2086
	{ flock 9 && apt-get -qq update && DEBIAN_FRONTEND=noninteractive \
		apt-get -qq install -y --no-install-recommends $packages; } \
		9>build/apt.lock >build/apt.log 2>&1 || {
		echo "$0: apt-get install failed:" $packages >&2
		tail -n 3 build/apt.log >&2
		return 1
	}
}
