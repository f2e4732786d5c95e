#!/bin/sh
# roof.sh: bench/roof.sh, on the driver of tests/fake_cuda with a small space and small grids: what it writes, that it
# distinguishes reached targets from missed ones, that it continues, and several GPUs; and bench/steps.sh
# and the table of bench/near_gpu_bench.c. Its times mean nothing. Prints TAP.
set -u
small_blocks=128 # 8 configurations: each costs two compilations for each stencil and type
. "$(dirname "$0")/fake_gpu.sh"
export HALOTUNE="$program" HALOTUNE_TEMPLATE_PATH="$templates" TEMPLATES=small
export BUDGET=none TABLE="$work/roof.txt" RESULTS="$work/results" DB="$work/roof.db"
unset AGAIN DEVICES
# Without this, each search reads all rows of the starter database.
export HINTS="$work/hints.db"
echo '{"format": "halotune database", "version": 1, "tables": {}}' >"$work/hints.json"
"$program" db import --trust --yes --db "$HINTS" "$work/hints.json" >"$work/out" 2>&1
result "searches begin without hints" $? "$work/out"
NEAR=${NEAR:-$(ls -t build/obj/*/bench/near_gpu_bench 2>/dev/null | head -n 1)}
query() { sqlite3 -separator ' ' "file:$DB?mode=ro" "$1"; } # SQL
json() { jq -e "$1" "$RESULTS/roof-nvidia-h200.json" >"$work/jq" 2>&1; } # FILTER
roof() { timeout "$LIMIT_S" bench/roof.sh >"$work/out" 2>"$work/err"; }

# --- the tables of this project ---------------------------------------------------------------------------------------

unknown=$(cat bench/roof.txt bench/sizes.txt | sed 's/#.*//' | awk NF | while read -r stencil dtype grid launch against target rest; do
  "$program" tune "$stencil" --dtype "$dtype" --grid "$grid" --dry-run >"$work/out" 2>&1 &&
    [ -n "$target" ] && [ -z "$rest" ] &&
    case $launch:$against in auto:copy | auto:memcpy | graph:classic | stream:classic) ;; *) false ;; esac ||
    echo "$stencil $dtype $grid"
done)
echo "$unknown" >"$work/unknown"
[ -z "$unknown" ] && [ "$(sed 's/#.*//' bench/roof.txt | grep -c .)" -ge 30 ]
result "each row of bench/roof.txt and bench/sizes.txt can be tuned" $? "$work/unknown"

# --- what reaches a target --------------------------------------------------------------------------------------------

# Each line has what a target is compared with, the target, whether it is reached, and the winner in the database.
while read -r against target want winner; do
  printf '[{"gpu": "G", "stencil": "s", "dtype": "f32", "grid": "8,1,1", "launch": "stream", "time_ms": 1, %s}]' \
    "\"parameters\": \"{}\", $winner" >"$work/winners.json"
  got=$(echo "s f32 8 auto $against $target" |
    jq -Rn --slurpfile winners "$work/winners.json" --arg gpu G --arg name roof -f bench/roof.jq | jq '.rows[0].reached')
  [ "$got" = "$want" ]
  result "against $against, target $target, $winner: $want" $? "$work/winners.json"
done <<T
copy     0.97  true   "roof_ratio": 0.96, "roof_ratio_low": 0.95, "roof_ratio_high": 0.9701
copy     0.97  false  "roof_ratio": 0.96, "roof_ratio_low": 0.95, "roof_ratio_high": 0.9699
copy     0.97  null   "roof_ratio": 0.98, "roof_ratio_low": null, "roof_ratio_high": null
copy     -     null   "roof_ratio": 0.98, "roof_ratio_low": 0.97, "roof_ratio_high": 0.99
memcpy   1.00  true   "memcpy_ms": 0.999, "low_ms": 0.998, "high_ms": 1.001, "roof_ratio_high": 0.9
memcpy   1.00  false  "memcpy_ms": 0.999, "low_ms": 0.9995, "high_ms": 1.001, "roof_ratio_high": 1.1
memcpy   1.00  null   "memcpy_ms": null, "low_ms": 0.9995, "high_ms": 1.001
classic  0.75  true   "classic_ratio": 1.3, "classic_ratio_low": 1.2, "classic_ratio_high": 1.34
classic  0.75  false  "classic_ratio": 1.3, "classic_ratio_low": 1.2, "classic_ratio_high": 1.33
classic  0.75  null   "classic_ratio": null
T

