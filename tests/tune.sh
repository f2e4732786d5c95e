#!/bin/sh
# tune.sh: `halotune tune` from beginning to end, on the driver of tests/fake_cuda with a small space: results,
# continuing, ending early, replays, several GPUs. faults.sh tests faults, protocol.sh tests noise. Prints TAP.
set -u
. "$(dirname "$0")/fake_gpu.sh"
query() { sqlite3 -separator ' ' "$1" "$2"; } # DB SQL
json() { jq -e "$1" "$work/out" >"$work/jq" 2>&1; } # FILTER
# The command must end with this exit code, and stderr must contain these words.
fails() { # NAME CODE WORDS command...
  name=$1 code=$2 words=$3
  shift 3
  "$@" >"$work/out" 2>"$work/err"
  got=$?
  [ $got = "$code" ] && grep -q -e "$words" "$work/err"
  ok=$?
  echo "exit code $got" >>"$work/err"
  result "$name" $ok "$work/err"
}
# Where a test compiles sources of its own, a quarter of the variants is enough.
quarter=block_y=1,vector=1
space=$("$program" space star7 --grid 16,16,16 --template-dir "$templates" --template small --json | jq '.templates[0].kept')
of_quarter=$((space / 4))
db=$work/tune.db

# --- a whole run ------------------------------------------------------------------------------------------------------

tune "$db" >"$work/out" 2>"$work/err"
result "a whole run" $? "$work/err"
grep -q '^star7 f32 16x16x16  *[0-9.]*  *[0-9.]*  *[0-9.]*  *[0-9.]*  *[0-9.]*  *'"$space"'  small block_x=' "$work/out"
result "its table: task, time, interval, GB/s, share of the roof, speed-up, tried, winner" $? "$work/out"
grep -q "^star7 f32 16x16x16: $space tried.*: .*measured.*finalists" "$work/out" && grep -qF "stored in $db" "$work/out" &&
  grep -q '^+-%: .*; of roof: .*; speed-up: over the default variant$' "$work/out"
result "what the columns mean, what came of the variants, and where it is" $? "$work/out"
[ "$(query "$db" "select count(*), count(distinct variant_id), count(distinct number), max(number) from measurement")" = "$space $space $space $space" ]
result "one row for each variant, numbered" $?
[ "$(query "$db" "select state, reason = '', strategy, seed, space, command like 'halotune tune star7 % --grid 16,16,16 %' from run")" = "complete 1 exhaustive 1 $space 1" ]
result "the run" $?
[ "$(query "$db" "select count(*), sum(is_default), min(rank) from finalist where run_id = 1" | cut -d' ' -f2-)" = "1 1" ]
result "the default variant is among the finalists" $?
[ "$(query "$db" "select count(*) from best b join finalist f on f.run_id = b.run_id and f.variant_id = b.variant_id
  where b.is_current and f.rank = 1 and b.time_ms = f.median_ms and length(b.cubin) > 0 and b.second_grid <> '' and b.roof_ratio > 0")" = 1 ]
result "the winner: the first of the finalists, whole, verified on a second grid" $?

# --- going on ---------------------------------------------------------------------------------------------------------

tune "$db" --json >"$work/out" 2>"$work/err" && json ".tasks[0] | .recalled == $space and .tried == $space and .complete"
result "the same again measures no variant twice" $? "$work/out"
[ "$(query "$db" "select count(*), (select count(*) from run where state = 'complete') from measurement")" = "$space 2" ]
result "and adds finals only" $?
json '(.device | type == "string") and (.uuid | startswith("GPU-")) and .emulated == false and .recorded == false and (.database | endswith("/tune.db"))'
result "the document says what was used" $? "$work/out"
json '.tasks | length == 1 and (.[0] | .stencil == "star7" and .dtype == "f32" and .grid == [16, 16, 16] and .launch == "graph" and .reason == ""
  and (.outcomes.measured + .outcomes.screened == .tried) and (.winner | .template == "small" and .time_ms > 0 and .time_low_ms <= .time_ms
  and .time_ms <= .time_high_ms and .samples >= 8 and .share_of_roof > 0 and .speed_up >= 1 and .finalists > .ties and .bandwidth_gbs > 0))'
result "and what came of each task" $? "$work/out"
tune "$db" --rematch --json >"$work/out" 2>"$work/err" && json '.tasks[0] | .complete and .tried < 20 and .tried == .recalled and .winner.time_ms > 0'
result "--rematch: finals among the best of earlier runs" $? "$work/out"
tune "$db" --fresh --max-variants 3 --json >"$work/out" 2>"$work/err" && json '.tasks[0] | .tried == 3 and .recalled == 0 and .complete' &&
  [ "$(query "$db" "select count(*) from measurement")" = $((space + 3)) ]
result "--fresh measures again" $? "$work/out"

# --- what earlier runs know -------------------------------------------------------------------------------------------

# Copy a database that holds one run of all variants.
copy_of() { # FROM TO
  rm -f "$2"
  query "$1" "vacuum into '$2'"
}
base=$work/base.db
tune "$base" >"$work/out" 2>&1
result "a run to begin from" $? "$work/out"

# All variants won earlier runs, but their sources have changed since, so none of their results counts. Without a cache
# the only compiler gets two at a time.
copy_of "$base" "$work/lost.db"
query "$work/lost.db" "update variant set source_hash = printf('%032x', id);
  delete from finalist;
  insert into finalist select run_id, variant_id, 1, 1, 1, 1, 1, 1, 1, 1, 1, x'0000803f', 0, 0, null, null, null from measurement"
XDG_CACHE_HOME=$work/cache tune "$work/lost.db" --rematch --workers 1 --json >"$work/out" 2>"$work/err" &&
  json ".tasks[0] | .complete and .tried == $space and .recalled == 0 and .outcomes.measured + .outcomes.screened == $space" &&
  [ "$(query "$work/lost.db" "select count(distinct variant_id) from measurement where run_id = 2")" = "$space" ]
result "--rematch measures anew what is lost, and loses none of them to full queues" $? "$work/out"

# The database says that the winner was only screened. The finals of the next run measure it fully.
copy_of "$base" "$work/screened.db"
best=$(query "$base" "select variant_id from best where is_current")
query "$work/screened.db" "update measurement set outcome = 'screened', sample_count = 3, samples = substr(samples, 1, 12), attempts = 5
  where variant_id = $best"
tune "$work/screened.db" --json >"$work/out" 2>"$work/err" && json ".tasks[0] | .complete and .recalled == $space" &&
  [ "$(query "$work/screened.db" "select now.run_id, now.number > 0, now.outcome, now.sample_count >= 8, length(now.samples) = 4 * now.sample_count,
    now.at_s > 0, now.attempts, now.registers = was.registers and now.max_error = was.max_error and now.threads = was.threads, was.outcome
    from measurement now join measurement was on was.variant_id = now.variant_id and was.run_id = 1 where now.run_id = 2 and now.variant_id = $best")" = "2 1 measured 1 1 1 1 1 screened" ]
result "a screened result of an earlier run that is measured fully is stored, in the new run" $? "$work/out"

# --- reproducible -----------------------------------------------------------------------------------------------------

copy_of "$base" "$work/bits.db"
tune "$work/bits.db" --reproducible --set $quarter --json >"$work/out" 2>"$work/err" &&
  json ".tasks[0] | .complete and .reproducible and .recalled == 0 and .tried == $of_quarter and .winner.is_current"
