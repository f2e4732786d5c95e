#!/bin/sh
# stencil.sh NAME: writes the file of a stencil that the benchmarks need beside those of kernels/. NAME is
#   star2d_rN, star3d_rN, box2d_rN, box3d_rN  of radius N, all weights different
#   box2d_rN_even, box3d_rN_even              the boxes with weights that depend on |x|, |y| and |z| alone
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
  star[23]d_r[1-9] | box[23]d_r[1-9] | box[23]d_r[1-9]_even)
    radius=${name#*_r} radius=${radius%_even}
    case $name in *_even) even=1 ;; *) even=0 ;; esac
    case $name in box*) dims=${name#box} dims=${dims%%d*} ;; *) dims=${name#star} dims=${dims%%d*} ;; esac
    update=$(awk -v star="${name%%[23]*}" -v dims="$dims" -v r="$radius" -v even=$even '
      function abs(i) { return i < 0 ? -i : i }
      function weight(x, y, z) {
        return even ? 1.4 - ((abs(z)*(r + 1) + abs(y))*(r + 1) + abs(x))/(r + 1)^dims : 0.5 + n/points
      }
      BEGIN {
      points = star == "star" ? 1 + 2*dims*r : (2*r + 1)^dims
      for (z = dims == 3 ? -r : 0; z <= (dims == 3 ? r : 0); z++) for (y = -r; y <= r; y++) for (x = -r; x <= r; x++) {
        if (star == "star" && (x != 0) + (y != 0) + (z != 0) > 1) continue
        printf "%s%.7f*u[%d,%d%s]", n == 0 ? "  v = " : n%6 == 0 ? "\n    + " : " + ", weight(x, y, z)/points, x, y, dims == 3 ? "," z : ""
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