# --- a whole run ------------------------------------------------------------------------------------------------------

cat >"$TABLE" <<T
copy          f32  4096      auto    memcpy   0.01
star7         f32  16,16,16  auto    copy     0.01
star7         f64  16,16,16  auto    copy     99  # more than there is
derivative_x  f32  16,16,16  graph   classic  99
derivative_z  f32  16,16,16  graph   classic  0.01
derivative_z  f32  16,16,16  stream  classic  -
T
rows=6
roof
result "a whole run" $? "$work/err"
grep -q '^NVIDIA H200: 3 of 5 targets reached, 0 rows without a winner$' "$work/err" &&
  json '.gpu == "NVIDIA H200" and .reached == 3 and .targets == 5'
result "how many targets are reached" $? "$work/err"
json '[.rows[].reached] == [true, true, false, true, false, null]'
result "targets that are reached, such that are not, and a row without one" $? "$work/jq"
json '.rows | all(.low <= .share and .share <= .high and .low > 0 and .time_ms > 0 and .tuning_s > 0 and .space > 1)'
result "shares with their intervals, times, sizes of the space" $? "$work/jq"
cp "$RESULTS/roof-nvidia-h200.json" "$work/whole.json"
jq -r '.rows[] | "\(.stencil) \(.dtype) \(.launch)"' "$RESULTS/roof-nvidia-h200.json" >"$work/order"
diff - "$work/order" >"$work/diff" <<T
copy f32 graph
star7 f32 graph
star7 f64 graph
derivative_x f32 graph
derivative_z f32 graph
derivative_z f32 stream
T
result "rows in the order of the table" $? "$work/diff"
json '.rows[3:] | all(.classic_ms and .empty_ms and (.share - .time_ms / .classic_ms | fabs) < 1e-3
  and (.classic_parameters | .pencils == 4 or (.pencils == 32 and .block_x == 32 and .block_y == 8)))'
result "the best classic variant beside the winner" $? "$work/jq"
[ "$(query "select count(*), sum(f.rank > 0) from finalist f join variant v on v.id = f.variant_id
  join template t on t.id = v.template_id where f.is_default and t.name = 'classic'")" = "3 3" ]
result "in the same rounds" $?
[ "$(query "select group_concat(distinct s.name), count(*) from best b join problem p on p.id = b.problem_id join stencil s on s.id = p.stencil_id
  where default_ms is null")" = "derivative_x,derivative_z 3" ]
result "and for no default of ours" $?
[ "$(sqlite3 "$work/roof-classic.db" "select count(*) from (select count(distinct variant_id) n,
  count(distinct v.parameters ->> 'pencils') shapes from measurement m join variant v on v.id = m.variant_id
  group by m.run_id) where n = 15 and shapes = 2")" = 3 ]
result "chosen out of all classic variants" $?
page=$RESULTS/roof-nvidia-h200.md
share='[0-9.]* | [0-9.]* to [0-9.]*' variant='[0-9]* lines, [0-9x]* threads'
grep -q "^| star7 | f32 | 16x16x16 | $share | 0.01 | reached | [0-9.]* | small | 8 | 8 | [0-9]* |$" "$page" &&
  grep -q "^| star7 | f64 | 16x16x16 | $share | 99.00 | \*\*not reached\*\* |" "$page" &&
  grep -q "^| derivative_z | f32 | 16x16x16 | stream | $share | - |  | [0-9.]* | [0-9.]* | $variant | 3\." "$page"
result "the page" $? "$page"

# --- going on ---------------------------------------------------------------------------------------------------------

