#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run.sh: others' programs read what prof writes, and prof what others write.
#
# Each recording (a plain one, one whose names are made to break readers, one of
# this machine, if it may be sampled) is written in all formats; what a consumer
# rebuilds of it has to be the folded stacks of prof itself.  A consumer that is
# not here is a skip.  STACKCOLLAPSE names Brendan Gregg's stackcollapse-perf.pl,
# which no package has.
. test/lib.sh
modules=build/consumers/node_modules

# Lines that read alike are one; suffixes of kinds are prof's own, and comms are
# not in every format.
plain() {
	awk -F ';' -v OFS=';' '{
		for (i = 2; i <= NF; i++)
			sub(i < NF ? "_\\[[kj]\\]$" : "_\\[[kj]\\] ", i < NF ? "" : " ", $i)
		print
	}' "$1"
}
merged() {
	awk '{ n = $NF; sub(/ [^ ]*$/, ""); sum[$0] += n }
		END { for (l in sum) printf "%s %d\n", l, sum[l] }' | sort
}
without_comm() { sed -n 's/^[^;]*;//p'; }

same() {
	if diff "$2" "$3" >"$T/diff"; then
		ok "$1"
	else
		fail "$1" "$(head -n 3 "$T/diff" | cut -c 1-300 | tr '\n' ' ')"
	fi
}

# ------------------------------------------------------------- the recordings

cp test/golden/plain/expected "$T/plain.in"
recordings=(plain)
if [ -d $modules/pprof-format ]; then
	node test/consumers/pprof.mjs make "$T/hostile.in"
	recordings+=(hostile)
else
	skip consumers-hostile "no pprof-format"
fi
if ./prof -q -d 1 -F 499 -o "$T/live.folded" -o "$T/live.pb" 2>"$T/why"; then
	cp "$T/live.pb" "$T/live.in"
	recordings+=(live)
	./prof --read "$T/live.pb" >"$T/again"
	same consumers-live-again "$T/live.folded" "$T/again"
else
	skip consumers-live "$(head -n 1 "$T/why")"
fi
for name in "${recordings[@]}"; do
	./prof --read "$T/$name.in" -o "$T/$name.folded" -o "$T/$name.pb" \
		-o "$T/$name.pb.gz" -o "$T/$name.speedscope.json" \
		-o "$T/$name.perf" || fail "consumers-$name" "is not read"
	plain "$T/$name.folded" | merged >"$T/$name.plain"
	without_comm <"$T/$name.plain" | merged >"$T/$name.frames"
	merged <"$T/$name.folded" >"$T/$name.sorted"
	expect "consumers-$name-gzip" gzip -t "$T/$name.pb.gz"
done

# ---------------------------------------------------------------- go tool pprof

go_pprof() {
	HOME=$T go tool pprof -symbolize=none "$@" 2>"$T/go.err"
}

check_go() {
	local name=$1

	go_pprof -raw "$T/$name.pb.gz" >"$T/raw" || {
		fail "go-raw-$name" "$(cat "$T/go.err")"
		return
	}
	expect "go-raw-$name" grep -q '^samples/count' "$T/raw"
	go_pprof -sample_index=samples -top -nodecount=0 "$T/$name.pb.gz" \
		>"$T/top"
	expect "go-top-$name" test "$(sed -n 's/.* of \([0-9]*\) total.*/\1/p' \
		"$T/top")" = "$(folds "$T/$name.folded")"
	go_pprof -proto -output "$T/again.pb.gz" "$T/$name.pb.gz" >/dev/null
	./prof --read "$T/again.pb.gz" | merged >"$T/again"
	same "go-proto-$name" "$T/$name.sorted" "$T/again"
	[ "$name" != hostile ] || return 0
	go_pprof -sample_index=samples -traces "$T/$name.pb.gz" |
		awk -f test/consumers/traces.awk | sort >"$T/traces"
	same "go-traces-$name" "$T/$name.plain" "$T/traces"
}

# A profile that Go made: inlined functions, no labels, one program.
check_go_made() {
	HOME=$T GOFLAGS=-mod=mod GO111MODULE=off go build -o "$T/busy" \
		test/consumers/busy.go && "$T/busy" >"$T/busy.pb.gz" || {
		fail go-made "is not made"
		return
	}
	go_pprof -sample_index=samples -traces "$T/busy.pb.gz" |
		awk -v root=busy -f test/consumers/traces.awk | sort >"$T/traces"
	./prof --read "$T/busy.pb.gz" | sort >"$T/busy.folded"
	expect go-made-has-samples test -s "$T/busy.folded"
	same go-made "$T/traces" "$T/busy.folded"
}

