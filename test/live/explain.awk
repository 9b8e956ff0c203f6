# SPDX-License-Identifier: MIT
# explain.awk: one line per call, from strace's output or from --explain's, so
# that the two can be compared:
#
#	CALL ARGUMENT... | MEMBER=VALUE... | RESULT
#
# What is zero is left out, as --explain leaves it out; members are sorted.

function init_codes(  i, n, list) {
	n = split("LD 0 LDX 1 ST 2 STX 3 ALU 4 JMP 5 JMP32 6 ALU64 7 " \
		"W 0 H 8 B 16 DW 24 IMM 0 ABS 32 IND 64 MEM 96 XADD 192 " \
		"ATOMIC 192 K 0 X 8 ADD 0 SUB 16 MUL 32 DIV 48 OR 64 AND 80 " \
		"LSH 96 RSH 112 NEG 128 MOD 144 XOR 160 MOV 176 ARSH 192 " \
		"END 208 TO_LE 0 TO_BE 8 JA 0 JEQ 16 JGT 32 JGE 48 JSET 64 " \
		"JNE 80 JSGT 96 JSGE 112 CALL 128 EXIT 144 JLT 160 JLE 176 " \
		"JSLT 192 JSLE 208", list, " ")
	for (i = 1; i < n; i += 2)
		code["BPF_" list[i]] = list[i + 1]
}

function is_zero(value) {
	return value == "0" || value == "NULL" || value == "BPF_ANY" ||
		value == "BPF_CGROUP_INET_INGRESS" || value == "0x0"
}

# "a=1, b=0, c=x" or "a=1  c=x" to members[]
function members_of(text, separator,  parts, n, i, name, value) {
	n = split(text, parts, separator)
	for (i = 1; i <= n; i++) {
		if (!match(parts[i], /=/))
			continue
		name = substr(parts[i], 1, RSTART - 1)
		value = substr(parts[i], RSTART + 1)
		gsub(/^ +| +$/, "", name)
		gsub(/^ +| +$/, "", value)
		if (!is_zero(value))
			members[name] = value
	}
}

function emit(call, arguments, result,  name, line) {
	line = call " " arguments " |"
	PROCINFO["sorted_in"] = "@ind_str_asc"
	for (name in members)
		line = line " " name "=" members[name]
	print line " | " result
	delete members
}

# The instructions of strace as the 16 hexadecimal digits that -xx prints.
function print_insns(text,  parts, n, i, m, words, w, k, value, imm, off) {
	n = split(text, parts, /\}, \{/)
	for (i = 1; i <= n; i++) {
		match(parts[i], /code=([^,]*), dst_reg=BPF_REG_([0-9]+), src_reg=BPF_REG_([0-9]+), off=(-?[0-9]+), imm=([0-9a-fx]+)/, m)
		value = 0
		k = split(m[1], words, "|")
		for (w = 1; w <= k; w++)
			value += code[words[w]]
		imm = strtonum(m[5])
		off = m[4] < 0 ? m[4] + 65536 : m[4]
		printf "insn %02x%x%x%02x%02x%02x%02x%02x%02x\n", value, m[3],
			m[2], off % 256, int(off / 256), imm % 256,
			int(imm / 256) % 256, int(imm / 65536) % 256,
			int(imm / 16777216)
		# The second half of LD_IMM64 is printed with the first.
		if (value == 24)
			i++
	}
}

BEGIN { init_codes() }

# ------------------------------------------------------------------ strace
from == "strace" && !/^(bpf|perf_event_open|ioctl|read|mmap|membarrier)\(/ { next }
from == "strace" && /^ioctl/ && !/PERF_EVENT_IOC/ { next }
# Of these those of events: two values, a shared mapping.
from == "strace" && /^read\(/ {
	if (match($0, /^read\(([0-9]+), .*, 16\) += (-?[0-9]+)( [A-Z]+)?/, r) &&
	    r[1] in events)
		emit("read", r[1] " 16", r[2] r[3])
	next
}
from == "strace" && /^mmap\(/ {
	if (match($0, /^mmap\((.*), ([0-9]+), 0\) += (0x[0-9a-f]+|-1 [A-Z]+)/, r) &&
	    r[2] in events) {
		gsub(/, /, " ", r[1])
		emit("mmap", r[1] " " r[2] " 0", r[3])
	}
	next
}
from == "strace" && /^membarrier\(/ {
	match($0, /^membarrier\(([A-Z_]+).*\) += (-?[0-9]+)( [A-Z]+)?/, r)
	emit("membarrier", r[1], r[2] r[3])
	next
}
from == "strace" {
	line = $0
	if (match(line, /insns=\[\{[^\]]*\}\], /)) {
		code_text = substr(line, RSTART, RLENGTH)
		line = substr(line, 1, RSTART - 1) substr(line, RSTART + RLENGTH)
		if (insns)
			print_insns(code_text)
	}
	sub(/log_buf="([^"\\]|\\.)*"(\.\.\.)?, /, "", line)
	sub(/kern_version=KERNEL_VERSION\(0, 0, 0\), /, "", line)
	gsub(/ \/\* [^*]* \*\//, "", line)
	match(line, /\) += (-?[0-9]+)( [A-Z0-9]+)?/, r)
	result = r[1] r[2]
	line = substr(line, 1, RSTART - 1)
	# What did not change in the union is not printed twice.
	came = ""
	if (match(line, /=> \{batch=\{count=[0-9]+\}\}/)) {
		came = substr(line, RSTART + 17, RLENGTH - 19)
		line = substr(line, 1, RSTART - 1) substr(line, RSTART + RLENGTH)
	}
	call = substr(line, 1, index(line, "(") - 1)
	line = substr(line, index(line, "(") + 1)
	if (call == "ioctl") {
		gsub(/, /, " ", line)
		emit(call, line, result)
		next
	}
	first = index(line, "{")
	last = length(line)
	while (substr(line, last, 1) != "}")
		last--
	arguments = substr(line, 1, first - 1) substr(line, last + 1)
	gsub(/, +/, " ", arguments)
	gsub(/^ +| +$/, "", arguments)
	gsub(/  +/, " ", arguments)
	text = substr(line, first + 1, last - first - 1)
	gsub(/(batch|test)=\{|\}/, "", text)
	members_of(text, ", ")
	if ("keys" in members)
		members["came"] = came == "" ? members["count"] : came
	emit(call, arguments, result)
	if (call == "perf_event_open" && result >= 0)
		events[result]
	next
}

# --------------------------------------------------------------- --explain
function finish() {
	if (call != "")
		emit(call, arguments, result)
	call = ""
}
/^(bpf|perf_event_open|ioctl|read|mmap|membarrier)\(/ {
	finish()
	match($0, /^([a-z_]+)\((.*)\) = (.*)$/, r)
	call = r[1]
	arguments = r[2]
	result = r[3]
	sub(/&(attr|values), /, "", arguments)
	if (call == "membarrier")
		sub(/,.*/, "", arguments)
	gsub(/, /, " ", arguments)
	next
}
insns && /^ *[0-9]+  [0-9a-f]{16}  / {
	finish()
	print "insn " $2
	next
}
/^    ->/ { next }
/^    [a-z_]+=/ && call != "" {
	text = $0
	if (match(text, /\(([0-9]+) came\)/, r))
		members["came"] = r[1]
	gsub(/ \([^)]*\)/, "", text)
	members_of(text, "  ")
	next
}
{ finish() }
END {
	if (from == "explain")
		finish()
}
