#!/bin/sh
# rungs.sh DATABASE [DEVICE]: prints the grids that DATABASE lacks most for answers on other grids of a model of GPU
# (NVIDIA H200), most valuable first: lines for `near_gpu_bench --questions`, of its eight stencils in f32 and f64.
# COUNT grids are printed (400), none of more than MOST_POINTS points (200000000). Needs sqlite3 and awk.
#
#   bench/rungs.sh build/starter.db >rungs.txt
#   near_gpu_bench --questions rungs.txt --work build/rungs --budget 4 --seconds 600 --devices 0,1
#
# A grid is worth what it takes off the loss of random problems, which are drawn as near_gpu_bench draws them, for each
# second of its search. The loss of a problem is that of the row from which it loses least. What a row loses on another
# grid was fitted to 1,146 times of winners of an H200 in searches on an H100: a share of the time for each factor of
# two in bytes, more where the fields are small, and less for other lengths along the axes and other alignment of rows.
# Rungs of bench/ladder.sh count one and a half times.
#
# With SHORT=3, the grids whose winners come from searches of at most 3 s are printed instead, the shortest time first, so
# that they can be searched once more.
set -eu
db=${1:?usage: bench/rungs.sh DATABASE [DEVICE]} device=${2:-NVIDIA H200}
if [ -n "${SHORT:-}" ]; then
  sqlite3 -separator ' ' "file:$db?mode=ro" "select s.name, p.dtype, p.nx || ',' || p.ny || iif(p.nz > 1, ',' || p.nz, '') from best b join run r on r.id = b.run_id
    join problem p on p.id = b.problem_id join stencil s on s.id = p.stencil_id join device d on d.id = p.device_id
    where b.is_current and p.steps = 1 and p.cache = 'steady' and not p.is_reproducible and d.name = '$device' and r.budget_s <= $SHORT
      and s.name in ('star7', 'box27', 'star13', 'star25', 'wave25', 'heat2d', 'diffusion2d', 'box2d9') group by 1, 2, 3 order by min(b.time_ms)"
  exit
fi
sqlite3 -separator ' ' "file:$db?mode=ro" "select distinct s.name, p.dtype, p.nx, p.ny, p.nz from best b join problem p on p.id = b.problem_id
  join stencil s on s.id = p.stencil_id join device d on d.id = p.device_id
  where b.is_current and p.steps = 1 and p.cache = 'steady' and not p.is_reproducible and d.name = '$device'" |
  awk -v count="${COUNT:-400}" -v most_points="${MOST_POINTS:-200000000}" '
