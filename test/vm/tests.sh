#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests.sh [KERNEL...]: the tests that need another kernel, or a boot of their
# own, on each kernel of the list `kernels` or on those that are named.
. test/lib.sh

vm=test/vm/run
kernels=("$@")
[ $# -gt 0 ] || mapfile -t kernels < <(awk '/^[a-z]/ { print $1 }' test/vm/kernels)

# One boot with prof as the program: its status and words.
boot() {
	local name=$1 want=$2 words=$3 status
	shift 3
	$vm -k "$kernel" "$@" >"$T/out" 2>"$T/err"
	status=$?
	if [ $status != "$want" ]; then
		fail "$kernel/$name" "status $status: $(tail -n 3 "$T/err" | tr '\n' ' ')"
	elif ! grep -q -- "$words" "$T/out" "$T/err"; then
		fail "$kernel/$name" "does not say '$words': $(tr '\n' ' ' <"$T/err")"
	else
		ok "$kernel/$name"
	fi
}

for kernel in "${kernels[@]}"; do
	if ! test/vm/run -k "$kernel" -- @/bin/true >"$T/out" 2>&1; then
		fail "$kernel/boots" "$(tail -n 2 "$T/out" | tr '\n' ' ')"
		continue
	fi
	$vm -k "$kernel" -t 180 -f prof:/bin/prof -f build/test/stress:/bin/stress \
		-f build/test/static/stacks:/bin/stacks \
		-f build/test/trigger.bpf.o:/bin/trigger.bpf.o \
		-f test/vm/guest.sh:/guest.sh -f test/vm/guest.sh:/tmp/x \
		-- @/bin/sh /guest.sh >"$T/out" 2>"$T/err"
	status=$?
	sed -n "s,^\(ok\|FAIL\) ,\1 $kernel/,p" "$T/out"
	[ $status = 0 ] && grep -q drains-lose-nothing-keys "$T/out" ||
		fail "$kernel/guest" "status $status: $(tail -n 2 "$T/err" | tr '\n' ' ')"

	boot nothing-mounted 0 'kernel frames stay\|do_idle_\[k\]' -M '' -- \
		./prof -d 1
	boot pid-1 0 'ticks expected' -b -- ./prof -d 1
	boot lockdown 0 'ticks expected' -A lockdown=confidentiality -- \
		./prof -d 1
	boot one-cpu-of-four 0 'on 1 CPU ' -s 4 -A maxcpus=1 -- ./prof -d 1
	boot nosmp 0 'on 1 CPU ' -A nosmp -- ./prof -d 1
	boot no-jit 0 'ticks expected' -S net.core.bpf_jit_enable=0 -- \
		./prof -d 1
	boot little-memory 0 'ticks expected' -m 96 -M '' -- ./prof -d 1
done
