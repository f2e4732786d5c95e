#!/bin/sh
# sanitize.sh [list]: runs NVIDIA's compute-sanitizer on a GPU for the best variants of each stencil in the database
# ($HALOTUNE_DB, else the user's), the best sweep and the best of any number of time steps, and for a sample of $SAMPLE
# (2, or 0 for none) of all variants. It runs racecheck, memcheck, initcheck and synccheck, or the tools that $TOOLS
# names, in this order, because the slowest should start first.
# $STENCILS chooses stencils. JOBS (4) run at the same time, on the GPUs that DEVICES numbers ('0 1 2 3'; else on the
# first). $SANITIZER names the program. A stencil without a best variant for this GPU fails, unless WINNERS=0 leaves all
# best variants out. Prints TAP. `list` prints a check for each tool and stencil, for gpu_queue.sh.
set -u
cd "$(dirname "$0")/.." || exit 1
program=$(readlink -f "${HALOTUNE:-build/halotune}")
sanitizer=${SANITIZER:-compute-sanitizer}
tools=${TOOLS:-racecheck memcheck initcheck synccheck}
sample=${SAMPLE:-2}
number=0 failed=0

lacks() { # what to do
  echo "not ok 1 - $1"
  echo "1..1"
  exit 1
}
command -v "$sanitizer" >/dev/null || lacks "no $sanitizer: install the CUDA Toolkit, or name it in SANITIZER"
command -v jq >/dev/null || lacks "no jq, which reads what stencils and winners there are: install it"

# Run each stencil with each tool in a separate process on one GPU, and print and number its results when it is done. A
# process that ends without all its results, or that xargs does not start, has failed.
stencils=${STENCILS:-$("$program" list stencils --json | jq -r '.[].name')}
if [ "${1:-}" = list ]; then
  for tool in $tools; do
    for stencil in $stencils; do
      printf "%s_of_%s\\tSTENCILS='%s' TOOLS=%s SLOT=0 tests/sanitize.sh\\n" "$tool" "$(basename "$stencil" .yaml)" "$stencil" "$tool"
    done
  done
  exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "${SLOT:-}" ]; then
  for tool in $tools; do
    for stencil in $stencils; do printf '%s\0%s\0' "$stencil" "$tool"; done
  done | {
    xargs -0 -n 2 -P "${JOBS:-4}" --process-slot-var=SLOT \
      sh -c 'log=$(mktemp -p "$0") || exit 255
        STENCILS=$1 TOOLS=$2 tests/on_device.sh tests/sanitize.sh >"$log" 2>&1 || grep -q "^not ok " "$log" ||
          echo "not ok 1 - $2: $1: ended early" >>"$log"
        echo "$log"' "$work" || { echo "not ok 1 - not all could be run" >"$work/lost" && echo "$work/lost"; }
  } | while read -r log; do grep -v '^1\.\.' "$log"; done |
    awk '/^(not )?ok /{n++; sub(/ok [0-9]+/, "ok " n); if (/^not/) bad = 1} {print; fflush()} END {print "1.." n + 0; exit bad || n == 0}'
  exit
fi

# One run of the sanitizer. It must find nothing, and all variants must be right, at least one.
is_clean() { # tool arguments of selftest...
  tool=$1
  shift
  "$sanitizer" --tool "$tool" --target-processes application-only --error-exitcode 99 "$program" selftest --gpu --in-process "$@" >"$work/out" 2>&1 &&
    grep -q '[1-9][0-9]* variants\{0,1\}, 0 failed' "$work/out"
}
tries_nothing() { grep -q ' 0 variants, 0 failed' "$work/out"; }

# Grids on which racecheck needs seconds: it looks at each access to shared memory on the host. Rules exclude a winner
# with vectors from odd rows, and one of several steps with many chunks from few planes.
small_grids() { # stencil
  case $("$program" show "$1" --json 2>/dev/null | jq .dims) in
    3) echo 67,37,19 96,40,19 128,64,40 64,40,160 ;;
    2) echo 131,67 256,96 ;;
    *) echo 5003 8192 ;;
  esac
}
# A part of the grid that a winner was tuned for.
part_of_grid() { # grid
  echo "$1" | awk -F, -v OFS=, '{most = NF == 3 ? 160 : NF == 2 ? 1024 : 1000000; for (i = 1; i <= NF; i++) if ($i > most) $i = most; print}'
}

