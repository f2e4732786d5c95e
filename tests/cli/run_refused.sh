# `run` refuses what does not fit by its name, and says what to do. Nothing is written.
cd "$TMPDIR" || exit 1
npy() { perl "$OLDPWD/tests/npy.pl" "$@"; }
header() { npy header bad.npy 1 "{'descr': $1, 'fortran_order': $2, 'shape': $3, }" "${4:-192}"; }
cat >wave.yaml <<'END'
name: wave
dims: 2
inputs: [u, u_prev]
outputs: [v, w]
coefficients: {courant: 0.5}
update: |
  v = 2*u[0,0] - u_prev[0,0] + courant*(u[1,0] - 2*u[0,0] + u[-1,0])
  w = u[0,0]
boundary: skip
iterate: {v: u, u: u_prev}
dtypes: [f32, f64]
grids: [[64, 64]]
END
sed 's/^name: .*/name: single/; s/^iterate.*//; s/f32, f64/f64/' wave.yaml >single.yaml
npy write u.npy '<f8' 4,6 1
npy write p.npy '<f8' 4,6 0
npy write f.npy '<f4' 4,6 0
npy write t.npy '<f8' 6,4 0
head -c 300 p.npy >short.npy
cat p.npy u.npy >long.npy
mkfifo pipe.npy
mkdir folder
run() { halotune run ./wave.yaml --backend cpu "$@"; echo "exit $?"; }
with() { run --input u=u.npy,u_prev="$1" --output v=v.npy; }
{
  echo '# missing inputs, unknown and repeated names'
  run --output v=v.npy
  run --input u_prev=p.npy --output v=v.npy
  run --grid 6,4 --dtype f32 --output v=v.npy
  run --input u=u.npy,u_prew=p.npy --output v=v.npy
  run --input u=u.npy,u=p.npy --output v=v.npy
  run --input u=u.npy --input u_prev=p.npy --output v=v.npy
  run --input u=u.npy,v=p.npy --output v=v.npy
  run --input u=u.npy,p.npy --output v=v.npy
  run --input u=u.npy,u_prev=p.npy
  halotune run ./single.yaml --backend cpu --input u=u.npy,u_prev=p.npy --output u=v.npy
  run --input u=u.npy,u_prev=p.npy --output v=v.npy,v=w.npy
  echo '# files that are written'
  run --input u=u.npy,u_prev=p.npy --output v=./p.npy
  run --input u=u.npy,u_prev=p.npy --output v=v.npy,w=./v.npy
  run --input u=u.npy,u_prev=p.npy --output u_prev=v.npy,w=./v.npy
  run --input u=u.npy,u_prev=p.npy --output u=u.npy
  run --input u=u.npy,u_prev=p.npy --output v=folder
  run --input u=u.npy,u_prev=p.npy --output v=nowhere/v.npy
  ln -s same.npy link.npy
  run --input u=u.npy,u_prev=p.npy --output v=link.npy,w=same.npy
  ln -s nowhere/v.npy lost.npy
  run --input u=u.npy,u_prev=p.npy --output v=lost.npy
  rm link.npy lost.npy
  echo '# files that are read'
  with nothing.npy
  with folder
  with pipe.npy
  with wave.yaml
  with t.npy
  with f.npy
  with short.npy
  with long.npy
  header "'>f8'" False '(4, 6)' && with bad.npy
  header "'>i8'" False '(4, 6)' && with bad.npy
  header "'|O'" False '(4, 6)' && with bad.npy
  header "'<f8'" True '(4, 6)' && with bad.npy
  header "'<i8'" False '(4, 6)' && with bad.npy
  header "'<f8'" False '(24,)' && with bad.npy
  header "[('x', '<f8')]" False '(4, 6)' && with bad.npy
  header "'<f8'" False '(4, 6' && with bad.npy
  npy header bad.npy 9 "{}" 0 && with bad.npy
  header "'<f8'" False '(1, 4294967296)' && run --input u=bad.npy,u_prev=p.npy --output v=v.npy
  echo '# options'
  run --input u=u.npy,u_prev=p.npy --output v=v.npy --grid 4,6
  run --input u=f.npy,u_prev=p.npy --output v=v.npy
  run --input u=u.npy,u_prev=p.npy --output v=v.npy --set courand=1
  run --input u=u.npy,u_prev=p.npy --output v=v.npy --set courant=one
  run --input u=u.npy,u_prev=p.npy --output v=v.npy --set courant
  run --input u=u.npy,u_prev=p.npy --output v=v.npy --steps 0
  halotune run ./single.yaml --backend cpu --input u=u.npy,u_prev=p.npy --output v=v.npy --steps 2
  halotune run ./single.yaml --backend cpu --input u=f.npy,u_prev=f.npy --output v=v.npy
} 2>&1 | sed 's/^halotune: //'
ls
# exit 0