result "--reproducible: other sources, measured by themselves" $? "$work/out"
[ "$(query "$work/bits.db" "select is_reproducible, source like '%rounded_product%' from best b join problem p on p.id = problem_id where is_current order by 1")" = "0 0
1 1" ]
result "its winner replaces none" $?
tune "$work/bits.db" --json >"$work/out" 2>"$work/err" && json ".tasks[0] | .reproducible == false and .recalled == $space"
result "and is none of the results that an ordinary run goes on with" $? "$work/out"
tune "$work/replayed.db" --backend "replay:$work/bits.db" --reproducible --set $quarter --json >"$work/out" 2>"$work/err" &&
  json ".tasks[0] | .reproducible and .tried == $of_quarter and .winner.time_ms > 0"
result "a replay of it" $? "$work/err"
fails "no order of a prefix sum is update's" 4 'scan_z' "$program" tune scan_z --grid 16,16,16 --reproducible --budget 1s --db "$work/bits.db"

# --- the second grid --------------------------------------------------------------------------------------------------

# Rules that refuse primes near 5/8 of the extents, as templates with one block for a short row have, and a rule that
# keeps only the task's grid.
for what in 'awkward:nx >= 13 \&\& nx % 2 == 0:14x' 'alone:nx == 16 \&\& ny == 16 \&\& nz == 16:'; do
  name=${what%%:*} rest=${what#*:}
  sed -e "s/^name: small/name: $name/" -e "s/^rules:/rules:\n  - {keep: '${rest%:*}', otherwise: refused here}/" "$templates/small.yaml" >"$templates/$name.yaml"
  cp "$templates/small.cu" "$templates/$name.cu"
  tune "$work/$name.db" --template "$name" --max-variants 2 --json >"$work/out" 2>"$work/err" &&
    case ${rest##*:} in
    '') json '.tasks[0] | .complete and .winner.second_grid == null' &&
      tune "$work/$name.db" --template "$name" --max-variants 2 >"$work/out" 2>"$work/err" &&
      grep -q '; not verified on a second grid$' "$work/out" &&
      [ "$(query "$work/$name.db" "select count(*) from run where warnings like '%not verified on a second grid: %refused here%'")" = 2 ] ;;
    *) json ".tasks[0].winner.second_grid | startswith(\"${rest##*:}\")" ;;
    esac
  result "the second grid of a winner whose rules want ${rest%:*}" $? "$work/out"
done

# --- emulated ---------------------------------------------------------------------------------------------------------

timeout "$LIMIT_S" "$program" tune star7 --grid 16,16,16 --template-dir "$templates" --template small --backend host --max-variants 1 $patient \
  --db "$work/host.db" --json >"$work/out" 2>"$work/err" &&
  json '.emulated and (.tasks[0].winner | .time_ms > 0 and .bandwidth_gbs == null and .roof_ms == null and .share_of_roof == null)'
result "emulated times tell no bandwidth" $? "$work/err"

# With literal extents the code differs by grid, so the winner can be wrong only on the second one.
sed -e 's/^name: small/name: literal/' -e 's/extents: .runtime./extents: [literal]/' -e '/^  \(block_y\|vector\):/s/\[1, 2\]/[1]/' "$templates/small.yaml" >"$templates/literal.yaml"
cp "$templates/small.cu" "$templates/literal.cu"
wrong=$work/wrong.db
tune "$wrong" --template literal >"$work/out" 2>&1
result "a run whose variants know their grid" $? "$work/out"
winner=$(query "$wrong" "select variant_id from best where is_current")
grid=$(query "$wrong" "select second_grid from best where is_current")
words=$(query "$wrong" "select group_concat(key || '=' || value) from variant, json_each(parameters) where variant.id = $winner and
  key in ('block_x', 'block_y', 'vector', 'points_y')")
HALOTUNE_FAKE_FAULT="cuLaunchKernel@$grid,$words=corrupt:300" tune "$wrong" --template literal --json >"$work/out" 2>"$work/err" &&
  json ".tasks[0] | .complete and .recalled == .tried and .outcomes.wrong == 1 and .winner.share_of_roof_low <= .winner.share_of_roof
    and .winner.share_of_roof <= .winner.share_of_roof_high"
result "a winner of before, now wrong on the second grid, leaves to the next" $? "$work/out"
[ "$(query "$wrong" "select variant_id, outcome, reason like 'on the grid $grid: %', sample_count, median_ms is null from measurement where run_id = 2 and outcome = 'wrong'")" = \
  "$winner wrong 1 0 1" ]
result "and is stored as wrong, with the reason" $?
[ "$(query "$wrong" "select variant_id <> $winner, run_id, roof_ratio > 0 from best where is_current")" = "1 2 1" ] &&
  [ "$(query "$wrong" "select count(*) from best where variant_id = $winner and not is_current")" = 1 ]
result "it is served no more, though it is the faster" $?
query "$wrong" "vacuum into '$work/named.db'"
sed 's/^name: .*/name: heat7/' kernels/star7.yaml >"$work/heat7.yaml"
timeout "$LIMIT_S" "$program" tune "$work/heat7.yaml" --db "$work/named.db" --grid 16,16,16 --dtype f32 --template-dir "$templates" \
  --template literal --strategy exhaustive --set "$words" $patient --json >"$work/out" 2>"$work/err" &&
  json '.tasks[0] | .complete and .tried == 1 and .outcomes.measured == 1 and .winner.is_current' &&
  for name in star7 heat7; do
    "$program" query $name --db "$work/named.db" --grid 16,16,16 --launch graph --json >"$work/$name.json" 2>>"$work/err" || break
  done && jq -se \
  '(.[0] | .match) == "exact" and .[1].match == "exact" and (.[0].parameters != .[1].parameters)' "$work/star7.json" "$work/heat7.json" >>"$work/err" 2>&1
result "another name of the stencil, for which it is right, has it for itself" $? "$work/err"
[ "$(query "$wrong" "select min(rank), count(*) = max(rank), sum(variant_id = $winner), sum(rank = 1 and ratio = 1 and ratio_low = 1 and is_tie)
  from finalist where run_id = 2")" = "1 1 0 1" ]
result "the finalists are ranked without it, and their ratios are to the winner that stands" $?
chosen=0
for options in '' --rematch; do
  tune "$wrong" --template literal $options --json >"$work/out" 2>"$work/err" && json '.tasks[0] | .complete and .recalled == .tried' &&
    [ "$(query "$wrong" "select count(*) from finalist where run_id > 2 and variant_id = $winner")" = 0 ] || chosen=1
done
result "and is chosen by no later run" $chosen "$work/out"

# The winner fails when it is loaded for the finals.
copy_of "$base" "$work/fails.db"
words=$(query "$base" "select group_concat(key || '=' || value) from variant, json_each(parameters) where variant.id = $best and
  key in ('block_x', 'block_y', 'vector', 'points_y')")
HALOTUNE_FAKE_FAULT="cuLaunchKernel@star7_small,$words=corrupt:1365" tune "$work/fails.db" --json >"$work/out" 2>"$work/err" &&
  json '.tasks[0] | .complete and .outcomes.wrong == 1' &&
  [ "$(query "$work/fails.db" "select variant_id, outcome, reason like '%1 of % points is wrong%' from measurement where run_id = 2 and outcome = 'wrong'")" = "$best wrong 1" ] &&
  [ "$(query "$work/fails.db" "select count(*) from best where is_current and variant_id <> $best and run_id = 2")" = 1 ]
result "what fails in the finals is stored so, whichever run had measured it" $? "$work/out"

# If all variants are wrong, there is no winner. A variant that is wrong in one mode is wrong in the others, and does
# not come back.
copy_of "$base" "$work/modes.db"
"$program" db export --db "$work/modes.db" -o "$work/modes.json" &&
  HALOTUNE_FAKE_FAULT='cuLaunchKernel@star7_small=corrupt:1365' tune "$work/modes.db" --launch stream >"$work/out" 2>&1
[ "$(query "$work/modes.db" "select count(*), sum(is_current) from best")" = "$(query "$base" "select count(*) from best") 0" ]
result "a winner that is wrong in another launch mode is served no more" $? "$work/out"
"$program" db import --trust --yes --db "$work/modes.db" "$work/modes.json" >"$work/out" 2>&1 && grep -q '1 of its best configurations is known to be wrong' "$work/out" &&
  [ "$(query "$work/modes.db" "select sum(is_current) from best")" = 0 ]
result "nor after an older export is imported" $? "$work/out"
"$program" query star7 --grid 16,16,16 --db "$work/modes.db" --device "$(query "$base" "select name from device")" --json >"$work/out" 2>"$work/err"
jq -e '.match == "default"' "$work/out" >/dev/null &&
  [ "$(jq -c .parameters "$work/out")" != "$(query "$base" "select parameters from variant where id = $best")" ]
result "nor as a default" $? "$work/out"

# Other processes start during the search and are seen before the finals. One process is the worker.
HALOTUNE_FAKE_OTHERS=3 HALOTUNE_FAKE_ALONE=1 tune "$work/others.db" >"$work/out" 2>"$work/err" && ! grep -q 'other process' "$work/err" &&
  grep -q '2 other processes computed on the GPU when the finals began: times may be off' "$work/out" &&
  [ "$(query "$work/others.db" "select warnings from run")" = "2 other processes computed on the GPU when the finals began: times may be off" ]
result "other processes on the GPU are looked for again before the finals" $? "$work/out"
HALOTUNE_FAKE_OTHERS=1 tune "$work/others.db" --json >"$work/out" 2>"$work/err" && json '.tasks[0].other_processes == 0'
result "the worker is none" $? "$work/out"
# --- hints ------------------------------------------------------------------------------------------------------------

# A database with the winner of an earlier version of the template, which lacked a parameter. The first variant is the
# default. With one compiler, results come in the order of proposals. The two versions differ only in text, so they must
# not share a cache. The rest of the cache, most of all the copies of the roof, is that of the other tests.
mkdir "$work/new"
cp -R "$XDG_CACHE_HOME/." "$work/new" 2>/dev/null
grep -rl star7_small "$work/new" | xargs -r rm -f
newer() { # DB option...
  db=$1
  shift
  XDG_CACHE_HOME=$work/new HALOTUNE_FAKE_MEMO=$work/new/memo tune "$db" --template-dir "$work/new" --workers 1 --max-variants 2 "$@" \
    >"$work/out" 2>"$work/err"
}
cp "$templates/small.cu" "$work/new"
sed 's/^parameters:/&\n  unused: {values: [1], default: 1, about: of no use}/' "$templates/small.yaml" >"$work/new/small.yaml"
copy_of "$base" "$work/hints.db"
# All four parameters are set, so the winner does not depend on the sources' hashes: a random order could begin with it.
query "$work/hints.db" "update variant set parameters = json_set(parameters, '$.block_x', 256, '$.block_y', 2, '$.vector', 2, '$.points_y', 2) where id = $best"
copy_of "$work/hints.db" "$work/known.db"
known=$(query "$work/known.db" "select json_set(parameters, '$.unused', 1) from variant where id = $best" | jq -cS .)
hinted() { # DB: the numbers under which its last run has the winner
  query "$1" "select m.number, v.parameters from measurement m join variant v on v.id = m.variant_id where run_id = (select max(id) from run)" |
    while read -r at parameters; do
      [ "$(echo "$parameters" | jq -cS .)" != "$known" ] || echo "$at"
    done
}
for strategy in local random; do
  newer "$work/hints.db" --strategy $strategy --fresh --json &&
    json '.tasks[0] | .complete and .tried == 2 and .hinted == 1 and (.winner.is_hinted | type == "boolean")' && [ "$(hinted "$work/hints.db")" = 1 ]
  result "--strategy $strategy begins with the winner of an earlier version of the template" $? "$work/out"
done
newer "$work/hints.db" --strategy local --no-hints --fresh --json &&
  json '.tasks[0] | .complete and .tried == 2 and .hinted == 0 and .winner.is_hinted == false' && [ -z "$(hinted "$work/hints.db")" ]
result "not with --no-hints" $? "$work/out"
newer "$work/hints.db" --strategy exhaustive --fresh --json &&
  json '.tasks[0] | .complete and .tried == 2 and .hinted == 0 and .winner.is_hinted == false' && [ "$(hinted "$work/hints.db")" = 1 ]
result "--strategy exhaustive has no hints; what a lookup serves runs before the default" $? "$work/out"
sum=$(cksum "$work/known.db")
newer "$work/hinted.db" --strategy local --hints "$work/known.db" &&
  grep -q '^star7 f32 16x16x16: 2 tried (1 as hints): ' "$work/out" && [ "$(hinted "$work/hinted.db")" = 2 ] && [ "$sum" = "$(cksum "$work/known.db")" ]
result "--hints: nor need it be the database that is written; what only it knows runs after the default" $? "$work/out"
guided() { # RECORDING option...: a replay
  recording=$1
  shift
  timeout "$LIMIT_S" "$program" tune star7 --grid 16,16,16 --dtype f32 --template-dir "$templates" --template small --strategy local \
    --backend replay:"$recording" --budget none --hints "$work/known.db" --json "$@" >"$work/out" 2>"$work/err"
}
guided "$base" && json ".tasks[0] | .complete and .tried == $space and .hinted == 1"
result "a replay tries hints that were recorded" $? "$work/out"
copy_of "$base" "$work/less.db"
query "$work/less.db" "attach '$work/known.db' as known; delete from measurement where variant_id = (select v.id from variant v, known.variant hint
  where hint.id = $best and v.parameters = hint.parameters); update run set outcomes = null" # they count it
guided "$work/less.db" && json ".tasks[0] | .complete and .tried == $((space - 1)) and .hinted == 0"
result "and leaves those that were not" $? "$work/out"
fails "--hints of a file that is not there" 4 'nowhere.db' tune "$work/hinted.db" --hints "$work/nowhere.db"
fails "--hints and --no-hints" 2 'no-hints' tune "$work/hinted.db" --hints "$base" --no-hints

# --- the roof ---------------------------------------------------------------------------------------------------------

# Copies that are loaded to be tried, and again to be kept: at most three winners, one of them of this GPU; else a
# sample of each template, too.
timeout "$LIMIT_S" "$program" tune copy --grid 4096 --dtype f32 --max-variants 3 $patient --db "$work/copied.db" >"$work/out" 2>&1
result "copy is tuned" $? "$work/out"
copies() { # DB option...: how many were loaded
  rm -f "$work/log"
  HALOTUNE_FAKE_LOG=$work/log tune "$@" --max-variants 2 >"$work/out" 2>&1 && grep -c '^loaded [^ ]* copy ' "$work/log"
}
winner=$(query "$work/copied.db" "select group_concat(key || '=' || value, ' ') from variant, json_each(parameters)
  where variant.id = (select variant_id from best where is_current)")
few=$(copies "$work/roofed.db" --hints "$work/copied.db")
[ "$few" -ge 1 ] && [ "$few" -le 6 ] && grep '^loaded [^ ]* copy ' "$work/log" | grep -qF "$winner"
result "the roof is the tuned copy, also of another database" $? "$work/log"
[ "$(copies "$work/unroofed.db")" -gt 6 ]
result "or the best of a sample, where none was tuned on this GPU" $? "$work/log"

# --- a slow default ---------------------------------------------------------------------------------------------------

# The default belongs to the first template, which takes a thousand times as long as the other one by the driver's own
# clock. tests/unit/search/tune_clock_test.c shows with a clock of its own that the budget is kept.
mkdir "$work/slow"
cp "$templates/small.cu" "$work/slow/quick.cu"
cp "$templates/small.cu" "$work/slow/heavy.cu"
for name in quick heavy; do sed "s/^name: small/name: $name/" "$templates/small.yaml" >"$work/slow/$name.yaml"; done
printf 'base_us 300\nspread 1 2\nlaunch_us 0\nslower 1500 star7_heavy\n' >"$work/slow/model"
HALOTUNE_FAKE_MODEL=$work/slow/model HALOTUNE_FAKE_LOG=$work/slow/log tune "$work/slow/db" --template-dir "$work/slow" --template heavy,quick \
  --max-variants 4 --no-hints --json >"$work/out" 2>"$work/err" &&
  json '.tasks[0] | .complete and .tried == 4 and .winner.template == "quick" and .winner.samples >= 8 and .winner.speed_up > 500'
result "other templates are tried where the default is a thousand times slower than the best" $? "$work/out"
[ "$(grep -c "^loaded $(awk '$3 == "star7" {print $2; exit}' "$work/slow/log") " "$work/slow/log")" = 3 ]
result "the default is loaded when it is found, measured and compared, and is no anchor" $? "$work/slow/log"
[ "$(query "$work/slow/db" "select name from measurement m join variant v on v.id = variant_id join template t on t.id = template_id
  where number <= 2 order by number" | tr '\n' ' ')" = "heavy quick " ]
result "after the default the defaults of the other templates" $?
[ "$(query "$work/slow/db" "select max(sample_count * median_ms) <= 1000 from measurement m join variant v on v.id = variant_id
  join template t on t.id = template_id where name = 'heavy'")" = 1 ]
result "the samples of each take 1 s at most" $?
[ "$(query "$work/slow/db" "select f.rank > 1, f.ratio > 500, b.default_ms > 300, b.default_ms = f.median_ms
  from finalist f join best b on b.run_id = f.run_id where f.is_default and b.is_current")" = "1 1 1 1" ]
result "the default is a finalist, and the speed-up over it is stored" $? "$work/out"

# --- inputs and reference ---------------------------------------------------------------------------------------------

HALOTUNE_FAKE_FAULT='cuLaunchKernel@fill_f32#1=input:0;cuDevicePrimaryCtxRetain=slow:0' HALOTUNE_FAKE_LOG=$work/log tune "$work/filled.db" --dtype all --max-variants 2 --json >"$work/out" 2>"$work/err" &&
  json '.tasks | length == 2 and (.[0] | .complete and .outcomes.wrong == 0)' &&
  query "$work/filled.db" "select warnings from run where id = 1" | grep -q 'the start of u of star7 that the GPU makes differs from the CPU.s: .* at (0, 0, 0), .*; the CPU makes inputs and reference'
result "fields of the GPU that differ from the CPU's are not used" $? "$work/out"
[ "$(query "$work/filled.db" "select count(*), sum(warnings like '%makes inputs and reference%') from run")" = "2 1" ]
result "the run of the other element type does not say so" $? "$work/out"
[ "$(grep -c '^fault cuDevicePrimaryCtxRetain' "$work/log")" = 1 ]
result "both tasks use one context of the GPU" $? "$work/log"
# The default variant is short, so the launch changes to graphs, and the problem goes to the GPU once more.
HALOTUNE_FAKE_FAULT=cuMemcpyHtoD#2=OUT_OF_MEMORY HALOTUNE_FAKE_LOG=$work/log tune "$work/once_more.db" --max-variants 2 --json >"$work/out" 2>"$work/err" &&
  json '.tasks[0].complete' && grep -q '^fault cuMemcpyHtoD' "$work/log" && [ "$(query "$work/once_more.db" "select count(*) from run r join problem p
    on p.id = problem_id where launch = 'graph' and warnings like 'the GPU has no memory for %; the CPU makes inputs and reference%'")" = 1 ]
result "where the launch changes, too, the CPU makes what the GPU has no memory for" $? "$work/out"
# Where the CPU checks spots of several steps with much less work than it would have with the whole reference
"$program" tune advect1d --grid 100000 --dtype f32 --steps 2 --template fused_line --max-variants 1 $patient --db "$work/reference.db" --launch stream \
  --trace "$work/trace" --json >"$work/out" 2>"$work/err" && json '.tasks[0] | .complete and .outcomes.measured == 1' &&
  [ "$(query "$work/reference.db" "select count(*) from run where warnings = ''")" = 1 ] &&
  jq -e 'map(select(.ph == "X")) | (map(select(.name == "set-up"))[0] | .ts + .dur) as $over | map(select(.ts < $over) | .name) |
    contains(["make fields"]) and (index("inputs and reference") | not)' "$work/trace" >"$work/jq" 2>&1
result "the GPU makes the reference of several steps" $? "$work/err"
# Two steps of advect1d under a fault of the driver. The run must be whole, and warn once, in these words.
two_steps() { # fault words
  rm -f "$work/two_steps.db"
  HALOTUNE_FAKE_FAULT=$1 HALOTUNE_FAKE_LOG=$work/two_steps.log "$program" tune advect1d --grid 100000 --dtype f32 --steps 2 --template fused_line --max-variants 1 \
    $patient --launch stream --db "$work/two_steps.db" --json >"$work/out" 2>"$work/err" && json '.tasks[0] | .complete and .outcomes.measured == 1' &&
    query "$work/two_steps.db" "select warnings from run" | tee "$work/warnings" | grep -qx "$2"
}
cpu_makes='; the CPU makes inputs and reference'
two_steps cuMemAlloc#9=OUT_OF_MEMORY "the GPU has no memory for making inputs and reference$cpu_makes"
result "without memory for the recipe the CPU makes inputs and reference" $? "$work/err"
two_steps cuMemAlloc#10=OUT_OF_MEMORY "the fields fill the GPU's memory: variants are compared with the reference at [0-9]* of 99999 points, .*"
result "without memory for the step before the last one, the reference exists in parts" $? "$work/err"
# The GPU's reference is wrong at one point that the CPU checks: the first one of the box, or the last one. The fault
# changes the upper half of a double after launch 3 or 4 of the kernels that make fields. Two of them fill u and v, each
# other one is a step of the reference.
HALOTUNE_FAKE_FAULT="cuLaunchKernel@reference_f32#3=write:$((8 * (1 + 16 + 256) + 4)):2" HALOTUNE_FAKE_LOG=$work/log tune "$work/wrong.db" --max-variants 2 --json >"$work/out" 2>"$work/err" &&
  json '.tasks[0] | .complete and .outcomes.wrong == 0' && query "$work/wrong.db" "select warnings from run" | tee "$work/warnings" |
  grep -q '^the value of v of star7 that the GPU makes differs from the CPU.s: .* at (1, 1, 1), not .*; the CPU makes inputs and reference$'
result "a wrong reference of one step is not used" $? "$work/warnings"
two_steps "cuLaunchKernel@reference_f32#4=write:$((8 * 99999 + 4)):2" 'the value of v of advect1d that the GPU makes differs from the CPU.s: .* at (99999, 0, 0), not .*'"$cpu_makes"
result "a wrong reference of two steps is not used" $? "$work/warnings"
two_steps "cuLaunchKernel@reference_f32#4=write:$((8 * 1 + 4)):1" 'the magnitude of v of advect1d that the GPU makes differs from the CPU.s: .* at (1, 0, 0), not .*'"$cpu_makes"
result "nor are its wrong magnitudes" $? "$work/warnings"

# --- ending early -----------------------------------------------------------------------------------------------------

early=$work/early.db
tune "$early" --max-variants 5 --trace "$work/trace" --json >"$work/out" 2>"$work/err" && json '.tasks[0] | .tried == 5 and .complete' &&
  [ "$(query "$early" "select count(*) from measurement")" = 5 ]
result "--max-variants" $? "$work/out"
# Of each variant that ran, the trace has all parts, in their order, each in a lane of its own kind.
jq -e '
  (map(select(.name == "thread_name") | {key: (.tid | tostring), value: .args.name}) | from_entries) as $lanes |
  map(select(.ph == "X") | . + {lane: $lanes[.tid | tostring]}) as $spans |
  def ends: .ts + .dur;
  def only(name): map(select(.name == name)) | .[0];
  ($spans | all(.dur >= 0 and .lane != null)) and
  ($spans | map(select(.name == "store")) | length == 5) and
  ($spans | map(select(.lane == "store" and (.args.detail == "measured" or .args.detail == "screened")) | .args.variant) | length > 0 and all(
    . as $variant | $spans | map(select(.args.variant == $variant)) |
    (map(.name) | contains(["generate", "load", "verify", "run", "compare", "sample", "store"])) and
    (only("generate") | .lane == "program" and (.args.detail | startswith("small "))) and
    (all(.[]; .name != "compile" or (.lane | startswith("compiler ")))) and
    (all(.[]; (.name | IN("load", "verify", "sample") | not) or .lane == "GPU")) and
    (only("generate") | ends) <= only("load").ts and (only("load") | ends) <= only("verify").ts + 1 and
    only("verify").ts <= only("run").ts + 1 and (only("run") | ends) <= only("compare").ts + 1 and
    (only("verify") | ends) <= only("sample").ts + 1)) and
  ($spans | map(select(.lane == "phases") | .name) | contains(["start", "set-up", "search", "finals"]))' "$work/trace" >"$work/jq" 2>&1
result "--trace: spans of each variant on the lanes of compilers, GPU and store" $? "$work/jq"
jq -e 'def first_ts(n): [.[] | select(.name == n) | .ts] | min; first_ts("submit") < first_ts("problem to the device")' "$work/trace" >"$work/jq" 2>&1
result "the default variant compiles while the GPU gets the problem" $? "$work/jq"
fails "--trace into a folder that is not there" 1 "nothing/here.json: No such file" tune "$early" --max-variants 1 --trace "$work/nothing/here.json"
tune "$work/enough.db" --good-enough 0.01 --json >"$work/out" 2>"$work/err" && json '.tasks[0] | .tried >= 1 and .tried < 20 and .complete'
result "--good-enough" $? "$work/out"
tune "$work/energy.db" --max-variants 2 --budget 8s --objective energy --json >"$work/out" 2>"$work/err" &&
  json '.tasks[0].winner | .energy_mj > 0 and .energy_mj / .time_ms > 300 and .energy_mj / .time_ms < 500 and .idle_w > 0'
result "--objective energy: the counter's 350 W over the time of an application" $? "$work/out"
tune "$work/short_energy.db" --max-variants 2 --budget 1s --objective energy --json >"$work/out" 2>"$work/err" &&
  json '.tasks[0].winner.energy_mj == null' &&
  query "$work/short_energy.db" "select warnings from run" | grep -q 'too small for a round of energy.* a budget of about [0-9]* s$'
result "in too little time for a round of energy, time ranks, and a warning names the budget" $? "$work/out" "$work/err"
fails "a GPU without a counter of energy" 2 "NVML counts .* and NVIDIA H200 has no such counter" env HALOTUNE_FAKE_ENERGY=0 \
  "$program" tune star7 --grid 16,16,16 --dtype f32 --template-dir "$templates" --template small --db "$work/energy.db" --objective edp
fails "a recording has no counter of energy" 2 "has no such counter" "$program" tune star7 --grid 16,16,16 --dtype f32 \
  --template-dir "$templates" --template small --backend replay:"$db" --objective energy
fails "a deadline that is over when the search begins: exit code 1, and how to go on" 1 \
  "^  halotune tune star7 .*--grid 16,16,16 .*--deadline 0.01s .*--db $work/deadline.db" tune "$work/deadline.db" --deadline 0.01s --fresh
! grep -q -e '--fresh' "$work/err" && grep -q 'no winner: not begun' "$work/out"
result "without what would begin anew, and why" $? "$work/err"
tune "$work/deadline.db" --json >"$work/out" 2>"$work/err" && json ".tasks[0] | .tried == $space and .complete"
result "and it goes on" $? "$work/out"

# tests/unit/search/tune_clock_test.c shows with a clock of its own how a deadline ends a search.
cut=$work/cut.db
fails "a task that has too little time before the deadline is not begun" 1 'to go on' tune "$cut" --budget 90s --deadline 1s
[ "$(query "$cut" "select count(*) from run")" = 0 ] && grep -q 'no winner: not begun' "$work/out"
result "nor stored" $?

HALOTUNE_FAKE_FAULT="cuLaunchKernel@star7_small=corrupt:1365" tune "$work/none.db" >"$work/out" 2>"$work/err"
[ $? = 1 ] && grep -q "no winner: no correct variant" "$work/out" && grep -q "$space wrong" "$work/out" && ! grep -q 'to go on' "$work/err"
result "where all variants are wrong, there is nothing to go on with" $? "$work/err"
grep -A 1 '^star7 .* no winner' "$work/out" | grep -q '^  the first failure: wrong: v: 1 of 2744 points is wrong'
result "and the first failure is told below the task" $? "$work/out"
for options in '--max-variants 5' --rematch; do
  HALOTUNE_FAKE_FAULT="cuLaunchKernel@star7_small=corrupt:1365" tune "$work/none.db" $options >"$work/out" 2>"$work/err"
  [ $? = 1 ] && ! grep -q 'to go on' "$work/err"
  result "nor is there where all that $options asks for are" $? "$work/err"
done
cp kernels/star7.yaml "$work/mine.yaml"
for asked in star7 "$work/mine.yaml"; do
  for grid in 16,16,16 16,16,8; do
    "$program" query "$asked" --grid $grid --db "$work/none.db" --device 'NVIDIA H200' --json >"$work/out" 2>"$work/err" && json '.match == "default" and .template != "small"'
    result "a lookup of $asked on $grid serves the default of another template" $? "$work/err"
  done
done

# Calls are slow, so that the signal comes after the first rows, and the run ends in the middle of the search.
stopped=$work/stopped.db
HALOTUNE_FAKE_FAULT="cuModuleLoadData=slow:500" "$program" tune star7 --grid 16,16,16 --dtype f32 --template-dir "$templates" --template small \
  --strategy exhaustive $patient --db "$stopped" >"$work/out" 2>"$work/err" &
tuner=$!
has_rows() { [ "$(query "$stopped" 'select count(*) > 1 from measurement' 2>/dev/null)" = 1 ]; }
await has_rows
kill -INT $tuner
wait $tuner
code=$?
rows=$(query "$stopped" "select count(*) from measurement")
[ $code = 1 ] && [ "$rows" -gt 1 ] && [ "$rows" -lt $space ] && [ "$(query "$stopped" "select state, reason from run")" = "partial interrupted" ] &&
  grep -q "to go on:" "$work/err"
ok=$?
echo "exit code $code, $rows rows" >>"$work/err"
result "Ctrl-C keeps the rows, and says how to go on" $ok "$work/err"
before=$(query "$stopped" "select group_concat(variant_id || outcome || median_ms) from measurement")
sh -c "$(sed -n 's/^  halotune //p' "$work/err" | sed "s|^|$program |")" >"$work/out" 2>"$work/again" &&
  [ "$before" = "$(query "$stopped" "select group_concat(variant_id || outcome || median_ms) from measurement where run_id = 1")" ] &&
  [ "$(query "$stopped" "select count(*), count(distinct variant_id) from measurement")" = "$space $space" ]
result "the command that it says measures the rest" $? "$work/again"

# --- the space --------------------------------------------------------------------------------------------------------

tune "$work/set.db" --set block_x=64,vector=2 --json >"$work/out" 2>"$work/err" && json '.tasks[0].tried == .tasks[0].outcomes.measured + .tasks[0].outcomes.screened and .tasks[0].tried > 1' &&
  [ "$(query "$work/set.db" "select count(*) from variant where parameters like '%\"block_x\":64,%' and parameters like '%\"vector\":2,%'")" = "$(query "$work/set.db" "select count(*) from variant")" ]
result "--set: only variants with these values" $? "$work/out"
sed -e 's/^name: small/name: other/' -e 's/^parameters:/&\n  unused: {values: [1, 2], default: 1, about: of no use}/' "$templates/small.yaml" >"$templates/other.yaml"
cp "$templates/small.cu" "$templates/other.cu"
tune "$work/list.db" --template small,other --max-variants 16 --json >"$work/out" 2>"$work/err" && json '.tasks[0].tried == 16' &&
  [ "$(query "$work/list.db" "select count(distinct template_id) from variant")" = 2 ]
result "a list of templates" $? "$work/out"
tune "$work/twins.db" --template other --set $quarter --json >"$work/out" 2>"$work/err" && json ".tasks[0] | .tried == $((2 * of_quarter)) and .twins == $of_quarter" &&
  [ "$(query "$work/twins.db" "select count(*), sum(reason = '') from measurement")" = "$of_quarter $of_quarter" ]
result "what has the source of another is not measured, but counts as its twin" $? "$work/out"
# The order of the variants depends on the compilers, so all three are twins here.
sed -e 's/^name: small/name: same/' -e 's/^parameters:/&\n  unused: {values: [1, 2, 3], default: 1, about: of no use}/' "$templates/small.yaml" >"$templates/same.yaml"
cp "$templates/small.cu" "$templates/same.cu"
tune "$work/two.db" --template same --set block_x=64,block_y=1,vector=1,points_y=1 --max-variants 2 --json >"$work/out" 2>"$work/err" && json '.tasks[0] | .complete and .tried == 2 and .twins == 1'
result "and --max-variants counts it" $? "$work/out"
for strategy in random local; do
  tune "$work/$strategy.db" --strategy $strategy --json >"$work/out" 2>"$work/err" && json ".tasks[0] | .tried == $space and .complete" &&
    [ "$(query "$work/$strategy.db" "select count(distinct variant_id) from measurement")" = $space ]
  result "--strategy $strategy finds all of a small space" $? "$work/out"
done

# What the fake GPU's launches cost does not depend on their steps, so that more steps take less time a step.
sed -e 's/^name: fused_tile/name: fused/' -e 's/steps: {values: [[][^]]*[]]/steps: {values: [2, 4]/' -e 's/tile_x: {values: [[][^]]*[]]/tile_x: {values: [32]/' \
  -e 's/tile_y: {values: [[][^]]*[]]/tile_y: {values: [8]/' -e 's/tile_z: {values: [[][^]]*[]], default: 8/tile_z: {values: [1], default: 1/' \
  -e 's/block_x: {values: [[][^]]*[]], default: 256/block_x: {values: [128], default: 128/' \
  -e 's/^common: .*/common: [{load_path: [plain]}, {coefficients: [parameter]}, {extents: [runtime]}, {min_blocks: [0]}, stages_find_ends, no_scan, two_warps]/' templates/fused_tile.yaml >"$templates/fused.yaml"
cp templates/fused_tile.cu "$templates/fused.cu"
steps() { # option...
  timeout "$LIMIT_S" "$program" tune heat2d --grid "${steps_grid:-32,16}" --dtype f32 --template-dir "$templates" --template small,fused --set block_x=128 --strategy exhaustive \
    $patient --db "$work/steps.db" "$@" 2>"$work/err"
}
steps --max-variants 34 --json >"$work/out" && json '[.tasks[] | [.steps, .complete]] == [[1, true], [2, true], [4, true]]' &&
  [ "$(query "$work/steps.db" "select group_concat(steps) from (select p.steps from best b join problem p on p.id = b.problem_id where b.is_current order by 1)")" = 1,2,4 ]
result "the number of steps is searched" $? "$work/out" "$work/err"
steps --max-variants 34 >"$work/out" && grep -q '^heat2d f32 32x16: fastest with 4 steps a launch: .*, [234].* times as fast as single steps$' "$work/out"
result "and the fastest is told" $? "$work/out" "$work/err"
steps --max-variants 33 --no-hints --json >"$work/out" && json '[.tasks[].steps] == [1]' &&
  grep -q '^halotune: heat2d f32 32x16: single steps only: .* searched with --max-variants 34 or more, or if' "$work/err" &&
  (patient='--budget 16s' && steps --max-variants 34 --no-hints --fresh --json >"$work/out") && grep -q ': single steps only: .* searched with --budget 17s or more, or if' "$work/err" &&
  steps --max-variants 34 --steps 1 --json >"$work/out" && json '[.tasks[].steps] == [1]' && ! grep -q 'single steps only' "$work/err" &&
  steps --max-variants 34 --rematch --json >"$work/out" && json '[.tasks[].steps] == [1]'
result "not if the budget is small, nor with --steps 1 or --rematch" $? "$work/out" "$work/err"
steps --max-variants 10 --fresh --json >"$work/out" && json '[.tasks[] | [.steps, .tried]] == [[1, 4], [4, 1]]' &&
  grep -q '^halotune: heat2d f32 32x16: single steps and 4 steps a launch, the best that a database knows: other numbers of steps are searched with' "$work/err" &&
  (steps_grid=48,16 && steps --max-variants 10 --json >"$work/out") && json '[.tasks[].steps] == [1, 4]' &&
  steps --max-variants 4 --json >"$work/out" && json '[.tasks[].steps] == [1]'
result "but the number that a database knows, for this grid or a near one" $? "$work/out" "$work/err"
# One rule ties nine parameters of eight values together, and keeps nothing.
awk '/^name:/ {$0 = "name: endless"}
  {print}
  /^  block_x:/ {for (p = 1; p <= 9; p++) print "  p" p ": {values: [1, 2, 3, 4, 5, 6, 7, 8], default: 1, about: x}"}
  /^rules:/ {print "  - {keep: p1 + p2 + p3 + p4 + p5 + p6 + p7 + p8 + p9 < 0, otherwise: x}"}' "$templates/fused.yaml" >"$templates/endless.yaml"
cp templates/fused_tile.cu "$templates/endless.cu"
tune "$work/endless.db" --template small,endless --max-variants 34 >"$work/out" 2>"$work/err"
[ $? = 5 ] && grep -q '^halotune: star7 f32 16x16x16: template endless: the count of its variants stopped' "$work/err" && ! grep -q 'to go on' "$work/err"
result "a template whose space cannot be walked is told" $? "$work/out" "$work/err"

# --- replays ----------------------------------------------------------------------------------------------------------

sum=$(cksum "$work/local.db")
tune "" --backend replay:"$work/local.db" >"$work/out" 2>"$work/err"
result "a replay: --db '' is refused" "$([ $? = 6 ] && echo 0 || echo 1)" "$work/err"
replay() { # option...
  timeout "$LIMIT_S" "$program" tune star7 --grid 16,16,16 --dtype f32 --template-dir "$templates" --template small --backend replay:"$work/local.db" --budget none --json "$@"
}
for strategy in exhaustive random local; do
  replay --strategy $strategy >"$work/out" 2>"$work/err" && json ".recorded and .database == \":memory:\" and (.tasks[0] | .tried == $space and .complete)"
  result "a replay with --strategy $strategy" $? "$work/out"
done
replay --strategy model --in-flight 4 --db "$work/why.db" >"$work/out" 2>"$work/err" &&
  [ "$(query "$work/why.db" "select count(*) = $space and sum(why = 'the default') = 1 and sum(why like 'random%') > 1 and sum(why like 'expected: %') > 1 and count(why) = $space from measurement")" = 1 ]
result "a row says why its variant was proposed" $? "$work/err"
replay --strategy model --in-flight 4 --why --trace "$work/model.json" >"$work/out" 2>"$work/err" &&
  grep -q '^small .*: the default$' "$work/err" && grep -qE '^small .*: expected: .* ms \+- .* %, a gain of .* %, .* % likely to work' "$work/err" && json '.tasks[0] | .complete and .tried > 16 and (.remark | type == "string")' &&
  jq -e '[.[] | select(.name == "propose") | .args.detail] | any(. != null and startswith("random")) and any(. != null and startswith("expected: "))' "$work/model.json" >"$work/jq"
result "a replay with --strategy model, which says why each variant was proposed, and so does its trace" $? "$work/out" "$work/jq"
[ "$sum" = "$(cksum "$work/local.db")" ] && [ ! -e "$work/data" ]
result "writes nothing" $?
HALOTUNE_LIBCUDA=/nonexistent HALOTUNE_NVRTC=/nonexistent replay --db "$work/replayed.db" >"$work/out" 2>"$work/err" &&
  [ "$(query "$work/replayed.db" "attach '$work/local.db' as was; select count(*) from measurement m join variant v on v.id = m.variant_id join was.variant w on
    w.source_hash = v.source_hash join was.measurement o on o.variant_id = w.id where m.registers = o.registers and m.occupancy = o.occupancy and m.compile_ms is null")" = $space ]
result "needs no GPU, compiles nothing, and has registers from the recording" $? "$work/err"
[ "$(query "$work/replayed.db" "attach '$work/local.db' as was; select distinct r.nvrtc <> '' and r.nvrtc = o.nvrtc and r.driver = o.driver from run r, was.run o")" = 1 ]
result "and driver and compiler" $?
fails "a replay of nothing" 4 'nowhere.db: there is no recording' "$program" tune star7 --grid 16,16,16 --backend replay:"$work/nowhere.db"
"$program" tune star7 --grid 16,16,16 --dtype f32 --template-dir "$templates" --backend replay:"$work/list.db" --template small,other --json >"$work/out" 2>"$work/err" &&
  json ".tasks[0] | .complete and .tried == $(query "$work/list.db" 'select count(*) from measurement') and .outcomes.pruned == 0"
result "the space of a replay is what was recorded" $? "$work/out"
# The recording has launches in a graph. Its copy has them on a stream, and then half of them in a graph, too.
copy_of "$work/local.db" "$work/modes.db"
query "$work/modes.db" "update problem set launch = 'stream'"
modes() { # option...
  timeout "$LIMIT_S" "$program" tune star7 --grid 16,16,16 --dtype f32 --template-dir "$templates" --template small --backend replay:"$work/modes.db" --budget none --json "$@"
}
replay >"$work/out" 2>"$work/err" && json '.tasks[0].launch == "graph"' && modes >"$work/out" 2>"$work/err" && json ".tasks[0] | .launch == \"stream\" and .tried == $space"
result "a replay has the launch mode of its recording" $? "$work/out" "$work/err"
fails "a launch mode that was not recorded" 4 'modes.db has no results of this problem with this --launch' modes --launch graph
query "$work/modes.db" "create temp table p as select * from problem; update p set id = id + 1000, launch = 'graph'; insert into problem select * from p;
  create temp table r as select * from run; update r set id = id + 1000, problem_id = problem_id + 1000, outcomes = null; insert into run select * from r;
  create temp table m as select * from measurement where number % 2; update m set id = id + 1000, run_id = run_id + 1000; insert into measurement select * from m"
modes >"$work/out" 2>"$work/err" && json ".tasks[0] | .complete and .launch == \"graph\" and .tried == $(((space + 1) / 2)) and .outcomes.pruned == 0" &&
  modes --launch stream >"$work/out" 2>"$work/err" && json ".tasks[0] | .complete and .launch == \"stream\" and .tried == $space"
result "a replay does not mix launch modes" $? "$work/out" "$work/err"
query "$work/local.db" "vacuum into '$work/bare.db'"
query "$work/bare.db" "update measurement set samples = null"
bare() { # option...
  timeout "$LIMIT_S" "$program" tune star7 --grid 16,16,16 --dtype f32 --template-dir "$templates" --template small --backend replay:"$work/bare.db" --budget none "$@"
}
bare --json >"$work/out" 2>"$work/err" && json '.tasks[0] | .complete and (.winner | .time_ms > 0 and .time_low_ms == null and .time_high_ms == null
  and .share_of_roof > 0 and .share_of_roof_low == null and .share_of_roof_high == null and .samples == 1)'
result "without samples in the recording, no interval is known" $? "$work/out"
bare --db "$work/bared.db" >"$work/out" 2>"$work/err" && grep -q '^star7 f32 16x16x16  *[0-9.]*  *-  *[0-9.]*  *[0-9.]*  *[0-9.]*  *'"$space" "$work/out"
result "nor is in the table" $? "$work/out"
# The winner's row needs these columns: 0 and -1 stand for values that the recording lacks. Recorded time counts, not the machine's.
copy_of "$work/bare.db" "$work/barest.db"
query "$work/barest.db" "update measurement set occupancy = null, registers = null, shared_bytes = null, rms_error = null, max_error = null,
  max_error_units = null, compile_ms = 2000"
barest() { # option...
  rm -f "$work/from.db"
  timeout "$LIMIT_S" "$program" tune star7 --grid 16,16,16 --dtype f32 --template-dir "$templates" --template small --strategy random --backend replay:"$work/barest.db" \
    --db "$work/from.db" --json "$@"
}
barest --budget none >"$work/out" 2>"$work/err" && json ".tasks[0] | .complete and .tried == $space" &&
  [ "$(query "$work/from.db" "select occupancy, registers, rms_error from best")" = "0.0 -1 -1.0" ] && "$program" db check --db "$work/from.db" >"$work/out" 2>&1
result "a replay of a recording without occupancy, registers and errors has a winner" $? "$work/err"
# With four at a time, at most five compiles of 2 s begin within 9 s, one after the other.
barest --budget 9s --in-flight 1 >"$work/out" 2>"$work/err" && json ".tasks[0] | .tried < 8 and .search_s > 3" &&
  barest --budget 9s --in-flight 4 >"$work/out" 2>"$work/err" && json ".tasks[0] | .tried >= 8 and .tried <= 21"
result "the budget of a replay counts recorded compiles, --in-flight at a time" $? "$work/out" "$work/err"
# The default takes 1 ms, and all other variants 2 ms, so that a search ends their samples early.
copy_of "$work/bare.db" "$work/slower.db"
query "$work/slower.db" "update measurement set outcome = 'measured', median_ms = 2, minimum_ms = 2 where variant_id not in
  (select f.variant_id from finalist f where f.is_default);
  update measurement set outcome = 'measured', median_ms = 1, minimum_ms = 1 where variant_id in (select f.variant_id from finalist f where f.is_default)"
slower() { # option...
  timeout "$LIMIT_S" "$program" tune star7 --grid 16,16,16 --dtype f32 --template-dir "$templates" --template small --strategy exhaustive \
    --backend replay:"$work/slower.db" --budget none --no-hints --db "$work/full.db" --json "$@"
}
slower >"$work/out" 2>"$work/err" && json ".tasks[0].outcomes | .screened == $space - 1 and .measured == 1" &&
  slower --measure full >"$work/out" 2>"$work/err" && json ".tasks[0] | .recalled == 1 and .outcomes.screened == 0 and .outcomes.measured == $space" &&
  slower --measure full >"$work/out" 2>"$work/err" && json ".tasks[0].recalled == $space"
result "with --measure full no variant's samples end early, and those that ended early in an earlier run are measured again" $? "$work/out" "$work/err"
slower --measure full --fresh --members 3 --in-flight 8 >"$work/out" 2>"$work/err" && json ".tasks[0].outcomes | .screened == 0 and .measured == $space"
result "members of a team do so, too" $? "$work/out" "$work/err"
fails "a way to measure that is none" 2 'measure' slower --measure slowly
ask() { "$program" query star7 --grid 16,16,16 --device 'NVIDIA H200' --db "$1" --json >"$work/out" 2>"$work/err" && json "$2"; } # DB FILTER
ask "$work/bared.db" '.time_ms > 0 and .low_ms == null and .high_ms == null' && ask "$base" '.low_ms <= .time_ms and .time_ms <= .high_ms' &&
  "$program" query star7 --grid 16,16,16 --device 'NVIDIA H200' --db "$work/bared.db" >"$work/out" 2>"$work/err" && grep -q '^time .* ms (95 %: unknown)$' "$work/out"
result "nor in what a lookup finds" $? "$work/err"
"$program" db check --db "$work/bared.db" >"$work/out" 2>&1
result "and the database is sound" $? "$work/out"
fails "never into the recording" 2 'the recording itself' replay --db "$work/local.db"

# --- launches of sm_90 ------------------------------------------------------------------------------------------------

# A template of tests/data/templates, its winner, and a C program that includes it as a header.
for what in tensor:stores=engine,overlap=1,block_x=32 tensor:stores=block,overlap=0,block_x=32 cluster:cluster_x=4,cluster_y=2,overlap=0; do
  template=${what%%:*} set=${what#*:} sm=$work/$template-$number.db
  timeout "$LIMIT_S" "$program" tune star7 --grid 16,16,16 --dtype f32 --template-dir tests/data/templates --template "$template" --set "$set" \
    --strategy exhaustive $patient --db "$sm" --json >"$work/out" 2>"$work/err" &&
    json '.tasks[0] | .complete and .tried == .outcomes.measured + .outcomes.screened' && "$program" db check --db "$sm" >"$work/out"
  result "$what: every variant is measured" $? "$work/err"
  "$program" query star7 --grid 16,16,16 --db "$sm" --device 'NVIDIA H200' --header -o "$work/kernel.h" 2>"$work/err"
  name=star7_f32_16x16x16 bind='' pointers='u, v'
  if [ "$template" = tensor ]; then
    bind="struct ${name}_fields fields; if (result == CUDA_SUCCESS) result = ${name}_bind(&fields, u, v);" pointers='&fields'
  fi
  # The weights' sum is 1, so that ones stay ones.
  cat >"$work/main.c" <<C
#include "kernel.h"
#include "kernel.h"
#include <stdio.h>
int main(void) {
  static float ones[${name}_ELEMENTS], got[${name}_ELEMENTS];
  CUcontext context;
  CUdeviceptr u, v;
  struct $name kernel;
  int i, good = 0;
  for (i = 0; i < ${name}_ELEMENTS; i++) ones[i] = 1;
  if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context)) return 1;
  if (cuMemAlloc(&u, sizeof ones) || cuMemAlloc(&v, sizeof ones) || cuMemcpyHtoD(u, ones, sizeof ones)) return 2;
  CUresult result = ${name}_load(&kernel);
  $bind
  if (result == CUDA_SUCCESS) result = ${name}_launch(&kernel, 0, $pointers);
  if (result == CUDA_SUCCESS) result = cuMemcpyDtoH(got, v, sizeof got);
  for (i = 0; i < ${name}_ELEMENTS; i++) good += got[i] > 0.9999f && got[i] < 1.0001f;
  printf("%d of 2744 points\n", good);
  return ${name}_unload(&kernel) || result || good != 2744;
}
C
  cp "$work/main.c" "$work/main.cc"
  cuda=${CUDA_HOME:-/usr/local/cuda}/include
  "${CC:-gcc}" -std=c99 -Wall -Wextra -Werror -isystem "$cuda" -c -o "$work/main.o" "$work/main.c" 2>"$work/err" &&
    "${CXX:-g++}" -std=c++11 -Wall -Wextra -Werror -isystem "$cuda" -c -o "$work/main_cc.o" "$work/main.cc" 2>>"$work/err"
  result "a header with it compiles as C99 and C++11" $? "$work/err"
  "${CC:-gcc}" -o "$work/main" "$work/main.o" "$library" && "$work/main" >"$work/out" 2>&1
  result "and computes what it should" $? "$work/out"
done
env HALOTUNE_FAKE_FAULT=cuTensorMapEncodeTiled=NOT_SUPPORTED \
  timeout "$LIMIT_S" "$program" tune star7 --grid 16,16,16 --dtype f32 --template-dir tests/data/templates --template tensor --set promotion=128 \
  --strategy exhaustive $patient --db "$work/no_maps.db" >"$work/out" 2>"$work/err"
[ $? = 1 ] && grep -q 'no winner: no correct variant' "$work/out" && ! grep -q 'to go on' "$work/err"
result "a driver that encodes no tensor map: each variant is a launch that failed" $? "$work/out"
[ "$(query "$work/no_maps.db" "select distinct outcome, reason like 'cuTensorMapEncodeTiled of boxes of % elements: CUDA_ERROR_NOT_SUPPORTED%' from measurement")" = "launch_failed 1" ]
result "and says why" $?
env HALOTUNE_FAKE_FAULT=cuLaunchKernelEx=INVALID_CLUSTER_SIZE timeout "$LIMIT_S" "$program" tune star7 --grid 16,16,16 --dtype f32 \
  --template-dir tests/data/templates --template cluster --set cluster_x=8,overlap=0 --strategy exhaustive $patient --db "$work/no_clusters.db" \
  >"$work/out" 2>"$work/err"
[ "$(query "$work/no_clusters.db" "select distinct outcome, reason like 'cuLaunchKernelEx in clusters of 8x1x1 blocks: CUDA_ERROR_INVALID_CLUSTER_SIZE%' from measurement")" = "launch_failed 1" ]
result "clusters that do not fit are launches that failed" $? "$work/err"

# --- several GPUs -----------------------------------------------------------------------------------------------------

both=$work/both.db
HALOTUNE_FAKE_DEVICES=2 tune "$both" --device all --json >"$work/out" 2>"$work/err" &&
  json '.devices | length == 1 and (.[0].tasks[0] | .complete and .tried == '"$space"' and .lost == 0 and (.gpus | length == 2
    and (map(.uuid) | unique | length == 2) and (map(.results) | add == '"$space"') and all(.factor == 1 and .winner_ms > 0 and .left_out == null)))' &&
  [ "$(query "$both" "select count(*), count(distinct variant_id), max(number) from measurement")" = "$space $space $space" ]
