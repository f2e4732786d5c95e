# A file that lists its coefficients in another order has the same winner. Each coefficient has the file's value.
halotune db import tests/data/tuned.json --trust --yes --db "$TMPDIR/query.db" >/dev/null 2>&1
sed 's/{c0: 0.4, c1: 0.1, c2: 0.11, c3: 0.09, c4: 0.1, c5: 0.12, c6: 0.08}/{c6: 0.0625, c1: 0.1, c2: 0.11, c3: 0.09, c4: 0.1, c5: 0.12, c0: 0.3125}/' \
  kernels/star7.yaml >"$TMPDIR/star7.yaml"
query() { halotune query "$@" --db "$TMPDIR/query.db" --device 'NVIDIA H200' --grid 512,512,512; }
query "$TMPDIR/star7.yaml" | grep -E '^(match|template)'
query "$TMPDIR/star7.yaml" --json | jq -c .coefficients
query "$TMPDIR/star7.yaml" --source | grep -o 'c[06]_ = real([0-9.]*)'
# Nor does a stencil without results change this, which has just the order of the file.
hash=$(halotune show "$TMPDIR/star7.yaml" --json | jq -r .hash)
sqlite3 "$TMPDIR/query.db" "insert into stencil (hash, name, origin_id) values ('$hash', 'other', 1); insert into stencil_text (stencil_id, hash, text, origin_id) select id, '$hash', replace(readfile('$TMPDIR/star7.yaml'), 'name: star7', 'name: other'), 1 from stencil where hash = '$hash'"
query "$TMPDIR/star7.yaml" | grep -E '^(match|template)'
# Nor does a result of others for this order, on another grid, if the user measured the other order.
sqlite3 "$TMPDIR/query.db" "
  insert into origin (id, kind, name, date) values (50, 'measured', 'me', '2026-01-01T00:00:00.000Z');
  update best set origin_id = 50;
  create temp table new as select * from best where is_current limit 1;
  insert into problem (device_id, stencil_id, dtype, nx, ny, nz, launch, cache, is_reproducible, origin_id, steps)
    select p.device_id, s.id, p.dtype, 40, 24, 24, p.launch, p.cache, p.is_reproducible, 1, p.steps
    from problem p join new on new.problem_id = p.id join stencil s on s.hash = '$hash';
  update new set id = (select max(id) + 1 from best), problem_id = (select max(id) from problem), origin_id = 1,
    text_id = (select x.id from stencil_text x join stencil s on s.id = x.stencil_id where s.hash = '$hash');
  insert into best select * from new"
query "$TMPDIR/star7.yaml" | grep -E '^(match|template)'
# A result of the user for that order does not answer for a file in the order of Halotune's results.
cp "$TMPDIR/query.db" "$TMPDIR/shipped.db"
sqlite3 "$TMPDIR/shipped.db" "
  insert into origin (id, kind, name, date) values (51, 'shipped', 'starter', '2026-01-01T00:00:00.000Z');
  update best set origin_id = iif(origin_id = 50, 51, 50)"
halotune query kernels/star7.yaml --db "$TMPDIR/shipped.db" --device 'NVIDIA H200' --grid 512,512,512 | grep -E '^(star7|match)'
# Where another order answers, the file's grids and types count. An order without a type of the file does not answer.
sed 's/grids: .*/grids: [[96, 96, 96]]/' "$TMPDIR/star7.yaml" >"$TMPDIR/other.yaml"
halotune query "$TMPDIR/other.yaml" --db "$TMPDIR/query.db" --device 'NVIDIA H200' | head -1
sqlite3 "$TMPDIR/query.db" "update stencil_text set text = replace(text, 'dtypes: [f32, f64]', 'dtypes: [f64]')"
query "$TMPDIR/star7.yaml" --dtype f32 | head -1
# Another update with the same coefficients is another stencil.
sed -i 's/c0\*u\[0,0,0\] + c1/c1*u[0,0,0] + c0/' "$TMPDIR/star7.yaml"
query "$TMPDIR/star7.yaml" 2>&1 | grep '^match'
# exit 0
