# SPDX-License-Identifier: MIT
# rows.awk: what readelf -wF says, as `PC CFA FP` in the form of build/test/rows,
# or with -v from=rows what that says; a rule that has no exact form is `?`.

from == "rows" {
	rule = strtonum("0x" $2)
	cfa = rule % 16
	fp = int(rule / 16)
	text = cfa == 1 ? "sp" $3 * 8 : cfa == 2 ? "fp" $3 * 8 : \
		cfa == 6 ? "root" : cfa == 0 ? "none" : "?"
	printf "%012d r %s %s\n", strtonum("0x" $1) + strtonum("0x" base), text, \
		cfa == 6 || cfa == 0 || text == "?" ? "-" : fp == 0 ? "same" : \
		fp == 1 ? "c" $4 * 8 : "?"
	next
}
/ FDE / { next }
/^ *LOC/ {
	delete column
	for (i = 1; i <= NF; i++)
		column[$i] = i
	next
}
# "r10 (r10)": one column.
{ gsub(/ \([a-z0-9]+\)/, "") }
/^[0-9a-f]{16} / && NF >= 3 && "ra" in column {
	cfa = $2
	fp = "rbp" in column ? $(column["rbp"]) : "u"
	ra = $(column["ra"])
	text = ra == "u" ? "root" : cfa ~ /^rsp\+/ ? "sp" substr(cfa, 5) : \
		cfa ~ /^rbp\+/ ? "fp" substr(cfa, 5) : "?"
	fp = text == "root" || text == "?" ? "-" : fp == "u" || fp == "s" ? \
		"same" : fp ~ /^c-/ ? fp : "?"
	printf "%012d e %s %s\n", strtonum("0x" $1), text, fp
}
