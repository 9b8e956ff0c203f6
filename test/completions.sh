#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# completions.sh: what is committed is what the table of options gives, and the
# three shells offer what it says.
. test/lib.sh
unset BASH_ENV ENV

build/options_print man >"$T/table"
grep '^\.It Fl' prof.1 >"$T/man"
if diff "$T/table" "$T/man" >"$T/diff"; then
	ok man-page-options
else
	fail man-page-options "$(tr '\n' ' ' <"$T/diff")"
fi

# The synopsis has each option: by its letter, or by its name if it has none.
bad=
sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/p' prof.1 >"$T/synopsis"
for option in $(sed 's/^\.It Fl \(-*[A-Za-z-]*\).*/\1/' "$T/table"); do
	case $option in
	-*) grep -qE -- "Fl $option( |\$)" "$T/synopsis" ;;
	*) grep -qE "Fl [A-Za-z]*$option" "$T/synopsis" ;;
	esac || bad="$bad $option"
done
expect man-page-synopsis test -z "$bad"

# Each word that an argument can be stands in the man page, as .Cm.
bad=
while read -r option word; do
	grep '^\.Cm' prof.1 | grep -qwF -- "$word" || bad="$bad $option:$word"
done < <(build/options_print words)
expect man-page-words test -z "$bad"

for pair in bash:prof.bash zsh:_prof fish:prof.fish; do
	shell=${pair%%:*} file=completions/${pair#*:}
	if build/options_print "$shell" | cmp -s - "$file"; then
		ok "completions-$shell-of-the-table"
	else
		fail "completions-$shell-of-the-table" \
			"make completions would change $file"
	fi
done

# Each shell prints what it offers at the end of a line, one word per line:
# offers SHELL LINE, in a directory that has two files and a directory.
mkdir -p "$T/in/some.directory" "$T/zsh"
touch "$T/in/some.file" "$T/in/other.file"
repository=$PWD

offers_bash() {
	(cd "$T/in" && LINE=$1 bash --norc --noprofile -c '
		. "$0/completions/prof.bash"
		# As readline does: "=" is a word of its own.
		line=${LINE//=/ = }
		read -ra COMP_WORDS <<<"$line"
		case $line in *" ") COMP_WORDS+=("") ;; esac
		[[ $line != *"= " ]] || unset "COMP_WORDS[-1]"
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_prof 2>/dev/null
		printf "%s\n" "${COMPREPLY[@]}"' "$repository")
}

offers_fish() {
	(cd "$T/in" && HOME=$T XDG_CONFIG_HOME=$T timeout 20 \
		fish --no-config -c '
		source $argv[1]/completions/prof.fish
		complete -C $argv[2]' "$repository" "$1" | cut -f1)
}

# A terminal with a zsh in it, of which compadd tells what it is given.
offers_zsh() {
	(cd "$T/in" && HOME=$T ZDOTDIR=$T/zsh TERM=dumb \
		timeout 20 zsh -f -c '
		zmodload zsh/zpty
		zpty z zsh -f -i
		zpty -w z "PS1=; fpath=($1/completions \$fpath)"
		zpty -w z "autoload -U compinit; compinit -u -d $2/dump"
		zpty -w z "source $2/catch.zsh"
		zpty -n -w z "$3"$'"'\\t'"'
		while zpty -r z line; do
			line=${line%$'"'\\r\\n'"'}
			[[ $line != END-OF-OFFERS ]] || break
			[[ $line != offer:* ]] || print -r -- ${line#offer:}
		done
		zpty -d z' zsh "$repository" "$T/zsh" "$1")
}

cat >"$T/zsh/catch.zsh" <<'END'
compadd() {
	local -a caught
	if [[ " $* " == *" -[OAD] "* ]]; then
		builtin compadd "$@"
		return
	fi
	builtin compadd -A caught "$@"
	print -rl -- "" offer:${^caught}
	builtin compadd "$@"
}
_offers() { _main_complete; print; print END-OF-OFFERS; exit }
zle -C offers complete-word _offers
bindkey "^I" offers
END

# offered NAME LINE WORD...: each shell offers these words (-WORD: does not).
offered() {
	local name=$1 line=$2 shell word bad
	shift 2
	for shell in bash zsh fish; do
		command -v $shell >/dev/null || continue
		"offers_$shell" "$line" | sed 's,[/ ]*$,,; s/^--[a-z]*=//' \
			>"$T/offers"
		bad=
		for word; do
			case $word in
			!*)
				! grep -qxF -e "${word#!}" "$T/offers" ||
					bad="$bad $word"
				;;
			*) grep -qxF -e "$word" "$T/offers" || bad="$bad $word" ;;
			esac
		done
		if [ -z "$bad" ]; then
			ok "completions-$shell-$name"
		else
			fail "completions-$shell-$name" "'$line' gives$bad:$(
				head -n 5 "$T/offers" | tr '\n' ' ')"
		fi
	done
}

for shell in zsh fish; do
	command -v $shell >/dev/null ||
		skip "completions-$shell" "not installed"
done
sleep 60 &
PIDS+=("$!")
pid=$!
offered options "prof --e" --engine --event !--kernel
offered letters "prof -" -K --kernel -p --check
offered engines "prof --engine " auto hash stackid !--kernel
offered engines-after-= "prof --engine=h" hash !auto
offered events "prof -e pag" page-faults !cycles
offered events-in-a-bundle "prof -KUe cyc" cycles
offered formats "prof -K -f " folded !auto
offered files "prof -o " some.file some.directory other.file
offered files-by-beginning "prof -o some" some.file !other.file
offered kallsyms "prof --kallsyms=so" some.file !other.file
offered directories "prof --cgroup so" some.directory !some.file
offered processes "prof -p " $pid $$ !--kernel
offered numbers "prof -F " !99 !some.file
offered no-files "prof " !some.file
offered commands "prof -K -- slee" sleep !--kernel
offered command-arguments "prof -K -- cat some" some.file !--engine
case $(offers_bash "prof -p 1,$pid") in
"1,$pid"*) ok completions-bash-lists ;;
*) fail completions-bash-lists "1,$pid" ;;
esac
if command -v fish >/dev/null; then
	expect completions-fish-lists grep -qxF "1,$pid" \
		<(offers_fish "prof -p 1,")
fi
if command -v zsh >/dev/null; then
	expect completions-zsh-lists grep -qxF "$pid" \
		<(offers_zsh "prof -p 1,")
fi

# Where they are installed, and that nothing stays.
if make -s install DESTDIR="$T/root" PREFIX=/usr >"$T/make" 2>&1 &&
	cmp -s completions/prof.bash \
		"$T/root/usr/share/bash-completion/completions/prof" &&
	cmp -s completions/_prof \
		"$T/root/usr/share/zsh/site-functions/_prof" &&
	cmp -s completions/prof.fish \
		"$T/root/usr/share/fish/vendor_completions.d/prof.fish" &&
	cmp -s prof "$T/root/usr/bin/prof"; then
	ok install
else
	fail install "$(tail -n 1 "$T/make")"
fi
make -s uninstall DESTDIR="$T/root" PREFIX=/usr
expect uninstall test -z "$(find "$T/root" -type f)"
