# SPDX-License-Identifier: MIT
# Made by `make completions` from the table in options.c.
# shellcheck shell=bash

# Completes the last part of a list: _prof_list NUMBER...
_prof_list()
{
	local before=

	[[ $cur != *,* ]] || before=${cur%,*},
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "$*" -- \
		"${cur##*,}")
}

_prof_files() # -f (any) or -d (directories)
{
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
}

_prof_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$*" -- "$cur")
}

# The argument of an option; false if it takes none.
_prof_argument()
{
	local tasks

	case $1 in
	-p | --pid)
		tasks=(/proc/[1-9]*)
		_prof_list "${tasks[@]##*/}"
		;;
	-t | --tid)
		tasks=(/proc/[1-9]*/task/[1-9]*)
		_prof_list "${tasks[@]##*/}"
		;;
	--cgroup) _prof_files -d ;;
	-C | --cpu) ;; # nothing that could be guessed
	-F | --frequency) ;; # nothing that could be guessed
	-e | --event)
		_prof_words cpu-clock task-clock page-faults minor-faults major-faults context-switches cpu-migrations alignment-faults cycles instructions cache-references cache-misses branches branch-misses bus-cycles ref-cycles stalled-cycles-frontend stalled-cycles-backend
		;;
	-d | --duration) ;; # nothing that could be guessed
	--memory) ;; # nothing that could be guessed
	--engine)
		_prof_words auto hash stackid
		;;
	--unwind)
		_prof_words auto fp cfi
		;;
	--kallsyms) _prof_files -f ;;
	-o | --output) _prof_files -f ;;
	-f | --format)
		_prof_words folded report html svg pprof pprof-raw speedscope perf
		;;
	--read) _prof_files -f ;;
	--diff) ;; # nothing that could be guessed
	*) return 1 ;;
	esac
}

# What follows -- is a command, with its own completion if bash-completion
# is there.
_prof_command() # its place in COMP_WORDS
{
	if declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif [ "$COMP_CWORD" = "$1" ]; then
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -c -- "$cur")
	else
		_prof_files -f
	fi
}

_prof()
{
	local cur=${COMP_WORDS[COMP_CWORD]} i
	local before=${COMP_WORDS[COMP_CWORD - 1]}
	# Letters without an argument, and one with.
	local letters='^-[KUxqvhV]*([ptCFedof])$'
	local options='-p --pid
		-t --tid
		--cgroup
		-C --cpu
		-K --kernel
		-U --user
		--no-idle
		-F --frequency
		-e --event
		-d --duration
		--memory
		--engine
		--unwind
		--kallsyms
		-o --output
		-f --format
		--no-demangle
		--read
		--diff
		-x --explain
		--check
		-q --quiet
		-v --verbose
		-h --help
		-V --version
		--'

	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		[ "${COMP_WORDS[i]}" != -- ] || {
			_prof_command $((i + 1))
			return
		}
	done
	# bash makes three words of --engine=hash, and two of --engine=.
	if [ "$cur" = = ]; then
		cur=
	elif [ "$before" = = ] && ((COMP_CWORD > 2)); then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	elif [[ $before =~ $letters ]]; then
		before=-${BASH_REMATCH[1]}
	fi
	_prof_argument "$before" || _prof_words "$options"
}

complete -F _prof prof