runs() { query "select count(*) from run"; }
roof && [ "$(runs)" = $rows ]
result "rows that are complete are left as they are" $? "$work/err"
# From here on three rows do, one of each kind.
cp "$TABLE" "$work/whole.txt"
sed -n '1p; 2p; 4p' "$work/whole.txt" >"$TABLE"
few=3
# The finals may fully measure a variant that was clearly slower, which changes its outcome.
AGAIN=1 roof && [ "$(runs)" = $((rows + few)) ] &&
  [ "$(query "select count(*) from (select 1 from measurement m join run r on r.id = m.run_id
    group by r.problem_id, m.variant_id, m.outcome having count(*) > 1)")" = 0 ]
result "AGAIN=1 goes on in them, and measures nothing twice" $? "$work/err"

# Calls are slow, so that the signal comes in the second row. It goes to all processes, as with Ctrl-C.
export DB="$work/stopped.db"
HALOTUNE_FAKE_FAULT="cuModuleLoadData@star7_small=slow:1000" setsid sh -c 'echo $$ >"$0"; exec bench/roof.sh' "$work/pid" \
  >"$work/out" 2>"$work/err" &
script=$!
began() { [ "$(query "select count(*) > 1 from measurement where run_id = 2" 2>/dev/null)" = 1 ]; }
await began
kill -TERM "-$(cat "$work/pid")"
wait $script
[ $? = 1 ] && grep -q '^ended early; the same command goes on$' "$work/err" &&
  [ "$(query "select group_concat(state) from run")" = "complete,partial" ] &&
  json '[.rows[] | .time_ms != null] == [true, false, false]'
result "ended early, it says so, and has the rows that are complete" $? "$work/err"
roof && [ "$(query "select sum(state = 'complete'), sum(state = 'partial') from run")" = "$few 1" ] &&
  [ "$(query "select count(*) from (select 1 from measurement m join run r on r.id = m.run_id
    group by r.problem_id, m.variant_id having count(*) > 1)")" = 0 ] &&
  json '.reached == 3'
result "the same command goes on" $? "$work/err"

# --- several GPUs, and rows that fail ---------------------------------------------------------------------------------

export DB="$work/both.db"
HALOTUNE_FAKE_DEVICES=2 DEVICES='0 1' roof && json '.reached == 3' &&
  [ "$(query "select count(*), count(distinct p.id), count(distinct device_id) from run
    join problem p on p.id = problem_id")" = "$few $few 2" ]
result "several GPUs share the rows" $? "$work/err"

export DB="$work/fails.db"
sed 3q "$work/whole.txt" >"$TABLE"
HALOTUNE_FAKE_FAULT="cuModuleLoadData@star7_small=INVALID_IMAGE" roof
[ $? = 1 ] && grep -q '^star7 f32 16,16,16 auto: no winner$' "$work/err" &&
  json '[.rows[] | .time_ms != null] == [true, false, false]' &&
  grep -q '^| star7 | f64 | 16x16x16 | - | - | 99.00 | not measured | - | - | - | - | - |$' "$page"
result "a row without a winner leaves the others alone" $? "$work/err"
export DB="$work/none.db"
HALOTUNE_LIBCUDA=/nonexistent roof
[ $? = 1 ] && [ "$(grep -c 'no winner$' "$work/err")" = 1 ] && grep -q '^halotune: no CUDA driver' "$work/err" &&
  ! grep -q 'Error\|unable to open\|goes on' "$work/err"
result "without a GPU it ends at once, and says nothing but that" $? "$work/err"

# --- several time steps -----------------------------------------------------------------------------------------------

unknown=$(cat bench/steps.txt bench/wide.txt | sed 's/#.*//' | awk NF | while read -r stencil dtype grid steps published source target rest; do
  file=kernels/$stencil.yaml
  [ -e "$file" ] || { file=$work/$stencil.yaml && bench/stencil.sh "$stencil" >"$file"; }
  "$program" tune "$file" --dtype "$dtype" --grid "$grid" --steps "${steps##*,}" --dry-run >"$work/out" 2>&1 &&
    [ -n "$target" ] && [ -z "$rest" ] || echo "$stencil $dtype $grid"
done)
echo "$unknown" >"$work/unknown"
[ -z "$unknown" ]
result "each row of bench/steps.txt and bench/wide.txt can be tuned" $? "$work/unknown"

