#!/bin/sh
# similar.sh: how good the answer `similar` is. For the stars and boxes of AN5D's benchmark (2D and 3D, radius 1 to 4) and six others,
# it measures the configuration that `halotune query FILE` gives, and the winner of a search, on GPU 0, and prints their ratio.
#
#   BUDGET=10s bench/similar.sh             on a GPU; some six minutes
#   STENCILS="star2d1r" OPTIONS="--backend host --max-variants 2" GRID=34,34 DEVICE=sm_90 bench/similar.sh   without a GPU: a test of the script
set -u
cd "$(dirname "$0")/.." || exit 1
halotune=${HALOTUNE:-build/halotune} budget=${BUDGET:-10s} db=${DB:-build/starter.db} options=${OPTIONS:-} device=${DEVICE:-0}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Write the stencil of one shape, number of dimensions and radius: equal weights for all its points.
shape_write() { # star|box dims radius
  awk -v shape="$1" -v dims="$2" -v r="$3" 'BEGIN {
    printf "name: %s%dd%dr\nabout: %s of radius %d\ndims: %d\ninputs: [u]\noutputs: [v]\nupdate: |\n  v = 0.01*(", shape, dims, r, shape, r, dims
    first = 1
    for (z = dims > 2 ? -r : 0; z <= (dims > 2 ? r : 0); z++) for (y = -r; y <= r; y++) for (x = -r; x <= r; x++) {
      if (shape == "star" && (x != 0) + (y != 0) + (z != 0) > 1) continue
      printf "%su[%d,%d%s]", (first ? "" : " + "), x, y, (dims > 2 ? "," z : "")
      first = 0
    }
    printf ")\nboundary: skip\ndtypes: [f32, f64]\ngrids: [[%s]]\n", (dims > 2 ? "512, 512, 512" : "8192, 8192") }'
}
for dims in 2 3; do
  for radius in 1 2 3 4; do
    for shape in star box; do shape_write $shape $dims $radius >"$work/$shape${dims}d${radius}r.yaml"; done
  done
done
for other in skew_2d skew_3d_star skew_3d_box skew_march_2d_periodic skew_march_3d_periodic skew_1d; do cp kernels/asymmetric/$other.yaml "$work"; done

# The time of the winner of a tune.
tuned_ms() { # database file options...
  database=$1 file=$2
  shift 2
  # shellcheck disable=SC2086
  "$halotune" tune "$file" --db "$database" --steps 1 --no-hints "$@" $options ${GRID:+--grid "$GRID"} >"$work/log" 2>&1 || return 1
  sqlite3 "$database" 'select time_ms from best where is_current order by time_ms limit 1'
}
echo "stencil                  match     of              similar_ms  tuned_ms  ratio"
for file in "$work"/*.yaml; do
  name=$(basename "$file" .yaml)
  case " ${STENCILS:-$name} " in *" $name "*) ;; *) continue ;; esac
  rm -f "$work"/*.db*
  "$halotune" query "$file" --db "$db" --device "$device" --json ${GRID:+--grid "$GRID"} >"$work/answer" 2>"$work/log" ||
    { echo "$name: $(grep "^halotune" "$work/log" | tail -1)"; continue; }
  values=$(jq -r '.parameters | to_entries | map("\(.key)=\(.value)") | join(",")' "$work/answer")
  similar=$(tuned_ms "$work/a.db" "$file" --template "$(jq -r .template "$work/answer")" --set "$values") &&
    tuned=$(tuned_ms "$work/b.db" "$file" --budget "$budget") || { echo "$name: $(grep "^halotune" "$work/log" | tail -1)"; continue; }
  printf '%-24s %-9s %-14s %11.5f %9.5f  %s\n' "$name" "$(jq -r .match "$work/answer")" "$(jq -r .measured_stencil "$work/answer")" "$similar" \
    "$tuned" "$(echo "$similar $tuned" | awk '{printf "%.3f", $1/$2}')" | tee -a "$work/rows"
done
[ -s "$work/rows" ] || exit 1
awk '{print $NF}' "$work/rows" | sort -n | awk '{v[NR] = $1} END {printf "median %.3f, worst %.3f, %d stencils\n", v[int((NR + 1)/2)], v[NR], NR}'
