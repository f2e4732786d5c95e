#!/bin/sh
# roof.sh: tune each row of bench/roof.txt, or of bench/sizes.txt, on this machine's GPUs, with a single time step in a
# launch. Then write how the winners compare with the targets (roof_table.sh). Rows with a complete run in the database
# are skipped, so the same command continues after an interruption. Exit code 1: not all rows have a winner. Needs the
# programs jq and sqlite3. The environment:
#   NAME=roof               roof or sizes: table, database and results have this name
#   DB=build/NAME.db        results; build/NAME-classic.db has those of classic variants, build/NAME/ the output of tune
#   BUDGET=20s              for each row
#   DEVICES='0 1 2 3'       GPUs that share the rows, one row at a time each; all: every row on each GPU; 0 by default
#   AGAIN=1                 also continue the search in complete rows
#   TABLE=bench/NAME.txt    other rows
#   RESULTS=bench/results   another folder for the table
#   TEMPLATES=NAME,...      only these templates
#   HINTS=build/starter.db  searches begin with the winners of this database; empty: of the installed one, if there is
#                           one
set -eu
cd "$(dirname "$0")/.."
program=${HALOTUNE:-build/halotune}
name=${NAME:-roof}
db=${DB:-build/$name.db}
table=${TABLE:-bench/$name.txt}
results=${RESULTS:-bench/results}
devices=${DEVICES:-0}
hints=${HINTS-build/starter.db}
work=${db%.db}
classic_db=$work-classic.db
stop=$work/stop  # while this file is there, no row begins; empty after a signal, for the same command goes on then
mkdir -p "$work" "$results"
rm -f "$stop"

query() { sqlite3 -cmd '.timeout 10000' "file:$1?mode=ro" "$2"; } # DB SQL

# --- one row ----------------------------------------------------------------------------------------------------------

# The SQL condition for the row's problem.
problem_is() { # stencil dtype grid launch
  echo "s.name = '$1' and p.dtype = '$2' and p.nx || ',' || p.ny || ',' || p.nz in ('$3', '$3,1', '$3,1,1')
    and '$4' in (p.launch, 'auto')"
}

is_complete() { # problem
  [ -z "${AGAIN:-}" ] && [ -e "$db" ] &&
    [ "$(query "$db" "select count(*) > 0 from run r join problem p on p.id = r.problem_id
      join stencil s on s.id = p.stencil_id join best b on b.problem_id = p.id and b.is_current
      where r.state = 'complete' and $1")" = 1 ]
}

tune() { # device stencil dtype grid launch option...
  device=$1 stencil=$2 dtype=$3 grid=$4 launch=$5
  shift 5
  [ "$launch" = auto ] || set -- --launch "$launch" "$@"
  "$program" tune "$stencil" --device "$device" --dtype "$dtype" --grid "$grid" --steps 1 \
    --budget "${BUDGET:-20s}" --workers "$workers" ${hints:+--hints "$hints"} --json "$@" </dev/null
}

# Write the template `pencil` under the name `classic`, with one more rule.
write_classic() { # folder rule
  mkdir -p "$1"
  cp templates/pencil.cu "$1/classic.cu"
  awk -v rule="$2" '
    /^name:/ {print "name: classic"; next}
    {print}
    /^rules:/ {print "  - keep: \047" rule "\047"; print "    otherwise: not classic"}
  ' templates/pencil.yaml >"$1/classic.yaml"
}

# The classic variants of a 64^3 grid (M. Harris, Finite difference methods in CUDA C/C++, 2013): 4 lines with one
# thread for each point, or 32 lines with 32x8 threads. Parameters that they do not determine are tuned; all others have
# their defaults.
classic_rule() {
  few='block_x == (axis == 0 ? 64 : 4) && block_y == (axis == 0 ? 4 : 64)'
  many='pencils == 32 && block_x == 32 && block_y == 8'
  "$program" list templates --json | jq -r --arg shapes "(pencils == 4 ? $few : $many)" '
    .[] | select(.name == "pencil").parameters | del(.pencils, .block_x, .block_y, .unroll, .coefficients, .extents)
    | to_entries | map("\(.key) == \(.value.default)") + [$shapes] | join(" && ")'
}

