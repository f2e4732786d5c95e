#!/bin/sh
# static_cost.sh: how well numbers that are known before a compile rank the variants of the recordings in bench/results.
#   BENCH=FILE             the program static_cost; `make bench-static-cost` builds it and names it here
#   HALOTUNE=FILE          the program halotune; build/halotune by default
#   RECORDINGS='FILE ...'  other recordings
#   STARTER=FILE           the database of other problems; build/starter.db by default
#   RESULTS=bench/results  another folder
#   WORK=build             the folder in which static-cost/ is made anew: databases
set -eu
cd "$(dirname "$0")/.."
. bench/import.sh
: "${BENCH:?the program static_cost, as 'make bench-static-cost' builds it}"
program=${HALOTUNE:-build/halotune}
work=${WORK:-build}/static-cost
results=${RESULTS:-bench/results}
rm -rf "$work"
mkdir -p "$work" "$results"
cp "${STARTER:-build/starter.db}" "$work/starter.db"
"$program" db fit --db "$work/starter.db" >"$work/fit"
set --
for file in ${RECORDINGS:-bench/results/recording-*.json.gz}; do
  import_recording "$file"
  set -- "$@" "$work/$name.db"
done
"$BENCH" "$work/starter.db" "$@" >"$work/rows"
cat >"$results/static-cost.md" <<T
# What is known before a compile, as a rank of variants

\`make bench-static-cost\` wrote this page on $(date -u +%F). The head of \`bench/experiments/static_cost/static_cost.c\` says what ways and columns mean:
each way ranks all variants of a recording by numbers that are known before a compile. The stencil of the recording is never learnt from, but in \`itself\`.

$(cat "$work/rows")
T
