#!/bin/sh
# SPDX-License-Identifier: MIT
#
# assemble.sh FOLDER: puts the page together, for the program to embed.
#
#	flame.html ─┬─> FOLDER/head   to where the profile's data go; .gz: packed
#	flame.css ──┤   FOLDER/tail   the rest
#	*.js ───────┘                 model, draw, texts, flame
#	svg.css ──────> FOLDER/svg.css
#
# Comments and indentation stay here.  Only lines that are nothing but comment
# go, so that no string is ever changed.  The hashes in the page's policy are
# those of the very bytes that stand in it.
set -eu
page=$(dirname "$0")
to=$1
mkdir -p "$to"

strip() {
	sed -e '/^[[:space:]]*\/\*.*\*\/[[:space:]]*$/d' \
		-e '/^[[:space:]]*\/\*/,/\*\/[[:space:]]*$/d' \
		-e '/^[[:space:]]*\/\//d' -e 's/^[[:space:]]*//' -e '/^$/d' "$@"
}

# What a browser computes: all between the tags, with the line's end after the
# first of them.
hash_of() {
	hex=$({ echo; cat "$1"; } | sha256sum | cut -c1-64 | sed 's/../\\x&/g')
	env printf "$hex" | base64
}

strip "$page/flame.css" >"$to/style"
strip "$page/model.js" "$page/draw.js" "$page/texts.js" "$page/flame.js" \
	>"$to/script"
strip "$page/svg.css" >"$to/svg.css"
sed -e '/^<!--/,/-->$/d' -e 's/^[[:space:]]*//' -e '/^$/d' \
	-e "s,@STYLE-HASH@,$(hash_of "$to/style")," \
	-e "s,@SCRIPT-HASH@,$(hash_of "$to/script")," \
	-e "/^@STYLE@/{r $to/style" -e 'd;}' \
	-e "/^@SCRIPT@/{r $to/script" -e 'd;}' "$page/flame.html" >"$to/all"
sed '/^@DATA@/,$d' "$to/all" >"$to/head"
sed '1,/^@DATA@/d' "$to/all" >"$to/tail"
gzip -9n <"$to/head" >"$to/head.gz"
gzip -9n <"$to/tail" >"$to/tail.gz"
