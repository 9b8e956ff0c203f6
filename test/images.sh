#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Names of real files, as compilers and linkers make them, against what readelf
# and objdump say of the same files.
. test/lib.sh

name=build/test/name
tree=$T/root
mkdir -p "$tree"

# The functions and labels that a file lists: `address size name`, decimal.
symbols() {
	readelf -sW "$1" 2>/dev/null | sed 's/<OS specific>: 10/IFUNC/' |
		gawk '$4 ~ /^(FUNC|IFUNC|NOTYPE)$/ && $7 ~ /^[0-9]+$/ &&
		!seen[$2, $3, $8]++ {
			print strtonum("0x" $2),
			      $3 ~ /x/ ? strtonum($3) : $3 + 0, $8
		}' | sort -n
}

# compare LABEL FILE SYMBOLS-OF [COUNT] [LEAST NAMES]
compare() {
	local file=$2 of=$3 count=${4:-400} least=${5:-1} result

	symbols "$of" >"$T/symbols"
	$name "$file" --random "$count" 7 >"$T/names" 2>"$T/errors"
	gawk -f test/images.awk "$T/symbols" "$T/names" >"$T/compared"
	read -r -a result <<<"$(tail -n 1 "$T/compared")"
	if [ "${result[4]}" = 0 ] && [ -s "$T/names" ] &&
		[ "${result[0]}" -ge "$least" ]; then
		ok "names-$1 (${result[0]} named, ${result[1]} stubs,\
 ${result[2]} bounds, ${result[3]} nothing)"
	else
		fail "names-$1" "$(head -n 5 "$T/compared" | tr '\n' '|')"
	fi
}

# ------------------------------------------------ what this machine has
for file in /bin/bash /usr/bin/perl /usr/bin/git /usr/bin/python3 \
	"$(gcc -print-prog-name=cc1)" "$(gcc -print-file-name=libstdc++.so.6)" \
	"$(clang -print-prog-name=clang)" /usr/bin/node build/prof; do
	file=$(readlink -f "$file")
	[ -e "$file" ] || continue
	compare "$(basename "$file")" "$file" "$file" 400 0
done

# ------------------------------------------------ what linkers make
cat >"$T/case.c" <<'END'
typedef __SIZE_TYPE__ size_t;
void abort(void);
int rand(void), puts(const char *);
char *strdup(const char *);
size_t strlen(const char *);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
__attribute__((noinline)) int leaf(int x) { return x * 7 + rand(); }
__attribute__((noinline)) static int middle(int x) { return leaf(x) + 1; }
__attribute__((noinline, cold)) static int rare(int x) { abort(); return x; }
int outer(int x) { return x == 12345 ? rare(x) : middle(x) + puts("x"); }
int alias(int x) __attribute__((alias("outer")));
int main(int argc, char **argv)
{
	char *copy = strdup(argv[0]);
	qsort(copy, strlen(copy), 1, (int (*)(const void *, const void *))0);
	return outer(argc) + alias((int)strlen(copy));
}
END
# What each of its own functions is called; and stubs as objdump names them.
check_case() {
	local label=$1 file=$2 missing='' function

	$name "$file" --all 2>/dev/null >"$T/all"
	for function in main leaf middle; do
		grep -q " $function " "$T/all" || missing="$missing $function"
	done
	{ objdump -d "$file"; llvm-objdump -d "$file"; } 2>/dev/null |
		sed -n 's/^0*\([0-9a-f]*\) <\([^>]*@plt\)>:$/\1 \2/p' |
		grep -v '\*ABS\*' | sort -u >"$T/stubs"
	while read -r address stub; do
		grep -q "^[0-9a-f]* $address ${stub%%@*}@plt " "$T/all" ||
			missing="$missing $stub"
	done <"$T/stubs"
	if [ -z "$missing" ]; then
		ok "linked-$label ($(wc -l <"$T/stubs") stubs)"
	else
		fail "linked-$label" "missing:$missing"
	fi
	[ "${3:-}" = quick ] || compare "linked-$label" "$file" "$file" 200
}

