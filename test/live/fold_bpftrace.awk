# SPDX-License-Identifier: MIT
# Folds what bpftrace prints for `@[comm, kstack] = count()`: the comm, then a
# frame a line, leaf first, then `]: count`.
/^@\[/ {
	comm = $0
	sub(/^@\[/, "", comm)
	sub(/, *$/, "", comm)
	n = 0
	if (comm ~ /\]: [0-9]+$/) {	# no kernel stack
		count_text = comm
		sub(/.*\]: /, "", count_text)
		sub(/, *\]: [0-9]+$/, "", comm)
		print comm, count_text
		comm = ""
	}
	next
}

/^\]: [0-9]+$/ && comm != "" {
	line = comm
	for (i = n; i > 0; i--)
		line = line ";" frame[i]
	print line, $2
	comm = ""
	next
}

comm != "" && NF {
	name = $1
	sub(/\+[0-9]+$/, "", name)
	frame[++n] = name "_[k]"
}
