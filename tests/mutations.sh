#!/bin/sh
# mutations.sh: tests whether `halotune verify` finds defects. Each row of tests/data/mutations.txt puts one defect into
# a copy of a template. Verify must then find some variant wrong by running it, not by failing to compile it. A row
# whose defect says `survives` gives the reason why nothing finds it; such a row fails if something does. A row that
# tried no variant fails, too. The first wrong variant ends a row. The defect of every row must change its file, also
# where only a sample of the rows is tried. Prints TAP: each line says what was found.
#
#   tests/mutations.sh                                      every row
#   TEMPLATE=tile tests/mutations.sh                        the rows of one template, each with its number
#   TEMPLATE=tile ROW=3 tests/mutations.sh                  one row; ROW=3-12 some
#   TEMPLATE=tile ROW=3 KEEP=/tmp/row tests/mutations.sh    the same; keeps the changed template and verify's output in
#   /tmp/row
#   SLICE=6 tests/mutations.sh                              a sixth of the rows, and at least one of each template
#   SLICE=6 OFFSET=0 tests/mutations.sh                     a sixth of the rows; OFFSET=1 to 5 the other sixths
#   VERIFY='selftest --gpu' tests/mutations.sh              on a GPU
#
# A row may name common.cuh after its template. The defect is then put into the code that templates share.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/slice.sh
program=$(readlink -f "${HALOTUNE:-build/halotune}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
verify=${VERIFY:-verify --fail-fast}
number=0 failed=0 of_template=0 last_template=
rows=${ROW:-1-1000}
newline='
'
sample() { if [ -n "${OFFSET:-}" ]; then sliced "${SLICE:-1}" "$OFFSET"; else sliced_kinds "${SLICE:-1}" "$kind_of_defect"; fi; }
chosen=$newline$(sample <tests/data/mutations.txt)$newline

result() { # ok|"not ok" name
  number=$((number + 1))
  echo "$1 $number - $template $row: $2"
  [ "$1" = ok ] || failed=$((failed + 1))
}

# Write the template with a defect. If the defect is in common.cuh, the template gets its own copy of that file in place
# of the line that includes it; generation then adds none.
write_template() { # what to change: template or common.cuh; script for sed -E
  if [ "$1" = template ]; then
    sed -E "$2" "templates/$template.cu"
    return
  fi
  grep -v '^#include "common.cuh"' "templates/$template.cu" | sed '/^#endif/q'
  sed -E "$2" templates/common.cuh
  grep -v '^#include "common.cuh"' "templates/$template.cu" | sed '1,/^#endif/d'
}

# Put a row's defect into the template, and check whether verify finds it.
try_row() { # what to change, defect, arguments of verify, script
  file=$1 defect=$2 arguments=$3 script=$4
  rm -rf "$work/templates"
  mkdir "$work/templates"
  cp "templates/$template.yaml" "$work/templates"
  write_template "$file" "$script" >"$work/templates/$template.cu"
  case $verify in
    *--gpu*)
      arguments=$(echo "$arguments" | sed 's/ --sanitize//')  # of the CPU's verify
      ;;
  esac
  # shellcheck disable=SC2086
  "$program" $verify --template-dir "$work/templates" --template "$template" --json $arguments >"$work/out" 2>"$work/err"
  found=$(jq -r '[.variants[].outcome | select(. != "passed" and . != "not_run")] | group_by(.) | map("\(.[0]) \(length)") | join(", ")' \
    "$work/out" 2>/dev/null)
  tried=$(jq '[.variants[] | select(.outcome != "not_run")] | length' "$work/out" 2>/dev/null)
  if [ "${tried:-0}" = 0 ]; then
    result "not ok" "$defect: no variant was tried $(tail -n 2 "$work/err")"
    return
  fi
  case $defect in
    *survives*) if [ -z "$found" ]; then result ok "$defect"; else result "not ok" "$defect: $found"; fi ;;
    *)
      if [ -z "$found" ] && [ "${verify#*--gpu}" != "$verify" ] && [ "${defect#*a GPU may hide it}" != "$defect" ]; then
        result ok "$defect: hidden"
      elif [ -z "$found" ] || echo "$found" | grep -q compile_; then
        result "not ok" "$defect: ${found:-survives} $(tail -n 2 "$work/err")"
      else
        result ok "$defect: $found"
      fi
      ;;
  esac
}

# template [common.cuh] | defect | arguments of verify | sed -E script for the file
while IFS= read -r line; do
  IFS='|' read -r where defect arguments script <<LINE
$line
LINE
  # shellcheck disable=SC2086
  set -- $where
  case ${1:-'#'} in '#'*) continue ;; esac
  template=$1 file=${2:-template}
  [ "$template" = "$last_template" ] || of_template=0 last_template=$template
  of_template=$((of_template + 1)) row=$of_template
  [ "${TEMPLATE:-$template}" = "$template" ] && [ "$row" -ge "${rows%-*}" ] && [ "$row" -le "${rows#*-}" ] || continue
  script=${script# } changed=templates/$template.cu
  [ "$file" = template ] || changed=templates/$file
  if sed -E "$script" "$changed" | cmp -s - "$changed"; then
    result "not ok" "$(echo $defect): the defect finds nothing to change"
    continue
  fi
  case $chosen in *"$newline$line$newline"*) ;; *) continue ;; esac
  # shellcheck disable=SC2086
  try_row "$file" "$(echo $defect)" "$arguments" "$script"
done <tests/data/mutations.txt
[ -z "${KEEP:-}" ] || { mkdir -p "$KEEP" && cp -r "$work/templates" "$work/out" "$work/err" "$KEEP"; }
echo "1..$number"
[ "$failed" = 0 ] && [ "$number" -gt 0 ]
