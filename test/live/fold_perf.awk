# SPDX-License-Identifier: MIT
# Folds `perf script -F comm,ip,sym,dso` (leaf first, a blank line between
# samples): comm;frame;... count, root first, kernel frames with _[k].
function flush() {
	if (comm != "") {
		line = comm
		for (i = n; i > 0; i--)
			line = line ";" frame[i]
		count[line]++
	}
	comm = ""
	n = 0
}

/^$/ { flush(); next }

comm == "" { comm = $1; next }

{
	name = $2
	# The last field is the file, in parentheses.
	if ($NF == "([kernel.kallsyms])" || $NF ~ /^\(\[/)
		name = name "_[k]"
	frame[++n] = name
}

END {
	flush()
	for (line in count)
		print line, count[line]
}
