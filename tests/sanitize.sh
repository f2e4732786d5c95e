#!/bin/sh
# sanitize.sh: NVIDIA's compute-sanitizer on a GPU over the best variant of each stencil that the database knows ($HALOTUNE_DB, else the
# user's), and over a sample of $SAMPLE (4, or 0 for none) of all: memcheck, racecheck, initcheck, or those that $TOOLS names. $STENCILS
# chooses, JOBS (4) run side by side, on the GPUs that DEVICES numbers ('0 1 2 3'; else on the first), $SANITIZER names the program. A
# stencil without a best variant for this GPU fails, unless WINNERS=0 leaves them all out. Speaks TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
program=$(readlink -f "${HALOTUNE:-build/halotune}")
sanitizer=${SANITIZER:-compute-sanitizer}
tools=${TOOLS:-memcheck racecheck initcheck}
sample=${SAMPLE:-4}
number=0 failed=0

lacks() { # what to do
  echo "not ok 1 - $1"
  echo "1..1"
  exit 1
}
command -v "$sanitizer" >/dev/null || lacks "no $sanitizer: install the CUDA Toolkit, or name it in SANITIZER"
command -v jq >/dev/null || lacks "no jq, which reads what stencils and winners there are: install it"

# Each stencil under each tool in a process of its own, on one GPU, told when it is done, and numbered anew. One that tells nothing has
# failed. What takes longest comes first.
stencils=${STENCILS:-$("$program" list stencils --json | jq -r '.[].name')}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "${SLOT:-}" ]; then
  for tool in $(echo "$tools" | tr ' ' '\n' | sort -r); do
    for stencil in $stencils; do echo "$stencil $tool"; done
  done | xargs -P "${JOBS:-4}" --process-slot-var=SLOT -L 1 \
    sh -c 'log=$(mktemp -p "$0"); STENCILS=$1 TOOLS=$2 tests/on_device.sh tests/sanitize.sh >"$log" 2>&1
      grep -qE "^(not )?ok " "$log" || echo "not ok 1 - $2: $1: told nothing" >>"$log"; echo "$log"' "$work" |
    while read -r log; do grep -v '^1\.\.' "$log"; done |
    awk '/^(not )?ok /{n++; sub(/ok [0-9]+/, "ok " n); if (/^not/) bad = 1} {print; fflush()} END {print "1.." n; exit bad || n == 0}'
  exit
fi

# One run of the sanitizer: 0 where it found nothing and all variants were right.
check() { # tool name selftest's arguments...
  tool=$1 name=$2
  shift 2
  number=$((number + 1))
  if "$sanitizer" --tool "$tool" --target-processes application-only --error-exitcode 99 "$program" selftest --gpu --in-process "$@" \
    >"$work/out" 2>&1; then
    echo "ok $number - $tool: $name: $(tail -n 2 "$work/out" | grep -o '[0-9]* variants*' | head -n 1)"
  else
    failed=$((failed + 1))
    echo "not ok $number - $tool: $name"
    tail -n 30 "$work/out" | sed 's/^/# /'
  fi
}

# Of a sample, racecheck is spared the large planes: they are for where blocks lie, and would take it minutes.
for stencil in $stencils; do
  for dtype in f32 f64; do
    best=
    [ "${WINNERS:-1}" = 0 ] || best=$("$program" query "$stencil" --dtype "$dtype" --json 2>"$work/err" |
      jq -r 'select(.template) | "\(.template) \(.parameters | to_entries | map("\(.key)=\(.value)") | join(","))"')
    for tool in $tools; do
      if [ -n "$best" ]; then
        check "$tool" "$stencil $dtype, its best: $best" "$stencil" --dtype "$dtype" --template "${best%% *}" --set "${best#* }"
      elif [ "${WINNERS:-1}" != 0 ]; then
        number=$((number + 1)) failed=$((failed + 1))
        echo "not ok $number - $tool: $stencil $dtype, its best: no database knows one: tune first ('halotune tune --all'), or leave winners out (WINNERS=0)"
        sed 's/^/# /' "$work/err"
      fi
      [ "$tool" = racecheck ] && small=--no-large-planes || small=
      [ "$sample" = 0 ] || check "$tool" "$stencil $dtype, a sample" "$stencil" --dtype "$dtype" --sample "$sample" $small
    done
  done
done
echo "1..$number"
[ "$failed" = 0 ] && [ "$number" -gt 0 ]