# The rules of a template may exclude a variant on a grid. Then the next of $grids is tried; `own` are selftest's,
# with the option $planes.
check() { # tool name arguments of selftest...
  tool=$1 name=$2 clean=
  shift 2
  number=$((number + 1))
  for grid in $grids; do
    if [ "$grid" = own ]; then at=$planes; else at="--grid $grid"; fi
    # shellcheck disable=SC2086
    if is_clean "$tool" "$@" $at; then clean=1; elif tries_nothing; then continue; fi
    break
  done
  if [ -n "$clean" ]; then
    echo "ok $number - $tool: $name: $(tail -n 2 "$work/out" | grep -o '[0-9]* variants*' | head -n 1)"
  else
    failed=$((failed + 1))
    echo "not ok $number - $tool: $name"
    tail -n 30 "$work/out" | sed 's/^/# /'
  fi
}

best_of() { # stencil type steps; prints its grid, its template and its parameters, or nothing
  "$program" query "$1" --dtype "$2" --steps "$3" --json 2>"$work/err" |
    jq -r 'select(.template and .match != "similar") | "\(.grid | until(length == 1 or last > 1; .[:-1]) | map(tostring) | join(",")) \(.template) \(.parameters | to_entries | map("\(.key)=\(.value)") | join(","))"'
}
templates() { # filter of jq; prints the templates whose parameters it selects
  "$program" list templates --json | jq -r ".[] | select(.parameters | $1) | .name" | paste -s -d ,
}
# racecheck 13.0 takes barrier=split for a race (docs/kernels.md), so it looks at the same variant with barrier=whole.
check_best() { # name best, as best_of prints it
  for tool in $tools; do
    best=${2#* } grids="own $(part_of_grid "${2%% *}") ${2%% *}" planes=
    if [ "$tool" = racecheck ]; then
      grids="$small $grids" best=$(echo "$best" | sed 's/barrier=split/barrier=whole/')
    fi
    check "$tool" "$1: $best" "$stencil" --dtype "$dtype" --template "${best%% *}" --set "${best#* }"
  done
}
# In a sample, racecheck looks at templates with `barrier` apart. It skips large planes and with them each `band` above 0. It
# checks only shared memory, whose use does not depend on the rows of a block.
for stencil in $stencils; do
  small=$(small_grids "$stencil")
  for dtype in f32 f64; do
    if [ "${WINNERS:-1}" != 0 ]; then
      sweep=$(best_of "$stencil" "$dtype" 1)
      if [ -n "$sweep" ]; then
        check_best "$stencil $dtype, its best" "$sweep"
      else
        for tool in $tools; do
          number=$((number + 1)) failed=$((failed + 1))
          echo "not ok $number - $tool: $stencil $dtype, its best: no database knows one: tune first ('halotune tune --all'), or leave winners out (WINNERS=0)"
          sed 's/^/# /' "$work/err"
        done
      fi
      steps=$(best_of "$stencil" "$dtype" any)
      [ -z "$steps" ] || [ "$steps" = "$sweep" ] || check_best "$stencil $dtype, its best of several steps" "$steps"
    fi
    for tool in $tools; do
      grids=own planes=
      [ "$tool" != racecheck ] || grids="$small own" planes=--no-large-planes
      [ "$sample" != 0 ] || continue
      if [ "$tool" != racecheck ]; then
        check "$tool" "$stencil $dtype, a sample" "$stencil" --dtype "$dtype" --sample "$sample"
        continue
      fi
      check "$tool" "$stencil $dtype, a sample" "$stencil" --dtype "$dtype" --sample "$sample" --template "$(templates 'has("barrier") | not')"
      for template in $(templates 'has("barrier")' | tr , ' '); do
        "$program" space "$stencil" --dtype "$dtype" --grid "${small%% *}" --template "$template" --json | jq -e '.kept > 0' >/dev/null || continue
        check "$tool" "$stencil $dtype, a sample of $template" "$stencil" --dtype "$dtype" --sample "$sample" --template "$template" --set barrier=whole
      done
    done
  done
done
echo "1..$number"
[ "$failed" = 0 ] && [ "$number" -gt 0 ]
