#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The program and the drain: nothing lost, nothing mixed up.  The tests are
# exact, as a tracepoint makes every system call of the victims a sample.
. test/lib.sh

object=build/test/trigger.bpf.o
samples=${STRESS_SAMPLES:-1000000}

# bpftool loads the object as it was built.
if [ ! -d /sys/fs/bpf ] || ! mount -t bpf bpf "$T" 2>/dev/null; then
	skip bpftool-loads "no bpf file system can be mounted"
else
	if bpftool prog loadall build/bpf_prog.o "$T/pinned" \
		>/dev/null 2>&1 && [ -e "$T/pinned/profile_hash" ]; then
		ok bpftool-loads
	else
		fail bpftool-loads "bpftool prog loadall refuses bpf_prog.o"
	fi
	rm -rf "$T/pinned"
	umount "$T"
fi

stress() {
	local name=$1
	shift
	if build/test/stress "$@" >"$T/out" 2>&1; then
		ok "$name ($(sed 's/ dangling.*//' "$T/out"))"
	else
		fail "$name" "$(tail -n 3 "$T/out" | tr '\n' ' ')"
	fi
}

stress drains-lose-nothing $object "$samples" 1000 exact
stress drains-by-key $object 60000 1000 keys exact
stress overflow-is-counted $object 200000 100000 entries=256
stress overflow-is-counted-by-key $object 100000 50000 entries=256 keys
stress collisions-are-counted build/test/weak.bpf.o 200000 1000

# With grace periods of a millisecond there are thousands of drains.
expedited=/sys/kernel/rcu_expedited
if [ -w $expedited ]; then
	before=$(cat $expedited)
	trap 'echo $before >$expedited; cleanup' EXIT
	echo 1 >$expedited
	stress many-drains $object "$samples" 0 exact
	echo "$before" >$expedited
else
	skip many-drains "no $expedited"
fi

# 50,000 user stacks, each from both children.
if build/test/stress $object 100000 20000 depth=16 entries=131072 exact \
	>"$T/out" 2>&1 &&
	[ "$(sed 's/.*distinct \([0-9]*\).*/\1/' "$T/out")" -ge 50000 ]; then
	ok "50000-distinct-stacks ($(sed 's/.*distinct/distinct/' "$T/out"))"
else
	fail 50000-distinct-stacks "$(cat "$T/out")"
fi

# The loader: what it refuses, says why, and leaves nothing open.
refused() {
	local name=$1 object=$2 program=$3 words=$4

	if build/test/load "build/test/$object.refused.o" "$program" \
		>"$T/out" 2>"$T/err"; then
		fail "$name" "was loaded"
	elif ! grep -q "$words" "$T/err"; then
		fail "$name" "said: $(cat "$T/err")"
	elif ! awk '$2 != $4 { exit 1 }' "$T/out"; then
		fail "$name" "left open: $(cat "$T/out")"
	else
		ok "$name"
	fi
}

refused verifier-log verifier program "verifier: R0 invalid mem access"
refused global-variable global program "variables are not supported"
refused no-such-program verifier nosuch "no such program"

# One program of two is chosen: one map is created, one program loaded.
if build/test/load build/test/verifier.refused.o good >"$T/out" &&
	awk '$3 != $2 + 2 { exit 1 }' "$T/out"; then
	ok only-what-is-chosen
else
	fail only-what-is-chosen "$(cat "$T/out")"
fi
