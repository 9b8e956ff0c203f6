#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# pictures.sh: how long flame graphs take, beside flamegraph.pl (FLAMEGRAPH, or
# from the PATH, if it is there): CPU seconds, the best of three, from a folded
# file to the picture.  Writes bench/PICTURES.md.
set -u
cd "$(dirname "$0")/.." || exit 1
. test/lib.sh
export LC_ALL=C
flamegraph=${FLAMEGRAPH:-$(command -v flamegraph.pl)}
make -s prof build/test/page-maker >/dev/null || exit 1

seconds() { # COMMAND...
	for _ in 1 2 3; do
		{ TIMEFORMAT='%U %S'; time "$@" >"$T/out" 2>/dev/null; } 2>&1
	done | awk '{ s = $1 + $2 } NR == 1 || s < best { best = s }
		END { printf "%.2f", best }'
}

size() { # FILE
	stat -c %s "$1" | awk '{ printf $1 < 1e5 ? "%.2f" : "%.1f", $1 / 1e6 }'
}

row() { # NAME FILE
	local svg html perl=- times=- perl_size=-

	svg=$(seconds ./prof --read "$2" -o "$T/x.svg")
	html=$(seconds ./prof --read "$2" -o "$T/x.html")
	if [ -n "$flamegraph" ]; then
		perl=$(seconds perl "$flamegraph" "$2")
		perl_size=$(size "$T/out")
		times=$(awk -v a="$perl" -v b="$svg" -v c="$html" \
			'BEGIN { printf "%.0f, %.0f", a / b, a / c }')
	fi
	echo "| $1 | $svg s, $(size "$T/x.svg") MB | $html s," \
		"$(size "$T/x.html") MB | $perl s, $perl_size MB | $times |"
}

stacks() { # NODES STACKS
	build/test/page-maker make "$1" "$2" |
		sed 's/^\(thread[0-9]*\)\/[0-9]*/\1/' >"$T/$2.folded"
}

stacks 100000 3000
stacks 2000000 1000000
{
	echo "# From folded stacks to a picture"
	echo
	echo "CPU seconds with reading, the best of three; \`bench/pictures.sh\`."
	echo
	echo "| | prof, SVG | prof, page | flamegraph.pl | times faster |"
	echo "|---|---|---|---|---|"
	row "100,000 frames, 3,000 stacks" "$T/3000.folded"
	row "2,000,000 frames, 1,000,000 stacks" "$T/1000000.folded"
} >bench/PICTURES.md
cat bench/PICTURES.md
