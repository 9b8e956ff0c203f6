#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The balance adds up to the last tick, whatever the machine does meanwhile.
. test/lib.sh

cpus=$(nproc)
seconds=${BALANCE_SECONDS:-2}

run() {
	local name=$1
	shift
	if ! ./prof -d "$seconds" "$@" >"$T/out" 2>"$T/err"; then
		fail "$name" "exit status; $(tail -n 2 "$T/err" | tr '\n' ' ')"
	elif grep -q 'bug in prof' "$T/err"; then
		fail "$name" "a stack dangles"
	elif ! adds_up "$T/err" "$T/out"; then
		fail "$name" "does not add up: $(tr '\n' ' ' <"$T/err")"
	else
		ok "$name ($(head_of "$T/err" sampled) of $(head_of "$T/err" expected))"
	fi
}

none_lost() {
	if [ "$(balance "$T/err" lost)" = 0 ] &&
		! grep 'stacks: ' "$T/err" | grep -qv 'before their root'; then
		ok "$1"
	else
		fail "$1" "$(tr '\n' ' ' <"$T/err")"
	fi
}

run adds-up-idle
start build/test/storm 1000
for hz in 99 997 9999; do
	run "adds-up-storm-$hz" -F $hz
	none_lost "none-lost-storm-$hz"
	run "adds-up-storm-$hz-1cpu" -F $hz -C 0
done
stop_all

# Random deep user stacks, nearly all of them new.
start build/test/stacks 100000000 20 turn
start build/test/stacks 100000000 20 turn
run adds-up-new-stacks -F 9999
none_lost none-lost-new-stacks
if [ "$(wc -l <"$T/out")" -gt 2000 ]; then
	ok new-stacks-are-new
else
	fail new-stacks-are-new "$(wc -l <"$T/out") lines"
fi

# Too little memory is said, and what it costs is counted.
run adds-up-overflow -F 20000 --memory 1
if [ "$(balance "$T/err" lost)" -gt 0 ] &&
	grep -q 'the map of counts was full' "$T/err" &&
	grep -q 'memory: 1 MB are too little' "$T/err"; then
	ok overflow-is-said
else
	fail overflow-is-said "$(tr '\n' ' ' <"$T/err")"
fi
stop_all

# Which stacks are shown changes where samples go, not how many there are.
start build/test/storm 1000
for option in -K -U --no-idle "-K --no-idle" "-U -K"; do
	# shellcheck disable=SC2086
	run "adds-up$(echo "$option" | tr -d ' ')" $option
done
./prof -K -d 0.5 >"$T/out" 2>/dev/null
expect kernel-stacks-only test "$(grep -vc '_\[k\]' "$T/out")" = 0
./prof -U -d 0.5 >"$T/out" 2>/dev/null
expect user-stacks-only test "$(grep -c '_\[k\]' "$T/out")" = 0
./prof --no-idle -d 0.5 >"$T/out" 2>/dev/null
# Interrupts of an idle CPU are no idling.
expect no-idle test \
	"$(grep -cE '^swapper.*;[a-z_]*(_idle|_halt|mwait)_\[k\] ' "$T/out")" = 0
stop_all

# A program that has a CPU for itself is sampled as often as its time says.
# The clock and the scheduler's account disagree by a tick or two at most; the
# statistical error of N ticks that are Hz apart is below sqrt(N).
cpu=$((cpus - 1))
for hz in 99 997; do
	keep_awake "$(seq -s ' ' 0 $((cpus - 1)))" 2>/dev/null
	perf record -q -F $hz -C $cpu -o "$T/perf.data" -- sleep 5 \
		>/dev/null 2>&1 &
	PIDS+=("$!")
	./prof -F $hz -C $cpu -d 5.3 >"$T/out" 2>"$T/err" &
	prof=$!
	sleep 0.2
	ns=$(taskset -c $cpu nice -n -10 build/test/split 4)
	wait $prof
	stop_all
	got=$(folds "$T/out" '^split;')
	perf=$(perf script -i "$T/perf.data" -F comm 2>/dev/null |
		grep -c '^ *split')
	if awk -v got="$got" -v ns="$ns" -v hz=$hz 'BEGIN {
		want = ns * hz / 1e9; d = got - want
		exit !(d * d <= 9 * want) }'; then
		ok "pinned-program-$hz (Hz x time: $(awk -v ns="$ns" -v hz=$hz \
			'BEGIN { printf "%.0f", ns * hz / 1e9 }'), prof $got, perf $perf)"
	else
		fail "pinned-program-$hz" "$got samples in $ns ns, perf $perf"
	fi
done

# 70, 20 and 10 %: by user addresses that nm knows.
keep_awake 0 >/dev/null
start build/test/split 1000
./prof -U -F 997 -d 4 >"$T/out" 2>/dev/null
stop_all
awk '/^split;/ {
		count = $NF
		sub(/ [0-9]+$/, "")
		frames = split($0, frame, ";")
		sum[frame[frames]] += count
	}
	END { all = sum["seventy"] + sum["twenty"] + sum["ten"]
		printf "%d %.1f %.1f %.1f\n", all, 100 * sum["seventy"] / all,
			100 * sum["twenty"] / all, 100 * sum["ten"] / all
	}' "$T/out" >"$T/split" 2>/dev/null
read -r all seventy twenty ten <"$T/split"
if awk -v n="${all:-0}" -v a="$seventy" -v b="$twenty" -v c="$ten" '
	function near(got, want) {
		d = got - want
		return d * d <= 16 * want * (100 - want) / n
	}
	BEGIN { exit !(n > 1000 && near(a, 70) && near(b, 20) && near(c, 10)) }'; then
	ok "70-20-10 ($seventy $twenty $ten of $all)"
else
	fail 70-20-10 "$(cat "$T/split")"
fi
