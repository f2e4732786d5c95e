#!/bin/sh
# search.sh: how fast each strategy of a search finds the best of spaces whose times are all known: the formulas of
# bench/search_bench.c and the recordings in bench/results. Writes RESULTS/search.md. What stands there below the line
# "<!-- by hand -->" stays. Needs no GPU. The environment:
#   BENCH=FILE             the program search_bench; `make bench-search` builds it and names it here
#   HALOTUNE=FILE          the program halotune; build/halotune by default
#   SEEDS=30               searches for each row
#   RECORDINGS='FILE ...'  other recordings
#   STARTER=FILE           the database of other problems; build/starter.db by default; empty: none
#   SPACES='NAME ...'      formulas: only these; none: no formula
#   JOBS=2                 searches that run at a time; the number of processors by default
#   RESULTS=bench/results  another folder
#   WORK=build             the folder in which search/ is made anew: databases, and what the searches printed
set -eu
cd "$(dirname "$0")/.."
. bench/gpu_file.sh
. bench/import.sh
: "${BENCH:?the program search_bench, as 'make bench-search' builds it}"
program=${HALOTUNE:-build/halotune}
results=${RESULTS:-bench/results}
work=${WORK:-build}/search
page=$results/search.md
seeds=${SEEDS:-30}
starter=${STARTER-build/starter.db}
rm -rf "$work"
mkdir -p "$work" "$results"

# --- the recordings, each as a document and as a database ---------------------------------------------------------------

for file in ${RECORDINGS:-bench/results/recording-*.json.gz}; do
  import_recording "$file"
  gpu=$(gpu_file "$(sed -n '/^"device": \[/{n;s/.*"name":"\([^"]*\)".*/\1/p}' "$work/$name.json")")
  echo "$name $(echo "$name" | cut -d - -f 2-4) $gpu" >>"$work/recordings"
done

# The documents whose problem and GPU fulfil a condition of awk, in which `own` and `gpu` are those of the recording.
documents() { # problem GPU condition
  awk -v own="$1" -v gpu="$2" -v work="$work" "{split(own, a, \"-\"); split(\$2, b, \"-\")} $3 {print work \"/\" \$1 \".json\"}" "$work/recordings"
}

# --- the searches, each with a file of its own ----------------------------------------------------------------------------

number=10
job() { # option...
  number=$((number + 1))
  for word; do printf "'%s' " "$word"; done >"$work/$number.job"
}
for space in ${SPACES-convolution convolution,tight product valleys pairs}; do
  job --space "$(echo "$space" | sed 's/,/, /')"
done
while read -r name problem gpu; do
  set -- --recording "$work/$name.db"
  # shellcheck disable=SC2046
  for what in "another GPU:\$2 == own && \$3 != gpu" "other stencils:a[1] != b[1] && \$3 == gpu"; do
    files=$(documents "$problem" "$gpu" "${what#*:}")
    [ -n "$files" ] || continue
    db=$work/$name-$(echo "${what%%:*}" | tr ' ' -).db
    import "$db" $files
    set -- "$@" --known "${what%%:*}=$db"
  done
  [ -z "$starter" ] || set -- "$@" --known "starter database=$starter"
  job "$@"
done <"$work/recordings"
export BENCH SEEDS="$seeds"
ls "$work"/*.job | sort | xargs -P "${JOBS:-$(nproc)}" -I FILE sh -c 'eval "set -- $(cat FILE)" && "$BENCH" --seeds "$SEEDS" "$@" >FILE.out 2>FILE.err' ||
  { cat "$work"/*.err >&2 && exit 1; }

# --- the page -----------------------------------------------------------------------------------------------------------

# Rows of the tables: those in which nothing is known of other problems (is = "=="), or the others.
rows() { # comparison
  cat "$work"/*.out | grep '^| ' | grep -v '^| space \|^| ---' | awk -F ' [|] ' -v OFS=' | ' "\$3 $1 \"nothing\""
}
head_of() { # column more, or empty
  echo "| space | strategy | $1in flight | after 50 | after 100 | after 200 | results | ms a proposal |"
  echo "| --- | --- | ${1:+--- | }--- | --- | --- | --- | --- | --- |"
}
{
  cat <<T
# How fast strategies find the best of known spaces

\`make bench-search SEEDS=$seeds\` wrote this page on $(date -u +%F), up to "Replays". No search has a default or a hint. A cell is the time of the best variant of the space
divided by the best time that was found after so many results, a failure counting as a result. It is the mean of $seeds seeds, with the half width of its 95 % interval.
A search may end before 200 results. Then what it had counts, and \`results\` has the mean number. The last column is processor time.

The spaces. Convolutions, product, valleys and pairs are formulas of \`bench/search_bench.c\`. The others are recordings: \`bench/record.txt\` has their parameters, and
the one with several templates is described in [README.md](README.md).

$(cat "$work"/*.err | grep ' variants, ' | sed 's/^/- /')

$(head_of '')
$(rows "==" | sed 's/ | nothing | / | /')

## With times of other problems

The strategies that learn from other problems, with these times:

- *run*, *space*: of another made-up GPU, which has 1536 threads and 99 KB of shared memory a multiprocessor, 128 multiprocessors, computes faster beside its memory, and
  differs in a quarter of the random costs and in other failures. *run* is the 1000 results of a search with \`local\`, *space* the whole space.
- *another GPU*: the recording of the same problem on the other model of GPU.
- *other stencils*: the recordings of other stencils on the same GPU, where a tune learns from them: they have templates in common, and their stencils are of one shape.
- *starter database*: the winners and finalists that Halotune comes with, without those of the same problem on the same GPU.

$(head_of 'known | ')
$(rows "!=")

T
  [ ! -e "$page" ] || sed -n '/^<!-- by hand -->/,$p' "$page"
} >"$work/page"
mv "$work/page" "$page"
