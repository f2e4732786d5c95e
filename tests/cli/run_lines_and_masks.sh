# Inputs along some axes and masks: a run gives the bits of the same stencil with fields over the whole grid, on arrays
# of the inputs' own shapes and types; other shapes and types are refused.
solvers=$PWD/examples/solvers
cd "$TMPDIR" || exit 1
npy() { perl "$OLDPWD/tests/npy.pl" "$@"; }
same() { cmp "$1" "$2" && echo "the bits of $1 and $2 are equal"; }
run() { halotune run --backend cpu "$@" >log || cat log; }

# A sponge as two lines, and as two fields.
sed '/^along:/d; s/\(sponge_[xy]\)\[0\]/\1[0,0]/g' "$solvers/acoustic_sponge.yaml" >fields.yaml
x='0.1*($x < 3 ? 3 - $x : $x > 8 ? $x - 8 : 0)' y='0.05*($y < 2 ? 2 - $y : 0)'
line_y='0.05*($x < 2 ? 2 - $x : 0)'   # an array of one axis is written along x
for type in f4 f8; do
  npy write u.npy "<$type" 10,12 'sin($x)*cos($y)'
  npy write p.npy "<$type" 10,12 'sin($x - 0.1)*cos($y)'
  npy write c.npy "<$type" 10,12 '0.5 + 0.03*$x'
  npy write lx.npy "<$type" 12 "$x"; npy write ly.npy "<$type" 10 "$line_y"
  npy write fx.npy "<$type" 10,12 "$x"; npy write fy.npy "<$type" 10,12 "$y"
  run "$solvers/acoustic_sponge.yaml" --steps 5 --input u=u.npy,u_prev=p.npy,speed=c.npy,sponge_x=lx.npy,sponge_y=ly.npy --output v=lines_$type.npy
  run ./fields.yaml --steps 5 --input u=u.npy,u_prev=p.npy,speed=c.npy,sponge_x=fx.npy,sponge_y=fy.npy --output v=fields_$type.npy
  same lines_$type.npy fields_$type.npy
done

# An obstacle as bytes, as truth values, and as numbers. No heat is lost.
sed '/^types:/d' "$solvers/heat_obstacle.yaml" >numbers.yaml
disc='($x - 5)**2 + ($y - 4)**2 < 5 ? 1 : 0'
npy write solid.npy '|u1' 10,12 "$disc"; npy write truth.npy '|b1' 10,12 "$disc"; npy write number.npy '<f8' 10,12 "$disc"
npy write heat.npy '<f8' 10,12 '$x == 2 && $y == 3 ? 64 : 0'
run "$solvers/heat_obstacle.yaml" --steps 40 --input u=heat.npy,solid=solid.npy --output v=bytes.npy
run "$solvers/heat_obstacle.yaml" --steps 40 --input u=heat.npy,solid=truth.npy --output v=truths.npy
run ./numbers.yaml --steps 40 --input u=heat.npy,solid=number.npy --output v=numbers.npy
same bytes.npy numbers.npy; same truths.npy numbers.npy
npy print bytes.npy | awk 'NR > 1 {for (i = 1; i <= NF; i++) sum += $i} END {printf "heat: %.6f\n", sum}'
npy print bytes.npy | sed -n '6p'

# Three dimensions: a line along z, a plane of x and z.
cat >planes.yaml <<'END'
name: planes
dims: 3
inputs: [u, line, plane]
outputs: [v]
along: {line: z, plane: [x, z]}
update: v = u[0,0,0] + 100*line[0] + 10000*plane[1,0]
boundary: zero
dtypes: [f64]
grids: [[8, 8, 8]]
END
npy write u3.npy '<f8' 2,2,3 '$x + 10*$y'
npy write line.npy '<f8' 2 '1 + $x'
npy write plane.npy '<f8' 2,3 '1 + $x + 4*$y'
run ./planes.yaml --input u=u3.npy,line=line.npy,plane=plane.npy --output v=v3.npy && npy print v3.npy

# What does not fit is refused.
refused() { halotune run --backend cpu "$@" 2>&1; echo "exit $?"; }
refused ./planes.yaml --grid 3,2,2 --output v=v.npy
refused ./planes.yaml --output v=v.npy
refused ./planes.yaml --input u=u3.npy,line=u3.npy,plane=plane.npy --output v=v.npy
npy write turned.npy '<f8' 3,2 0
refused ./planes.yaml --input u=u3.npy,line=line.npy,plane=turned.npy --output v=v.npy
npy write single.npy '<f4' 2 0
refused ./planes.yaml --input u=u3.npy,line=single.npy,plane=plane.npy --output v=v.npy
refused "$solvers/heat_obstacle.yaml" --input u=heat.npy,solid=number.npy --output v=v.npy
npy write small.npy '|u1' 12 0
refused "$solvers/heat_obstacle.yaml" --input u=heat.npy,solid=small.npy --output v=v.npy
sed 's/^inputs:.*/inputs: [line, plane]/; s/u\[0,0,0\] + //' planes.yaml >thin.yaml
refused ./thin.yaml --input line=line.npy,plane=plane.npy --output v=v.npy
run ./thin.yaml --grid 3,1,2 --input line=line.npy,plane=plane.npy --output v=v.npy && npy print v.npy
# exit 0
