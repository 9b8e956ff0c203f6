#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Stacks of programs without frame pointers.
. test/lib.sh

# ------------------------------------------------------------------- tables

# Each rule that readelf prints is what our row at that address says.
same_rules() { # FILE
	local file=$1 base compared

	# Ours count from the lowest address.
	base=$(readelf -lW "$file" | awk '$1 == "LOAD" { print $3; exit }')
	{
		build/test/rows "$file" |
			gawk -v from=rows -v base="${base#0x}" -f test/live/rows.awk
		# The rules of CIEs are of no address.
		readelf -wF "$file" 2>/dev/null |
			gawk '/ CIE / { cie = 1 } / FDE / { cie = 0 } !cie' |
			gawk -f test/live/rows.awk
	} | sort -k1,1 -k2,2r | gawk '
		$2 == "r" { row = $3 " " $4; next }
		{ n++ }
		$3 == "?" && row ~ /^\?/ { next }
		$3 " " $4 != row && !($4 == "?" && row ~ / \?$/) {
			print $0 " | " row
		}
		END { print n + 0 >"/dev/stderr" }' >"$T/rules" 2>"$T/compared"
	compared=$(cat "$T/compared")
	if [ -s "$T/rules" ] || [ "$compared" -lt 20 ]; then
		fail "rows-of-$(basename "$file")" \
			"of $compared: $(head -n 3 "$T/rules")"
	else
		ok "rows-of-$(basename "$file") ($compared)"
	fi
}

for file in /bin/bash "$(readlink -f /usr/bin/perl)" \
	"$(readlink -f /usr/bin/python3)" "$(ldconfig -p |
		awk '/libc\.so\.6.*x86-64/ { print $NF; exit }')" \
	/lib64/ld-linux-x86-64.so.2 build/test/static/stacks; do
	[ -e "$file" ] && same_rules "$file"
done

# ------------------------------------------------------------------- stacks

# One line per stack: its samples and the chain, without the kernel's lines, of
# the thread COMM of a folded file.  Frames that follow each other and are equal
# are one, "down 80".
chains() { # FILE COMM
	gawk -v comm="$2" '
		index($0, comm ";") != 1 || /_\[k\]/ { next }
		{
			count = $NF
			sub(/ [0-9]+$/, "")
			n = split(substr($0, length(comm) + 2), frame, ";")
			text = ""
			for (i = 1; i <= n; i += same) {
				for (same = 1; frame[i + same] == frame[i]; )
					same++
				text = text ";" frame[i] (same > 1 ? " " same : "")
			}
			all[substr(text, 2)] += count
		}
		END { for (t in all) print all[t], t }' "$1" | sort -rn
}

