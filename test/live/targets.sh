#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Chosen tasks: a command and all it starts, processes, threads, a cgroup.
. test/lib.sh

# Whether N samples at HZ are what NS ns of CPU time should give, to 3 sigma of
# a count (and one tick).
near() {
	awk -v got="$1" -v hz="$2" -v ns="$3" 'BEGIN {
		want = ns * hz / 1e9; d = got - want
		exit !(d * d <= 9 * (want + 1)) }'
}

want() { awk -v hz="$1" -v ns="$2" 'BEGIN { printf "%.0f", ns * hz / 1e9 }'; }

# perf's count of the same work is shown beside: its events are the command's own
# and begin a new period in each task.
for kind in forks threads execs daemon; do
	for hz in 99 997; do
		perf record -q -F $hz -o "$T/perf.data" -- \
			build/test/family $kind >/dev/null 2>&1
		perf=$(perf script -i "$T/perf.data" -F comm 2>/dev/null |
			grep -c .)
		./prof -q -F $hz -- build/test/family $kind >"$T/out" 2>"$T/cpu"
		status=$?
		ns=$(tail -n 1 "$T/cpu")
		got=$(folds "$T/out")
		if [ $status = 0 ] && near "$got" $hz "$ns"; then
			ok "command-$kind-$hz ($got of $(want $hz "$ns"), perf $perf)"
		else
			fail "command-$kind-$hz" "status $status, $got of $(want $hz "$ns")"
		fi
	done
done

# A real build, with all its compilers; bash's times are those of all children.
cat >"$T/build.sh" <<-EOS
	make -s -j2 B=$T/b $T/b/loader.o $T/b/kallsyms.o $T/b/samples.o \
		$T/b/profile.o $T/b/sys/bpf.o >/dev/null
	times >&2
EOS
./prof -q -F 997 -- bash "$T/build.sh" >"$T/out" 2>"$T/times"
ns=$(awk '{ for (i = 1; i <= 2; i++) { split($i, t, /[ms]/)
	sum += t[1] * 60 + t[2] } } END { printf "%.0f", sum * 1e9 }' \
	<(tail -n 2 "$T/times"))
got=$(folds "$T/out")
# make's own account is in ticks of 10 ms or so per process: 5 %.
if awk -v got="$got" -v ns="$ns" 'BEGIN { w = ns * 0.997e-6
	exit !(got > w * 0.95 && got < w * 1.05) }' && grep -q '^cc1;' "$T/out"; then
	ok "command-make ($got of $(want 997 "$ns"))"
else
	fail command-make "$got of $(want 997 "$ns")"
fi

# Forks that the kernel could not tell of, as nobody emptied the rings, are said.
start build/test/storm 1000
./prof -d 9 -p "${PIDS[-1]}" >"$T/out" 2>"$T/err" &
prof=$!
sleep 0.5
kill -STOP $prof
sleep 7
kill -CONT $prof
wait $prof
stop_all
if grep -q 'records of forks and exits were lost' "$T/err" &&
	adds_up "$T/err" "$T/out"; then
	ok lost-forks-are-said
elif adds_up "$T/err" "$T/out"; then
	skip lost-forks-are-said "this machine is too slow to fill the rings"
else
	fail lost-forks-are-said "$(cat "$T/err")"
fi

# The exit status is the command's.
status_of() {
	local name=$1 want=$2
	shift 2
	./prof -q "$@" >"$T/out" 2>"$T/err"
	expect "$name" test $? = "$want"
}
status_of status-0 0 -- true
status_of status-7 7 -- sh -c 'exit 7'
status_of status-killed 137 -- sh -c 'kill -9 $$'
status_of status-not-found 127 -- /no/such/program
status_of status-not-executable 126 -- /etc/passwd
printf '\177ELF' >"$T/bad"
chmod 755 "$T/bad"
status_of status-not-a-program 126 -- "$T/bad"
expect not-a-program-said grep -q 'execute: .*format' "$T/err"
status_of status-after-duration 5 -d 0.3 -- sh -c 'sleep 1; exit 5'
./prof -q -- sh -c 'echo "$0 $*"' -d --foo >"$T/out" 2>&1
expect arguments-are-its-own grep -qx -- '-d --foo' "$T/out"

