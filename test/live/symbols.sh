#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Names of user frames: right ones wherever the file has them, honest reasons
# elsewhere.  All programs of a part run at once, each under a name of its own.
. test/lib.sh

flags="-O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer"
debug_files=()
trap 'rm -f ${debug_files[@]+"${debug_files[@]}"}; cleanup' EXIT
ms=60000

share() {
	RE=$3 awk -v comm="$2" '{ split($0, f, ";") }
		f[1] == comm { all += $NF; if ($0 ~ ENVIRON["RE"]) some += $NF }
		END { printf "%d\n", all ? 100 * some / all : -1 }' "$1"
}

# at_least NAME COMM REGEX PERCENT [NEVER]: of the last profile; NEVER must not
# be in any stack of COMM.
at_least() {
	local got wrong

	got=$(share "$T/out" "$2" "$3")
	wrong=0
	[ $# -lt 5 ] || wrong=$(share "$T/out" "$2" "$5")
	if [ "$got" -ge "$4" ] && [ "$wrong" -le 0 ]; then
		ok "symbols-$1 ($got %)"
	else
		fail "symbols-$1" "$got % of $2 match $3, $wrong % ${5:-}: $(
			grep "^$2;" "$T/out" | head -n 3 | tr '\n' '|')"
	fi
}

# build NAME FLAGS...: the victim, linked or compiled in some way.
build() {
	local name=$1
	shift
	# shellcheck disable=SC2086
	gcc $flags "$@" -o "$T/$name" test/victims/named.c 2>"$T/gcc.err"
}

run() {
	sleep 0.3
	./prof -q -F 1999 -d "${1:-3}" -U "${@:2}" -o "$T/out" 2>"$T/err"
	stop_all
}

chain=';main;outer;middle;leaf '

# ------------------------------------------------------ how a file is linked

build plain && start "$T/plain" $ms
build nopie -no-pie && start "$T/nopie" $ms
build static -static && start "$T/static" $ms
build static-pie -static-pie && start "$T/static-pie" $ms
build high -Wl,-Ttext-segment=0x70000000 && start "$T/high" $ms
build nosep -Wl,-z,noseparate-code && start "$T/nosep" $ms
linkers="plain nopie static static-pie high nosep"
if command -v ld.lld >/dev/null && build lld -fuse-ld=lld; then
	start "$T/lld" $ms
	linkers="$linkers lld"
else
	skip symbols-lld "no ld.lld"
fi
cp build/test/bare/narrow "$T/narrow" && start "$T/narrow"
run
for name in $linkers; do
	at_least "$name" "$name" "$chain" 85
done
at_least 32-bits narrow ';outer;middle;leaf ' 85

# --------------------------------------------------------- where symbols are

cp "$T/plain" "$T/stripped" && strip "$T/stripped"
start "$T/stripped" $ms
# Only what it exports has names.
build exports -rdynamic && strip "$T/exports" && start "$T/exports" $ms
# No sections at all: e_shoff, e_shnum and e_shstrndx are zero.
cp "$T/exports" "$T/headless" &&
	printf '\0\0\0\0\0\0\0\0' | dd of="$T/headless" bs=1 seek=40 \
		conv=notrunc status=none &&
	printf '\0\0\0\0' | dd of="$T/headless" bs=1 seek=60 conv=notrunc \
		status=none
start "$T/headless" $ms
# split NAME: strips the victim, and puts its symbols into another file.
split() {
	cp "$T/plain" "$T/$1" &&
		objcopy --only-keep-debug "$T/$1" "$T/$1.debug" &&
		strip "$T/$1"
}
split linked && objcopy --add-gnu-debuglink="$T/linked.debug" "$T/linked"
start "$T/linked" $ms
# The names in there are of another build.
split crossed && objcopy --add-gnu-debuglink="$T/crossed.debug" "$T/crossed" &&
	objcopy --redefine-sym leaf=wrong --redefine-sym outer=wrong_too \
		"$T/crossed.debug"
