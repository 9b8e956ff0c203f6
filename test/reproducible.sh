#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# reproducible.sh: two copies of this tree give the same bytes, whatever the
# path, the umask, the language, the time zone, the jobs of make and the order
# and the times of the files are.
. test/lib.sh
unset MAKEFLAGS MFLAGS MAKELEVEL

# What is committed or would be: not what a build left.
if ! git ls-files -co --exclude-standard >"$T/files" 2>/dev/null; then
	find . -type f ! -path './build/*' ! -path ./prof >"$T/files"
fi
while read -r file; do
	[ ! -e "$file" ] || printf '%s\n' "$file"
done <"$T/files" | LC_ALL=C sort >"$T/forwards"
LC_ALL=C sort -r "$T/forwards" >"$T/backwards"

first=$T/first
second="$T/second/by another-path"
mkdir -p "$first" "$second"
tar -cf - -T "$T/forwards" | tar -xf - -C "$first"
tar -cf - -T "$T/backwards" | tar -xmf - -C "$second"
ln -s "$second" "$T/link"

(umask 022 && cd "$first" && LC_ALL=C TZ=UTC make -s -j2 prof) \
	>"$T/first.log" 2>&1 || fail reproducible "$(tail -n 1 "$T/first.log")"
(umask 077 && cd "$T/link" && LC_ALL=C.UTF-8 LANG=tr_TR.UTF-8 \
	TZ=Asia/Kolkata make -s prof) >"$T/second.log" 2>&1 ||
	fail reproducible "$(tail -n 1 "$T/second.log")"

for file in prof build/prof build/bpf_prog.o; do
	if cmp "$first/$file" "$second/$file" >"$T/cmp" 2>&1; then
		ok "reproducible-${file//\//-}"
	else
		fail "reproducible-${file//\//-}" "$(cat "$T/cmp")"
	fi
done

# No path of the machine that it was built on.
for file in prof build/prof build/bpf_prog.o; do
	! grep -qaF "$T" "$first/$file" ||
		fail "reproducible-${file//\//-}" "has the path $T in it"
done
