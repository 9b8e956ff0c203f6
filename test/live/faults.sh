#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What goes wrong goes right: calls that fail, starts and stops, kill -9.
# FAULTS_ALL=1: all calls instead of the first of each kind, more of the rest.
. test/lib.sh

cycles=100 kills=30
[ -z "${FAULTS_ALL:-}" ] || cycles=1000 kills=500
bpf_unheld >"$T/before"

# The table is for reading: build/faults.txt has it.
test/faults/run ${FAULTS_ALL:+-a} | sed '/^# [^0-9]/d'
if left=$(bpf_left "$T/before"); then
	ok faults-leave-nothing
else
	fail faults-leave-nothing "$left"
fi

mkdir "$T/cycles" "$T/kill"
if build/test/faults/cycles $cycles "$T/cycles" >"$T/out" 2>&1; then
	ok "cycles ($cycles; $(sed -n 's/^at the end: //p' "$T/out"))"
else
	fail cycles "$(tr '\n' ' ' <"$T/out")"
fi
if left=$(bpf_left "$T/before"); then
	ok cycles-leave-nothing
else
	fail cycles-leave-nothing "$left"
fi

if build/test/faults/kill $kills ./prof build/test/split "$T/kill" \
	>"$T/out" 2>&1; then
	ok "kill-9 ($(cat "$T/out"))"
else
	fail kill-9 "$(tr '\n' ' ' <"$T/out")"
fi
if left=$(bpf_left "$T/before"); then
	ok kill-9-leaves-nothing
else
	fail kill-9-leaves-nothing "$left"
fi
