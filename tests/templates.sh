#!/bin/sh
# templates.sh: tests the templates in templates/ and their spaces. Prints TAP.
#   - each template compiles as it is, and generated files of each compile without a warning, with nvcc: its default,
#     and one for each word of its parameters (halo_load=flat)
#   - templates/example*.cuh are the output of `halotune generate STENCIL --prelude`
#   - each value of each parameter is used by some variant of some stencil
#   - no parameter is dead: changing it changes the machine code of some variant, or its clusters
#   - every stencil has enough variants
# ONLY=NAME tests one template, without the numbers of variants. SLICE=N tests one in N parameters for what it changes, and
# compiles with one in N words of each template, one at least.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/slice.sh
program=$(readlink -f "${HALOTUNE:-build/halotune}")
nvcc=$(PATH="${CUDA_HOME:-/usr/local/cuda}/bin:$PATH" command -v nvcc)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME="$work/cache"
number=0 failed=0

result() { # ok|"not ok" name; what went wrong is on stdin of the latter
  number=$((number + 1))
  echo "$1 $number - $2"
  [ "$1" = ok ] && return
  failed=$((failed + 1))
  sed 's/^/# /'
}

check() { # name command...: it succeeds and says nothing
  name=$1
  shift
  if "$@" >"$work/said" 2>&1 && [ ! -s "$work/said" ]; then result ok "$name"; else result "not ok" "$name" <"$work/said"; fi
}

templates=${ONLY:-$("$program" list templates --json | jq -r '.[].name')}
stencils=$("$program" list stencils --json | jq -r '.[].name')

# --- texts

# A stencil to which the template's default variant applies, or the nearest variant with these settings. Most defaults were chosen for the
# first two. The last one is for templates that need many taps in f64.
stencil_for() { # template [settings]
  for stencil in star7 heat2d $stencils kernels/asymmetric/skew_sum_3d.yaml; do
    if "$program" generate "$stencil" --template "$1" ${2:+--set "$2"} -o "$work/generated.cu" 2>/dev/null; then return; fi
  done
  stencil=star7  # a template may be for small grids
  if "$program" generate star7 --grid 128,128,128 --template "$1" ${2:+--set "$2"} -o "$work/generated.cu" 2>/dev/null; then return; fi
  rm -f "$work/generated.cu"
}

# "name=word" for the words of the template's own parameters. The prelude implements those that all templates have.
words_of() { # template
  "$program" list templates --json | jq -r --arg t "$1" '.[] | select(.name == $t).parameters | to_entries[]
    | select(.key | IN("load_path", "streaming", "coefficients", "extents", "weights") | not) | .key as $name
    | .value.values[] | strings | "\($name)=\(.)"'
}

for example in templates/example*.cuh; do
  stencil=$(sed -n 's/^#define KERNEL \(.*\)_example$/\1/p' "$example")
  "$program" generate "$stencil" --prelude -o "$work/prelude.cuh"
  check "$example is the prelude of $stencil" cmp "$example" "$work/prelude.cuh"
done
for template in $templates; do
  stencil_for "$template"
  [ -n "$nvcc" ] || continue
  check "$template.cu compiles as it stands" "$nvcc" -cubin -arch=sm_90 -o "$work/cubin" "templates/$template.cu"
  check "$template generated for $stencil compiles without a warning" \
    "$nvcc" -cubin -arch=sm_90 -Werror all-warnings -Xptxas --warn-on-spills -o "$work/cubin" "$work/generated.cu"
  for setting in $(words_of "$template" | sed "s/^/$template /" | sliced_kinds "${SLICE:-1}" '^[a-z_]+' | cut -d ' ' -f 2); do
    stencil_for "$template" "$setting"
    check "$template with $setting, generated for $stencil, compiles without a warning" \
      "$nvcc" -cubin -arch=sm_90 -Werror all-warnings -o "$work/cubin" "$work/generated.cu"
  done
done

# --- spaces

for stencil in $stencils; do
  for dtype in f32 f64; do
    "$program" space "$stencil" --dtype $dtype ${ONLY:+--template "$ONLY"} --json >"$work/space-$stencil-$dtype.json" || exit 1
    [ $dtype = f32 ] || continue # which values are used does not depend on it
    for grid in $("$program" show "$stencil" --json | jq -r '.grids[1:][] | map(tostring) | join(",")'); do
      "$program" space "$stencil" --dtype $dtype --grid "$grid" ${ONLY:+--template "$ONLY"} --json \
        >"$work/space-$stencil-$dtype-$grid.json" || exit 1
    done
  done
done

# Some values are for grids that are smaller than those of kernels/, or for larger updates.
"$program" space star7 --grid 32,32,32 --template resident --json >"$work/space-small.json" || exit 1
# Some are for weights that repeat.
for stencil in box3d_r4 box3d_r2_even box2d_r2_even; do
  bench/stencil.sh $stencil >"$work/$stencil.yaml"
  "$program" space "$work/$stencil.yaml" ${ONLY:+--template "$ONLY"} --json >"$work/space-$stencil.json" || exit 1
done

# Some are for full boxes in f64, and for odd rows of them.
for grid in 16384,16384 512,512,512 511,511,511; do
  case $grid in *,*,*) stencil=skew_sum_3d ;; *) stencil=skew_sum_2d ;; esac
  "$program" space kernels/asymmetric/$stencil.yaml --grid $grid ${ONLY:+--template "$ONLY"} --json >"$work/space-$stencil-$grid.json" || exit 1
done

# One line for each [template, parameter, value, number of variants that use it over all stencils and their grids].
jq -r -s '[.[].templates[] | .template as $t | .parameters[] | .name as $p | .values[] | {t: $t, p: $p, v: (.value | tostring), kept}]
  | group_by([.t, .p, .v])[] | [.[0].t, .[0].p, .[0].v, (map(.kept) | add)] | @tsv' "$work"/space-*.json >"$work/values"
