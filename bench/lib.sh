# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What the benchmarks share.

# The median of a column of numbers, with the least and the most.
spread() { # [printf's format of one]
	sort -g | awk -v f="${1:-%s}" '{ v[NR] = $1 }
		END {
			if (!NR) { print "-"; exit }
			m = NR % 2 ? v[(NR + 1) / 2] :
				(v[NR / 2] + v[NR / 2 + 1]) / 2
			printf f " (" f " to " f ")\n", m, v[1], v[NR]
		}'
}

median() { sort -g | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "-" }'; }

# The words in an order that turns with the number: in_turn NUMBER WORD...
in_turn() {
	local n=$1 i
	shift
	local words=("$@")

	for ((i = 0; i < $#; i++)); do
		echo "${words[(n + i) % $#]}"
	done
}

# run_time_ns and run_cnt of a process's busiest BPF program for perf events.
program_time() {
	cat /proc/"$1"/fdinfo/* 2>/dev/null | awk '
		/^prog_type:/ { mine = $2 == 7 }
		/^run_time_ns:/ { ns = $2 }
		/^run_cnt:/ && mine && $2 > best { best = $2; time = ns }
		END { print time + 0, best + 0 }'
}
