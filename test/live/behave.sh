#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a user meets: how it ends, where it writes, what it says when it cannot.
. test/lib.sh

# ------------------------------------------------------------------ endings

ends_by() {
	local signal=$1 status

	./prof -d 60 >"$T/out" 2>"$T/err" &
	PIDS+=("$!")
	sleep 0.5
	kill -"$signal" "${PIDS[-1]}"
	wait "${PIDS[-1]}"
	status=$?
	PIDS=()
	if [ $status = 0 ] && adds_up "$T/err" "$T/out" &&
		[ "$(folds "$T/out")" -gt 10 ]; then
		ok "ends-by-$signal"
	else
		fail "ends-by-$signal" "status $status: $(tail -n 1 "$T/err")"
	fi
}

for signal in INT TERM HUP; do
	ends_by $signal
done

# nohup(1) means that the terminal's end is not ours.
nohup ./prof -d 1.5 >"$T/out" 2>"$T/err" &
PIDS+=("$!")
sleep 0.5
kill -HUP "${PIDS[-1]}"
wait "${PIDS[-1]}"
PIDS=()
expect nohup-ignores-HUP grep -q '^prof: 1\.[5-9]' "$T/err"

# A second signal quits at once; a stopped reader keeps the first one waiting.
mkfifo "$T/fifo"
# shellcheck disable=SC2217
sleep 30 <"$T/fifo" &
PIDS+=("$!")
build/test/stacks 1000000000 20 turn &
PIDS+=("$!")
./prof -F 9999 -d 60 >"$T/fifo" 2>"$T/err" &
prof=$!
sleep 1
kill -INT $prof
sleep 1
kill -INT $prof
wait $prof
status=$?
stop_all
expect second-signal-quits test $status = 130

# --------------------------------------------------------------- where to

one_message() {
	local name=$1 want=$2 words=$3 status
	shift 3
	"$@" >"$T/out" 2>"$T/err"
	status=$?
	if [ $status != "$want" ]; then
		fail "$name" "status $status, not $want: $(cat "$T/err")"
	elif ! grep -q -- "$words" "$T/err"; then
		fail "$name" "does not say '$words': $(cat "$T/err")"
	elif [ "$(grep -c '^prof: ' "$T/err")" != 1 ]; then
		fail "$name" "not one message: $(cat "$T/err")"
	else
		ok "$name"
	fi
}

one_message stdout-full 1 "stdout: write: No space left" \
	sh -c './prof -q -d 0.1 >/dev/full'
one_message stdout-closed 1 "stdout: write: Bad file descriptor" \
	sh -c './prof -q -d 0.1 >&-'
one_message stdout-gone 1 "stdout: write: Broken pipe" \
	bash -c 'set -o pipefail; ./prof -q -d 0.3 | true'
one_message output-full 1 "/dev/full: write: No space left" \
	./prof -q -d 0.1 -o /dev/full
mkdir "$T/disk"
one_message output-directory 1 "Is a directory" ./prof -d 60 -o "$T/disk"
one_message output-nowhere 1 "No such file" ./prof -d 60 -o "$T/no/x.folded"
one_message help-full 1 "stdout: write: No space left" \
	sh -c './prof --help >/dev/full'
./prof -q -d 0.1 <&- >"$T/out" 2>&1
expect stdin-closed test $? = 0

# A small disk: the old file stays as it was, and nothing else is left.
if mount -t tmpfs -o size=8k tmpfs "$T/disk" 2>/dev/null; then
	echo old >"$T/disk/x.folded"
	start build/test/storm 1000
	one_message disk-full 1 "write: No space left" \
		./prof -q -F 997 -d 1 -o "$T/disk/x.folded"
	expect disk-full-keeps-old test "$(cat "$T/disk/x.folded")" = old
	expect disk-full-leaves-nothing test "$(ls -A "$T/disk")" = x.folded
	stop_all
	mount -o remount,ro "$T/disk"
	one_message read-only 1 "Read-only file system" \
		./prof -d 60 -o "$T/disk/x.folded"
	umount "$T/disk"
else
	skip disk-full "no tmpfs can be mounted"
fi

echo old >"$T/x.folded"
chmod 600 "$T/x.folded"
ln -s x.folded "$T/link.folded"
./prof -q -d 0.2 -o "$T/link.folded" -o "$T/second.txt"
expect output-is-replaced grep -q ' [0-9]*$' "$T/x.folded"
expect output-keeps-link test -L "$T/link.folded"
expect output-keeps-mode test "$(stat -c %a "$T/x.folded")" = 600
expect output-twice cmp -s "$T/x.folded" "$T/second.txt"
expect output-leaves-nothing test -z "$(find "$T" -name '.prof.*')"
./prof -q -d 0.1 -o /dev/null
expect output-device test -c /dev/null

