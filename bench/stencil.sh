#!/bin/sh
# stencil.sh NAME: writes the file of a stencil that the benchmarks need beside those of kernels/. NAME is
#   star2d_rN, star3d_rN, box2d_rN, box3d_rN  of radius N, all weights different
#   box2d_rN_even, box3d_rN_even              the boxes with weights that depend on |x|, |y| and |z| alone
#   box2d_rN_product, box3d_rN_product        the boxes with weights that are products of a number for each axis
#   gradient2d                                u + 1/sqrt(...) of differences in two dimensions
#   NAME_periodic, NAME_clamp, NAME_mirror    a stencil of kernels/ with this boundary rule along all axes
#   NAME_value                                the same with the value 0.5 beyond the grid
set -eu
cd "$(dirname "$0")/.."
name=${1:?usage: bench/stencil.sh NAME}

case $name in
  *_periodic | *_clamp | *_mirror | *_value)
    rule=${name##*_}
    [ "$rule" != value ] || rule=0.5
    sed "s/^name:.*/name: $name/; s/^boundary:.*/boundary: $rule/" "kernels/${name%_*}.yaml"
    exit
    ;;
  gradient2d)
    update='  gx = u[1,0] - u[-1,0]
  gy = u[0,1] - u[0,-1]
  v = u[0,0] + 1/sqrt(1 + gx*gx + gy*gy)'
    dims=2
    ;;
  star[23]d_r[1-9] | box[23]d_r[1-9] | box[23]d_r[1-9]_even | box[23]d_r[1-9]_product)
    radius=${name#*_r} radius=${radius%%_*}
    case $name in *_even) kind=even ;; *_product) kind=product ;; *) kind=different ;; esac
    case $name in box*) dims=${name#box} dims=${dims%%d*} ;; *) dims=${name#star} dims=${dims%%d*} ;; esac
    update=$(awk -v star="${name%%[23]*}" -v dims="$dims" -v r="$radius" -v kind=$kind '
      function abs(i) { return i < 0 ? -i : i }
      function factor(i, by) { return sprintf("%.4f", (0.8 + by*(i + r)/(2*r + 1))/(2*r + 1)) }
      function weight(x, y, z) {
        if (kind == "product") return factor(x, 0.1) "*" factor(y, 0.2) (dims == 3 ? "*" factor(z, 0.3) : "")
        if (kind == "even") return sprintf("%.7f", (1.4 - ((abs(z)*(r + 1) + abs(y))*(r + 1) + abs(x))/(r + 1)^dims)/points)
        return sprintf("%.7f", (0.5 + n/points)/points)
      }
      BEGIN {
      points = star == "star" ? 1 + 2*dims*r : (2*r + 1)^dims
      for (z = dims == 3 ? -r : 0; z <= (dims == 3 ? r : 0); z++) for (y = -r; y <= r; y++) for (x = -r; x <= r; x++) {
        if (star == "star" && (x != 0) + (y != 0) + (z != 0) > 1) continue
        printf "%s%s*u[%d,%d%s]", n == 0 ? "  v = " : n%6 == 0 ? "\n    + " : " + ", weight(x, y, z), x, y, dims == 3 ? "," z : ""
        n++
      }
    }')
    ;;
  *) echo "stencil.sh: no stencil $name" >&2 && exit 2 ;;
esac
case $dims in 2) grid=16384,16384 ;; *) grid=512,512,512 ;; esac
cat <<Y
name: $name
about: a stencil of the benchmarks
dims: $dims
inputs: [u]
outputs: [v]
update: |
$update
boundary: skip
iterate: {v: u}
dtypes: [f32, f64]
grids: [[$grid]]
Y
