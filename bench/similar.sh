#!/bin/sh
# similar.sh: how good the answer `similar` is. For the stars and boxes of AN5D's benchmark (2D and 3D, radius 1 to 4) and six others,
# which the starter database does not hold, near_gpu_bench.c compares what a lookup answers with a search. It needs nothing but sh and awk.
#
#   make bench-similar BUDGET=10 DEVICES=0,1                      on a GPU; some six minutes
#   BENCH=near_gpu_bench bench/similar.sh --budget 10             the same without make
#   STENCILS="star2d1r skew_2d" GRID=34,34 DTYPES="f32 f64"       other problems
# Its arguments are those of near_gpu_bench. WORK=build/similar is the folder that --work names.
set -eu
cd "$(dirname "$0")/.."
work=${WORK:-build/similar}
mkdir -p "$work"
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

for file in "$work"/*.yaml; do
  name=$(basename "$file" .yaml)
  case " ${STENCILS:-$name} " in *" $name "*) ;; *) continue ;; esac
  for dtype in ${DTYPES:-f32}; do echo "$file $dtype ${GRID:-$(sed -n 's/^grids: *[[][[]\([^]]*\).*/\1/p' "$file" | tr -d ' ')}"; done
done >"$work/questions"
exec "${BENCH:?BENCH is the program near_gpu_bench}" --questions "$work/questions" --work "$work" "$@"
