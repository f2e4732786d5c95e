#!/bin/sh
# variants.sh: for every stencil and element type, a seeded sample of variants compiles for each architecture, and
# another sample is right on the CPU. By default it takes a slice. FULL=1 takes samples of 200 and 60, and the complete
# spaces of the templates `pencil`, `scan` and `scan_segments`. STENCILS="NAME ..." takes only these. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
program=$(readlink -f "${HALOTUNE:-build/halotune}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compile_sample=3 verify_sample=2 archs="sm_75 sm_80 sm_90 sm_100 sm_120"
[ -z "${FULL:-}" ] || compile_sample=200 verify_sample=60
number=0 failed=0

check() { # name command...
  name=$1
  shift
  number=$((number + 1))
  if "$@" >"$work/out" 2>"$work/err"; then
    echo "ok $number - $name"
  else
    failed=$((failed + 1))
    echo "not ok $number - $name: $*"
    { grep -v '^passed\|^ok' "$work/out"; cat "$work/err"; } | head -n 12 | sed 's/^/# /'
  fi
}

stencils=${STENCILS:-$("$program" list stencils | awk 'NR > 1 {print $1}')}
for stencil in $stencils; do
  seed_of_stencil=$(printf '%s' "$stencil" | cksum | cut -d' ' -f1)
  for dtype in f32 f64; do
    seed=$(printf '%s' "$stencil$dtype" | cksum | cut -d' ' -f1)
    for arch in $archs; do
      # The slice compiles each stencil and type for one architecture, in turn.
      [ -n "${FULL:-}" ] || [ "$arch" = "$(echo "$archs" | cut -d' ' -f$((seed % 5 + 1)))" ] || continue
      check "$stencil $dtype compiles for $arch" \
        "$program" compile "$stencil" --dtype $dtype --arch "$arch" --sample $compile_sample --seed "$seed" --no-cache
    done
    # The slice runs each stencil in one element type, in turn.
    [ -n "${FULL:-}" ] || [ "$dtype" = "$(echo "f32 f64" | cut -d' ' -f$((seed_of_stencil % 2 + 1)))" ] || continue
    check "$stencil $dtype is right" "$program" verify "$stencil" --dtype $dtype --sample $verify_sample --seed "$seed"
    case $stencil in scan_*) continue ;; esac # its order is the template's
    check "$stencil $dtype is reproducible" \
      "$program" verify "$stencil" --reproducible --dtype $dtype --sample $verify_sample --seed "$seed"
  done
done

# The stencils' own grids do not fit on the multiprocessors, so that samples of all templates have no variant of `resident`.
for problem in star7:16,12,10 heat2d:64,20 ${FULL:+star13:16,12,10 star25:16,14,12 box27:16,12,10 box2d9:64,20 star2d9:64,20}; do
  case " $(echo $stencils) " in *" ${problem%:*} "*) ;; *) continue ;; esac
  for dtype in f32 ${FULL:+f64}; do
    [ "${problem%:*} $dtype" != 'star25 f64' ] || continue # its taps reach beyond the next vector
    check "${problem%:*} $dtype by resident is right" \
      "$program" verify "${problem%:*}" --template resident --grid "${problem#*:}" --dtype $dtype --sample $verify_sample
  done
done

if [ -n "${FULL:-}" ]; then
  for problem in pencil:derivative_x pencil:derivative_y pencil:derivative_z scan:scan_x scan:scan_y scan:scan_z \
    scan_segments:scan_x scan_segments:scan_y scan_segments:scan_z; do
    case " $(echo $stencils) " in *" ${problem#*:} "*) ;; *) continue ;; esac
    for dtype in f32 f64; do
      check "all of $problem $dtype" "$program" verify "${problem#*:}" --template "${problem%:*}" --dtype $dtype --sample 0
    done
  done
fi
echo "1..$number"
[ "$failed" = 0 ] && [ "$number" -gt 0 ]
