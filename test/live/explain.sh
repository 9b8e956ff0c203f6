#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --explain tells what strace(1) sees: the same calls, in the same order, with the
# same arguments and results, and none untold.
. test/lib.sh

start dd if=/dev/zero of=/dev/null bs=1

# same NAME INSNS PROF-ARGUMENT...: INSNS=1 compares instructions as well.  With
# REFUSE=N the N-th bpf(2) is refused.
REFUSE=
same() {
	local name=$1 insns=$2 calls
	shift 2
	strace -v -s 1000000 -e \
		trace=bpf,perf_event_open,ioctl,read,mmap,membarrier \
		${REFUSE:+-e "inject=bpf:error=EPERM:when=$REFUSE"} \
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

# The number of the first bpf(2) in "$T/told.machine" of which a line is like $1.
number_of() {
	awk -v like="$1" '/^bpf\(/ { n++ } $0 ~ like { print n; exit }' \
		"$T/told.machine"
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
same small-maps '' -x -d 0.5 --memory 1

# The ways around what a kernel refuses.
cp "$T/told.machine" "$T/told.whole"
# (Without the walker, whose calls are as many as there are processes.)
./prof -x --unwind fp -d 2.2 -F 499 >/dev/null 2>"$T/told.machine"
REFUSE=$(number_of 'map_name="barrier"')
same membarrier '' -x --unwind fp -d 0.3
expect explain-membarrier grep -q '^membarrier(MEMBARRIER_CMD_GLOBAL' "$T/told"
REFUSE=$(number_of '^bpf.*_BATCH')
same key-by-key '' -x --unwind fp -d 1.2 -F 499
expect explain-key-by-key grep -q '^bpf(BPF_MAP_DELETE_ELEM' "$T/told"
REFUSE=
cp "$T/told.whole" "$T/told.machine"

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
alone=$(awk '/^(bpf|perf_event_open|ioctl|mmap|read)\(/ && before !~ /^# ./ { print }
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
	'^    -> fd [0-9]* takes [1-9][0-9]* bytes of kernel memory\(, for all CPUs\)*$' \
	"$T/told.machine")" -eq "$maps"
# Each relocation of a program that was loaded, by what readelf says.
relocations_of() {
	local rel=.relperf_event

	[ "$1" = name_addresses ] && rel=.relsyscall
	{
		readelf -sW build/bpf_prog.o
		readelf -rW build/bpf_prog.o
	} 2>/dev/null | gawk -v name="$1" -v rel="'$rel'" '
		$4 == "FUNC" && $8 == name {
			from = strtonum("0x" $2)
			to = from + $3
		}
		/^Relocation section/ { section = $3 }
		/R_BPF/ && section == rel && strtonum("0x" $1) >= from &&
			strtonum("0x" $1) < to { count++ }
		END { print count + 0 }'
}
for program in profile_hash profile_stackid name_addresses; do
	told=$(cat "$T/told.machine" "$T/told.stackid" |
		grep -c "^instruction [0-9]* of \`$program\`: r")
	[ $program = name_addresses ] && told=$((told / 2))
	relocations=$(relocations_of $program)
	expect "explain-relocations-$program ($relocations)" test \
		"$relocations" -gt 0 -a "$told" -eq "$relocations"
done
expect explain-verifier-statistics grep -q \
	'^    verifier: processed [0-9]* insns' "$T/told.machine"

# -xx: what the compiler wrote beside what was loaded, and the verifier's log.
expect explain-before-relocation test "$(grep -c '  <- before$' \
	"$T/told.code")" -ge 8
expect explain-verifier-log grep -q 'verifier: .*R1=ctx' "$T/told.code"

# What the tour quotes (```explain...) is what is told, but for numbers.
plain() {
	sed -E 's/  +([0-9])/ \1/g; s/0x[0-9a-f]+|[0-9a-f]{16}|[0-9]+/N/g' "$@"
}
plain "$T/told.machine" >"$T/plain.explain"
plain "$T/told.stackid" >"$T/plain.explain-stackid"
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
	/^```/ { kind = "" } kind && $0 != "..." { print kind ":" $0 }' doc/tour.md)
if [ $quoted -gt 40 ] && [ -z "$bad" ]; then
	ok "tour-quotes-what-is-told ($quoted lines)"
else
	fail tour-quotes-what-is-told "of $quoted:$bad"
fi

# A report is not disturbed by it, nor it by the report.
expect explain-adds-up adds_up "$T/told.machine" "$T/out.machine"

# 80 columns, and colours only for a terminal that wants them.
# (prof's own messages, which are not part of it, break where the terminal does.)
wide=$(awk 'length > 80 && !/^prof: /' "$T/told.machine" "$T/told.code")
expect explain-80-columns test -z "$wide"
escape=$(printf '\033')
expect explain-no-colour-in-a-file test -z "$(grep -F "$escape" "$T/told.machine")"
TERM=xterm script -qec "./prof -x -d 0.2 -o $T/o.folded" /dev/null \
	>"$T/terminal" </dev/null
expect explain-colour grep -qF "${escape}[36mbpf(BPF_MAP_CREATE" "$T/terminal"
NO_COLOR=1 TERM=xterm script -qec "./prof -x -d 0.2 -o $T/o.folded" /dev/null \
	>"$T/terminal" </dev/null
expect explain-no-color test -z "$(grep -F "${escape}[3" "$T/terminal")"
