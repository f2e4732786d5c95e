#!/bin/sh
# record.sh: bench/record.sh, on the driver of tests/fake_cuda with a small space: that its recordings are whole, that
# it goes on where its time ended, and several GPUs. Prints TAP.
set -u
small_blocks=128
. "$(dirname "$0")/fake_gpu.sh"
export HALOTUNE="$program" HALOTUNE_TEMPLATE_PATH="$templates" TABLE="$work/record.txt" RESULTS="$work/results" WORK="$work/record" BUDGET=none WORKERS=1
unset DEVICES ROWS
query() { sqlite3 -separator ' ' "file:$1?mode=ro" "$2"; } # DB SQL
json() { jq -e "$1" "$work/out" >"$work/jq" 2>&1; }        # FILTER
record() { timeout "$LIMIT_S" bench/record.sh >"$work/out" 2>"$work/err"; }

unknown=$(sed 's/#.*//' bench/record.txt | awk NF | while read -r stencil dtype grid template set rest; do
  [ -z "$rest" ] && [ -n "$set" ] || echo "$stencil"
  [ "$set" = - ] && set -- || set -- --set "$set"
  [ "$template" = - ] || set -- "$@" --template "$template"
  HALOTUNE_TEMPLATE_PATH='' "$program" tune "$stencil" --dtype "$dtype" --grid "$grid" "$@" --dry-run >"$work/out" 2>&1 || echo "$stencil"
done)
echo "$unknown" >"$work/unknown"
[ -z "$unknown" ] && [ "$(sed 's/#.*//' bench/record.txt | grep -c .)" -ge 6 ]
result "each row of bench/record.txt can be tuned" $? "$work/unknown"

# --- a recording ------------------------------------------------------------------------------------------------------

echo 'star7  f32 16,16,16 small points_y=1 # a comment' >"$TABLE"
echo 'heat2d f32 16,16    small -' >>"$TABLE"
file=$RESULTS/recording-star7-f32-16x16x16-nvidia-h200.json.gz
ROWS=star7 record && grep -q '^star7-f32-16x16x16: 4 of 4 variants, [0-9]* bytes: ' "$work/err" && [ "$(ls "$RESULTS")" = "$(basename "$file")" ]
result "the rows of a stencil are recorded" $? "$work/err"
gunzip -c "$file" >"$work/recording.json" && "$program" db import --trust --yes --db "$work/imported.db" "$work/recording.json" >"$work/out" 2>&1 &&
  "$program" db check --db "$work/imported.db" >"$work/out" 2>&1 &&
  [ "$(query "$work/imported.db" "select count(*), min(outcome), max(outcome), min(median_ms > 0), min(sample_count >= 8), count(samples), min(v.parameters like '%\"points_y\":1%')
    from measurement m join variant v on v.id = m.variant_id")" = "4 measured measured 1 1 0 1" ] && [ "$(query "$work/imported.db" "select total(length(cubin)) from best")" = 0.0 ]
result "a recording has the times of all variants, without samples and machine code" $? "$work/out"
"$program" tune star7 --grid 16,16,16 --backend replay:"$work/imported.db" --template small --json >"$work/out" 2>"$work/err" && json '.tasks[0].tried == 4'
result "and can be replayed" $? "$work/err"

# --- going on, and several GPUs -----------------------------------------------------------------------------------------

touch "$work/before"
HALOTUNE_FAKE_DEVICES=2 DEVICES='0 1' record && [ "$file" -ot "$work/before" ] && [ "$(ls "$RESULTS" | wc -l)" = 2 ] &&
  grep -q '^heat2d-f32-16x16: 8 of 8 variants' "$work/err" && ! grep -q star7 "$work/err"
result "a row that is done is skipped, and two GPUs share the rest" $? "$work/err"
rm -r "$RESULTS" "$WORK"
BUDGET=0.001s ROWS=star7 record
[ $? = 1 ] && grep -q '^star7-f32-16x16x16: [12] of 4 variants' "$work/err" && grep -q 'the same command goes on' "$work/err" && [ -e "$file" ]
result "a row whose time ended is written, and is not done" $? "$work/err"
ROWS=star7 record && grep -q '^star7-f32-16x16x16: 4 of 4 variants' "$work/err"
result "the same command goes on" $? "$work/err"
echo 'star7 f32 16,16,16 small vector=3' >"$TABLE"
rm -r "$WORK"
record
[ $? = 1 ] && grep -q '^star7-f32-16x16x16: tune ended with exit code 2: .*vector' "$work/err"
result "a row that tune refuses is told" $? "$work/err"
finish
