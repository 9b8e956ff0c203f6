#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# long.sh: what takes minutes.  A busy machine for LONG_SECONDS (300), a
# thousand starts, and what prof holds in the end.
. test/lib.sh

seconds=${LONG_SECONDS:-300}

# Five minutes at 997 Hz: all adds up, and memory does not grow for ever.  The
# stacks of this load repeat, so that what is kept is bounded.
start build/test/storm 1000000
start build/test/split 1000000
./prof -F 997 -d "$seconds" -v >"$T/out" 2>"$T/err"
status=$?
stop_all
if [ $status = 0 ] && adds_up "$T/err" "$T/out" &&
	[ "$(balance "$T/err" lost)" = 0 ]; then
	ok "endurance ($(sed -n 's/.*: \([0-9]* ticks.*\)/\1/p' "$T/err"))"
else
	fail endurance "status $status: $(tail -n 3 "$T/err" | tr '\n' ' ')"
fi
rss=$(sed -n 's/.*peak RSS \([0-9]*\) KB/\1/p' "$T/err")
if [ "${rss:-999999}" -lt 65536 ]; then
	ok "endurance-memory ($rss KB)"
else
	fail endurance-memory "$rss KB"
fi

# A thousand starts leave no program and no map behind.
bpf_unheld >"$T/before"
failed=0
for ((i = 0; i < 1000; i++)); do
	./prof -q -d 0.001 -o "$T/x.folded" || failed=$((failed + 1))
done
expect thousand-starts test "$failed" = 0
expect thousand-starts-leave-nothing bpf_left "$T/before"