for stencil in box3d_r4 gradient2d; do
  bench/stencil.sh $stencil >"$work/$stencil.yaml"
  "$program" space "$work/$stencil.yaml" --dtype f64 >"$work/out" 2>&1 && grep -q '[1-9][0-9]* variants of' "$work/out"
  result "$stencil has variants" $? "$work/out"
done

# Each line has a target, its value in GStencil/s and whether it is reached, where a launch of 2 steps on 6 of 8 points takes
# 2 ns to 4 ns, and one of 1 step 3 ns. The third row counts single steps alone.
while read -r target value want; do
  got=$(printf 's f32 8 1,2 5 AN5D %s\nt f32 8 1 - - 9\ns f32 8 1 - - 9\n' "$target" | jq -cRn --arg name steps --arg gpu G --arg date D --arg beside '' -f bench/steps.jq \
    --argjson stencils '[[{"name": "s", "boundary": ["skip"], "radius_low": [1], "radius_high": [1]}, {"name": "t", "boundary": ["periodic"], "radius_low": [1], "radius_high": [1]}]]' \
    --argjson winners '[[{"stencil": "s", "dtype": "f32", "grid": [8, 1, 1], "steps": 2, "tried": 1, "winner": {"time_ms": 3e-6, "time_low_ms": 2e-6, "time_high_ms": 4e-6}},
      {"stencil": "s", "dtype": "f32", "grid": [8, 1, 1], "steps": 1, "tried": 1, "winner": {"time_ms": 3e-6}},
      {"stencil": "t", "dtype": "f32", "grid": [8, 1, 1], "steps": 1, "tried": 1, "winner": {"time_ms": 1e-6}}]]' |
    jq -r '"\(.rows[0] | "\(.rate) \(.steps) \(.target * 100 | round) \(.reached)"), \(.rows[2].rate)"')
  [ "$got" = "4 2 $value $want, 2" ]
  result "steps: target $target: $want" $?
done <<T
6            600  true
6.01         601  false
2*sweep      400  true
3.5*sweep    700  false
0.5*t:f32:8  400  true
T

printf 'star7 f32 16,16,16 1 5 AN5D 99999\nstar7_periodic f32 16,16,16 1 - - 0*sweep\n' >"$work/steps.txt"
steps() { TABLE="$work/steps.txt" WORK="$work/steps" RESULTS="$work/steps_results" bench/steps.sh 2>"$work/err"; }
page=$work/steps_results/steps-nvidia-h200.md
steps && grep -q '^| star7 | f32 | 16x16x16 | 5 (AN5D) | .* | [*][*]not reached[*][*] | 1 | ' "$page" &&
  grep -q '^| star7_periodic | f32 | 16x16x16 | - | .* | 0 (0[*]sweep) | reached | 1 | ' "$page"
result "bench/steps.sh writes the table" $? "$work/err"
! grep -q 'in the same run, another code' "$page" && BESIDE='echo another 9 && echo code 8' steps && grep -qx '    another 9' "$page" && grep -qx '    code 8' "$page"
result "what another code prints in the same run stands below it" $? "$page"
# The number of a GPU counts those that the process may use, also for the other code.
for row in '5,7 1 7' '5 0 5' '5,7 GPU-1 GPU-1' ':1:1'; do
  visible=${row%%[ :]*} rest=${row#*[ :]} && rm "$work/steps/beside"
  CUDA_VISIBLE_DEVICES=$visible DEVICE=${rest%[ :]*} BESIDE='echo code on $CUDA_VISIBLE_DEVICES' steps && grep -qx "    code on ${rest#*[ :]}" "$page"
  result "the other code runs on the GPU of '$row'" $? "$page"
done
cp "$page" "$work/page" && HALOTUNE_LIBCUDA=/nonexistent steps && cmp "$page" "$work/page" >/dev/null
result "bench/steps.sh measures nothing twice" $? "$work/err"
# The same results of another GPU: the targets are not of it.
mkdir "$work/other" && for log in "$work"/steps/*-*.json; do sed 's/NVIDIA H200/NVIDIA H100 80GB HBM3/' "$log" >"$work/other/${log##*/}"; done
TABLE="$work/steps.txt" WORK="$work/other" RESULTS="$work/steps_results" HALOTUNE_LIBCUDA=/nonexistent bench/steps.sh 2>"$work/err" && page=$work/steps_results/steps-nvidia-h100-80gb-hbm3.md &&
  grep -q 'this GPU has none' "$page" && ! grep -q 'reached [|]\|[*][*]' "$page" && grep -q '^| star7 | f32 | 16x16x16 | 5 (AN5D) | .* | - | - | 1 | ' "$page"