for template in $templates; do
  awk -F '\t' -v t="$template" '$1 == t && $4 == 0 {print $2 "=" $3 " is used by no variant of any stencil"}' "$work/values" >"$work/unused"
  check "$template: each value of each parameter is used" cat "$work/unused"
done

least() { # stencil
  case $1 in star7) echo 5000 ;; derivative_* | scan_*) echo 100 ;; *) echo 500 ;; esac
}
for stencil in $stencils; do
  [ -z "${ONLY:-}" ] || break
  for dtype in f32 f64; do
    kept=$(jq .kept "$work/space-$stencil-$dtype.json")
    check "$stencil $dtype has $(least "$stencil") variants" test "$kept" -ge "$(least "$stencil")"
  done
done

# --- dead parameters: of some variants, change one parameter after the other until the machine code or the clusters change

cubin_of() { # stencil template settings grid
  "$program" compile "$1" --template "$2" --set "$3" --grid "$4" --json 2>/dev/null | jq -r '.variants[0] | select(.cubin_hash) | .cubin_hash + "-" + (.cluster_blocks | tostring)'
}

# The grid of a stencil with this number, from 0.
grid_of() { # stencil number
  "$program" show "$1" --json | jq -r --argjson n "$2" '.grids[$n] // empty | map(tostring) | join(",")'
}

# Append variants and the hashes of their cubins to $work/sample: stencil, grid, settings, hash.
sample() { # stencil template grid options...
  stencil=$1 template=$2 grid=$3
  shift 3
  "$program" compile "$stencil" --template "$template" --grid "$grid" --seed 1 --json "$@" 2>/dev/null |
    jq -r --arg s "$stencil" --arg g "$grid" '.variants[] | select(.outcome == "ok")
      | [$s, $g, (.parameters | to_entries | map("\(.key)=\(.value)") | join(",")), .cubin_hash + "-" + (.cluster_blocks | tostring)] | @tsv' >>"$work/sample"
}

# Whether another value of a parameter changes the cubin of some variant in $work/sample.
is_alive() { # template parameter
  while IFS="$(printf '\t')" read -r stencil grid settings hash; do
    for value in $(awk -F '\t' -v t="$1" -v p="$2" '$1 == t && $2 == p {print $3}' "$work/values"); do
      changed=$(echo "$settings" | sed "s/\(^\|,\)$2=[^,]*/\1$2=$value/")
      [ "$changed" != "$settings" ] || continue
      other=$(cubin_of "$stencil" "$1" "$changed" "$grid")
      [ -z "$other" ] || [ "$other" = "$hash" ] || return 0
    done
  done <"$work/sample"
  return 1
}

# The stencils to which a template applies. Those with the largest choice for it come first.
stencils_of() { # template
  for s in star7 derivative_y derivative_x scan_z scan_x box27 wave25 $stencils; do
    jq -r --arg t "$1" '.stencil as $s | .templates[] | select(.template == $t and .kept > 0) | $s' "$work/space-$s-f32.json"
  done | awk '!seen[$0]++'
}

# First use a common sample; then samples with each value of the parameter, in case rules tie it to others; then the
# last grid of the stencils, which is the smallest of star7; then the second grid, which is its largest.
for template in $templates; do
  # A parameter with a single value cannot be changed: it requests something from the prelude.
  parameters=$(awk -F '\t' -v t="$template" '$1 == t {print $1, $2}' "$work/values" | sort | uniq -d | sliced "${SLICE:-1}" | cut -d' ' -f2)
  [ -n "$parameters" ] || continue
  : >"$work/sample"
  applies_to=$(stencils_of "$template" | head -n 6)
  [ "$template" != tensor_box ] || applies_to="kernels/asymmetric/skew_sum_3d.yaml
kernels/asymmetric/skew_sum_2d.yaml"
  applies_to=${applies_to:-star7}  # a template for small grids, as star7's last one
  for stencil in $(echo "$applies_to" | head -n 2); do sample "$stencil" "$template" "$(grid_of "$stencil" 0)" --sample 2; done
  cp "$work/sample" "$work/common"
  for parameter in $parameters; do
    # Points of a lane and the grid, or the grid alone, allow one width, so it never changes by itself. In fused_march neither do the points.
    case "$template $parameter" in "pipeline_planes vector" | "fused_march vector" | "fused_march points" | "tensor_box vector") continue ;; esac
    cp "$work/common" "$work/sample"
    alive=0
    is_alive "$template" "$parameter" || alive=1
    # Weights repeat in none of kernels/ so that grouping them saves operations.
    candidates=$applies_to
    [ "$parameter" != weights ] || candidates="$work/box3d_r2_even.yaml $work/box2d_r2_even.yaml"
    for which in 0 -1 1; do
      for stencil in $candidates; do
        [ $alive != 0 ] && [ -n "$(grid_of "$stencil" $which)" ] || continue
        : >"$work/sample"
        for value in $(awk -F '\t' -v t="$template" -v p="$parameter" '$1 == t && $2 == p {print $3}' "$work/values"); do
          sample "$stencil" "$template" "$(grid_of "$stencil" $which)" --set "$parameter=$value" --sample 3
        done
        ! is_alive "$template" "$parameter" || alive=0
      done
    done
    if [ $alive = 0 ]; then result ok "$template: $parameter changes the machine code"
    else echo "no variant was found that it changes" | result "not ok" "$template: $parameter changes the machine code"; fi
  done
done
echo "1..$number"
[ "$failed" = 0 ] && [ "$number" -gt 0 ]
