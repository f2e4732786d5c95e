#!/bin/sh
# filled.sh: `halotune tune` where the fields fill the GPU's memory, on the driver of tests/fake_cuda, which refuses
# allocations beyond its memory: what is compared, what is found, and who wins. Prints TAP.
set -u
small_blocks=128 # 8 configurations
. "$(dirname "$0")/fake_gpu.sh"
query() { sqlite3 -separator ' ' "$1" "$2"; } # DB SQL
json() { jq -e "$1" "$work/out" >"$work/jq" 2>&1; } # FILTER

# Two fields with guards take 5.1 MB, and with copies and reference 7.7 MB.
fill() { # DB option...
  rm -f "$1"
  case " $* " in *" --grid "*) ;; *) set -- "$@" --grid 48,48,48 ;; esac
  HALOTUNE_FAKE_MEMORY_MB=${MEMORY_MB:-6} tune "$@" --no-hints >"$work/out" 2>"$work/err"
}
drawn_runs="select count(*) from run where warnings like 'the fields fill the GPU''s memory: % of 97336 points, in planes and boxes drawn from the seed%the winner was compared with the reference at all points%'"

MEMORY_MB=16 fill "$work/whole.db" --json
result "there is room for a whole reference" $? "$work/err"
json '.tasks[0].winner | .drawn_points == null and .share_of_roof > 0' && [ "$(query "$work/whole.db" "$drawn_runs")" = 0 ]
result "nothing is drawn" $? "$work/out"

fill "$work/plain.db"
result "there is room for the fields alone" $? "$work/err"
grep -q "; the fields fill the GPU's memory: variants were compared at [0-9]* drawn points, the winner at all" "$work/out"
result "the line of the task says what was compared" $? "$work/out"
[ "$(query "$work/plain.db" "$drawn_runs")" = 1 ]
result "the run's warnings say so, too" $?
# The largest error is the largest of fewer points.
[ "$(sqlite3 "$work/plain.db" "attach '$work/whole.db' as whole;
  select count(*), min(a.max_error_units <= b.max_error_units and a.max_error_units > 0.5 * b.max_error_units) from measurement a
  join variant v on v.id = a.variant_id join whole.variant w on w.parameters = v.parameters
  join whole.measurement b on b.variant_id = w.id")" = '8|1' ]
result "errors of all variants are those of fewer points" $?
[ "$(query "$work/plain.db" "select count(*) from best where is_current and second_grid <> ''")" = 1 ]
result "the winner was verified on a second grid, too" $?

MEMORY_MB=5 fill "$work/small.db"
[ $? = 1 ] && grep -q 'the GPU has no memory for making inputs and reference' "$work/out"
result "fields that leave no room for a part of the reference are refused" $? "$work/out"
MEMORY_MB=4 fill "$work/small.db"
[ $? = 1 ] && grep -q 'the problem needs 0.01 GB; 0.00 GB of the GPU' "$work/out"
result "fields that do not fit are refused" $? "$work/out"

# On so small a grid the CPU makes the reference of two steps, which takes it less time than checking rows of it.
MEMORY_MB=6 fill "$work/small.db" --steps 2 --template fused_march --template-dir templates --trace "$work/trace"
[ $? = 1 ] && grep -q 'the problem needs 0.01 GB' "$work/out" && jq -e 'map(.name) | index("allocate fields") and (index("inputs and reference") | not)' "$work/trace" >/dev/null
result "the CPU makes no fields for which the GPU has no room" $? "$work/out"

# The reference of two steps needs memory for one step more, which is missing in the last row.
while read -r MEMORY_MB options; do
  fill "$work/modes.db" $options --max-variants 2 --json && json '.tasks[0].winner | .drawn_points > 0 and .share_of_roof > 0'
  result "tune $options with $MEMORY_MB MB" $? "$work/out"
done <<T
6 --launch graph
6 --launch stream
7 --grid 16,100,100 --steps 2 --template fused_march --template-dir templates
10 --grid 16,100,100 --steps 2 --template fused_march --template-dir templates
T
MEMORY_MB=6

# A variant is wrong at one point. Element 2549 is the point (5, 5, 1), in the first plane that is computed; no drawn box
# has element 43210.
words() { # DB FILTER
  query "$1" "select 'star7_small,' || group_concat(key || '=' || value) from variant, json_each(parameters)
    where variant.id = ($2) and key in ('block_x', 'block_y', 'vector', 'points_y')"
}
winner="select variant_id from best where is_current"
parameters=$(query "$work/plain.db" "select parameters from variant where id = ($winner)")
victim=$(words "$work/plain.db" "$winner")
outcome() { query "$1" "select outcome || ' ' || reason from measurement join variant on variant.id = variant_id where parameters = '$parameters' order by measurement.id desc limit 1"; }
new_winner() { query "$1" "select parameters <> '$parameters' from best join variant on variant.id = variant_id where is_current"; }

HALOTUNE_FAKE_FAULT="cuLaunchKernel@$victim=corrupt:2549" fill "$work/plane.db"
case $(outcome "$work/plane.db") in "wrong v: "*", the first (5, 5, 1): "*) true ;; *) false ;; esac
result "a wrong point in a drawn plane is found at once" $? "$work/out"
[ "$(new_winner "$work/plane.db")" = 1 ]
result "and another variant wins" $?

HALOTUNE_FAKE_FAULT="cuLaunchKernel@$victim=corrupt:43210" fill "$work/apart.db"
result "a winner that is wrong where nothing is drawn" $? "$work/err"
case $(outcome "$work/apart.db") in "wrong compared at all points: v: 1 of 97336 points is wrong, the first (10, 36, 18): "*) true ;; *) false ;; esac
ok=$?
outcome "$work/apart.db" >>"$work/out"
result "it is found before it wins" $ok "$work/out"
[ "$(new_winner "$work/apart.db")" = 1 ] &&
  [ "$(query "$work/apart.db" "select count(*) from run where warnings like '%the first by rank was wrong compared at all points: v: 1 of 97336 points%'")" = 1 ]
result "and another variant wins" $? "$work/out"
finish