result "targets are those of an H200" $? "$work/err"

# A time of several steps is not one of the table's times.
cp "$work/roof.db" "$work/single.db" && cp "$work/single.db" "$work/several.db" &&
  sqlite3 "$work/several.db" "update problem set steps = 2 where stencil_id in (select id from stencil where name = 'star7')"
for steps in single several; do bench/results.sh "$work/$steps.db" >"$work/$steps.md"; done
grep -q '^| star7 ' "$work/single.md" && ! grep -q '^| star7 ' "$work/several.md" && grep -q '^| copy ' "$work/several.md"
result "bench/results.sh leaves winners of several steps out" $? "$work/several.md"

# --- the profile of winners -------------------------------------------------------------------------------------------

# This takes the place of ncu: it knows some counters, and reports one launch if the program runs well.
cat >"$work/ncu" <<'N'
#!/bin/sh
echo "${CUDA_VISIBLE_DEVICES:-all} $*" >>"$(dirname "$0")/ncu.log"
[ "$1" != --query-metrics ] || exec printf '%s  # about it\n' gpu__time_duration dram__throughput dram__bytes_read lts__t_sectors_srcunit_ltcfabric lts__ltcfabric2ltc_cycles_active \
  smsp__average_warps_issue_stalled_selected_per_issue_active smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active \
  smsp__average_warps_issue_stalled_barrier_per_issue_active smsp__average_warps_issue_stalled_barrier_not_issued_per_issue_active
while [ "${1#--}" != "$1" ]; do
  case $1 in
    --metrics) metrics=$2 && shift ;;
    --log-file) log=$2 && shift ;;
    --kernel-name | --launch-count | --clock-control | --cache-control | --target-processes | --print-units | --page) shift ;;
  esac
  shift
done
"$@" || exit
{
  echo "==PROF== Connected"
  echo "\"ID\",\"Kernel Name\",\"$(echo "$metrics" | sed 's/,/","/g')\""
  echo "\"\",\"\",\"$(echo "$metrics" | sed 's/[^,]*/unit/g; s/,/","/g')\""
  echo "\"0\",\"k(float, int)\",\"$(echo "$metrics" | tr ',' '\n' | sed 's/.*duration.*/1,234,560/; s/.*dram__t.*/81.6/; s/.*dram__b.*/553000000/; s/.*cycles.*/97.4/; s/.*sectors.*/20200000/; s/.*selected.*/9/; s/.*long.*/3.14/; s/.*barrier.*/0.9/' |
    paste -s -d '~' | sed 's/~/","/g')\""
} >"$log"
N
chmod +x "$work/ncu"
export NCU="$work/ncu" WORK="$work/profile" RESULTS="$work/profiled"
page=$RESULTS/profile-nvidia-h200.md
profile() { rm -f "$work/ncu.log"; bench/profile.sh >"$work/out" 2>"$work/err"; }
devices() { sed -n 's/ --clock-control.*//p' "$work/ncu.log" | sort -u | tr '\n' ' '; }
mkdir "$RESULTS"
profile
[ $? = 1 ] && grep -q "^no winners of NVIDIA H200 in $RESULTS: make bench-roof\$" "$work/err"
result "without a table of winners there is nothing to profile" $? "$work/err"
cp "$work/whole.json" "$RESULTS/roof-nvidia-h200.json"
counters='1234.6 | 97 % | 20.2 | 553.0 | 82 % | - | - | - | - | - | - | long scoreboard 3.1, barrier 0.9'
profile && [ "$(grep -c '^| [a-z]' "$page")" = 4 ] && grep -qxF "| copy f32 4096, \`small\` | $counters |" "$page" &&
  grep -qxF "| star7 f64 16x16x16, \`small\` | $counters |" "$page"