# What --diff writes is what go's own -diff_base does.
check_go_diff() {
	printf 'a;b 4\na;gone 2\n' >"$T/old.folded"
	printf 'a;b 1\na;come 5\n' >"$T/new.folded"
	./prof --diff "$T/old.folded" "$T/new.folded" -o "$T/diff.pb.gz"
	./prof --read "$T/old.folded" -o "$T/old.pb.gz"
	./prof --read "$T/new.folded" -o "$T/new.pb.gz"
	go_pprof -top "$T/diff.pb.gz" | sed 1,/flat%/d >"$T/ours"
	go_pprof -top -diff_base "$T/old.pb.gz" "$T/new.pb.gz" |
		sed 1,/flat%/d >"$T/theirs"
	expect go-diff-has-lines test "$(wc -l <"$T/theirs")" -ge 3
	same go-diff "$T/theirs" "$T/ours"
	go_pprof -proto -output "$T/both.pb.gz" -diff_base "$T/old.pb.gz" \
		"$T/new.pb.gz" >/dev/null
	./prof --read "$T/both.pb.gz" >"$T/theirs"
	./prof --diff "$T/old.folded" "$T/new.folded" >"$T/ours"
	same go-diff-read "$T/ours" "$T/theirs"
}

if command -v go >/dev/null; then
	for name in "${recordings[@]}"; do
		check_go "$name"
	done
	check_go_made
	check_go_diff
else
	skip go "no go"
fi

# ---------------------------------------------------------------- pprof-format

for name in "${recordings[@]}"; do
	[ -d $modules/pprof-format ] || continue
	for file in "$name.pb" "$name.pb.gz"; do
		node test/consumers/pprof.mjs fold "$T/$file" | merged >"$T/seen"
		same "pprof-format-$file" "$T/$name.plain" "$T/seen"
	done
done

# ------------------------------------------------------------------ speedscope

# Its pprof importer ignores labels; its own format and folded lines have comms.
# Weights of perf's text are times between samples: only stacks are compared.
check_speedscope() {
	local name=$1 period

	period=$(awk '/"unit":"nanoseconds"/ { print 10101010; f = 1 }
		END { if (!f) print 1 }' "$T/$name.speedscope.json")
	[ "$name" != live ] || period=2004008
	awk -v p="$period" '{ n = $NF; sub(/ [^ ]*$/, "")
		printf "%s %d\n", $0, n / p + 0.5 }' \
		"$T/$name.speedscope.json.seen" | merged >"$T/seen"
	same "speedscope-json-$name" "$T/$name.plain" "$T/seen"
	merged <"$T/$name.folded.seen" >"$T/seen"
	same "speedscope-folded-$name" "$T/$name.sorted" "$T/seen"
	awk -v p="$period" '{ n = $NF; sub(/ [^ ]*$/, "")
		printf "%s %d\n", $0, n / p + 0.5 }' \
		"$T/$name.pb.gz.seen" | merged >"$T/seen"
	same "speedscope-pprof-$name" "$T/$name.frames" "$T/seen"
	# What has no name has another one there.
	sed 's/ [^ ]*$//; s/??? (\[unknown\])/[unknown]/g' \
		"$T/$name.perf.seen" | sort -u >"$T/seen"
	sed 's/ [^ ]*$//' "$T/$name.frames" | sort -u >"$T/frames"
	same "speedscope-perf-$name" "$T/frames" "$T/seen"
}

files=()
for name in "${recordings[@]}"; do
	files+=("$T/$name.folded" "$T/$name.pb.gz" "$T/$name.speedscope.json"
		"$T/$name.perf")
done
chromium=$(command -v chromium || command -v chromium-browser ||
	command -v google-chrome)
if [ -z "$chromium" ]; then
	skip speedscope "no chromium"
elif [ ! -d $modules/speedscope ]; then
	skip speedscope "no npm package"
else
	timeout 300 node test/consumers/speedscope.mjs "$chromium" \
		"${files[@]}" >"$T/said" 2>&1
	expect speedscope-says-nothing test ! -s "$T/said"
	[ ! -s "$T/said" ] || head -n 5 "$T/said"
	for name in "${recordings[@]}"; do
		check_speedscope "$name"
	done
fi

# ---------------------------------------------------------- stackcollapse-perf

collapse=${STACKCOLLAPSE:-$(command -v stackcollapse-perf.pl)}
if [ -n "$collapse" ]; then
	for name in "${recordings[@]}"; do
		# It tidies what hostile names have.
		[ "$name" != hostile ] || continue
		perl "$collapse" --kernel --jit "$T/$name.perf" | sort \
			>"$T/collapsed"
		sort "$T/$name.folded" >"$T/ours"
		same "stackcollapse-$name" "$T/ours" "$T/collapsed"
	done
else
	skip stackcollapse "no stackcollapse-perf.pl (STACKCOLLAPSE names it)"
fi