# ----------------------------------------------------------------- usage

usage() {
	one_message "usage$*" 2 "option: " ./prof "$@"
}
usage -F 0
usage -F 100001
usage -F x
usage -F
usage -d 0
usage -d 1s
usage -C 0-
usage -C 3-1
usage --memory 0
usage -o x.pdf
usage -f perl
usage --frobnicate
usage -Z
usage something
usage -q -v
one_message cpu-not-there 1 "none of them is on line" ./prof -q -C 8191 -d 1

# ------------------------------------------------------- what is forbidden

if ! command -v setpriv >/dev/null; then
	skip as-nobody "no setpriv"
else
	cp ./prof "$T/prof"
	chmod 755 "$T" "$T/prof"
	one_message as-nobody 1 "BPF_MAP_CREATE.*Operation not permitted" \
		setpriv --reuid 65534 --regid 65534 --clear-groups "$T/prof"
	expect as-nobody-advice grep -q 'run as root, or with CAP_BPF' "$T/err"
	one_message without-cap-perfmon 1 "not permitted" \
		setpriv --bounding-set -perfmon,-sys_admin ./prof -q -d 1
	expect without-cap-perfmon-advice grep -q 'CAP_PERFMON' "$T/err"
fi
one_message few-descriptors 1 "descriptors available\|open files" \
	bash -c 'ulimit -n 12; ./prof -q -d 1'
expect few-descriptors-advice grep -q 'ulimit -n' "$T/err"

# Errors that this kernel does not give by itself are put in its mouth.
injected() {
	local name=$1 call=$2 error=$3 advice=$4

	one_message "$name" 1 "prof: " strace -qq -o /dev/null \
		-e inject="$call:error=$error" ./prof -q -d 0.2
	expect "$name-advice" grep -q -- "$advice" "$T/err"
}
if strace -qq -o /dev/null true 2>/dev/null; then
	injected bpf-ENOSYS bpf ENOSYS CONFIG_BPF_SYSCALL
	injected bpf-EPERM bpf EPERM CAP_BPF
	injected bpf-ENOMEM bpf ENOMEM "no memory left"
	injected perf-ENOSYS perf_event_open ENOSYS CONFIG_PERF_EVENTS
	injected perf-EACCES perf_event_open EACCES perf_event_paranoid
	injected perf-EPERM perf_event_open EPERM CAP_PERFMON
	injected perf-EMFILE perf_event_open EMFILE "ulimit -n"
	injected perf-EINVAL perf_event_open EINVAL "no such event"
	injected set-bpf-EEXIST ioctl EEXIST "another program"
	# One CPU went off line between the look and the open: it goes on.
	if FAULTS='perf_event_open clock#2=19' build/test/faulty -d 0.3 \
		>"$T/out" 2>"$T/err" &&
		grep -q 'off line, left out' "$T/err" &&
		adds_up "$T/err" "$T/out"; then
		ok perf-ENODEV-of-one
	else
		fail perf-ENODEV-of-one "$(cat "$T/err")"
	fi
	if ! strace -qq -o /dev/null -e inject=prlimit64:error=EPERM \
		./prof -q -d 0.1 >"$T/out" 2>"$T/err"; then
		fail memlock-EPERM "$(cat "$T/err")"
	else
		ok memlock-EPERM
	fi
else
	skip injected-errors "no strace"
fi

# ------------------------------------------------------------- descriptors

# What the kernel holds for a run is gone with it.
count_programs() { bpftool prog show 2>/dev/null | grep -c profile_hash; }
before=$(count_programs)
./prof -d 60 >/dev/null 2>&1 &
PIDS+=("$!")
sleep 0.5
during=$(count_programs)
kill -KILL "${PIDS[-1]}"
wait "${PIDS[-1]}" 2>/dev/null
PIDS=()
sleep 0.3
expect killed-leaves-nothing test "$before,$during,$(count_programs)" = \
	"$before,$((before + 1)),$before"

# ------------------------------------------------------------ make install

if make -s install DESTDIR="$T/root" PREFIX=/opt/prof >"$T/out" 2>&1 &&
	"$T/root/opt/prof/bin/prof" -V >/dev/null &&
	[ -s "$T/root/opt/prof/share/man/man1/prof.1" ] &&
	make -s uninstall DESTDIR="$T/root" PREFIX=/opt/prof &&
	[ -z "$(find "$T/root" -type f)" ]; then
	ok install-uninstall
else
	fail install-uninstall "$(tail -n 2 "$T/out")"
fi
