# SPDX-License-Identifier: MIT
# Made by `make completions` from the table in options.c.

# What follows -- is a command with its own completion.
function __prof_command
	set -l words (commandline -opc)
	set -l dashes (contains -i -- -- $words)
	or return
	set -e words[1..$dashes]
	echo -- (string escape -- $words) (commandline -ct)
end

function __prof_has_command
	contains -- -- (commandline -opc)
end

# A list of numbers under /proc, with the names of the tasks.
function __prof_tasks
	set -l before (string match -r '.*,' -- (commandline -ct |
		string replace -r '^--[a-z]*=' ''))
	for task in (string match -r '.*/[0-9]+$' -- $argv)
		set -l comm (cat $task/comm 2>/dev/null)
		set -l number (string replace -r '.*/' '' $task)
		test -n "$comm"
		and printf '%s%s\t%s\n' "$before" $number $comm
	end
end

complete -c prof -f
complete -c prof -n __prof_has_command -a '(complete -C (__prof_command))'
complete -c prof -s p -l pid -x -a '(__prof_tasks /proc/*)' -d 'these processes and what they start'
complete -c prof -s t -l tid -x -a '(__prof_tasks /proc/*/task/*)' -d 'these threads'
complete -c prof -l cgroup -x -a '(__fish_complete_directories (commandline -ct))' -d 'tasks of this cgroup (v2) and below'
complete -c prof -s C -l cpu -x -d 'only these CPUs, as in 0-3,6'
complete -c prof -s K -l kernel -d 'only kernel stacks'
complete -c prof -s U -l user -d 'only user stacks'
complete -c prof -l no-idle -d 'leave the idle task out'
complete -c prof -s F -l frequency -x -d 'samples a second on each CPU (99)'
complete -c prof -s e -l event -x -a 'cpu-clock task-clock page-faults minor-faults major-faults context-switches cpu-migrations alignment-faults cycles instructions cache-references cache-misses branches branch-misses bus-cycles ref-cycles stalled-cycles-frontend stalled-cycles-backend' -d 'what is sampled (cpu-clock); every N of it'
complete -c prof -s d -l duration -x -d 'stop by itself; else Ctrl-C, or the command\'s end'
complete -c prof -l memory -x -d 'most that the kernel\'s maps may take (64)'
complete -c prof -l engine -x -a 'auto hash stackid' -d 'auto, hash or stackid (the textbook\'s)'
complete -c prof -l unwind -x -a 'auto fp cfi' -d 'user stacks: auto, fp (pointers), cfi (tables)'
complete -c prof -l kallsyms -r -F -d 'kernel symbols, instead of asking the kernel'
complete -c prof -s o -l output -r -F -d 'write there, not to stdout; repeatable'
complete -c prof -s f -l format -x -a 'folded report html svg pprof pprof-raw speedscope perf' -d 'of stdout; report on a terminal, else folded'
complete -c prof -l no-demangle -d 'names as they are in the files'
complete -c prof -l read -r -F -d 'a recording (folded, pprof), not this machine'
complete -c prof -l diff -x -d 'what changed between two recordings'
complete -c prof -s x -l explain -d 'tell each call on BPF and perf events; -xx: more'
complete -c prof -l check -d 'what this machine allows, and the remedies'
complete -c prof -s q -l quiet -d 'only errors on stderr'
complete -c prof -s v -l verbose -d 'also what was planned and what it cost'
complete -c prof -s h -l help -d 'this text'
complete -c prof -s V -l version -d 'version and what is built in'
