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