function log2(x) { return log(x) / log(2) }
function abs(x) { return x < 0 ? -x : x }
function side(most,   multiple, x) { # as random_side() of near_gpu_bench.c
  multiple = 1 + 3 * int(2 * rand())
  if (rand() < 1 / 3) multiple = 32
  x = int(32 * exp(log(most / 32) * rand()) / multiple + 0.5) * multiple
  if (x > most) x -= multiple
  return x < 32 ? 32 : x
}
# Fill number i of a kind: "held", "asked" or "rung".
function put(kind, i, dtype, x, y, z,   bytes, row) {
  bytes = dtype == "f64" ? 8 : 4
  row = x * bytes
  Dtype[kind, i] = dtype; Grid[kind, i] = x "," y (dims == 3 ? "," z : "")
  Bytes[kind, i] = log2(x * y * z * bytes); X[kind, i] = log2(x); Y[kind, i] = log2(y); Z[kind, i] = log2(z)
  Unaligned[kind, i] = row % 128 != 0
  Vectors[kind, i] = row % 16 == 0 ? 2 : row % 8 == 0 ? 1 : 0
  Points[kind, i] = x * y * z
}
function random_grid(kind, i, dtype,   most, x, y, z, is_cube) {
  most = dims == 3 ? 1200 : 9600
  do {
    is_cube = rand() < 0.5
    x = side(most); y = is_cube ? x : side(most); z = dims == 2 ? 1 : is_cube ? x : side(most)
  } while (x * y * z > most_points)
  put(kind, i, dtype, x, y, z)
}
# What the asked problem loses with the row of another grid.
function loss(kind, row, asked,   of_size, of_shape, of_rows, vectors) {
  of_size = Bytes["asked", asked] < 21 ? 0.1 : Bytes["asked", asked] < 25 ? 0.06 : 0.03
  if (dims == 2) of_size = Bytes["asked", asked] < 25 ? 0.03 : 0.01
  vectors = Vectors[kind, row] - Vectors["asked", asked]
  of_size *= abs(Bytes[kind, row] - Bytes["asked", asked])
  of_shape = 0.02 * abs(X[kind, row] - X["asked", asked]) + 0.01 * abs(Y[kind, row] - Y["asked", asked]) + 0.01 * abs(Z[kind, row] - Z["asked", asked])
  of_rows = 0.05 * (Unaligned[kind, row] != Unaligned["asked", asked]) + (vectors > 0 ? 0.05 : -0.03) * vectors
  return of_size + of_shape + of_rows + 0.02 * (Dtype[kind, row] != Dtype["asked", asked])
}
function gain(rung,   i, sum) {
  for (i = 0; i < asked_count; i++) if (Loss[rung, i] < Least[i]) sum += Least[i] - Loss[rung, i]
  return sum * (rung < ladder_count ? 1.5 : 1) / (5 + Points["rung", rung] / 1e8)
}
function rungs_of(stencil,   i, k, side_count, sides, dtype, best, picked, x) {
  for (i = 0; i < asked_count; i++) random_grid("asked", i, i % 2 ? "f64" : "f32")
  side_count = split("32 64 101 128 192 255 256 384 512 768 1024", sides, " ")
  rung_count = 0
  for (i = 1; i <= side_count; i++) for (k = 0; k < 2; k++) {
    x = sides[i]
    if ((stencil, k ? "f64" : "f32", x, x, dims == 3 ? x : 1) in Known || x ^ dims > most_points) continue
    put("rung", rung_count++, k ? "f64" : "f32", x, x, dims == 3 ? x : 1)
  }
  ladder_count = rung_count
  while (rung_count < ladder_count + 240) { random_grid("rung", rung_count, rung_count % 2 ? "f64" : "f32"); rung_count++ }
  for (i = 0; i < asked_count; i++) {
    Least[i] = 1
    for (k = 0; k < Count[stencil]; k++) { x = loss("held", stencil k, i); if (x < Least[i]) Least[i] = x }
    for (k = 0; k < rung_count; k++) Loss[k, i] = loss("rung", k, i)
  }
  # A gain can only become smaller. So the gains of the last rounds are bounds.
  for (k = 0; k < rung_count; k++) Bound[k] = 1e9
  for (picked = 0; picked < count / 4 && picked < rung_count; picked++) {
    for (;;) {
      best = 0
      for (k = 1; k < rung_count; k++) if (Bound[k] > Bound[best]) best = k
      x = gain(best)
      if (x >= Bound[best] * 0.999999) break
      Bound[best] = x
    }
    printf "%.6f %s %s %s\n", x, stencil, Dtype["rung", best], Grid["rung", best] | sorted
    for (i = 0; i < asked_count; i++) if (Loss[best, i] < Least[i]) Least[i] = Loss[best, i]
    Bound[best] = 0
  }
}
BEGIN { asked_count = 400; srand(17); sorted = "sort -k1,1gr -s | head -n " count " | cut -d \" \" -f 2-" }
{ dims = $5 > 1 ? 3 : 2; Known[$1, $2, $3, $4, $5]; put("held", $1 Count[$1]++, $2, $3, $4, $5) }
END {
  stencils = split("star7 box27 star13 star25 wave25 heat2d diffusion2d box2d9", names, " ")
  for (number = 1; number <= stencils; number++) { dims = number > 5 ? 2 : 3; rungs_of(names[number]) }
}'
