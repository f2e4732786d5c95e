#!/bin/sh
# mutations.sh: whether `halotune verify` can fail. Each row of tests/data/mutations.txt puts one defect into a copy of a
# template; some variant must then be found wrong, by a run and not by the compiler. A row that says `survives` must not be, and
# names the reason. ONLY=NAME looks at one template, SLICE=N at every Nth row (from OFFSET, 0); VERIFY='selftest --gpu' looks
# with a GPU. Where no variant was tried, nothing is shown. Speaks TAP: each line says what was found, in how many variants.
set -u
cd "$(dirname "$0")/.." || exit 1
program=$(readlink -f "${HALOTUNE:-build/halotune}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
verify=${VERIFY:-verify}
number=0 failed=0 row=0

result() { # ok|"not ok" name matrix-cell
  number=$((number + 1))
  echo "$1 $number - $2"
  [ "$1" = ok ] || failed=$((failed + 1))
}

# template | defect | arguments of verify | what to do to the .cu file, for sed -E
while IFS='|' read -r template defect arguments script; do
  case $template in '' | '#'*) continue ;; esac
  template=$(echo $template) defect=$(echo $defect) script=${script# }
  [ -z "${ONLY:-}" ] || [ "$ONLY" = "$template" ] || continue
  row=$((row + 1))
  [ $((row % ${SLICE:-1})) = "${OFFSET:-0}" ] || continue
  rm -rf "$work/templates"
  mkdir "$work/templates"
  cp "templates/$template.yaml" "$work/templates"
  sed -E "$script" "templates/$template.cu" >"$work/templates/$template.cu"
  if cmp -s "templates/$template.cu" "$work/templates/$template.cu"; then
    result "not ok" "$template: $defect: the defect finds nothing to change"
    continue
  fi
  case $verify in *--gpu*) arguments=$(echo "$arguments" | sed 's/ --sanitize//') ;; esac  # of the CPU's verify
  # shellcheck disable=SC2086
  "$program" $verify --template-dir "$work/templates" --template "$template" --json $arguments >"$work/out" 2>"$work/err"
  found=$(jq -r '[.variants[].outcome | select(. != "passed" and . != "not_run")] | group_by(.) | map("\(.[0]) \(length)") | join(", ")' \
    "$work/out" 2>/dev/null)
  tried=$(jq '[.variants[] | select(.outcome != "not_run")] | length' "$work/out" 2>/dev/null)
  if [ "${tried:-0}" = 0 ]; then
    result "not ok" "$template: $defect: no variant was tried $(tail -n 2 "$work/err")"
    continue
  fi
  case $defect in
    *survives*) if [ -z "$found" ]; then result ok "$template: $defect"; else result "not ok" "$template: $defect: $found"; fi ;;
    *)
      if [ -z "$found" ] && [ "${verify#*--gpu}" != "$verify" ] && [ "${defect#*a GPU may hide it}" != "$defect" ]; then
        result ok "$template: $defect: hidden"
      elif [ -z "$found" ] || echo "$found" | grep -q compile_; then
        result "not ok" "$template: $defect: ${found:-survives} $(tail -n 2 "$work/err")"
      else
        result ok "$template: $defect: $found"
      fi
      ;;
  esac
done <tests/data/mutations.txt
echo "1..$number"
[ "$failed" = 0 ] && [ "$number" -gt 0 ]
