#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# prof, perf and bpftrace sample the same ten seconds: the ten hottest kernel
# functions have to agree within what chance allows.
. test/lib.sh

seconds=${PEERS_SECONDS:-10}
hz=499

start sha256sum /dev/zero
start dd if=/dev/zero of=/dev/null bs=1
start build/test/split 1000
sleep 0.3

perf record -q -F $hz -a -g -o "$T/perf.data" -- sleep "$seconds" \
	>/dev/null 2>&1 &
perf=$!
bpftrace -e "profile:hz:$hz { @[comm, kstack] = count(); }
	interval:s:$seconds { exit(); }" >"$T/bpftrace" 2>/dev/null &
bpftrace=$!
./prof -F $hz -d "$seconds" >"$T/prof.folded" 2>"$T/err"
wait $perf $bpftrace
stop_all
perf script -i "$T/perf.data" -F comm,ip,sym,dso 2>/dev/null |
	awk -f test/live/fold_perf.awk >"$T/perf.folded"
awk -f test/live/fold_bpftrace.awk "$T/bpftrace" >"$T/bpftrace.folded"

# Self samples of each kernel function of dd, by its address: the three tools
# choose other names where a function has several.
self() {
	awk 'NR == FNR { if (!($3 in at)) at[$3] = $1; next }
		/^dd;/ && /_\[k\] [0-9]+$/ {
			n = $NF; sub(/ [0-9]+$/, "")
			frames = split($0, frame, ";")
			name = frame[frames]; sub(/_\[k\]$/, "", name)
			sum[name in at ? at[name] : name] += n
		}
		END { for (a in sum) print a, sum[a] }' /proc/kallsyms "$1" |
		sort >"$2"
}
self "$T/prof.folded" "$T/prof.self"
self "$T/perf.folded" "$T/perf.self"
self "$T/bpftrace.folded" "$T/bpftrace.self"

for peer in perf bpftrace; do
	if [ ! -s "$T/$peer.self" ]; then
		skip "agrees-with-$peer" "$peer gave no kernel stacks here"
		continue
	fi
	# Two counts of the same thing differ by sqrt(a + b) in the mean; the
	# totals differ a little, as the tools did not run to the same instant.
	join -a 1 -a 2 -e 0 -o 0,1.2,2.2 "$T/prof.self" "$T/$peer.self" |
		sort -k2,2nr | awk '{ address[NR] = $1; a[NR] = $2; b[NR] = $3
			sa += $2; sb += $3 }
		END {
			for (i = 1; i <= 10 && i <= NR; i++) {
				x = a[i]; y = b[i] * sa / sb
				d = x - y; far = (d * d > 16 * (x + y))
				bad += far
				printf "%s%s %d/%d", (i > 1 ? ", " : ""),
					(far ? "FAR " address[i] " " : ""), x, y
			}
			exit bad || NR < 10
		}' >"$T/verdict"
	if [ "${PIPESTATUS[2]}" = 0 ]; then
		ok "agrees-with-$peer ($(cat "$T/verdict"))"
	else
		fail "agrees-with-$peer" "$(cat "$T/verdict")"
	fi
done
