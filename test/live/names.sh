#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Names of kernel frames: right ones, or none, and why.
. test/lib.sh

restrict=/proc/sys/kernel/kptr_restrict
before=$(cat $restrict)
trap 'echo $before >$restrict; cleanup' EXIT
echo 0 >$restrict
cat /proc/kallsyms >"$T/kallsyms"

start dd if=/dev/zero of=/dev/null bs=1
./prof -d 2 -F 499 >"$T/out" 2>"$T/err"

# The chain of read(2) on /dev/zero, as fs/read_write.c has it.
if grep -q 'do_syscall_64_\[k\];\(__x64_sys_read_\[k\];\)\?ksys_read_\[k\];vfs_read_\[k\];read_\(iter_\)\?zero_\[k\]' "$T/out" ||
	[ "$(uname -m)" != x86_64 ]; then
	ok kernel-chain
else
	fail kernel-chain "no read_zero below vfs_read: $(head -n 3 "$T/out")"
fi

# Every name is one that the kernel lists, and none is padding or a mark.
tr ';' '\n' <"$T/out" | sed -n 's/_\[k\]\( [0-9]*\)\?$//p' | sort -u >"$T/names"
awk '{ print $3 }' "$T/kallsyms" | sort -u >"$T/known"
unknown=$(comm -23 "$T/names" "$T/known")
if [ -s "$T/names" ] && [ -z "$unknown" ]; then
	ok "kernel-names-are-listed ($(wc -l <"$T/names"))"
else
	fail kernel-names-are-listed "$unknown"
fi
expect kernel-names-no-marks test -z \
	"$(grep -E '^__pfx_|text_(start|end)$' "$T/names")"

# Two ways to the same names: asking the kernel, and reading the file.
for count in 200 6000; do
	build/test/ask build/bpf_prog.o $((count * 110000 / 64000)) >"$T/asked" 2>&1
	status=$?
	if [ $status = 77 ]; then
		skip asked-is-read-$count "this kernel cannot be asked (before 5.14)"
	else
		expect "asked-is-read-$count ($(tail -n 1 "$T/asked"))" \
			test $status = 0
	fi
done

# BPF programs, too: the one that runs meanwhile has a name in both.
./prof -d 2 >/dev/null 2>&1 &
PIDS+=("$!")
sleep 0.5
address=$(awk '/profile_hash\t\[bpf\]/ { print $1; exit }' /proc/kallsyms)
if [ -z "$address" ]; then
	skip bpf-program-is-named "the kernel lists no BPF programs (bpf_jit_kallsyms)"
else
	build/test/ask build/bpf_prog.o 1 "$address" >"$T/asked"
	expect bpf-program-is-named grep -q 'profile_hash .*profile_hash' "$T/asked"
fi
wait "${PIDS[-1]}"
unset 'PIDS[-1]'

# Hidden from readers, not from those who may ask; nothing has to be mounted.
echo 2 >$restrict
./prof -d 0.5 >"$T/out" 2>"$T/err"
if adds_up "$T/err" "$T/out" && grep -q 'vfs_read_\[k\]' "$T/out"; then
	ok hidden-is-asked
else
	fail hidden-is-asked "$(cat "$T/err")"
fi
unshare -m sh -c 'umount -l /proc /sys; ./prof -d 0.5' >"$T/out" 2>"$T/err"
if ! unshare -m true 2>/dev/null; then
	skip nothing-mounted-is-asked "unshare -m is not allowed"
elif adds_up "$T/err" "$T/out" && grep -q 'vfs_read_\[k\]' "$T/out"; then
	ok nothing-mounted-is-asked
else
	fail nothing-mounted-is-asked "$(cat "$T/err")"
fi

# A copy that was saved while they were visible gives the names back.
printf 'ffffffffc0f00000 t made_up\t[made_up]\n' | cat "$T/kallsyms" - >"$T/saved"
./prof -d 0.5 -F 997 --kallsyms "$T/saved" >"$T/out" 2>"$T/err"
expect saved-kallsyms grep -q 'vfs_read_\[k\]' "$T/out"

refused() {
	local name=$1 words=$2
	shift 2
	if ./prof -d 0.3 "$@" >"$T/out" 2>"$T/err"; then
		fail "$name" "was believed"
	elif ! grep -q "$words" "$T/err" || [ -s "$T/out" ]; then
		fail "$name" "said: $(cat "$T/err")"
	else
		ok "$name"
	fi
}