start "$T/crossed" $ms
split fifo && objcopy --add-gnu-debuglink="$T/fifo.debug" "$T/fifo" &&
	rm "$T/fifo.debug" && mkfifo "$T/fifo.debug"
start "$T/fifo" $ms
# by_id NAME: puts NAME.debug where distributions have it.
by_id() {
	local id file

	id=$(readelf -n "$T/$1" | sed -n 's/.*Build ID: //p')
	file=/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
	[ -n "$id" ] && [ ! -e "$file" ] && mkdir -p "${file%/*}" &&
		cp "$T/$1.debug" "$file" && debug_files+=("$file")
}
build identified -DTHIS="$RANDOM$RANDOM" -Wl,--build-id=uuid &&
	cp "$T/identified" "$T/keep" && objcopy --only-keep-debug \
	"$T/identified" "$T/identified.debug" && strip "$T/identified" &&
	by_id identified
start "$T/identified" $ms
# The right place, but another id inside.
build mistaken -Wl,--build-id=uuid && cp "$T/identified.debug" \
	"$T/mistaken.debug" && objcopy --redefine-sym leaf=wrong \
	"$T/mistaken.debug" && strip "$T/mistaken" && by_id mistaken
start "$T/mistaken" $ms
if command -v xz >/dev/null; then
	cp "$T/exports" "$T/mini" && build mini-full -rdynamic &&
		objcopy -S --remove-section .comment "$T/mini-full" "$T/none" &&
		nm "$T/mini-full" | awk '$2 == "t" { print $3 }' >"$T/keep" &&
		objcopy -S --keep-symbols="$T/keep" "$T/mini-full" "$T/small" &&
		xz -f "$T/small" &&
		objcopy --add-section .gnu_debugdata="$T/small.xz" "$T/mini"
	start "$T/mini" $ms
fi
if command -v eu-elfcompress >/dev/null; then
	cp "$T/plain" "$T/packed" &&
		eu-elfcompress -q -f -n .symtab -n .strtab "$T/packed" 2>"$T/err"
	start "$T/packed" $ms
fi
run 4
[ ! -e "$T/packed" ] || at_least packed packed "$chain" 85
# One name for each function, and not one for each address.
at_least stripped stripped '\[stripped\+0x[0-9a-f]+\]' 85 ';(main|outer|middle|leaf)'
starts=$(grep '^stripped;' "$T/out" | grep -o '\[stripped+0x[0-9a-f]*\]' | sort -u | wc -l)
expect "symbols-stripped-functions ($starts)" test "$starts" -le 12
at_least exports exports \
	';main;outer;\[exports\+0x[0-9a-f]+\];\[exports\+0x[0-9a-f]+\] ' 85 \
	'(middle|leaf)'
at_least headless headless \
	';main;outer;\[headless\+0x[0-9a-f]+\];\[headless\+0x[0-9a-f]+\] ' 85 \
	'(middle|leaf)'
at_least debuglink linked "$chain" 85
at_least debuglink-of-another crossed '\[crossed\+0x' 85 'wrong'
at_least debuglink-fifo fifo '\[fifo\+0x' 85
at_least build-id identified "$chain" 85
at_least build-id-of-another mistaken '\[mistaken\+0x' 85 'wrong|middle'
[ ! -e "$T/mini" ] || at_least minidebug mini "$chain" 85

# -------------------------------------------------------- which name is right

named=build/test/named
for kind in gap bare alias last clones clock copy signal; do
	start $named $ms $kind
done
echo 'void stubbed(void) { }' |
	gcc -O1 -fPIC -shared -o "$T/libstubbed.so" -x c - 2>"$T/gcc.err"
build lazy -DSTUBBED -L"$T" -Wl,--no-as-needed -lstubbed \
	-Wl,-rpath,"$T" -Wl,-z,lazy &&
	start "$T/lazy" $ms stub
if command -v setpriv >/dev/null; then
	cp $named "$T/setuid" && chmod 4711 "$T/setuid"
	chmod 755 "$T"
	start setpriv --reuid 65534 --clear-groups "$T/setuid" $ms
