#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a person sees: prof in a real terminal (tmux), of several sizes and kinds.
. test/lib.sh

if ! command -v tmux >/dev/null; then
	skip terminal "no tmux"
	exit 0
fi

# A server of our own for each terminal: one that ends takes its time.
opened=0
tmux_() { tmux -L "prof-test.$$.$opened" -f /dev/null "$@" 2>/dev/null; }
end_tmux() {
	tmux_ kill-server
	cleanup
}
trap end_tmux EXIT

# Opens a terminal of this size, with these settings (NAME=VALUE).
open() {
	local columns=$1 rows=$2
	shift 2

	tmux_ kill-server
	opened=$((opened + 1))
	# What comes before the shell is of no interest, nor what it was.
	tmux_ new-session -d -x "$columns" -y "$rows" \
		"env -u LC_ALL -u LC_CTYPE -u NO_COLOR -u COLUMNS $* \
		bash --norc --noprofile"
	tmux_ set -g history-limit 2000
	# Else it keeps a copy of what a program has erased.
	tmux_ set -g scroll-on-clear off
	sleep 0.5
	type_in "PS1='$ '; cd $PWD; clear"
	sleep 0.3
}

type_in() { tmux_ send-keys "$1" Enter; }
screen() { tmux_ capture-pane -p "$@"; }
all_lines() { screen -S - | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'; }

# Waits until the screen shows what matches; then how long that took, in ms.
wait_for() {
	local begin=$(($(date +%s%N) / 1000000)) now

	while :; do
		now=$(($(date +%s%N) / 1000000))
		screen "${@:3}" | grep -q -- "$1" && break
		[ $((now - begin)) -lt "$2" ] || return 1
		sleep 0.03
	done
	waited=$((now - begin))
}

widest() { # in characters
	LC_ALL=C.UTF-8 gawk '{ if (length > most) most = length }
		END { print most + 0 }'
}
lines_with() { grep -c -- "$1"; }

start build/test/stacks 1000000000 20 turn
start dd if=/dev/zero of=/dev/null bs=1

# ------------------------------------------------------------- the plain run

open 80 24 LANG=C.UTF-8
type_in "./prof"
if wait_for 'functions' 3000; then
	ok terminal-shows-top
else
	fail terminal-shows-top "$(screen | head -n 3)"
fi
# From the key to the first numbers; a second from the start of the program.
expect "terminal-within-a-second ($waited ms)" test "$waited" -lt 1300
expect terminal-names-kernel-code wait_for ' kernel *$' 3000
expect terminal-goes-on wait_for '^[4-9] s, ' 8000
screen >"$T/live"
expect terminal-state-of-run grep -qE \
	'^[4-9] s, [0-9]+ samples at 99 Hz, [0-9.]+ of [0-9]+ CPUs? busy, 0 lost' \
	"$T/live"
expect terminal-ten-functions test "$(grep -cE \
	'^ +[0-9]+\.[0-9] +[0-9]+\.[0-9] ' "$T/live")" -ge 3
expect terminal-draws-in-place test "$(all_lines | lines_with now%)" = 1

# Ctrl-C: the last drawing gives its place to the report; the balance is there once.
tmux_ send-keys C-c
expect terminal-report-comes wait_for ' sampled = ' 3000
all_lines >"$T/report"
expect terminal-drawing-is-gone test "$(grep -c 'now%' "$T/report")" = 0
expect terminal-balance-once test "$(grep -c 'ticks expected' "$T/report")" = 1
expect terminal-report-fits test "$(widest <"$T/report")" -le 80
expect terminal-functions-are-on-screen test "$(screen | lines_with \
	'functions in % of')" = 1
expect terminal-tree-is-above test "$(grep -nE 'call tree|functions in' \
	"$T/report" | sed -n '1s/.*\(tree\).*/\1/p')" = tree
expect terminal-utf8 grep -q '█' "$T/report"
expect terminal-colours grep -q $'\033\[3[23]m' <(screen -e)

# ------------------------------------------------------- sizes and kinds

try() {
	local name=$1 columns=$2 rows=$3
	shift 3

	open "$columns" "$rows" "$@"
	type_in "./prof -d 1.2"
	if ! wait_for ' sampled = ' 6000; then
		fail "$name" "no report: $(screen | tail -n 3)"
		return 1
	fi
	sleep 0.3
	all_lines >"$T/report"
	screen -e >"$T/colours"
	if [ "$(widest <"$T/report")" -gt "$columns" ]; then
		fail "$name" "wider than $columns"
	elif [ "$(screen | lines_with 'functions in')" != 1 ]; then
		fail "$name" "no functions on the screen"
	else
		ok "$name"
	fi
}

try terminal-80x50 80 50 LANG=C.UTF-8
expect terminal-80x50-on-one-screen test "$(screen | lines_with 'call tree')" = 1
try terminal-200x60 200 60 LANG=C.UTF-8
expect terminal-200x60-samples grep -q 'total%   samples' "$T/report"
try terminal-80x24-C 80 24 LANG=C
expect terminal-C-is-ascii test -z "$(LC_ALL=C grep -n $'[\x80-\xff]' \
	"$T/report")"
expect terminal-C-bars grep -q '####' "$T/report"
try terminal-no-color 80 50 LANG=C.UTF-8 NO_COLOR=1
expect terminal-no-color-none test "$(grep -c $'\033\[3' "$T/colours")" = 0
try terminal-dumb 80 50 LANG=C.UTF-8 TERM=dumb
expect terminal-dumb-none test "$(grep -c $'\033\[3' "$T/colours")" = 0

# It is as wide as the terminal has become.
open 120 40 LANG=C.UTF-8
type_in "./prof"
wait_for 'functions' 3000
tmux_ resize-window -x 70 -y 30
sleep 2.2
expect terminal-resized test "$(screen | lines_with 'now%')" = 1
expect terminal-resized-width test "$(screen | widest)" -le 70

# Stopped and continued, it leaves alone what others have written meanwhile.
tmux_ send-keys C-z
sleep 0.5
type_in "echo meanwhile"
sleep 3
type_in "fg"
expect terminal-continued wait_for '^1\?[0-9] s, ' 4000
expect terminal-spares-others test "$(screen -S - | grep -c '^meanwhile')" = 1
tmux_ send-keys C-c
wait_for ' sampled = ' 3000

# A message is above what is drawn, and whole.
if [ -w /sys/devices/system/cpu/cpu1/online ] &&
	[ "$(cat /sys/devices/system/cpu/cpu1/online)" = 1 ]; then
	open 80 24 LANG=C.UTF-8
	type_in "./prof -v -d 7"
	wait_for 'functions' 3000
	echo 0 >/sys/devices/system/cpu/cpu1/online
	sleep 2.5
	screen >"$T/live"
	echo 1 >/sys/devices/system/cpu/cpu1/online
	expect terminal-message grep -q '^prof: CPU 1: off line$' "$T/live"
	expect terminal-message-above test "$(grep -c 'now%' "$T/live")" = 1
	wait_for ' sampled = ' 9000
else
	skip terminal-message "no CPU can be taken off line"
fi

# A terminal that takes nothing (Ctrl-S) holds no drain up: there is one a second.
open 80 24 LANG=C.UTF-8
type_in "./prof -v -d 7"
wait_for 'functions' 3000
tmux_ send-keys C-s
sleep 8
expect terminal-stopped-shows-nothing test -z "$(screen | grep ' sampled = ')"
tmux_ send-keys C-q
expect terminal-stopped-reports wait_for ' drains (' 4000
drains=$(screen | sed -n 's/^prof: \([0-9]*\) drains .*/\1/p')
expect "terminal-stopped-holds-up-no-drain ($drains)" test "$drains" -ge 7

# ------------------------------------------------------------ not a terminal

open 80 24 LANG=C.UTF-8
type_in "./prof -d 0.5 | head -n 3 >$T/pipe; ./prof -q -d 0.5 -o $T/x.report; echo done."
wait_for '^done' 5000
expect pipe-is-folded grep -qE '^[^ ]+(;.*)? [0-9]+$' "$T/pipe"
expect pipe-balance-on-stderr grep -q '^prof:  *lost ' <(screen)
expect report-in-a-file grep -q ' self%  total%' "$T/x.report"
expect report-in-a-file-plain test "$(grep -c $'\033' "$T/x.report")" = 0

# What was sampled adds up in what is shown of it, as it does elsewhere.
./prof -q -d 1 -F 499 -o "$T/x.pb.gz" -o "$T/x.folded"
LC_ALL=C COLUMNS=120 ./prof --read "$T/x.pb.gz" -f report >"$T/report"
busy=$(sed -n 's/^busy [^(]*(\([0-9]*\)).*/\1/p; t; s/^busy \([0-9]*\).*/\1/p' \
	"$T/report")
rows=$(awk '/functions in/ { in_it = 1; next } /^$/ { in_it = 0 }
	in_it { n += $0 ~ /more functions/ ? $2 : $3 } END { print n }' "$T/report")
expect "report-rows-add-up ($busy)" test "$rows" = "$busy"
