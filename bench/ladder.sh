#!/bin/sh
# ladder.sh DATABASE [DEVICE]: prints a plan for `halotune tune --plan`: the rungs that DATABASE lacks for a model of GPU (NVIDIA H200).
# The ladder of a stencil has both element types, 32 to 1024 points a side, and two odd sides; in one dimension as many points. The rungs
# whose answers are least sure come first. Needs sqlite3. HALOTUNE names the program, BUDGET the time of a task (5s).
#
#   bench/ladder.sh build/starter.db >ladder.yml
#   halotune tune --plan ladder.yml --resume --device all --db ladder.db
set -eu
cd "$(dirname "$0")/.."
db=${1:?usage: bench/ladder.sh DATABASE [DEVICE]} device=${2:-NVIDIA H200} budget=${BUDGET:-5s}
halotune=${HALOTUNE:-build/halotune}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sqlite3 "file:$db?mode=ro" "select s.name, p.dtype, p.nx || ',' || p.ny || ',' || p.nz from best b join problem p on p.id = b.problem_id
  join stencil s on s.id = p.stencil_id join device d on d.id = p.device_id
  where b.is_current and p.steps = 1 and p.cache = 'steady' and not p.is_reproducible and d.name = '$device'" | tr '|' ' ' >"$work/held"
for file in kernels/*.yaml; do
  name=$(basename "$file" .yaml)
  for dtype in f32 f64; do
    for side in 32 64 101 128 192 255 256 384 512 768 1024; do
      case $(sed -n 's/^dims: *//p' "$file") in
      1) grid=$((side * side * side)) full=$grid,1,1 ;;
      2) grid=$side,$side full=$grid,1 ;;
      *) grid=$side,$side,$side full=$grid ;;
      esac
      grep -qx "$name $dtype $full" "$work/held" && continue
      # A default has no expected time, and comes first.
      error=$("$halotune" query "$name" --dtype $dtype --grid $grid --device "$device" --db "$db" --json 2>/dev/null | sed -n 's/.*"expected_error": *\([0-9.eE+-]*\).*/\1/p')
      echo "${error:-9} $name $dtype [$(echo $grid | sed 's/,/, /g')]"
    done
  done
done | sort -k1,1gr -s >"$work/missing"
count=$(wc -l <"$work/missing")
echo "# $count rungs; with a second for each set-up, one GPU takes $((count * (${budget%s} + 1) / 60)) minutes."
printf 'plan: 1\nbudget: %s\ngpus: [%s]\ntasks:\n' "$budget" "$device"
while read -r error name dtype grid; do
  [ "$error" = 9 ] && about='answered by a default' || about="expected_error $error"
  echo "  - {stencil: $name, dtype: $dtype, grid: $grid, steps: 1} # $about"
done <"$work/missing"
