#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# golden.sh [--update]: pictures of *.stacks to exact bytes: of SVG all but the
# style, of the page the profile's data, and reports for a few terminals.
# --update writes expected/ anew, from what comes out: read the diff before you
# believe it.
# MAKER is the program, build/test/page-maker if not set.
set -u
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C
maker=${MAKER:-build/test/page-maker}
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
status=0

# Names of kinds of terminals, as page.c reads them.
reports="80 80.utf8 120.utf8 80x24.utf8 200x60.utf8.colour"

compare() {
	local made=$1 expected=$2 name=$3

	if [ "$update" = --update ]; then
		cp "$made" "$expected"
		echo "ok golden-$name (written)"
	elif diff -u "$expected" "$made" >"$out/diff"; then
		echo "ok golden-$name"
	else
		echo "FAIL golden-$name: $expected differs"
		sed -n '3,20p' "$out/diff" | cut -c1-200
		status=1
	fi
}

update=${1:-}
for stacks in test/page/*.stacks; do
	name=$(basename "$stacks" .stacks)
	files=
	for report in $reports; do
		files="$files x.$report.report"
	done
	# shellcheck disable=SC2086
	(stacks=$PWD/$stacks && maker=$(realpath "$maker") && cd "$out" &&
		"$maker" "$stacks" all.svg all.html $files 2>log) || {
		echo "FAIL golden-$name: $(head -n 1 "$out/log")"
		status=1
		continue
	}
	sed '/^<style>$/,/^<\/style>$/d' "$out/all.svg" >"$out/$name.svg"
	sed -n '/id="data">$/,/^<\/script>$/{/^</!p}' "$out/all.html" \
		>"$out/$name.data"
	for kind in svg data; do
		compare "$out/$name.$kind" "test/page/expected/$name.$kind" \
			"$name-$kind"
	done
	for report in $reports; do
		compare "$out/x.$report.report" \
			"test/page/expected/$name.$report.report" \
			"$name-report-$report"
	done
done
exit $status
