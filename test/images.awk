# SPDX-License-Identifier: MIT
#
# Compares names with a symbol table: awk -f images.awk SYMBOLS NAMES.
#
# SYMBOLS: `address size name` a line, decimal, sorted by address; size 0: not
# known, it may be right from its address on.  NAMES: what
# build/test/name --random prints.  Prints what differs: a name that no symbol
# around the address has, and an address around which is one, but that has no
# name.  The last line counts: agreed, stubs, bounds alone, nothing, wrong.

function hex(text,   i, value) {
	for (i = 1; i <= length(text); i++)
		value = value * 16 + index("0123456789abcdef",
					   substr(text, i, 1)) - 1
	return value
}

function cut(name,   before) {
	sub(/@.*/, "", name)
	do {
		before = name
		if (match(name, /\.(cold|localalias)$/) ||
		    match(name, /\.(cold|part|isra|constprop|llvm|lto_priv)\.[0-9]+$/))
			name = substr(name, 1, RSTART - 1)
	} while (name != before)
	return name
}

FILENAME == ARGV[1] {
	start[count] = $1 + 0
	end[count] = $1 + $2
	names[count++] = cut($3)
	next
}

{
	address = hex($2)
	low = 0
	high = count
	while (low < high) {
		middle = int((low + high) / 2)
		if (start[middle] <= address)
			low = middle + 1
		else
			high = middle
	}
	around = ""
	found = 0
	for (i = low - 1; i >= 0 && i > low - 500; i--) {
		if (start[i] == end[i] && names[i] == $3)
			found = 1
		if (end[i] <= address)
			continue
		around = names[i]
		found = found || names[i] == $3
	}
	if ($3 ~ /@plt$/)
		stubs++
	else if (found)
		agreed++
	else if (around != "" || ($3 !~ /^\[/ && $3 != "-")) {
		wrong++
		print $2, $3, "not", around
	} else if ($3 == "-")
		nothing++
	else
		bounds++
}

END {
	print agreed + 0, stubs + 0, bounds + 0, nothing + 0, wrong + 0
}