# A file that does not fit is refused before anything is sampled, also where the
# kernel hides its own list: it is asked what stands at the file's addresses.
for hidden in 2 0; do
	echo $hidden >$restrict
	sed 's/^ffffffff8/ffffffff9/' "$T/saved" >"$T/moved"
	refused moved-kallsyms-$hidden "not of this boot" --kallsyms "$T/moved"
	sed 's/^ffffffff81/ffffffff82/' "$T/saved" >"$T/near"
	refused near-kallsyms-$hidden "not of this boot" --kallsyms "$T/near"
	grep -v '\[' "$T/kallsyms" >"$T/map"
	./prof -d 0.5 -F 997 --kallsyms "$T/map" >"$T/out" 2>"$T/err"
	expect system-map-proved-$hidden grep -q 'vfs_read_\[k\]' "$T/out"
done
sed 's/^[0-9a-f]*/0000000000000000/' "$T/saved" >"$T/zeros"
refused zero-kallsyms "addresses are zero" --kallsyms "$T/zeros"
echo "this is no symbol table" >"$T/text"
refused text-kallsyms "no line of it is a symbol" --kallsyms "$T/text"
echo "ffffffffc0000000 t x	[mod]" >"$T/one"
refused one-line-kallsyms "no _stext" --kallsyms "$T/one"
refused missing-kallsyms "No such file" --kallsyms "$T/none"
refused directory-kallsyms "read" --kallsyms "$T"
stop_all

# What another program was when it was sampled is not named by the files of
# what it is now: both run at the same addresses.
for n in a b; do
	sed "s/seventy/burn_$n/g" test/victims/split.c >"$T/$n.c"
	gcc -O1 -static -fno-omit-frame-pointer -o "$T/prog$n" "$T/$n.c"
done
cat >"$T/exec.c" <<-'EOS'
	#include <unistd.h>
	int main(int c, char **v) {
		volatile unsigned long n = 0;
		while (n < 300000000ul) n++;
		return c > 1 ? execl(v[1], "b", "0.3", (char *)0) : 0;
	}
EOS
gcc -O0 -static -o "$T/proga" "$T/exec.c"
"$T/proga" "$T/progb" >/dev/null &
./prof -d 3 -U >"$T/out" 2>/dev/null
wait
if grep '^proga;' "$T/out" | grep -q 'burn_b'; then
	fail exec-is-not-mixed-up "$(grep -m1 '^proga;.*burn_b' "$T/out")"
else
	ok exec-is-not-mixed-up
fi

# A process with 30,000 mappings of code may lose its names, we not the time.
cat >"$T/many.c" <<-'EOS'
	#include <fcntl.h>
	#include <sys/mman.h>
	#include <sys/prctl.h>
	#include <stdio.h>
	int main(int c, char **v) {
		int fd = open("/proc/self/exe", O_RDONLY);
		char name[16];
		for (int i = 0; i < 30000; i++)
			mmap(0, 4096, i % 2 ? PROT_READ | PROT_EXEC : PROT_EXEC,
			     MAP_PRIVATE, fd, 0);
		for (unsigned i = 0;; i++) {
			snprintf(name, 16, "many %u", i / 1000 % 10000);
			if (c > 1)
				prctl(PR_SET_NAME, name);
		}
	}
EOS
gcc -O1 -o "$T/many" "$T/many.c"
start "$T/many"
start "$T/many" rename
sleep 0.5
if timeout -s KILL 8 ./prof -v -d 2 -F 999 >"$T/out" 2>"$T/err" &&
	adds_up "$T/err" "$T/out"; then
	ok "many-mappings ($(sed -n 's/.*own CPU/own CPU/p' "$T/err"))"
else
	fail many-mappings "$(tail -n 3 "$T/err" | tr '\n' ' ')"
fi
stop_all

# Without symbols: the file and where the function begins, also of a deleted file.
cp build/test/split "$T/gone prog"
strip "$T/gone prog"
start "$T/gone prog" 1000
sleep 0.1
rm "$T/gone prog"
./prof -d 0.5 -U >"$T/out" 2>/dev/null
expect deleted-file grep -q '\[gone prog+0x[0-9a-f]*\]' "$T/out"
stop_all