# Of a thread's samples in user mode, at least PERMILLE have a chain that matches
# the whole of REGEX; and there are enough of them to say so.
is_chain() { # NAME FILE COMM REGEX [PERMILLE]
	local all right

	chains "$2" "$3" >"$T/chains"
	read -r all right < <(RE="^($4)$" gawk '
		{ n = $1; sub(/^[0-9]+ /, ""); all += n }
		$0 ~ ENVIRON["RE"] { right += n }
		END { print all + 0, right + 0 }' "$T/chains")
	if [ "$all" -ge 50 ] && [ $((right * 1000)) -ge $((all * ${5:-990})) ]; then
		ok "$1 ($right of $all)"
	else
		fail "$1" "$right of $all; not $(RE="^[0-9]+ ($4)$" gawk '
			$0 !~ ENVIRON["RE"]' "$T/chains" | head -n 2 | cut -c1-300)"
	fi
}

# Where the time is told: libc, and the vDSO behind it.
clock='(;[^;]*clock_gettime[^;]*)*'
begin='_start;__libc_start_main[^;]*;([^;]*;)?main;go'
work="work(;burn|$clock)"
handled="interrupted(;burn)?;[^;]*;handler(;burn)?"

# The ways of test/victims/plain/whole.c, and what their stacks have to be.
way() { # WAY
	case $1 in
	deep) echo "$begin;deep;down 80;$work" ;;
	growing) echo "$begin;growing;grows 10;$work" ;;
	aligning) echo "$begin;aligning;aligned 10;$work" ;;
	arguments) echo "$begin;arguments;many 10;$work" ;;
	signals | other_stack)
		echo "$begin;$1;($handled|interrupted(;burn|$clock))" ;;
	threads) echo "[^;]*clone3?;([^;]*;)?thread;$work" ;;
	sorting)
		echo "$begin;sorting(;sort;[^;]*qsort.*;compare(;burn)?|$clock)" ;;
	stubs) echo "$begin;stubs(;stubs_of(;[^;]*rand_r.*)?|$clock)" ;;
	jumping) echo "$begin;jumping;$work" ;;
	assembly) echo "$begin;assembly;outer;bare;inner;$work" ;;
	frameless) echo "$begin;frameless(;pushing(;alone)?|$clock)" ;;
	made) echo "$begin;made;\[anon\];inner;$work" ;;
	loading) echo "$begin;loading;(burn|call;inside;$work)" ;;
	executed) echo "$begin;executed;inner;$work" ;;
	too_deep) echo "\[truncated: too deep\];down 124;$work" ;;
	unreadable) echo "\[truncated: unreadable\];on_stack;inner;$work" ;;
	crashing)
		echo "\[truncated: no mapping\];\[[^;]*;[^;]*;crash_handler;$work"
		;;
	esac
}

whole=build/test/plain/whole
./prof -F 997 -d 20 -- $whole 5 >"$T/out" 2>"$T/err"
expect unwind-adds-up adds_up "$T/err" "$T/out"
for name in deep growing aligning arguments signals other_stack threads \
	sorting stubs jumping assembly frameless made loading executed \
	too_deep unreadable crashing; do
	# A copy of one stack does not have the other.
	least=990
	[ $name != other_stack ] || least=950
	is_chain "unwind-$name" "$T/out" "$name" "$(way "$name")" $least
done
for name in signals other_stack; do
	expect "unwind-in-handler-of-$name" \
		test "$(folds "$T/out" "^$name;.*;handler;")" -ge 5
done

names="deep growing signals threads sorting"
# shellcheck disable=SC2086
./prof -F 997 -d 20 -- $whole-static 2 $names >"$T/out" 2>"$T/err"
for name in $names; do
	is_chain "unwind-static-$name" "$T/out" "$name" "$(way "$name")"
done

# By .debug_frame.
./prof -F 997 -d 20 -- $whole-debug 1 deep growing >"$T/out" 2>"$T/err"
for name in deep growing; do
	is_chain "unwind-debug-frame-$name" "$T/out" "$name" "$(way "$name")" 950
done

# ------------------------------------------------------------ frame pointers

# A program with frame pointers, walked by either.  It is at the ends of its paths
# nearly always; without tables, which take 30 ms to come, _start is not seen.
paths="_start;.*;main(;walk;(left|right)){12};walk"
for how in auto fp; do
	[ $how = auto ] || paths=".*main(;walk;(left|right)){12};walk"
	build/test/stacks 1000000000 12 turn 200000 &
	./prof -F 997 -d 4 --unwind $how -p $! >"$T/out" 2>"$T/err"
	kill $!
	wait $! 2>/dev/null
	is_chain "unwind-pointers-$how" "$T/out" stacks "$paths"
done

# What has none is seen by tables alone.
./prof -F 997 -d 20 --unwind fp -- $whole 1 deep >"$T/out" 2>"$T/err"
expect unwind-fp-is-not-whole \
	test "$(folds "$T/out" '^deep;.*down;down.*burn')" = 0