# Make the best classic variant the only one of a template whose name comes first. It is then the run's default, which
# takes part in the final rounds however slow it is.
tune_with_classic() { # problem folder device stencil dtype grid launch
  problem=$1 folder=$2/templates
  shift 2
  tune "$@" --template classic --template-dir "$work/classic" --strategy exhaustive --db "$classic_db" || return
  best=$(query "$classic_db" "select v.parameters from best b join problem p on p.id = b.problem_id
    join stencil s on s.id = p.stencil_id join variant v on v.id = b.variant_id
    where b.is_current and $problem order by b.time_ms limit 1")
  write_classic "$folder" "$(echo "$best" | jq -r 'to_entries | map("\(.key) == \(.value)") | join(" && ")')"
  tune "$@" --template-dir "$folder" ${TEMPLATES:+--template "classic,$TEMPLATES"} --db "$db" || return
  forget_default
}

# In other databases a default's time is that of one of our templates, so the classic variant's time must not be stored
# as one. The table takes it from the finalists.
forget_default() {
  sqlite3 -cmd '.timeout 10000' "$db" "update best set default_ms = null where default_ms is not null and run_id in (select f.run_id
    from finalist f join variant v on v.id = f.variant_id join template t on t.id = v.template_id where f.is_default and t.name = 'classic')"
}

tune_row() { # device stencil dtype grid launch against
  against=$6 problem=$(problem_is "$2" "$3" "$4" "$5") log=$work/$2-$3-$(echo "$4" | tr , x)-$5
  ! is_complete "$problem" || return 0
  mkdir -p "$log"
  set -- "$1" "$2" "$3" "$4" "$5"
  code=0
  if [ "$against" = classic ]; then
    tune_with_classic "$problem" "$log" "$@" >"$log/out.json" 2>"$log/err" || code=$?
  else
    tune "$@" ${TEMPLATES:+--template "$TEMPLATES"} --db "$db" >"$log/out.json" 2>"$log/err" || code=$?
  fi
  if [ $code = 0 ]; then
    jq -r --slurp 'last | (.devices? // [.])[].tasks[]
      | "\(.stencil) \(.dtype) \(.grid | map(tostring) | join("x")) \(.launch): \(.tried) tried, "
      + "\(.winner.time_ms * 1e6 | round / 1e3) us, \(.winner.share_of_roof * 1e3 | round / 1e3) of the roof"
      ' "$log/out.json"
  else
    echo "$2 $3 $4 $5: no winner" && tail -n 3 "$log/err"
    # A code above 1 is not this row's fault: no GPU, no such option, a database that fails.
    [ $code = 1 ] || echo "exit code $code" >"$stop"
  fi >&2
}

# --- all rows ---------------------------------------------------------------------------------------------------------

# Tune every COUNT-th row of standard input on one GPU. Signals are left to tune, which ends its row properly.
tune_rows() { # device first count
  trap '' INT TERM
  awk -v first="$2" -v count="$3" 'NR % count == first' | while read -r stencil dtype grid launch against _; do
    [ -e "$stop" ] || tune_row "$1" "$stencil" "$dtype" "$grid" "$launch" "$against"
  done
}
rows() { # 1: copies; 0: the others
  sed 's/#.*//' "$table" | awk -v copies="$1" 'NF && ($1 == "copy") == copies'
}

trap 'touch "$stop"' INT TERM
set -- $devices
workers=$((($(nproc) - 1) / $#))
[ $workers -ge 1 ] || workers=1
write_classic "$work/classic" "$(classic_rule)"

# The tuned copies come first, because they are part of the roof of all other rows. A signal ends `wait`, but not the
# job for which it waits.
rows 1 | tune_rows "$1" 0 1 &
wait || wait
count=$# first=0
for device in "$@"; do
  rows 0 | tune_rows "$device" $first $count &
  first=$((first + 1))
done
wait || wait

# If the first row failed there is no database, and the row has printed why.
code=0
if [ -e "$db" ]; then bench/roof_table.sh "$db" "$table" "$results" "$name" || code=1; else code=1; fi
if [ -e "$stop" ]; then
  [ -s "$stop" ] || echo "ended early; the same command goes on" >&2
  code=1
fi
exit $code
