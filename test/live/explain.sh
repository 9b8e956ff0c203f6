#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --explain tells what strace(1) sees: the same calls, in the same order, with the
# same arguments and results, and none untold.
. test/lib.sh

start dd if=/dev/zero of=/dev/null bs=1

# same NAME INSNS PROF-ARGUMENT...: INSNS=1 compares instructions as well.
same() {
	local name=$1 insns=$2 calls
	shift 2
	strace -v -s 1000000 -e trace=bpf,perf_event_open,ioctl \
		-o "$T/strace" ./prof "$@" >"$T/out" 2>"$T/told"
	gawk -v from=strace -v insns="$insns" -f test/live/explain.awk \
		"$T/strace" >"$T/did"
	gawk -v from=explain -v insns="$insns" -f test/live/explain.awk \
		"$T/told" >"$T/said"
	calls=$(grep -vc '^insn ' "$T/did")
	if [ "$calls" -lt 20 ]; then
		fail "explain-$name" "strace saw $calls calls"
	elif diff "$T/did" "$T/said" >"$T/diff"; then
		ok "explain-$name ($calls calls)"
	else
		fail "explain-$name" "$(head -n 4 "$T/diff")"
	fi
}

same whole-machine '' -x -d 2.2 -F 499
grep -c '^drain' "$T/told" >"$T/drains"
expect explain-each-drain test "$(cat "$T/drains")" -ge 6
cp "$T/told" "$T/told.machine"
cp "$T/out" "$T/out.machine"
same command '' -x -- build/test/split 20
same stackid '' -x --engine stackid -d 1 -F 499
cp "$T/told" "$T/told.stackid"
same instructions 1 -xx -d 0.3
cp "$T/told" "$T/told.xx"
same instructions-stackid 1 -xx --engine stackid -d 0.3
cp "$T/told" "$T/told.code"
same check '' -x --check
same refused-event '' -x -e cycles -d 0.3
same faults '' -x -e page-faults/100 -K -d 0.5
same no-batches '' -x -d 0.5 --memory 1

# What fails is told as well.
if command -v setpriv >/dev/null; then
	cp ./prof "$T/prof"
	chmod 755 "$T" "$T/prof"
	setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$T/prof" -x -d 0.2 2>"$T/nobody" >/dev/null
	expect explain-refusal grep -q '^bpf(BPF_MAP_CREATE.* = -1 EPERM' \
		"$T/nobody"
fi

# Every call has its line on what it is for, right before it.
alone=$(awk '/^(bpf|perf_event_open|ioctl|mmap)\(/ && before !~ /^# ./ { print }
	{ before = $0 }' "$T/told.machine" "$T/told.code")
expect explain-why-of-each-call test -z "$alone"

# Sections, maps with their memory, relocations, statistics, as others see them.
for section in perf_event .relperf_event .maps .BTF license; do
	size=$(readelf -SW build/bpf_prog.o 2>/dev/null |
		sed -n "s/.* $section  *[A-Z]* *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\) .*/\1/p")
	expect "explain-section-$section" grep -qE \
		"^ +$section +$((0x${size:-0})) " "$T/told.machine"
done
maps=$(grep -c '^bpf(BPF_MAP_CREATE' "$T/told.machine")
expect explain-memory-of-each-map test "$(grep -c \
	'^    -> fd [0-9]* takes [1-9][0-9]* bytes of kernel memory$' \
	"$T/told.machine")" -eq "$maps"
# 16 bytes each, for all programs of the section; two of them were loaded.
relocations=$(($(sed -n 's/^ *\.relperf_event *\([0-9]*\) .*/\1/p' \
	"$T/told.machine") / 16))
told=$(cat "$T/told.machine" "$T/told.code" | grep -c '^instruction [0-9]*: r')
# The questions' program has its own, in both runs.
own=$(cat "$T/told.machine" "$T/told.code" |
	grep -cE '^instruction [0-9]*: r[0-9] = `(questions|\.rodata)`')
expect "explain-relocations ($relocations)" test "$((told - own))" -eq \
	"$relocations"
expect explain-verifier-statistics grep -q \
	'^    verifier: processed [0-9]* insns' "$T/told.machine"

# -xx: what the compiler wrote beside what was loaded, and the verifier's log.
expect explain-before-relocation test "$(grep -c '  <- before$' \
	"$T/told.code")" -ge 8
expect explain-verifier-log grep -q 'verifier: .*R1=ctx' "$T/told.code"

# What the tour quotes (```explain...) is what is told, but for numbers.
./prof -x -- true >/dev/null 2>"$T/told.command"
plain() { sed -E 's/0x[0-9a-f]+|[0-9a-f]{16}|[0-9]+/N/g' "$@"; }
plain "$T/told.machine" >"$T/plain.explain"
plain "$T/told.stackid" >"$T/plain.explain-stackid"
plain "$T/told.command" >"$T/plain.explain-command"
plain "$T/told.xx" >"$T/plain.explain-xx"
quoted=0
bad=
while IFS= read -r line; do
	kind=${line%%:*}
	line=${line#*:}
	grep -qxF -- "$(plain <<<"$line")" "$T/plain.$kind" ||
		bad="$bad
$kind: $line"
	quoted=$((quoted + 1))
done < <(awk '/^```explain/ { kind = substr($0, 4); next }
	/^```/ { kind = "" } kind { print kind ":" $0 }' doc/tour.md)
if [ $quoted -gt 40 ] && [ -z "$bad" ]; then
	ok "tour-quotes-what-is-told ($quoted lines)"
else
	fail tour-quotes-what-is-told "of $quoted:$bad"
fi

# A report is not disturbed by it, nor it by the report.
expect explain-adds-up adds_up "$T/told.machine" "$T/out.machine"

# 80 columns, and colours only for a terminal that wants them.
wide=$(awk 'length > 80' "$T/told.machine" "$T/told.code")
expect explain-80-columns test -z "$wide"
escape=$(printf '\033')
expect explain-no-colour-in-a-file test -z "$(grep -F "$escape" "$T/told.machine")"
TERM=xterm script -qec "./prof -x -d 0.2 -o $T/o.folded" /dev/null \
	>"$T/terminal" </dev/null
expect explain-colour grep -qF "${escape}[36mbpf(BPF_MAP_CREATE" "$T/terminal"
NO_COLOR=1 TERM=xterm script -qec "./prof -x -d 0.2 -o $T/o.folded" /dev/null \
	>"$T/terminal" </dev/null
expect explain-no-color test -z "$(grep -F "${escape}[3" "$T/terminal")"