build() {
	local label=$1 compiler=$2

	shift 2
	if ! $compiler -O2 -fno-builtin -o "$T/$label" "$@" "$T/case.c" \
		2>"$T/log"; then
		skip "linked-$label" "does not build: $(head -n 1 "$T/log")"
		return 1
	fi
	check_case "$label" "$T/$label"
}
build pie gcc -pie -fPIE
build no-pie gcc -no-pie -fno-pie
build now gcc -pie -fPIE -Wl,-z,now
build no-separate gcc -Wl,-z,noseparate-code
build high gcc -pie -fPIE -Wl,-Ttext-segment=0x200000
build ibt gcc -fcf-protection=full -Wl,-z,ibtplt -Wl,-z,lazy
build static gcc -static
build static-pie gcc -static-pie
build shared gcc -shared -fPIC
build lld clang -fuse-ld=lld
build lld-lazy clang -fuse-ld=lld -Wl,-z,lazy
build lld-ibt clang -fuse-ld=lld -Wl,-z,force-ibt -Wl,-z,lazy
build lld-static clang -fuse-ld=lld -static
build gold gcc -fuse-ld=gold
build musl musl-gcc -static
# Of other machines, without their libraries.
for function in abort rand puts strdup strlen qsort; do
	echo "void $function(void) {}"
done >"$T/library.c"
for machine in i386 aarch64; do
	cross="clang --target=$machine-linux-gnu -fuse-ld=lld -nostdlib"
	$cross -w -fno-builtin -shared -fPIC -o "$T/library.so" "$T/library.c"
	build $machine "$cross" -Wl,-emain "$T/library.so"
	build $machine-pic "$cross" -shared -fPIC
done

# ------------------------------------------------ where the names went
gcc -O2 -g -fno-builtin -pie -fPIE -Wl,--build-id -o "$T/full" "$T/case.c"

# file and symbols as its task sees them: below $tree, at /bin/prog
places() {
	rm -rf "$tree" && mkdir -p "$tree/bin"
}
in_root() {
	ROOT=$tree PATH_IN_ROOT=/bin/prog "$name" "$tree/bin/prog" --all |
		awk '{ print $3 }' | sort -u >"$T/all"
}
named() {
	in_root
	if grep -qx middle "$T/all" && grep -qx main "$T/all"; then
		ok "$1"
	else
		fail "$1" "names: $(tr '\n' ' ' <"$T/all")"
	fi
}
not_named() {
	in_root
	if grep -q '^\[0x' "$T/all" && ! grep -qx middle "$T/all"; then
		ok "$1"
	else
		fail "$1" "names: $(tr '\n' ' ' <"$T/all")"
	fi
}

places
strip -o "$tree/bin/prog" "$T/full"
not_named stripped-has-bounds
id=$(readelf -n "$T/full" | sed -n 's/.*Build ID: //p')
mkdir -p "$tree/usr/lib/debug/.build-id/${id:0:2}"
debug=$tree/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
objcopy --only-keep-debug "$T/full" "$debug"
named debug-by-build-id
objcopy --compress-debug-sections=zlib "$debug"
named debug-by-build-id-compressed
rm "$debug"

places
objcopy --only-keep-debug "$T/full" "$tree/bin/prog.debug"
strip -o "$tree/bin/prog" "$T/full"
(cd "$tree/bin" && objcopy --add-gnu-debuglink=prog.debug prog)
named debug-by-link
echo >>"$tree/bin/prog.debug"
not_named debug-by-link-changed

