# `run` on the CPU: steps, coefficients that depend on --set, two outputs, the element type and the grid of the files.
cd "$TMPDIR" || exit 1
npy() { perl "$OLDPWD/tests/npy.pl" "$@"; }
run() { halotune run "$@" | sed 's/^time .*/time/'; }
cat >heat.yaml <<'END'
name: heat
dims: 2
inputs: [u]
outputs: [v]
coefficients: {alpha: 0.1, r: 2*alpha}
update: v = u[0,0] + r*(u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u[0,0])
boundary: skip
iterate: {v: u}
dtypes: [f32, f64]
grids: [[64, 64]]
END
npy write a.npy '<f8' 4,6 '$x==2 && $y==1 ? 1 : $x==0 ? 0.5 : 0'
run ./heat.yaml --backend cpu --steps 3 --input u=a.npy --output v=b.npy && npy print b.npy
run ./heat.yaml --backend cpu --steps 3 --set alpha=0.125 --grid 6,4 --input u=a.npy -o v=b.npy && npy print b.npy
npy write s.npy '<f4' 4,6 '$x'
run ./heat.yaml --backend cpu --type f32 --input u=s.npy --output v=t.npy && npy print t.npy
# u_prev gets the values of u where nothing is computed.
cat >wave.yaml <<'END'
name: wave
dims: 1
inputs: [u, u_prev]
outputs: [v, energy]
update: |
  v = u[-1] + u[1] - u_prev[0]
  energy = u[0]*u[0]
boundary: skip
iterate: {v: u, u: u_prev}
dtypes: [f64]
grids: [[64]]
END
npy write u.npy '<f8' 5 '$x'
npy write u_prev.npy '<f8' 5 '$x - 9'
run wave.yaml --backend cpu --steps 2 --input u=u.npy,u_prev=u_prev.npy --output energy=e.npy,v=v.npy --threads 1
npy print v.npy; npy print e.npy
# Two runs of one step each end where the run of two steps does: the second goes on with both times of the first.
run wave.yaml --backend cpu --input u=u.npy,u_prev=u_prev.npy --output u=u1.npy,u_prev=u0.npy
npy print u1.npy; npy print u0.npy
run wave.yaml --backend cpu --input u=u1.npy,u_prev=u0.npy --output v=w.npy,energy=f.npy
cmp v.npy w.npy && cmp e.npy f.npy && echo the same
# Inputs in another order than outputs: each field keeps its own values where nothing is computed.
cat >pair.yaml <<'END'
name: pair
dims: 1
inputs: [q_prev, q, u]
outputs: [v, r]
update: |
  v = u[-1] + u[1]
  r = q[-1] + q[1] - q_prev[0]
boundary: skip
iterate: {v: u, r: q, q: q_prev}
dtypes: [f64]
grids: [[64]]
END
npy write u.npy '<f8' 5 1
npy write q.npy '<f8' 5 2
npy write q_prev.npy '<f8' 5 3
for steps in 1 2 3; do
  run pair.yaml --backend cpu --steps $steps --input u=u.npy,q=q.npy,q_prev=q_prev.npy --output v=v.npy,r=r.npy
  npy print v.npy; npy print r.npy
done
npy write nan.npy '<f8' 4,6 '"nan"'
run ./heat.yaml --backend cpu --input u=nan.npy --output v=b.npy
halotune run ./heat.yaml --backend cpu --input u=a.npy --output v=b.npy --threads 1 --json | jq -c 'del(.time_ms, .points_per_s)'
# exit 0
