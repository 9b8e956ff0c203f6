#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Other events, the textbook's engine, and what --check says.
. test/lib.sh

# A victim that touches a known number of fresh pages, and yields as often.
cat >"$T/pages.c" <<-'EOS'
	#include <sys/mman.h>
	#include <sched.h>
	#include <stdlib.h>
	int main(int c, char **v) {
		int n = atoi(v[1]);
		char *p = mmap(0, (size_t)n * 4096, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		madvise(p, (size_t)n * 4096, MADV_NOHUGEPAGE);
		for (int i = 0; i < n; i++)
			p[(size_t)i * 4096] = 1;
		return 0;
	}
EOS
gcc -O1 -fno-omit-frame-pointer -o "$T/pages" "$T/pages.c"

# Every fault is a sample: as many as there are pages, and a few to start with.
./prof -e page-faults/1 -- "$T/pages" 20000 >"$T/out" 2>"$T/err"
got=$(folds "$T/out" '^pages;')
if [ "$got" -ge 20000 ] && [ "$got" -lt 20300 ] &&
	grep -q 'every 1 page-faults' "$T/err"; then
	ok "page-faults ($got of 20000)"
else
	fail page-faults "$got of 20000: $(cat "$T/err")"
fi
./prof -e minor-faults/10 -- "$T/pages" 20000 >"$T/out" 2>"$T/err"
got=$(folds "$T/out" '^pages;')
expect "every-10th ($got of 2000)" test "$got" -ge 1990 -a "$got" -lt 2040

# With every N the number to expect is known, and the balance adds up to it.
start build/test/storm 1000
./prof -e context-switches/1 -d 1 >"$T/out" 2>"$T/err"
sampled=$(sed -n 's/.* \([0-9]*\) sampled$/\1/p' "$T/err")
lost=$(balance "$T/err" lost)
if [ "${sampled:-0}" -gt 50 ] &&
	[ $(($(folds "$T/out") + lost)) = "$sampled" ] &&
	grep -q '__schedule_\[k\]\|schedule' "$T/out"; then
	ok "context-switches ($sampled)"
else
	fail context-switches "$(cat "$T/err")"
fi
./prof -e page-faults -F 199 -d 1 >"$T/out" 2>"$T/err"
expect a-frequency-of-events grep -q 'at most 199 are asked for' "$T/err"
stop_all

# Clocks by a period, and a clock by its other name.
keep_awake 0
./prof -e cpu-clock/20000000 -C 0 -d 1 >"$T/out" 2>"$T/err"
expect clock-by-period grep -q 'at 50 Hz: 50 ticks expected' "$T/err"
./prof -e task-clock -C 0 -d 1 >"$T/out" 2>"$T/err"
if adds_up "$T/err" "$T/out" && [ "$(folds "$T/out")" -gt 90 ]; then
	ok task-clock
else
	fail task-clock "$(cat "$T/err")"
fi

# No counters of the processor: the clock, and a word.
if perf stat -e cycles true 2>&1 | grep -q 'not supported'; then
	./prof -e cycles -C 0 -d 1 >"$T/out" 2>"$T/err"
	if grep -q 'sampling cpu-clock instead' "$T/err" &&
		adds_up "$T/err" "$T/out" && [ "$(folds "$T/out")" -gt 90 ]; then
		ok no-counters
	else
		fail no-counters "$(cat "$T/err")"
	fi
	skip counters "this machine has none"
else
	skip no-counters "this machine has counters"
	./prof -e cycles -C 0 -d 1 >"$T/out" 2>"$T/err"
	expect counters test "$(folds "$T/out")" -gt 50
fi
stop_all

# --------------------------------------------------------------- stackid

# Few stacks: both engines print the same of the same program.
for engine in hash stackid; do
	build/test/stress build/test/trigger.bpf.o 20000 1000 depth=3 \
		"${engine/hash/exact}" >"$T/$engine" 2>&1 ||
		fail "stress-$engine" "$(cat "$T/$engine")"
	./prof --engine $engine -e page-faults/1 -- "$T/pages" 5000 2>"$T/err" |
		sed 's/0x[0-9a-f]*\([0-9a-f]\{3\}\)\]/0x\1]/g' |
		awk '{ n = $NF; sub(/ [0-9]+$/, ""); sum[$0] += n }
			END { for (l in sum) if (sum[l] > 100) print l, sum[l] }' |
		sort >"$T/$engine.folded"
done
if [ -s "$T/hash.folded" ] && cmp -s "$T/hash.folded" "$T/stackid.folded"; then
	ok "engines-agree ($(wc -l <"$T/hash.folded") stack, $(folds "$T/hash.folded") samples)"
else
	fail engines-agree "$(diff "$T/hash.folded" "$T/stackid.folded")"
fi

# Many stacks: it loses, and says how many; none is without its count.
build/test/stress build/test/trigger.bpf.o 100000 1000 depth=16 stackid \
	>"$T/out" 2>&1
collided=$(sed 's/.*collided \([0-9]*\).*/\1/' "$T/out")
expect "stackid-loses-and-says ($(sed 's/ races.*//' "$T/out"))" \
	test "$collided" -gt 30000
start build/test/stacks 100000000 20 turn
./prof --engine stackid -F 9999 -d 3 >"$T/out" 2>"$T/err"
said=$(sed -n 's/^prof: *\([0-9]*\)  stacks: another.*/\1/p' "$T/err")
shown=$(folds "$T/out" '[[]collision]')
if adds_up "$T/err" "$T/out" && [ "${said:-0}" -gt 100 ] &&
	[ "$shown" -gt 0 ] && [ "$shown" -le "$said" ]; then
	ok "stackid-collisions ($said said, $shown samples shown)"
else
	fail stackid-collisions "$said said, $shown shown: $(cat "$T/err")"
fi
stop_all

# ----------------------------------------------------------------- --check

./prof --check >"$T/out" 2>"$T/err"
if [ $? = 0 ] && grep -q '^ok .*engine hash' "$T/out" &&
	tail -n 1 "$T/out" | grep -q 'prof works here' && [ ! -s "$T/err" ]; then
	ok check
else
	fail check "$(cat "$T/out" "$T/err")"
fi
if command -v setpriv >/dev/null; then
	cp prof "$T/prof"
	chmod 755 "$T" "$T/prof"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$T/prof" --check \
		>"$T/out" 2>"$T/err"
	if [ $? = 1 ] && grep -q '^no .*BPF_MAP_CREATE' "$T/out" &&
		grep -q 'does not work here' "$T/out"; then
		ok check-as-nobody
	else
		fail check-as-nobody "$(cat "$T/out")"
	fi
fi