fi
run 4
at_least gap gap ';main;leaf ' 15 '(before|after)_gap|gap;.*gap'
at_least gap-is-nobodys gap ';\[named\+0x[0-9a-f]+\] ' 10
at_least bare bare ';bare_loop ' 20
at_least alias alias ';main;best_name;leaf ' 85 'weak|local|__best'
at_least last-call last ';main;last_call;burn_and_exit;leaf ' 85 'next_of'
at_least clones clones ';main;cloned;cloned;cloned;leaf ' 85 \
	'constprop|isra|cold'
at_least stub stub ';stubbed(@plt)? |;main ' 85 '_init'
at_least stub-itself stub 'stubbed@plt ' 10
at_least vdso clock 'clock_gettime ' 60
at_least indirect copy ';__mem(cpy|move)_[a-z0-9_]+ ' 60
at_least signal signal ';main;(raise_it;)?(__restore_rt|\[[^;]*\]);on_signal;leaf ' 85
[ ! -e "$T/setuid" ] || at_least setuid setuid "$chain" 85

# Of a large table only what is wanted is read: that gives the same names.
for file in "$(command -v node)" "$(gcc -print-prog-name=cc1)" \
	"$(command -v perl)" /lib/*/libc.so.6 "$(command -v go)" build/prof; do
	[ -e "$file" ] || continue
	file=$(readlink -f "$file")
	[ "$(head -c 4 "$file" | tail -c 3)" = ELF ] || continue
	for how in random wanted; do
		build/test/name "$file" --$how 2000 3 2>/dev/null |
			cut -d' ' -f 1-4 >"$T/$how"
	done
	expect "symbols-wanted-${file##*/}" cmp "$T/random" "$T/wanted"
done

# ---------------------------------------------------------------- languages

cat >"$T/a.cc" <<'END'
#include <cstdlib>
#include <ctime>
static volatile unsigned long sum;
namespace shop {
template <typename T, int N> struct Box {
	struct Key {};
	__attribute__((noinline)) T take(const Key &, T by) {
		volatile unsigned long room[64];
		for (int i = 0; i < 200000; i++)
			room[i % 64] = (unsigned long)i;
		sum = sum + room[0];
		return by;
	}
	__attribute__((noinline)) Box &operator<<(int by)
	{ sum = sum + take(Key(), by); return *this; }
};
}
namespace {
__attribute__((noinline)) void hidden(shop::Box<int, -3> &box) { box << 1; sum = sum + 1; }
}
int main() { shop::Box<int, -3> box; for (;;) hidden(box); }
END
# shellcheck disable=SC2086
if g++ $flags -o "$T/cxx" "$T/a.cc" 2>"$T/gcc.err"; then
	start "$T/cxx"
	run 1
	at_least c++ cxx ';main;\(anonymous namespace\)::hidden\(shop::Box<int, -3>&\);shop::Box<int, -3>::operator<<\(int\);shop::Box<int, -3>::take\(shop::Box<int, -3>::Key const&, int\) ' 85
	start "$T/cxx"
	run 1 --no-demangle
	at_least no-demangle cxx ';main;_ZN[0-9a-zA-Z_]*hidden[^;]*;_ZN4shop3BoxIiLin3EElsEi;_ZN4shop3BoxIiLin3EE4takeERKNS1_3KeyEi ' 85
else
	skip symbols-c++ "no g++"
fi
cat >"$T/a.rs" <<'END'
mod shop {
	pub trait Take { fn take(&self, n: u64) -> u64; }
	pub struct Box2<T>(pub T);
	impl<T> Take for Box2<T> {
		#[inline(never)]
		fn take(&self, n: u64) -> u64 {
			let mut room = [0u64; 64];
			for i in 0..200000u64 { unsafe { core::ptr::write_volatile(&mut room[(i % 64) as usize], i) } }
			room[0] + n
		}
	}
}
use shop::Take;
fn main() { let b = shop::Box2(7u8); let mut s = 0u64; loop { s = core::hint::black_box(b.take(s) + 1); } }
END
for mangling in v0 default; do
	how="-C symbol-mangling-version=$mangling"
	[ $mangling != default ] || how=
	# shellcheck disable=SC2086
	if rustc -O -C force-frame-pointers=yes $how -o "$T/rust-$mangling" \
		"$T/a.rs" 2>"$T/rust.err"; then
		start "$T/rust-$mangling"
		run 1
		at_least rust-$mangling "rust-$mangling" \
			'shop::(Take>::take|Box2<[^;]*>.*::take) ' 85 \
			'17h[0-9a-f]{16}|_R'
	else
		skip symbols-rust-$mangling "rustc is not there, or has no such names"
	fi
