#!/bin/sh
# protocol.sh: `halotune tune` on a GPU with known times and one kind of noise. In at least 95 of 100 seeds the winner's
# true time must be within 0.5 % of the true best of all tried variants. By default it takes 5 seeds of each kind, of
# which one may miss; FULL=1 takes 100. KINDS="NAME ..." takes only these kinds, SEEDS=N takes N seeds. Prints TAP.
set -u
. "$(dirname "$0")/fake_gpu.sh"
seeds=${SEEDS:-5}
[ -z "${FULL:-}" ] || seeds=${SEEDS:-100}
allowed=$((seeds * 5 / 100))
[ "$allowed" -gt 0 ] || allowed=1

# Lines for tests/fake_cuda/model.c. The search phase takes about 0.3 seconds of the GPU's time, and the final rounds
# take as long.
noise_of() {
  case $1 in
  quiet) ;;
  independent) echo "independent 0.05" ;;
  correlated) echo "correlated 0.02 20" ;;
  ramp) echo "ramp 0.3 3000" ;;
  drift) echo "drift 0.02 400" ;;
  trend) echo "trend 0.2" ;;
  outliers) echo "outliers 0.003 1.5 5 0.3" ;;
  throttle) echo "throttle 0.2 100 30" ;;
  all) printf '%s\n' "independent 0.02" "correlated 0.01 20" "ramp 0.2 3000" "drift 0.02 400" "outliers 0.002 1.5 5 0.3" ;;
  esac
}

# Tune once. Prints "KIND SEED SHARE FIRST of COUNT": how much the true time of the winner exceeds the best one, and the
# same for the variant with the best median before the final rounds.
one() { # KIND SEED
  dir=$work/$1.$2
  mkdir "$dir"
  { printf 'seed %d\nbase_us 30\nspread 1 2\nlaunch_us 0\n' "$2"; noise_of "$1"; } >"$dir/model"
  HALOTUNE_FAKE_MODEL=$dir/model HALOTUNE_FAKE_STATE=$dir/state HALOTUNE_FAKE_LOG=$dir/log \
    tune "$dir/db" --seed "$2" >"$dir/out" 2>&1 || { echo "$1 $2 failed: $(tail -n 1 "$dir/out")"; return; }
  sqlite3 -separator ' ' "$dir/db" "
    create temp view words as select id, (select group_concat(key || '=' || value, ' ') from json_each(parameters)) as text from variant;
    select 'tried', text from measurement join words on words.id = variant_id where outcome in ('measured', 'screened');
    select 'first', text from (select text, median_ms from measurement join words on words.id = variant_id where outcome = 'measured' order by median_ms limit 1);
    select 'won', text from best join words on words.id = variant_id where is_current" >"$dir/rows"
  awk -v kind="$1" -v seed="$2" '
    $1 == "loaded" && $3 == "star7" {factor = $2; sub(/^[^ ]* [^ ]* [^ ]* [^ ]* /, ""); time[$0] = factor}
    $1 == "tried" {sub(/^[^ ]* /, ""); count++; if (!($0 in time)) lost = $0; else if (!best || time[$0] < best) best = time[$0]}
    $1 == "first" {sub(/^[^ ]* /, ""); first = time[$0]}
    $1 == "won" {sub(/^[^ ]* /, ""); won = time[$0]}
    END {
      if (!won || !best || lost) print kind, seed, "no winner", lost
      else printf "%s %d %.5f %.5f of %d\n", kind, seed, won/best - 1, first/best - 1, count
    }' "$dir/log" "$dir/rows"
  [ -n "${KEEP:-}" ] || rm -rf "$dir"
}

if [ $# = 2 ]; then
  one "$1" "$2"
  exit
fi
number=0 failed=0
one quiet 0 >/dev/null # so that two at a time do not compile the same
for kind in ${KINDS:-quiet independent correlated ramp drift trend outliers throttle all}; do
  number=$((number + 1))
  seq 1 "$seeds" | xargs -r -P "$(nproc)" -n 1 "$0" "$kind" >"$work/results"
  good=$(awk '$3 + 0 <= 0.005 && $3 ~ /^[0-9]/' "$work/results" | wc -l)
  first=$(awk '$4 + 0 <= 0.005 && $4 ~ /^[0-9]/' "$work/results" | wc -l)
  text="$kind: within 0.5 % of the best in $good of $seeds seeds; $first before the final rounds"
  if [ "$good" -ge $((seeds - allowed)) ]; then
    echo "ok $number - $text"
  else
    failed=$((failed + 1))
    echo "not ok $number - $text"
    awk '!($3 + 0 <= 0.005 && $3 ~ /^[0-9]/)' "$work/results" | sed 's/^/# /'
  fi
done
echo "1..$number"
[ "$failed" = 0 ]
