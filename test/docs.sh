#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs.sh: what is written about the program is what the program says.
. test/lib.sh

./prof --help >"$T/help"
grep -oE -- '--[a-z-]+' "$T/help" | sort -u >"$T/help.long"
grep -oE '^ +-[A-Za-z],' "$T/help" | tr -d ' ,' | sort -u >"$T/help.short"

# No option is named anywhere that is not there.
bad=
for word in $(grep -ohE '(^|[ `(])prof( -[-A-Za-z0-9.]+( [0-9.a-z/-]+)?)+' \
	README.md doc/*.md CONTRIBUTING.md demo.sh 2>/dev/null |
	grep -oE ' --?[a-zA-Z][a-z-]*' | sort -u); do
	case $word in
	--*) grep -qxF -- "$word" "$T/help.long" || bad="$bad $word" ;;
	-?) grep -qxF -- "$word" "$T/help.short" || bad="$bad $word" ;;
	esac
done
expect documented-options-exist test -z "$bad"

# The version is the changelog's newest.
version=$(./prof -V | sed -n '1s/^prof //p')
expect changelog-version grep -q "^## $version" CHANGELOG.md

# Files that a text links to are there.
bad=
for link in $(grep -ohE '\]\([^)#:]+\)' README.md CONTRIBUTING.md SECURITY.md \
	doc/*.md 2>/dev/null | sed 's/^](\(.*\))$/\1/' | sort -u); do
	[ -e "$link" ] || [ -e "doc/$link" ] || bad="$bad $link"
done
expect links-lead-somewhere test -z "$bad"

# What a text quotes from a file (```c FILE) is in it, word for word.
bad=
count=0
for text in doc/*.md; do
	awk -v out="$T/quote" '
		/^```c / { in_it = 1; n++; file = out "." n; print $2 >file; next }
		/^```/ { in_it = 0; next }
		in_it { print >file }
		END { print n + 0 }' "$text" >"$T/quotes"
	for ((i = 1; i <= $(cat "$T/quotes"); i++)); do
		from=$(head -n 1 "$T/quote.$i")
		awk -v want="$(tail -n +2 "$T/quote.$i" | sed 's/\\/\\\\/g')" '
			{ all = all $0 "\n" }
			END { exit !index(all, want) }' "$from" ||
			bad="$bad $text:$from($(sed -n 2p "$T/quote.$i"))"
		count=$((count + 1))
	done
done
expect "quotes-are-in-their-files ($count)" test -z "$bad"

# 80 columns, for a serial console.
expect help-fits-80-columns test -z "$(awk 'length > 80' "$T/help")"

# The repository speaks of the product alone, and names no host to fetch from.
bad=$(git grep -nIE '(^|[^a-z])/(work|home)/[a-z.]|deb\.debian|registry\.npm' \
	-- ':!test/docs.sh' 2>/dev/null | head -n 3)
expect speaks-of-the-product-alone test -z "$bad"