# .gnu_debugdata, as distributions make it: what .dynsym has not.
places
if command -v xz >/dev/null; then
	nm -D "$T/full" --format=posix --defined-only | awk '{ print $1 }' |
		sort >"$T/dynamic"
	nm "$T/full" --format=posix --defined-only |
		awk '$2 ~ /[TtD]/ { print $1 }' | sort >"$T/functions"
	comm -13 "$T/dynamic" "$T/functions" >"$T/keep"
	objcopy --only-keep-debug "$T/full" "$T/debug"
	objcopy -S --remove-section .gdb_index --remove-section .comment \
		--keep-symbols="$T/keep" "$T/debug" "$T/mini" 2>/dev/null
	xz -f "$T/mini"
	strip -o "$tree/bin/prog" "$T/full"
	objcopy --add-section .gnu_debugdata="$T/mini.xz" "$tree/bin/prog"
	named minidebug
else
	skip minidebug "no xz"
fi

# No section headers: only what the dynamic linker is told.
places
gcc -O2 -fno-builtin -shared -fPIC -Wl,--hash-style=gnu -o "$T/bare.so" \
	"$T/case.c"
if llvm-objcopy --strip-sections "$T/bare.so" "$tree/bin/prog" 2>/dev/null; then
	in_root
	expect bare-exports grep -qxE 'outer|alias' "$T/all"
	expect bare-bounds grep -q '^\[0x' "$T/all"
	expect bare-stubs grep -qx rand@plt "$T/all"
else
	skip bare-exports "llvm-objcopy cannot do that"
fi

# Function boundaries: those of a stripped file are its .eh_frame's.
strip -o "$T/stripped" /bin/bash
readelf --debug-dump=frames "$T/stripped" 2>/dev/null |
	sed -n 's/.* FDE .*pc=0*\([0-9a-f]*\)\.\.0*\([0-9a-f]*\)$/\1 \2/p' |
	gawk '{ print strtonum("0x" $1), strtonum("0x" $2) - strtonum("0x" $1) }' \
		>"$T/frames"
$name "$T/stripped" --random 1000 9 | gawk '
	FILENAME == ARGV[1] { size[$1] = $2; next }
	$3 ~ /^\[0x/ {
		start = strtonum("0x" $2) - strtonum("0x" $1)
		start += strtonum("0x" $4)
		if (size[start] == $5)
			right++
		else
			print "wrong", $0
	}
	END { print right + 0 }' "$T/frames" - >"$T/bounds"
if [ "$(wc -l <"$T/bounds")" = 1 ] && [ "$(cat "$T/bounds")" -gt 100 ]; then
	ok "bounds-are-frames ($(cat "$T/bounds"))"
else
	fail bounds-are-frames "$(head -n 3 "$T/bounds" | tr '\n' '|')"
fi

# ------------------------------------------------ Go and Rust, if they are there
if command -v go >/dev/null; then
	cat >"$T/main.go" <<'END'
package main

import "os"

//go:noinline
func work(x int) int { return x*7 + len(os.Args) }

//go:noinline
func cold(x int) int { return work(x) + 1 }

func main() { os.Exit(cold(work(3)) % 2) }
END
	for mode in exe pie; do
		for strip in '' '-s -w'; do
			if CGO_ENABLED=0 go_build "$T" -buildmode=$mode \
				-ldflags "$strip" -o "$T/go" main.go; then
				$name "$T/go" --all | awk '{ print $3 }' |
					sort -u >"$T/all"
				expect "go-$mode${strip:+-stripped}" test \
					"$(grep -cxE 'main\.(work|cold|main)' \
					"$T/all")" = 3
			else
				skip "go-$mode" "$(head -n 1 "$T/go.err")"
			fi
		done
	done
else
	skip go "no go"
fi

# ------------------------------------------------ how long it takes
node=$(readlink -f /usr/bin/node)
if [ -e "$node" ]; then
	for _ in 1 2 3 4 5; do
		$name "$node" --time 1 1 | sed 's/first \([0-9]*\).*/\1/'
	done | sort -n | head -n 1 >"$T/time"
	if [ "$(cat "$T/time")" -lt 15 ]; then
		ok "node-table-is-quick ($(cat "$T/time") ms)"
	else
		fail node-table-is-quick "$(cat "$T/time") ms"
	fi
fi