done
mkdir "$T/go" && cat >"$T/go/a.go" <<'END'
package main

type shop struct{ n, sum uint64 }

//go:noinline
func (s *shop) take(n uint64) uint64 {
	var room [64]uint64
	for i := uint64(0); i < 200000; i++ {
		room[i%64] = i + s.n
	}
	return room[n%64]
}

//go:noinline
func serve(s *shop) { s.sum += s.take(s.n); s.n++ }

func main() { s := &shop{}; for { serve(s) } }
END
if command -v go >/dev/null; then
	go_build "$T/go" -o ../go-plain a.go &&
		go_build "$T/go" -ldflags '-s -w' -o ../go-bare a.go
	start "$T/go-plain"
	start "$T/go-bare"
	run 1.5
	at_least go go-plain ';main.main;main.serve;main.\(\*shop\).take ' 85
	at_least go-stripped go-bare ';main.main;main.serve;main.\(\*shop\).take ' 85
	chmod -R u+w "$T/cache" 2>/dev/null
else
	skip symbols-go "no go"
fi

# ------------------------------------------------------------ code made in time

for map in good grows late none fifo link links stale other junk; do
	start $named 3000 jit $map
done
run 4.5
for map in good late junk; do
	at_least "jit-$map" "jit $map" ';made by hand ' 75 'wrong'
done
at_least jit-grows "jit grows" ';(first|second) name ' 75
for map in none fifo link links stale other; do
	at_least "jit-$map" "jit $map" ';\[anon\] ' 75 'made by hand'
done

# ------------------------------------------------------- files that are damaged

# Each has a page of code at its end, and something else that is wrong.
size=$((($(stat -c %s $named) + 8191) / 4096 * 4096))
for n in $(seq 24); do
	file=$T/damaged-$n
	cp $named "$file"
	truncate -s $size "$file"
	at=$((16 + n)) bytes=40
	[ $((n % 3)) = 0 ] || at=$((size - 4200 - n * 150)) bytes=100
	if [ $((n % 3)) = 2 ]; then
		truncate -s $((n * 200 + 1)) "$file"
		truncate -s $size "$file"
	else
		dd if=/dev/urandom of="$file" bs=1 count=$bytes seek=$at \
			conv=notrunc status=none
	fi
	# mov $1000000,%ecx; dec %ecx; jne .-2; ret, or the same for arm64.
	case $(uname -m) in
	x86_64) printf '\xb9\x40\x42\x0f\x00\x83\xe9\x01\x75\xfb\xc3' ;;
	aarch64) printf '\xe0\x01\xa0\xd2\x00\x04\x00\xf1\xe1\xff\xff\x54\xc0\x03\x5f\xd6' ;;
	esac | dd of="$file" bs=1 seek=$((size - 4096)) conv=notrunc status=none
done
start $named $ms map "$T"/damaged-*
sleep 0.3
if timeout -s KILL 20 ./prof -v -F 1999 -d 3 -U -o "$T/out" 2>"$T/err" &&
	[ "$(share "$T/out" map 'damaged-')" -ge 50 ]; then
	ok "symbols-damaged ($(share "$T/out" map 'damaged-') %, $(sed -n 's/.*\(peak.*\)/\1/p' "$T/err"))"
else
	fail symbols-damaged "$(tail -n 2 "$T/err"); $(grep -m3 '^map;' "$T/out")"
fi
stop_all