result "--device all: GPUs of one model share a task, and each variant has one row" $? "$work/err"
of_member=$(jq '.devices[0].tasks[0].gpus[1].results' "$work/out")
[ "$(query "$both" "select count(gpu), count(case when gpu like 'GPU-%01' then 1 end) from measurement")" = "$of_member $of_member" ]
result "a row says which GPU measured it" $?
[ "$(query "$both" "select warnings like '%on 2 GPUs the winner took % ms, a spread of %' from run")" = 1 ]
result "and the run how the GPUs differ" $?
HALOTUNE_FAKE_DEVICES=2 tune "$both" --device all >"$work/out" 2>"$work/err" && [ "$(grep -c '^NVIDIA H200' "$work/out")" = 1 ] &&
  grep -q "$space tried ($space of them by earlier runs)" "$work/out" && grep -q '^2 GPUs took part; the winner.s times on them spread by' "$work/out"
result "the same command goes on" $? "$work/out"
HALOTUNE_FAKE_DEVICES=3 tune "$work/two.db" --device 0,2 --json >"$work/out" 2>"$work/err" &&
  json '.tasks[0].gpus | map(.uuid[-2:]) == ["00", "02"]'
result "--device 0,2" $? "$work/out"
# Three tasks for two GPUs, of one source but for the kernel's name. If the leader's GPU waits first, nobody gives the
# other one a variant, until the leader takes its GPU for hung.
side=$work/side.db
tune_side() { # option...
  timeout $LIMIT_S "$program" tune --plan "$work/side.yaml" --resume --template-dir "$templates" --template small --set block_y=1,points_y=1 --strategy exhaustive --budget none --hang-timeout 10s --device all --db "$side" "$@"
}
sed 's/^name: star7$/name: last7/' kernels/star7.yaml >"$work/last7.yaml"
printf 'plan: 1\ntasks:\n' >"$work/side.yaml"
for task in $work/last7.yaml:12 star7:14 star7:16; do printf '  - {stencil: %s, dtype: f32, grid: [%s, 16, 16]}\n' ${task%:*} ${task#*:}; done >>"$work/side.yaml"
# Half of the last task's kernels load only after both GPUs have tried to load one.
HALOTUNE_FAKE_FAULT=cuModuleLoadData@last7_small,vector=2=wait HALOTUNE_FAKE_GO=$work/go HALOTUNE_FAKE_LOG=$work/side.log HALOTUNE_FAKE_DEVICES=2 \
  tune_side --json >"$work/out" 2>"$work/err" &
tuner=$!
both_wait() { [ "$(cat "$work/side.log" 2>/dev/null | grep -c '^fault cuModuleLoadData')" -ge 2 ] || ! kill -0 $tuner 2>/dev/null; }
await both_wait
touch "$work/go"
wait $tuner && grep -qx 'halotune: 2 GPUs run 2 tasks side by side, and then 1 together' "$work/err" &&
  json '.devices[0].tasks | (map(.grid[0]) == [16, 14, 12]) and all(.complete and .tried == '"$of_quarter"') and (map(.gpus | length) == [1, 1, 2])
    and (map(.gpus[0].uuid[-2:]) == ["00", "01", "00"])' &&
  [ "$(query "$side" "select count(*), count(distinct run_id), count(distinct run_id || variant_id) from measurement")" = "$((3 * of_quarter)) 3 $((3 * of_quarter))" ] &&
  [ "$(query "$side" "select group_concat(substr(d.uuid, -2)) from (select * from problem order by nx desc) p join device d on d.id = p.device_id join best b on b.problem_id = p.id and b.is_current")" = 00,01,00 ]
result "two GPUs run tasks side by side, and the last one together" $? "$work/err"
sqlite3 "$side" "update run set state = 'partial'; delete from measurement where number > 5"
HALOTUNE_FAKE_DEVICES=2 tune_side --json >"$work/out" 2>"$work/err" && json '.devices[0].tasks | map(.recalled) == [5, 5, 5]'
result "the same command goes on: each GPU takes up its own task" $? "$work/err"
HALOTUNE_FAKE_DEVICES=1 tune "$work/shared.db" --device all --members 2 --json >"$work/out" 2>"$work/err" &&
  json '.devices[0].tasks[0] | .complete and (.gpus | map(.uuid[-2:]) == ["00", "00"])'
result "--members: two processes share a GPU" $? "$work/out"
tune "$work/replayed.db" --backend replay:"$both" --members 3 --json >"$work/out" 2>"$work/err" &&
  json '.tasks[0] | .complete and .tried == '"$space"' and (.gpus | length == 3)'
result "--members: a team without GPUs replays a recording" $? "$work/out"
for members in 8 9; do
  "$program" tune star7 --grid 16,16,16 --dtype f32 --template-dir "$templates" --template small --backend replay:"$both" --max-variants 2 --members $members \
    --db "$work/strategy.db" >"$work/out" 2>"$work/err-$members"
done
[ "$(query "$work/strategy.db" "select group_concat(strategy) from (select strategy from run order by id)")" = model,local ] &&
  grep -qF 'strategy local proposes for 9 processes' "$work/err-9" && ! grep -qF 'strategy local' "$work/err-8"
result "a team of more than eight searches with local" $? "$work/err-9"
HALOTUNE_FAKE_FAULT="cuModuleLoadData=slow:200" HALOTUNE_FAKE_DEVICES=2 HALOTUNE_FAKE_STATE="$work/orphans.state" "$program" tune star7 \
  --grid 16,16,16 --dtype f32 --template-dir "$templates" --template small --device all --db "$work/orphans.db" >"$work/out" 2>&1 &
tuner=$!
left() { grep -lsF "$work/orphans.state" /proc/[0-9]*/environ | wc -l; }
has_begun() { [ "$(left)" -ge 6 ]; } # the program, two for the GPUs, and their workers and compilers
await has_begun
kill -KILL $tuner
wait $tuner 2>/dev/null
is_gone() { [ "$(left)" = 0 ]; }
await is_gone
result "killed, it leaves no process" $?
HALOTUNE_FAKE_FAULT="cuModuleLoadData=slow:200" HALOTUNE_FAKE_DEVICES=2 HALOTUNE_FAKE_STATE="$work/orphans.state" "$program" tune star7 \
  --grid 16,16,16 --dtype f32 --template-dir "$templates" --template small --device all --db "$work/orphans.db" >"$work/out" 2>&1 &
tuner=$!
await has_begun
# shellcheck disable=SC2046
kill -STOP $(cat "/proc/$tuner/task/$tuner/children")
is_ended_by_signals() { ! kill -TERM $tuner 2>/dev/null || grep -q '^State:.Z' "/proc/$tuner/status" 2>/dev/null; }
await is_ended_by_signals
wait $tuner
await is_gone
result "a second signal ends processes of GPUs that do not answer" $?
fails "--device all is for GPUs" 2 'for GPUs' tune "$both" --device all --backend host
fails "a list is for GPUs, too" 2 'takes --members' tune "$both" --device 0,1 --backend host
fails "a GPU twice" 2 'names GPU 1 twice' tune "$both" --device 1,1
fails "fewer processes than GPUs" 2 'fewer than the 2 GPUs' tune "$both" --device 0,1 --members 1
fails "no list" 2 'not .0,x.' tune "$both" --device 0,x

# --- the command line -------------------------------------------------------------------------------------------------

fails "no stencil" 2 'name one stencil' "$program" tune
fails "a stencil that there is none of" 4 'nothing' "$program" tune nothing
fails "an option that there is none of" 2 'nonsense' "$program" tune star7 --nonsense
fails "a strategy that there is none of" 2 'takes local, model, random or exhaustive' tune "$db" --strategy clever
fails "a backend that there is none of" 2 'cuda, host or replay' tune "$db" --backend fpga
fails "a GPU that there is none of" 2 '7' tune "$db" --device 7
for gpu in '70 CUDA 12 is the last' '990 install a newer Halotune'; do
  HALOTUNE_FAKE_CAPABILITY=${gpu%% *} fails "an architecture that there is none of: ${gpu%% *}" 3 "${gpu#* }" tune "$work/no_gpu.db"
done
fails "no GPU: where to look for it" 3 'nvidia-smi -L' env HALOTUNE_FAKE_DEVICES=0 "$program" tune star7 --grid 16,16,16 --db "$work/no_gpu.db"
[ ! -e "$work/no_gpu.db" ]
result "and nothing is stored" $?
fails "an objective that there is none of" 2 'takes time, energy or edp' tune "$db" --objective power
fails "a share that is none" 2 'good-enough' tune "$db" --good-enough much
fails "--fresh and --rematch" 2 'rematch' tune "$db" --fresh --rematch
fails "a value that no template has" 2 "block_x" tune "$db" --set block_x=65
fails "a template twice" 2 'twice' tune "$db" --template small,small
fails "a grid that is too small" 2 "no point of this grid" tune "$work/small.db" --grid 2,2,2
fails "a recording without the problem" 4 'no results' "$program" tune star7 --grid 32,16,16 --dtype f32 --template-dir "$templates" \
  --template small --backend replay:"$work/local.db"
while IFS='|' read -r words code message; do
  # shellcheck disable=SC2086
  fails "--dry-run checks $words" "$code" "$message" "$program" tune star7 --dry-run $words
done <<END
--backend nonsense|2|cuda, host or replay
--backend replay:/nowhere.db|4|there is no recording
--device foo|2|device
--device 77|2|no GPU 77
--device all --backend host|2|for GPUs
--workers 0|2|workers
END
HALOTUNE_LIBCUDA=/nonexistent "$program" tune star7 --dry-run --device 77 >"$work/out" 2>"$work/err"
result "but no GPU where there is no driver" $? "$work/err"
"$program" tune --all --dry-run >"$work/out" 2>"$work/err" && [ "$(head -n 1 "$work/out" | cut -d' ' -f1)" = copy ] && grep -q 'tasks of 60 s, and about [0-9]* s of set-up each: about [0-9]* minutes$' "$work/err"
result "--all begins with the copy, and says how long it takes" $? "$work/err"
"$program" tune --all --dry-run --deadline 9m >"$work/out" 2>"$work/err" && grep -q '; --deadline leaves only 9 minutes$' "$work/err"
result "and what a deadline leaves of that" $? "$work/err"
"$program" tune star7 --budget none --dry-run >"$work/out" 2>"$work/err" && grep -q '1 task without a limit of time$' "$work/err"
result "--budget none has no time to tell" $? "$work/err"

finish
