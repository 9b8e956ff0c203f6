#!/bin/sh
# SPDX-License-Identifier: MIT
# guest.sh: runs inside a machine of the matrix, by busybox; prints `ok NAME` or
# `FAIL NAME: why` lines.  In /bin are prof, stress, stacks and the object for
# stress.  What needs a boot of its own is in tests.sh.
cd /tmp || exit 1

ok() { echo "ok $1"; }
fail() { echo "FAIL $1: $2"; }

# Whether the balance adds up, and with the folds, to the unit.
adds_up() {
	awk 'NR == FNR { folds += $NF; next }
		/ticks expected/ {
			for (i = 2; i <= NF; i++) {
				if ($i ~ /^expected/) expected = $(i - 2)
				if ($i == "sampled") sampled = $(i - 1)
			}
		}
		$2 == "user" || $2 == "kernel" || $2 == "idle" ||
		$2 == "softirq" || $2 == "unknown" { shown += $3 }
		$2 == "filtered" || $2 == "lost" { other += $3 }
		$2 == "unaccounted" { missing = $3 }
		END { exit !(expected && folds == shown &&
			shown + other == sampled &&
			sampled + missing == expected) }' out err
}

run() {
	name=$1
	shift
	if ! prof "$@" >out 2>err; then
		fail "$name" "$(tail -n 3 err | tr '\n' ' ')"
	elif ! adds_up; then
		fail "$name" "does not add up: $(tr '\n' ' ' <err)"
	else
		ok "$name ($(sed -n 's/.*: \([0-9]* ticks.*\)/\1/p' err))"
	fi
}

says() {
	if grep -q -- "$2" err; then ok "$1"; else
		fail "$1" "does not say '$2': $(tr '\n' ' ' <err)"; fi
}

shows() {
	if grep -q -- "$2" out; then ok "$1"; else
		fail "$1" "no '$2' in $(head -n 3 out)"; fi
}

dd if=/dev/zero of=/dev/null bs=1 2>/dev/null &
stacks 100000000 60 turn &
run plain -d 2
shows kernel-names 'vfs_read_\[k\]'
shows user-files 'stacks;.*main;'
run fast -d 1 -F 997
run one-cpu -d 1 -C 0
says one-cpu-said 'on 1 CPU '

echo 2 >/proc/sys/kernel/kptr_restrict
run hidden -d 1
# Since 5.14 the kernel can be asked for its names.
if grep -q 'addresses are hidden' err; then
	says hidden-said 'kptr_restrict'
else
	shows hidden-is-asked 'vfs_read_\[k\]'
fi
echo 0 >/proc/sys/kernel/kptr_restrict

# perf events must be closed for this one to be changed.
echo 16 >/proc/sys/kernel/perf_event_max_stack
run max-stack -d 1 --unwind fp
shows max-stack-truncated '^stacks;\[truncated\];'
echo 127 >/proc/sys/kernel/perf_event_max_stack

rate=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
echo 1000 >/proc/sys/kernel/perf_event_max_sample_rate
run throttled -d 1 -F 997
says throttled-said 'the kernel will throttle'
echo "$rate" >/proc/sys/kernel/perf_event_max_sample_rate

echo 0 >/sys/devices/system/cpu/cpu1/online
run offline -d 1
says offline-said 'on 1 CPU '
if prof -d 1 -C 1 >out 2>err; then
	fail offline-chosen "sampled a CPU that is off line"
else
	says offline-chosen 'none of them is on line'
fi
echo 1 >/sys/devices/system/cpu/cpu1/online

# A CPU that goes and comes back, and one that comes for the first time.  The
# time that it was away is not expected, so nothing is missing; its clock is
# seen to stand still at a drain, a second late at most.
cpu=/sys/devices/system/cpu/cpu1/online

off_and_on() {
	usleep 1500000
	echo 0 >$cpu
	usleep 1500000
	echo 1 >$cpu
}

# As fast as it goes: in 5.10 some events begin before their CPU has, and never
# live.  Then processes whose only trace is in the ring of that CPU.
restless() {
	end=$(($(cut -d. -f1 /proc/uptime) + 3))
	while [ "$(cut -d. -f1 /proc/uptime)" -lt $end ]; do
		echo 0 >$cpu
		echo 1 >$cpu
	done
	usleep 2500000
	for _ in 1 2 3 4 5 6 7 8; do
		taskset 2 stacks 1000 10 turn
	done
}

hotplug() {
	name=$1
	echo "$2" >$cpu
	prof -v -d "$3" >out 2>err &
	prof=$!
	$6
	wait $prof || fail "$name" "exit status"
	if adds_up && awk '/ticks expected/ { for (i = 2; i <= NF; i++)
			if ($i ~ /^expected/) expected = $(i - 2) }
		$2 == "unaccounted" { missing = $3 }
		END { exit !(expected > '"$4"' && expected < '"$5"' &&
			missing < expected / 20 && missing > -expected / 20) }' err
	then
		ok "$name ($(sed -n 's/.*: \([0-9]* ticks.*\)/\1/p' err))"
	else
		fail "$name" "$(tr '\n' ' ' <err)"
	fi
}
hotplug hot-plug 1 5 750 950 off_and_on
hotplug hot-plug-late 0 5 590 790 off_and_on

killall dd stacks
hotplug hot-plug-restless 1 8 1050 1500 restless
if grep -q '^stacks;.*main' out && ! grep -q '^stacks;.*exited' out; then
	ok hot-plug-processes
else
	fail hot-plug-processes "$(grep '^stacks;' out | tail -n 3)"
fi

mount -t tracefs tracefs /sys/kernel/tracing
for how in batches keys; do
	if stress /bin/trigger.bpf.o 40000 1000 exact some $how entries=45000 \
		victim=/bin/stacks >out 2>&1; then
		ok "drains-lose-nothing-$how ($(sed 's/ dangling.*//' out))"
	else
		fail "drains-lose-nothing-$how" "$(cat out)"
	fi
done