expect unwind-fp-adds-up adds_up "$T/err" "$T/out"
./prof -F 997 -d 20 --unwind cfi -- $whole 1 deep >"$T/out" 2>"$T/err"
is_chain unwind-cfi "$T/out" deep "$(way deep)"

# A process that was there before.
$whole 6 =growing &
sleep 1
./prof -F 997 -d 4 -p $! >"$T/out" 2>"$T/err"
wait $!
is_chain unwind-process "$T/out" growing "$(way growing)"

# -------------------------------------------------------------------- truth

# What build/test/truth found: NAME'S number, of a thread or of all.
found() { # COMM NAME
	awk -v comm="$1" -v name="$2" '$1 == "truth:" && $2 == comm {
		for (i = 3; i < NF; i += 2)
			if ($i == name)
				print $(i + 1)
	}' "$T/truth"
}

# At least PERMILLE of a thread's samples in user mode reach a root.  Those of which
# prof says that it had no room, while it made tables for others, were anyone's.
is_rooted() { # NAME COMM PERMILLE
	local all root no_room

	all=$(found "$2" samples)
	root=$(($(found "$2" root) + 0))
	no_room=$(awk '/no room for a copy/ { print $2 }' "$T/truth")
	no_room=${no_room:-0}
	[ "$no_room" -le $((all / 20)) ] || no_room=$((all / 20))
	all=$((all - no_room))
	if [ "${all:-0}" -ge 50 ] && [ $((root * 1000)) -ge $((all * $3)) ]; then
		ok "$1 ($root of $all)"
	else
		fail "$1" "$(grep "^truth: $2 " "$T/truth")"
	fi
}

# shellcheck disable=SC2016
build/test/truth -q -F 1999 -d 20 -- bash -c '
	sleep 0.5
	for ((i = 0; i < 1500; i++)); do /bin/true; done' \
	>/dev/null 2>"$T/truth"
is_rooted unwind-short-lives true 960
is_rooted unwind-forks bash 960

# Go's runtime goes over to another stack, and back.
if command -v go >/dev/null; then
	mkdir "$T/go"
	cat >"$T/go/a.go" <<'END'
package main

import "runtime"

//go:noinline
func inner() { var m runtime.MemStats; runtime.ReadMemStats(&m) }

//go:noinline
func outer() { inner(); runtime.GC() }

