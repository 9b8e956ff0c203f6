#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# User frames by the mappings of their time: of programs that exec, dlopen, are
# deleted, replaced, elsewhere, or gone before anybody looks.
. test/lib.sh

V=build/test/spaces
hz=499

# Shares of a folded file: of the samples of thread $2 that match $3, in %.
share() {
	RE=$3 awk -v comm="$2" '{ split($0, f, ";") }
		f[1] == comm { all += $NF; if ($0 ~ ENVIRON["RE"]) some += $NF }
		END { printf "%d\n", all ? 100 * some / all : -1 }' "$1"
}

# at_least NAME COMM REGEX PERCENT: of the last profile.
at_least() {
	local got

	got=$(share "$T/out" "$2" "$3")
	if [ "$got" -ge "$4" ]; then
		ok "$1 ($got %)"
	else
		fail "$1" "$got % of $2 match $3: $(grep "^$2;" "$T/out" |
			head -n 3 | tr '\n' '|')"
	fi
}

run() { ./prof -q -F $hz -d "${1:-1}" -o "$T/out" 2>"$T/err"; }

# Where in the file the function spin() begins and ends.
spin_of() {
	local address size at offset

	read -r address size < <(nm -S "$1" | awk '$4 == "spin" {
		print $1, $2 }')
	read -r at offset < <(readelf -lW "$1" | awk '
		$1 == "LOAD" && / R E / { print $3, $2; exit }')
	offset=$((0x$address - at + offset))
	echo $offset $((offset + 0x$size))
}

# ------------------------------------------------------ one process, two programs

gcc -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -pthread -no-pie \
	-o "$T/one" test/victims/spaces.c &&
	gcc -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -pthread \
		-no-pie -DPAD -o "$T/two" test/victims/spaces.c
read -r one_from one_to < <(spin_of "$T/one")
read -r two_from two_to < <(spin_of "$T/two")
# Without names, frames are offsets of functions.
strip "$T/one" "$T/two"
start "$T/one" exec 20 "$T/one" "$T/two"
run 2
stop_all
# A leaf in spin() of the other program is in the wrong one.
tr ';' '\n' <"$T/out" | awk -v a="$one_from" -v b="$one_to" -v c="$two_from" \
	-v d="$two_to" '
	match($0, /^\[(one|two)\+0x[0-9a-f]+\]/) {
		file = substr($0, 2, 3)
		at = strtonum("0x" substr($0, 8, RLENGTH - 8))
		in_one = at >= a && at < b
		in_two = at >= c && at < d
		if (file == "one" ? in_one : in_two) right += $NF
		if (file == "one" ? in_two : in_one) wrong += $NF
		n[file] += $NF
	}
	END { print right + 0, wrong + 0, n["one"] + 0, n["two"] + 0 }' >"$T/sums"
read -r right wrong one two <"$T/sums"
if [ "$wrong" = 0 ] && [ "$right" -gt 60 ] && [ "$one" -gt 20 ] &&
	[ "$two" -gt 20 ]; then
	ok "exec-under-one-name ($right right)"
else
	fail exec-under-one-name "right wrong one two: $right $wrong $one $two"
fi

# ------------------------------------------------------------- dlopen, dlclose

for name in a b; do
	echo "volatile unsigned long n_$name;
		static __attribute__((noinline)) void loop_$name(void) { for (int i = 0; i < 100000; i++) n_$name++; }
		void burn(void) { loop_$name(); n_$name++; }" |
		gcc -O1 -fno-omit-frame-pointer -shared -fPIC -x c \
			-o "$T/lib$name.so" -
done
start $V dl 20 "$T/liba.so" "$T/libb.so"
run 2
stop_all
# Both at one address, within the time of one count: it cannot be known.
at_least dlopen-a spaces ';loop_a ' 30
at_least dlopen-b spaces ';loop_b ' 30
at_least dlopen-all spaces ';(loop_[ab]|burn) |\[remapped\]' 95

# ------------------------------------------------------------- where files are

cp $V "$T/gone"
start "$T/gone" burn 5000
cp $V "$T/replaced"
start "$T/replaced" burn 5000
sleep 0.2
rm "$T/gone"
cp /bin/true "$T/new" && mv "$T/new" "$T/replaced"
cp $V "$T/from-memory"
start "$T/from-memory" memfd 5000
cp $V "$T/leading"
start "$T/leading" leader 5000
start $V jit 5000
mkdir -p "$T/root/bin" && gcc -static -O1 -pthread -fno-omit-frame-pointer \
	-o "$T/root/bin/inside" test/victims/spaces.c
start $V chroot "$T/root" /bin/inside 5000
# Its names are in a debug file in there, and made when it is long gone.
mkdir "$T/root/bin/.debug"
objcopy --only-keep-debug "$T/root/bin/inside" "$T/root/bin/.debug/ended.debug"
(cd "$T/root/bin/.debug" && strip -o ../ended ../inside &&
	objcopy --add-gnu-debuglink=ended.debug ../ended)
mkdir -p "$T/mounted" "$T/lower" "$T/overlay" "$T/bound" "$T/tmpfs"
cp $V "$T/lower/laid-over"
cp $V "$T/lower/bound-in"
mounts=
if unshare -m mount -t tmpfs none "$T/mounted" 2>/dev/null; then
	mounts=1
	start unshare -m sh -c "mount -t tmpfs none '$T/mounted' &&
		cp $V '$T/mounted/mounted-in' &&
		exec '$T/mounted/mounted-in' burn 5000"
	start unshare -m sh -c "sleep 1; mount -t tmpfs none '$T/mounted' &&
		mkdir '$T/mounted/.debug' && cd '$T/mounted' &&
		cp '$T/root/bin/ended' gone-in &&
		cp '$T/root/bin/.debug/ended.debug' .debug &&
		exec '$T/mounted/gone-in' burn 1200"
	start unshare -m sh -c "mount --bind '$T/lower' '$T/bound' &&
		exec '$T/bound/bound-in' burn 5000"
	start unshare -m sh -c "mount -t tmpfs none '$T/tmpfs' &&
		mkdir '$T/tmpfs/upper' '$T/tmpfs/work' &&
		mount -t overlay overlay -o 'lowerdir=$T/lower,upperdir=$T/tmpfs/upper,workdir=$T/tmpfs/work' '$T/overlay' &&
		exec '$T/overlay/laid-over' burn 5000"
fi
sleep 0.5
start sh -c "sleep 0.3; exec '$V' chroot '$T/root' /bin/ended 1200"
./prof -q -F 999 -d 3 -o "$T/out" 2>"$T/err"
at_least deleted gone ';(spin|burn|now|main|clock_gettime|__vdso_clock_gettime) ' 95
at_least replaced replaced ';(spin|burn|now|main|clock_gettime|__vdso_clock_gettime) ' 95
at_least leader-exited leading ';(spin|burn|now|main|clock_gettime|__vdso_clock_gettime) ' 95
at_least made-code spaces '\[anon\]' 90
at_least chroot inside ';(spin|burn|now|main|clock_gettime|__vdso_clock_gettime) ' 95
at_least root-of-the-dead ended ';(spin|burn|now|main|clock_gettime|__vdso_clock_gettime) ' 95
if [ -n "$mounts" ]; then
	at_least mounts-of-the-dead gone-in ';(spin|burn|now|main|clock_gettime|__vdso_clock_gettime) ' 95
	at_least other-mounts mounted-in ';(spin|burn|now|main|clock_gettime|__vdso_clock_gettime) ' 95
	at_least bind-mount bound-in ';(spin|burn|now|main|clock_gettime|__vdso_clock_gettime) ' 95
	at_least overlay laid-over ';(spin|burn|now|main|clock_gettime|__vdso_clock_gettime) ' 95
else
	skip other-mounts "unshare(1) or mount(8) is not permitted"
fi
at_least in-memory "in memory" ';(spin|burn|now) ' 90
expect none-is-replaced test -z "$(grep -F '[replaced]' "$T/out")"
stop_all

# ------------------------------------------------------------------ many of them

start $V maps 10000 5000
sleep 0.5
run 1
at_least ten-thousand-mappings spaces ';(spin|burn|now|main|clock_gettime|__vdso_clock_gettime) ' 95
stop_all
# The same, mapped while it is sampled.
(sleep 0.2; exec $V maps 10000 1500) &
run 2
wait
at_least ten-thousand-records spaces ';(spin|burn|now|main|__mmap|mmap64|mmap|clock_gettime|__vdso_clock_gettime|\[(libc|ld-)[^;]*)[ ;]' 95

# Programs of one millisecond; what a shell has while it forks is its own.
cat >"$T/churn.sh" <<'END'
i=0
while [ $i -lt "$1" ]; do /bin/true; i=$((i + 1)); done
END
./prof -q -F 1999 -o "$T/out" -- sh "$T/churn.sh" 2000 2>"$T/err"
# The leaf is in a file (in an exec, one of the program before), or in the kernel.
bare='^\[(unmapped|exited|remapped|replaced|no /proc|elsewhere|too many mappings|not permitted|anon)\]$'
bad=$(BARE=$bare awk '/^true;/ {
		count = $NF
		sub(/ [0-9]+$/, "")
		sub(/(;[^;]*_\[k\])+$/, "")
		leaf = $0
		sub(/.*;/, "", leaf)
		all += count
		if (leaf ~ ENVIRON["BARE"]) bad += count
	}
	END { printf "%d\n", all ? 1000 * bad / all : 1000 }' "$T/out")
if [ "$bad" -le 20 ]; then
	ok "short-lived ($bad of 1000 without a file)"
else
	fail short-lived "$bad of 1000 without a file"
fi
wrong=$(grep -E '^true;(\[unmapped\];)*\[(sh|dash|bash)\+' "$T/out")
expect short-lived-right test -z "$wrong"

# However many come and go, memory and descriptors stay as they are: what leaks
# grows in both halves, what is met for the first time in one.  Stacks that wait
# for their names take up to 300 KB.
start sh "$T/churn.sh" 20000
./prof -v -F 49 -d 9 -o "$T/out" 2>"$T/err" &
prof=$!
fds=() rss=()
for _ in 1 2 3; do
	sleep 2.7
	fds+=("$(find "/proc/$prof/fd" -mindepth 1 | wc -l)")
	rss+=("$(awk '/VmRSS/ { print $2 }' /proc/$prof/status)")
done
wait $prof
seen="${fds[*]} descriptors, ${rss[*]} KB"
if [ $((fds[2] - fds[0])) -le 16 ] &&
	{ [ $((rss[1] - rss[0])) -le 512 ] || [ $((rss[2] - rss[1])) -le 512 ]; }
then
	ok "churn-flat ($seen)"
else
	fail churn-flat "$seen"
fi
stop_all

expect no-records-lost test -z "$(grep 'records .* were lost' "$T/err")"