result "what the profiler says of winners are rows, but not of those beside the classic kernels" $? "$work/err"
variant=$(jq -r '.rows[1].parameters | to_entries | map("\(.key)=\(.value)") | join(",")' "$work/whole.json")
grep -q -- " selftest --gpu --in-process kernels/star7.yaml --dtype f32 --grid 16,16,16 --template small --set $variant\$" "$work/ncu.log"
result "they are the very variants of the table" $? "$work/ncu.log"
grep -q 'barrier_not_issued\|l1tex' "$WORK"/0.csv
[ $? = 1 ]
result "counters that it does not know are not asked for" $? "$WORK"/0.csv
[ "$(devices)" = "all " ] && CUDA_VISIBLE_DEVICES=3 profile && [ "$(devices)" = "3 " ] && DEVICES='0 2' profile && [ "$(devices)" = "0 2 " ]
result "on the GPUs that are numbered, else on the one that is visible" $? "$work/ncu.log"
jq '.rows[1].time_ms = null' "$work/whole.json" >"$RESULTS/roof-nvidia-h200.json"
profile
[ $? = 1 ] && grep -q '^star7 f32 16,16,16: no winner: make bench-roof$' "$work/err" && grep -q '2 rows, 1 without a profile$' "$work/err"
result "a row without a winner is told" $? "$work/err"

# The periodic star takes a file that bench/stencil.sh writes.
page=$RESULTS/profile-steps-nvidia-h200.md
jq '.rows[1].reached = false | .rows += [.rows[1] | .reached = true]' "$work/steps_results/steps-nvidia-h200.json" >"$RESULTS/steps-nvidia-h200.json"
NAME=steps profile && [ "$(grep -c '^| [a-z]' "$page")" = 3 ] && grep -qxF "| star7 f32 16x16x16, \`small\` | $counters |" "$page" &&
  grep -qxF "| star7_periodic f32 16x16x16, \`small\` | $counters |" "$page"
result "of the winners of several steps, those below their target are rows" $? "$work/err"

# --- answers for other problems -----------------------------------------------------------------------------------------

# All problems have rows, so that nothing is searched.
mkdir "$work/near"
tune "$work/near.db" --max-variants 1 >"$work/out" 2>"$work/err"
row() { printf '%s\tf32\t64x64x64\t%s\t%s\t64x64x64\tstream\t%s\t0.1\t%s\tnan\tnan\t0.1\t0.1\t10\t1.02\tsmall\t{}\n' "$@"; } # NAME MATCH OF MS RATIO
{ row star7 exact star7 0.1 1 && row box27 grid box27 nan nan; } >"$work/near/rows.tsv"
printf '%s f32 64,64,64\n' star7 box27 >"$work/questions"
near() { "$NEAR" --db "$work/near.db" --work "$work/near" --questions "$work/questions" --seconds 0 >"$work/out" 2>"$work/err"; }
near
[ $? = 1 ] && grep -qx '1 of 2 answers could not run' "$work/out"
result "an answer that could not run is told: exit code 1" $? "$work/out"
{ row star7 exact star7 0.1 1 && row box27 none - nan nan; } >"$work/near/rows.tsv"
near
[ $? = 1 ] && grep -qx '1 of 2 lookups had no answer' "$work/out"
result "and a lookup without an answer" $? "$work/out"
row star7 exact star7 0.1 1 >"$work/near/rows.tsv"
sed -i 1q "$work/questions"
near && ! grep -q ' of 1 ' "$work/out" &&
  grep -qx "| the quick winner's time over the best of the search | 1 | 1.020 | 1.020 | 1.020 | 1.020 |" "$work/out"
result "else all is well" $? "$work/out"

finish