func main() { for { outer() } }
END
	for how in -ldflags= "-ldflags=-s -w" -buildmode=pie; do
		name=goes${how##*=}
		name=${name// /}
		go_build "$T/go" "$how" -o "../$name" a.go
		"$T/$name" &
		pid=$!
		sleep 0.5
		build/test/truth -F 997 -d 1.5 -p $pid >/dev/null 2>"$T/truth"
		./prof -q -F 1999 -d 2 -p $pid >"$T/out" 2>/dev/null
		kill $pid
		wait $pid 2>/dev/null
		is_rooted "unwind-$name" "$name" 950
		expect "unwind-switches-$name" test "$(folds "$T/out" \
			'main.main;.*main.outer;.*runtime.systemstack;')" -ge 3
		expect "unwind-once-$name" test "$(folds "$T/out" \
			'systemstack;.*systemstack;')" -le 2
	done
	chmod -R u+w "$T/cache" 2>/dev/null
else
	skip unwind-go "no go"
fi

# In front of each return address stands a call: what is no frame would not.
frames=${UNWIND_FRAMES:-20000}
cat >"$T/work.py" <<'END'
import time
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
end = time.time() + 2
while time.time() < end: sorted(map(fib, range(12)), key=str)
END
cat >"$T/work.sh" <<END
# Not before there are tables, which the first samples ask for.
for ((i = 0; i < 100000; i++)); do :; done
sleep 0.5
for ((t = 0; t < $frames; t += 20000)); do
	/usr/bin/python3 "$T/work.py" &
	perl -e '\$e = time + 2; sub f { my \$n = shift;
		\$n < 2 ? \$n : f(\$n - 1) + f(\$n - 2) } f(12) while time < \$e' &
	echo 'int main(void) { return 0; }' >"$T/c.c"
	for i in 1 2 3 4 5; do gcc -O2 -o "$T/c.out" "$T/c.c"; done
	wait
done
END
build/test/truth -F 1999 -- bash "$T/work.sh" >/dev/null 2>"$T/truth"
expect unwind-calls test "$(found all calls)" -ge "$frames"
# Frame pointers stray, until a new program's tables are there.
if [ "$(found all not-calls)" = 0 ] &&
	[ "$(found all strays)" -lt $(($(found all calls) / 100)) ]; then
	ok "unwind-only-calls ($(found all calls) frames)"
else
	fail unwind-only-calls "$(grep '^truth: all' "$T/truth")"
fi
is_rooted unwind-python python3 990
is_rooted unwind-perl perl 990

# ------------------------------------------------------- tables without room

# With as little memory as tables can be had with, a compiler's fill it; then those
# of others are made in their place.
mb=12
while [ $mb -lt 1000 ] && ./prof -v --memory $mb -F 499 -d 0.1 2>&1 >/dev/null |
	grep -q 'frame pointers alone'; do
	mb=$((mb + 1))
done
cat >"$T/room.sh" <<END
for i in 1 2 3 4 5 6 7 8; do gcc -O2 -o "$T/c.out" "$T/c.c"; done
/usr/bin/python3 "$T/work.py"
exec /usr/bin/python3 "$T/work.py"
END
build/test/truth --memory $mb -F 499 -- bash "$T/room.sh" >/dev/null 2>"$T/truth"
is_rooted "unwind-no-room ($mb MB)" python3 600
expect unwind-no-room-is-said grep -q 'no room for more tables' "$T/truth"

# ---------------------------------------------------------------------- gdb

# What gdb says of a process that is stopped for it is what its samples say: all
# but the innermost frames, which come and go.  (Before there are tables, in some first
# 30 ms, frame pointers walk.)
agrees() { # NAME COMMAND...
	local name=$1 pid

	shift
	"$@" &
	pid=$!
	sleep 1
	build/test/truth -r "$T/raw" -q -F 499 -d 5 -p $pid >/dev/null 2>&1
	gdb -q -batch -nx -p $pid -ex 'set backtrace past-main on' \
		-ex 'set backtrace past-entry on' -ex bt 2>/dev/null |
		sed -n 's/^#[0-9]* *0x0*\([0-9a-f]*\) in .*/\1/p' |
		uniq >"$T/gdb"
	kill $pid
	wait $pid 2>/dev/null
	read -r all same depth < <(gawk '
		NR == FNR { theirs[++n] = $1; next }
		$4 == "user" {
			all++
			equal = 1
			at = NF
			for (i = n; i > 3; i--) {
				equal = equal && $at == theirs[i]
				while (at > 5 && $(at - 1) == $at)
					at--
				at--
			}
			same += equal
		}
		END { print all + 0, same + 0, n + 0 }' "$T/gdb" "$T/raw")
	if [ "$all" -ge 50 ] && [ "$depth" -ge 6 ] &&
		[ $((same * 100)) -ge $((all * 97)) ]; then
		ok "unwind-gdb-$name ($same of $all, depth $depth)"
	else
		fail "unwind-gdb-$name" "$same of $all agree, depth $depth"
	fi
}

if [ "$frames" -gt 20000 ] && command -v gdb >/dev/null; then
	agrees deep $whole 20 =deep
	agrees growing $whole 20 =growing
	agrees assembly $whole 20 =assembly
	agrees python /usr/bin/python3 -c 'sorted(
		[0], key=lambda x: list(map(sum, [range(10 ** 11)])))'
	# shellcheck disable=SC2016
	agrees perl perl -e 'sub f { my $n = shift; f($n - 1) if $n;
		while (!$n) { $x++ } } f(20)'
fi