# A signal goes on to the command, and what was sampled is printed.
./prof -- sh -c 'trap "exit 9" TERM; while :; do :; done' >"$T/out" 2>"$T/err" &
PIDS+=("$!")
sleep 0.7
kill -TERM "${PIDS[-1]}"
wait "${PIDS[-1]}"
status=$?
PIDS=()
if [ $status = 9 ] && adds_up "$T/err" "$T/out" &&
	[ "$(folds "$T/out" '^sh;')" -gt 20 ]; then
	ok signal-is-passed-on
else
	fail signal-is-passed-on "status $status: $(cat "$T/err")"
fi

# What is killed leaves no child that waits for ever.
./prof -q -d 60 -- sleep 3333 >/dev/null 2>&1 &
prof=$!
sleep 0.4
child=$(ps -o pid= --ppid $prof | tr -d ' ')
kill -KILL $prof
wait $prof 2>/dev/null
expect killed-lets-command-live kill -0 "$child"
kill "$child" 2>/dev/null

# -p: one process among others, by its own account.
start build/test/split 1000
other=${PIDS[-1]}
build/test/split 3 >"$T/ns" &
pid=$!
./prof -F 499 -p $pid >"$T/out" 2>"$T/err"
wait $pid
if [ "$(cut -d';' -f1 "$T/out" | sort -u)" = split ] &&
	adds_up "$T/err" "$T/out" && near "$(folds "$T/out")" 499 "$(cat "$T/ns")"; then
	ok "process ($(folds "$T/out") of $(want 499 "$(cat "$T/ns")"))"
else
	fail process "$(folds "$T/out") of $(want 499 "$(cat "$T/ns")"): $(cat "$T/err")"
fi
expect process-end-is-said grep -q "process $pid has ended" "$T/err"

# What it starts while it is watched belongs to it; two targets, parent and
# child, count once each.
build/test/family forks 2>"$T/ns" &
pid=$!
./prof -q -F 997 -p $pid >"$T/out" 2>"$T/err"
wait $pid
got=$(folds "$T/out")
ns=$(cat "$T/ns")
# It had begun before: some of it is not seen.
if awk -v got="$got" -v ns="$ns" 'BEGIN { w = ns * 0.997e-6
	exit !(got > w * 0.85 && got < w + 3 * sqrt(w)) }'; then
	ok "process-and-children ($got of $(want 997 "$ns"))"
else
	fail process-and-children "$got of $(want 997 "$ns")"
fi
bash -c 'build/test/split 2 & echo $! >'"$T/child"'; wait' >"$T/ns" &
pid=$!
sleep 0.2
./prof -q -F 499 -d 1 -p "$pid,$(cat "$T/child")" >"$T/out" 2>"$T/err"
wait $pid
got=$(folds "$T/out")
# Other loads may take the CPU; counted twice it would be above what one can use.
if [ "$got" -gt 100 ] && [ "$got" -lt 520 ]; then
	ok "parent-and-child ($got)"
else
	fail parent-and-child "$got of at most 499"
fi

# Exec keeps the number.
bash -c 'exec build/test/split 1.5' >/dev/null &
pid=$!
./prof -q -F 499 -p $pid >"$T/out" 2>"$T/err"
expect target-that-execs test "$(folds "$T/out" '^split;')" -gt 500

# One that is killed: the run ends, and says so.
build/test/split 1000 >/dev/null 2>&1 &
pid=$!
(sleep 1; kill -KILL $pid) &
timeout 20 ./prof -F 499 -p $pid >"$T/out" 2>"$T/err"
wait $pid 2>/dev/null
if [ "$(folds "$T/out" '^split;')" -gt 100 ] && adds_up "$T/err" "$T/out" &&
	grep -q "process $pid has ended" "$T/err"; then
	ok target-that-is-killed
else
	fail target-that-is-killed "$(cat "$T/err")"
fi

