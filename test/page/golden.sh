#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# golden.sh [--update]: pictures of *.stacks to exact bytes: of SVG all but the
# style, of the page the profile's data.  --update writes expected/ anew, from
# what comes out: read the diff before you believe it.
# MAKER is the program, build/test/page-maker if not set.
set -u
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C
maker=${MAKER:-build/test/page-maker}
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
status=0

for stacks in test/page/*.stacks; do
	name=$(basename "$stacks" .stacks)
	"$maker" "$stacks" "$out/all.svg" "$out/all.html" 2>"$out/log" || {
		echo "FAIL golden-$name: $(head -n 1 "$out/log")"
		status=1
		continue
	}
	sed '/^<style>$/,/^<\/style>$/d' "$out/all.svg" >"$out/$name.svg"
	sed -n '/id="data">$/,/^<\/script>$/{/^</!p}' "$out/all.html" \
		>"$out/$name.data"
	for kind in svg data; do
		expected=test/page/expected/$name.$kind
		if [ "${1:-}" = --update ]; then
			cp "$out/$name.$kind" "$expected"
			echo "ok golden-$name-$kind (written)"
		elif diff -u "$expected" "$out/$name.$kind" >"$out/diff"; then
			echo "ok golden-$name-$kind"
		else
			echo "FAIL golden-$name-$kind: $expected differs"
			sed -n '3,20p' "$out/diff" | cut -c1-200
			status=1
		fi
	done
done
exit $status
