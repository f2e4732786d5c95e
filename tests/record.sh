#!/bin/sh
# record.sh: bench/record.sh, on the driver of tests/fake_cuda with a small space: that its recordings are whole, that
# it goes on where its time ended, and several GPUs; and bench/search.sh on such recordings. Prints TAP.
set -u
small_blocks=128
. "$(dirname "$0")/fake_gpu.sh"
export HALOTUNE="$program" HALOTUNE_TEMPLATE_PATH="$templates" TABLE="$work/record.txt" RESULTS="$work/results" WORK="$work/record" BUDGET=none WORKERS=1
SEARCH=${SEARCH:-$(ls -t build/obj/*/bench/search_bench 2>/dev/null | head -n 1)}
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

# --- the strategies on recordings ---------------------------------------------------------------------------------------

# On the other GPU one variant fails, and the others take twice the time.
other=$RESULTS/recording-star7-f32-16x16x16-nvidia-l4.json.gz
cp "$work/imported.db" "$work/other.db"
sqlite3 "$work/other.db" "update device set name = 'NVIDIA L4', uuid = 'GPU-l4';
  update measurement set median_ms = 2 * median_ms, minimum_ms = 2 * minimum_ms, low_ms = 2 * low_ms, high_ms = 2 * high_ms;
  update measurement set outcome = 'hung', median_ms = null, minimum_ms = null, low_ms = null, high_ms = null, sample_count = 0
    where variant_id = (select max(variant_id) from measurement where variant_id not in (select variant_id from finalist where rank = 1));"
"$program" db export --db "$work/other.db" | gzip >"$other"
search() {
  BENCH=$SEARCH SEEDS=2 JOBS=1 STARTER='' SPACES='' WORK="$work/own" RESULTS="$work/page" RECORDINGS="$file $other" bench/search.sh >"$work/out" 2>"$work/err"
}
page=$work/page/search.md
mkdir "$work/page" "$work/own"
touch "$work/own/file"
printf 'old\n<!-- by hand -->\nkept\n' >"$page"
search
result "strategies are compared on recordings" $? "$work/err"
best=$(query "$work/imported.db" "select printf('%.6g', min(median_ms)) from measurement")
grep -qxF -e "- star7 (small) on H200: 4 variants, 0 % fail, best $best" "$page" && grep -q '^- star7 (small) on L4: 4 variants, 25 % fail, best ' "$page"
result "with their sizes, failures and best times" $? "$page"
for strategy in local model random; do
  for count in 1 15; do
    grep -q "^| star7 (small) on H200 | $strategy | $count | 1.000 +-0.000 | 1.000 +-0.000 | 1.000 +-0.000 | 4 | " "$page" || echo "$strategy $count"
  done
done >"$work/missing"
[ ! -s "$work/missing" ]
result "each strategy finds the best of four variants, with one and fifteen in flight" $? "$work/missing"
[ "$(grep -c '^| star7 (small) on [HL0-9]* | model | another GPU | [15]* | 1.000 ' "$page")" = 4 ] && [ "$(grep -c 'another GPU |' "$page")" = 4 ]
result "model also with the times of the other GPU" $? "$page"
! grep -q '^old$' "$page" && [ "$(tail -n 1 "$page")" = kept ]
result "what was written by hand is kept" $? "$page"
[ -e "$work/own/file" ]
result "and so are other files in the folder for its work" $?
rm "$other"
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
