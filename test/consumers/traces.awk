# SPDX-License-Identifier: MIT
# traces.awk: what `go tool pprof -traces` prints, as folded lines.
#
#	-----------+-----------------
#	     key:  value			labels, of which comm is printed
#	         3   leaf
#	             caller

function flush() {
	if (count)
		sums[(comm == "" ? root : comm) stack] += count
	count = 0
	comm = stack = ""
}

/^-+\+-+$/ {
	flush()
	inside = 1
	next
}
!inside { next }
!count && $1 ~ /:$/ {
	if ($1 == "comm:")
		comm = $2
	next
}
{
	if (!count) {
		count = $1
		sub(/^ *[0-9]+ +/, "")
	}
	sub(/^ +/, "")
	sub(/ \(inline\)$/, "")
	stack = ";" $0 stack
}
END {
	flush()
	for (line in sums)
		print line, sums[line]
}