# 200 threads while it is watched.
build/test/family threads 2>"$T/ns" &
pid=$!
./prof -q -F 997 -p $pid >"$T/out" 2>"$T/err"
wait $pid
got=$(folds "$T/out")
expect "threads-of-process ($got of $(want 997 "$(cat "$T/ns")"))" \
	awk -v got="$got" -v ns="$(cat "$T/ns")" 'BEGIN {
		exit !(got > ns * 0.997e-6 * 0.85) }'

# -t: one thread.
./prof -q -F 499 -d 1 -t "$other" >"$T/out" 2>"$T/err"
expect thread test "$(folds "$T/out" '^split;')" -gt 200
stop_all

refused() {
	local name=$1 words=$2
	shift 2
	./prof -q -d 5 "$@" >"$T/out" 2>"$T/err"
	if [ $? = 1 ] && grep -q "$words" "$T/err"; then
		ok "$name"
	else
		fail "$name" "$(cat "$T/err")"
	fi
}
refused no-such-process "process 4194303: .*no such process" -p 4194303
refused no-such-thread "thread 4194303: .*no such thread" -t 4194303
sleep 20 &
PIDS+=("$!")
./prof -d 0.5 -p "${PIDS[-1]}" >"$T/out" 2>"$T/err"
expect never-on-a-cpu grep -q "process ${PIDS[-1]}: no sample" "$T/err"
stop_all

# A cgroup, of version 2.
cgroup=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ -n "$cgroup" ] && mkdir "$cgroup/prof-test.$$" 2>/dev/null; then
	mkdir "$cgroup/prof-test.$$/below"
	start build/test/split 1000
	start build/test/split 1000
	echo "${PIDS[-1]}" >"$cgroup/prof-test.$$/below/cgroup.procs"
	./prof -F 499 -d 1 --cgroup "$cgroup/prof-test.$$" >"$T/out" 2>"$T/err"
	got=$(folds "$T/out")
	./prof -q -d 0.5 --cgroup "$cgroup" >"$T/all" 2>/dev/null
	if adds_up "$T/err" "$T/out" && [ "$got" -gt 150 ] &&
		[ "$got" -lt 520 ] && [ "$(folds "$T/all")" -gt 40 ]; then
		ok "cgroup ($got)"
	else
		fail cgroup "$got of about 499: $(cat "$T/err")"
	fi
	stop_all
	rmdir "$cgroup/prof-test.$$/below" "$cgroup/prof-test.$$"
else
	skip cgroup "no cgroup of version 2 can be made here"
fi
refused no-cgroup "No such file" --cgroup /no/such/cgroup
refused not-a-cgroup "cgroup v2" --cgroup /tmp

# Inside a PID namespace the same holds, by the numbers there.
if unshare -pf --mount-proc true 2>/dev/null; then
	unshare -pf --mount-proc ./prof -F 997 -- build/test/family forks \
		>"$T/out" 2>"$T/err"
	ns=$(sed -n 's/^\([0-9][0-9]*\)$/\1/p' "$T/err")
	got=$(folds "$T/out")
	if near "$got" 997 "$ns" && adds_up "$T/err" "$T/out"; then
		ok "namespace-command ($got of $(want 997 "$ns"))"
	else
		fail namespace-command "$got of $(want 997 "$ns"): $(cat "$T/err")"
	fi
	# Files of user frames, too: /proc is the namespace's own.
	unshare -pf --mount-proc ./prof -q -- build/test/split 1.5 \
		>"$T/out" 2>/dev/null
	expect namespace-files grep -q ';seventy ' "$T/out"
	unshare -pf --mount-proc bash -c 'build/test/split 20 & sleep 0.1
		./prof -F 499 -d 1 -p $!; kill $!' >"$T/out" 2>"$T/err"
	expect namespace-process test "$(folds "$T/out" '^split;')" -gt 150
	# Without its own /proc: what began meanwhile is known all the same.
	unshare -pf ./prof -F 499 -- build/test/split 0.5 >"$T/out" 2>"$T/err"
	if grep -q ';main;' "$T/out" && grep -q 'another PID namespace' "$T/err" &&
		[ "$(folds "$T/out" '^split;')" -gt 200 ]; then
		ok namespace-foreign-proc
	else
		fail namespace-foreign-proc "$(cat "$T/err")"
	fi
else
	skip namespaces "unshare -pf is not allowed"
fi
