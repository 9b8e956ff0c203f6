# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# lib.sh: what the test scripts share.  Sourced by bash, from the repository's
# root.  A test prints one line: `ok NAME`, `FAIL NAME: why` or `skip NAME: why`.
# test.sh counts these lines.

T=$(mktemp -d "${TMPDIR:-/tmp}/prof-test.XXXXXX") || exit 1
PIDS=()

cleanup() {
	local pid

	for pid in ${PIDS[@]+"${PIDS[@]}"}; do
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	rm -rf "$T"
}
trap cleanup EXIT

ok() { echo "ok $1"; }
fail() { echo "FAIL $1: $2"; }
skip() { echo "skip $1: $2"; }

# test NAME CONDITION...: ok if the command succeeds, else FAIL with its text.
expect() {
	local name=$1
	shift
	if "$@"; then
		ok "$name"
	else
		fail "$name" "$*"
	fi
}

# Starts a program in the background; it is ended with the script.
start() {
	"$@" >"$T/started" 2>&1 &
	PIDS+=("$!")
}

# Ends what start() started.
stop_all() {
	local pid

	for pid in ${PIDS[@]+"${PIDS[@]}"}; do
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	PIDS=()
}

# go build, which leaves nothing behind but in $T: go_build DIRECTORY ARGUMENTS...
go_build() {
	(cd "$1" && shift && HOME=$T GOCACHE=$T/cache GO111MODULE=off \
		GOFLAGS='' go build "$@") >"$T/go.err" 2>&1
}

# The sum of the counts of a folded file, or of its lines that match a regex.
folds() {
	awk -v re="${2:-.}" '$0 ~ re { sum += $NF } END { print sum + 0 }' "$1"
}

# A number of the balance, by its label ("user", "lost", "unaccounted", ...).
balance() {
	awk -v label="$2" '$1 == "prof:" && $2 == label { print $3; exit }' "$1"
}

# What the head line of the balance says: expected or sampled.
head_of() {
	sed -n "s/.*[ :]\([0-9]*\)\( ticks\)* $2.*/\1/p" "$1" | head -n 1
}

# Whether a balance adds up, and with the folded file, to the unit.
adds_up() {
	local err=$1 out=$2 expected sampled sum=0 label

	expected=$(head_of "$err" expected)
	sampled=$(head_of "$err" sampled)
	[ -n "$expected" ] && [ -n "$sampled" ] || return 1
	for label in user kernel idle softirq unknown; do
		sum=$((sum + $(balance "$err" $label || echo 0) + 0))
	done
	[ "$(folds "$out")" -eq "$sum" ] || return 1
	sum=$((sum + $(balance "$err" filtered) + $(balance "$err" lost)))
	[ "$sum" -eq "$sampled" ] &&
		[ $((sampled + $(balance "$err" unaccounted))) -eq "$expected" ]
}

# A loop that keeps each CPU of a list busy at the lowest priority, so that no
# CPU goes to sleep: the clocks of some virtual machines stop then.
keep_awake() {
	local cpu

	for cpu in "$@"; do
		start taskset -c "$cpu" nice -n 19 \
			sh -c 'while :; do :; done'
	done
}

# Programs and maps in the kernel that are called as ours are, but of which no
# process has a descriptor.  Those of a profiler that runs meanwhile have one.
bpf_unheld() {
	{
		bpftool prog show 2>/dev/null |
			grep -E 'name (profile_hash|profile_stackid|name_addresses) ' |
			sed 's/^\([0-9]*\):.*/prog_id \1/'
		bpftool map show 2>/dev/null |
			grep -E 'name (stacks[01]|counts[01]|seeds|scratches|tallies|questions|stackid_(stacks|counts)) ' |
			sed 's/^\([0-9]*\):.*/map_id \1/'
	} | sort >"$T/bpf.ours"
	cat /proc/[0-9]*/fdinfo/* 2>/dev/null |
		sed -n 's/^\(prog_id\|map_id\):[^0-9]*/\1 /p' | sort -u >"$T/bpf.held"
	comm -23 "$T/bpf.ours" "$T/bpf.held"
}

# What has no holder now and is not in the file BEFORE.  The kernel frees them
# in its own time, so it gets five seconds.  Fails, and prints it, if it stays.
bpf_left() {
	local try

	for ((try = 0; try < 10; try++)); do
		bpf_unheld | comm -13 "$1" - >"$T/bpf.left"
		[ -s "$T/bpf.left" ] || return 0
		sleep 0.5
	done
	tr '\n' ' ' <"$T/bpf.left"
	return 1
}
