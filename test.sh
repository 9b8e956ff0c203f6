#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# test.sh [PART...]: builds and tests prof, after installing what that needs.
#
#	unit	functions, no root		golden	canned samples to bytes
#	live	this machine's kernel, as root	floors	includes point downwards
#	docs	man page, --help, README and the shells' completions agree
#	build	two copies of the tree give the same bytes
#	images	names of real files, against what readelf says of them
#	asan	unit and golden, and a run, under asan and ubsan
#	fuzz	FUZZ_RUNS inputs (20000) for each parser
#	browser	pages and pictures in Chromium, driven by playwright
#	consumers  others read what prof writes, and prof what others write
#	lint	static analysers, shellcheck, mandoc
#	coverage	which lines unit, golden, images and live reach, as a table
#	vm	the oldest and the newest kernel, in QEMU (VM_KERNELS)
#	long	ten million samples, two million inputs per parser, five minutes
#		of a busy machine, all calls that can fail
#
# Without a part: unit golden floors docs build images live consumers.  A test
# prints `ok`, `FAIL` or `skip` with its name; the last line counts them.  Status
# 1 if one failed.
set -u
cd "$(dirname "$0")" || exit 1
export LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin

results=$(mktemp) || exit 1
made_tracefs=
finish() {
	rm -f "$results"
	[ -z "$made_tracefs" ] || umount /sys/kernel/tracing
}
trap finish EXIT

. test/packages.sh

# ---------------------------------------------------------------- the parts

fail() { echo "FAIL $1: $2"; }
skip() { echo "skip $1: $2"; }

part_unit() {
	make -s build/test/unit || { fail unit "does not build"; return; }
	build/test/unit
}

part_golden() {
	make -s build/test/fold || { fail golden "does not build"; return; }
	test/golden/run
	make -s build/test/page-maker || {
		fail golden "does not build"
		return
	}
	test/page/golden.sh
}

part_browser() {
	make -s build/test/page-maker || {
		fail browser "does not build"
		return
	}
	install_packages "${browser_needs[@]}" || {
		skip browser "packages are missing"
		return
	}
	test/page/run
}

part_floors() { test/floors.sh; }

part_docs() {
	make -s build/options_print || { fail docs "does not build"; return; }
	# Without root, the shells that are there.
	[ "$(id -u)" != 0 ] || install_packages "${docs_needs[@]}"
	test/docs.sh
	test/completions.sh
}

part_build() { test/reproducible.sh; }

part_images() {
	install_packages "${live_needs[@]}" || {
		fail images "packages are missing"
		return
	}
	make -s build/test/name || { fail images "does not build"; return; }
	bash test/images.sh
}

part_live() {
	if [ "$(id -u)" != 0 ]; then
		skip live "needs root"
		return
	fi
	install_packages "${live_needs[@]}" || {
		fail live "packages are missing"
		return
	}
	make -s live-programs || { fail live "does not build"; return; }
	if [ ! -e /sys/kernel/tracing/events ]; then
		mount -t tracefs tracefs /sys/kernel/tracing && made_tracefs=1
	fi
	for script in test/live/*.sh; do
		bash "$script"
	done
	if [ -n "$made_tracefs" ]; then
		umount /sys/kernel/tracing
		made_tracefs=
	fi
}

# Viewers and libraries: what cannot be had is left out, and said.
part_consumers() {
	local from=test/consumers/package.json to=build/consumers

	install_packages "${consumers_needs[@]}" ||
		skip consumers-packages "some cannot be had"
	if command -v npm >/dev/null && ! cmp -s $from $to/installed; then
		mkdir -p $to
		cp $from $to/package.json
		npm install --prefix $to --no-audit --no-fund --silent \
			>$to/log 2>&1 && cp $from $to/installed
	fi
	bash test/consumers/run.sh
}

part_asan() {
	make -s asan || { fail asan "does not build"; return; }
	build/asan/test/unit | sed 's/^\(ok\|FAIL\) /\1 asan\//'
	FOLD=build/asan/test/fold test/golden/run |
		sed 's/^\(ok\|FAIL\) /\1 asan\//'
	MAKER=build/asan/test/page-maker test/page/golden.sh |
		sed 's/^\(ok\|FAIL\) /\1 asan\//'
	if [ "$(id -u)" != 0 ]; then
		skip asan/run "needs root"
	elif build/asan/prof -q -d 2 -F 997 >/dev/null; then
		echo "ok asan/run"
	else
		fail asan/run "see above"
	fi
}

# The fuzzer's run-time library is a package of the compiler's own version.
find_fuzzer() {
	echo 'int LLVMFuzzerTestOneInput(const char *d, long n)
		{ return d && n < 0; }' | clang -fsanitize=fuzzer,address,undefined \
		-x c -o build/try-fuzzer - 2>/dev/null ||
		fuzz_needs=("none:libclang-rt-$(clang -dumpversion |
			cut -d. -f1)-dev")
}

part_fuzz() {
	find_fuzzer
	install_packages "${fuzz_needs[@]}" || {
		fail fuzz "packages are missing"
		return
	}
	test/fuzz/run "${FUZZ_RUNS:-20000}"
}

part_lint() {
	install_packages "${lint_needs[@]}" || {
		fail lint "packages are missing"
		return
	}
	test/lint.sh
}

part_coverage() {
	[ "$(id -u)" != 0 ] || install_packages "${live_needs[@]}" || {
		fail coverage "packages are missing"
		return
	}
	test/coverage.sh
}

part_vm() {
	install_packages "${vm_needs[@]}" || {
		fail vm "packages are missing"
		return
	}
	make -s vm-programs || { fail vm "does not build"; return; }
	# shellcheck disable=SC2086
	bash test/vm/tests.sh ${VM_KERNELS:-}
}

part_long() {
	export STRESS_SAMPLES=10000000 BALANCE_SECONDS=20 PEERS_SECONDS=60
	export FAULTS_ALL=1 UNWIND_FRAMES=200000
	install_packages "${long_needs[@]}" ||
		echo "test.sh: goes on without other languages" >&2
	part_images
	part_live
	if [ "$(id -u)" = 0 ]; then
		bash test/long.sh
	fi
	FUZZ_RUNS=2000000 part_fuzz
}

# ------------------------------------------------------------------ the run

mkdir -p build
parts=("$@")
[ $# -gt 0 ] || parts=(unit golden floors docs build images live consumers)
for part in "${parts[@]}"; do
	if ! declare -F "part_$part" >/dev/null; then
		echo "test.sh: no part '$part'; its head lists them" >&2
		exit 2
	fi
done
install_packages "${build_needs[@]}" || exit 1
if ! make -s prof; then
	echo "FAIL build: make"
	echo "0 passed, 1 failed, 0 skipped"
	exit 1
fi
for part in "${parts[@]}"; do
	echo "# $part"
	"part_$part" 2>&1 </dev/null | tee -a "$results"
done
passed=$(grep -c '^ok ' "$results")
failed=$(grep -c '^FAIL ' "$results")
skipped=$(grep -c '^skip ' "$results")
# A part that printed nothing did not run: that is no success.
[ "$passed" -gt 0 ] || failed=$((failed + 1))
if [ "$failed" -gt 0 ]; then
	echo "# what failed:"
	grep '^FAIL ' "$results"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
