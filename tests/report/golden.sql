-- A small database, written by hand: what report.sh compares golden.json with. Its stencil and template are its own, so that ours
-- may change.
insert into device values (1, 'GPU-00000000-0000-0000-0000-000000000001', 'NVIDIA H200', 90, 132, 1980000, 3201000, 6144, 62914560,
  150754820096, 1024, 2048, 255, 65536, 232448, 32, 0);
insert into stencil values (1, '00000000000000000000000000000001', 'mean3', 'name: mean3
about: mean of three neighbours
dims: 1
inputs: [u]
outputs: [v]
coefficients: {a: 0.25}
update: v = a*(u[-1] + 2*u[0] + u[1])
boundary: skip
dtypes: [f32, f64]
grids: [[1048576]]
');
insert into stencil values (2, '00000000000000000000000000000002', 'of a later version', 'name: later
wings: 4
');
insert into template values (1, '00000000000000000000000000000011', 'plain', 'name: plain
about: a point a thread
parameters:
  block_x: {values: [32, 64, 128], default: 64, about: threads of a block}
  load_path: {values: [plain, readonly], default: plain, about: how memory is read}
rules: []
block: [block_x, 1, 1]
grid: [ceil(points_in_x/block_x), 1, 1]
shared_bytes: 0
access:
  loads_per_point: taps
  over_read: 1 + (low_x + high_x)/block_x
  computing_share: 1
', '// no kernel');
insert into template values (2, '00000000000000000000000000000012', 'unreadable', 'name: unreadable
engine: steam
', '');
insert into problem values (1, 1, 1, 'f32', 1048576, 1, 1, 'stream', 'steady', 0);
insert into problem values (2, 1, 2, 'f64', 64, 64, 1, 'graph', 'cold', 1);
insert into variant values (1, 'a1', 1, 1, '{"block_x":32,"load_path":"plain"}');
insert into variant values (2, 'a2', 1, 1, '{"block_x":64,"load_path":"plain"}');
insert into variant values (3, 'a3', 1, 1, ' { "block_x" : 128 , "load_path" : "readonly" } ');
insert into variant values (4, 'a4', 1, 1, '{"block_x":32,"load_path":"readonly"}');
insert into variant values (5, 'a5', 1, 1, '{"block_x":64,"load_path":"readonly"}');
insert into variant values (6, 'a6', 2, 2, '{"coal":3,"broken');
insert into run values (1, 1, 'partial', 'interrupted', '2026-01-01T00:00:00Z', '2026-01-01T00:00:05Z', 'halotune tune mean3', 'node', '0.1.0',
  '580.1', 13000, '13.0', 7, 'random', 60, 6, 8388608, 0.002, null, null, '', 1, null);
insert into run values (2, 1, 'complete', '', '2026-01-02T00:00:00Z', '2026-01-02T00:01:00Z', 'halotune tune mean3 --time 60s', 'node', '0.1.0',
  '580.1', 13000, '13.0', 8, 'exhaustive', 60, 6, 8388608, 0.002, 0.008, 0.0075, 'another process used the GPU', 1,
  '{"compile_failed":1,"measured":2,"pruned":1,"screened":1}');
insert into run values (3, 2, 'running', '', '2026-01-03T00:00:00Z', null, 'halotune tune later', 'node', '0.1.0', '580.1', 13000, '13.0', 9,
  'random', 60, 1, 65536, null, null, null, '', 1, null);
-- run, variant, number, at_s, outcome, reason, samples, median, minimum, low, high, blob, errors, registers, shared, spill, occupancy, ...
insert into measurement values (1, 1, 1, 1, 0.5, 'measured', '', 9, 0.030, 0.029, 0.0295, 0.0305, x'', 1e-8, 2e-8, 0.5, 20, 0, 0, 1, 32, 32, 32768, 40,
  1980, 1980, 3201, 50, 400, 0, 1, 0);
insert into measurement values (2, 1, 2, 2, 1.0, 'wrong', 'v differs at 3', 0, null, null, null, null, null, null, null, null, 20, 0, 0, 1, 32, 64, 16384, 40,
  null, null, null, null, null, null, 1, 0);
insert into measurement values (3, 2, 1, 2, 1.5, 'measured', '', 9, 0.020, 0.019, 0.0195, 0.0205, x'', 1e-8, 2e-8, 0.5, 20, 0, 0, 1, 32, 32, 32768, 40,
  1980, 1770, 3201, 50, 400, 4, 3, 1);
insert into measurement values (4, 2, 2, 1, 1.0, 'measured', '', 9, 0.010, 0.009, 0.0095, 0.0105, x'', 1e-8, 2e-8, 0.5, 20, 0, 0, 1, 32, 64, 16384, 40,
  1980, 1980, 3201, 50, 400, 0, 1, 0);
insert into measurement values (5, 2, 3, 3, 2.0, 'screened', '', 3, 0.040, 0.039, 0.0395, 0.0405, x'', 1e-8, 2e-8, 0.5, 32, 0, 16, 1, 16, 128, 8192, 40,
  1980, 1980, 3201, 50, 400, 0, 1, 0);
insert into measurement values (6, 2, 4, 4, 2.5, 'compile_failed', 'ptxas error', 0, null, null, null, null, null, null, null, null, null, null, null, null,
  null, 32, 32768, 40, null, null, null, null, null, null, 1, 0);
insert into measurement values (7, 2, 5, 5, 3.0, 'pruned', 'ptxas error', 0, null, null, null, null, null, null, null, null, null, null, null, null, null,
  null, null, null, null, null, null, null, null, null, 1, 0);
insert into measurement values (8, 3, 6, 1, 0.1, 'hung', '', 0, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
  null, null, null, null, null, null, null, 1, 0);
insert into finalist values (2, 2, 1, 3, 0.0100, 0.0099, 0.0099, 0.0101, 1, 1, 1, x'cdcc233c0ad7233c48e1233c', 1, 0);
insert into finalist values (2, 1, 2, 3, 0.0101, 0.0099, 0.0100, 0.0102, 1.01, 0.99, 1.03, x'2170253c787a253cd084253c', 0, 1);
insert into best values (1, 1, 1, 1, 0, 1, 'tuned', '2026-01-01T00:00:05Z', 0.03, 0.0295, 0.0305, 9, null, null, null, null, null, null, 8388608,
  1e-8, 2e-8, 0.5, '', 20, 0, 1, '{}', '[0.25]', 1, '580.1', '13.0', 'sm_90', '// first', x'00');
insert into best values (2, 1, 2, 2, 1, 1, 'tuned', '2026-01-02T00:01:00Z', 0.01, 0.0099, 0.0101, 3, 0.01, 0.0075, 0.75, 0.74, 0.76, 0.002, 8388608,
  1e-8, 2e-8, 0.5, '1048573', 20, 0, 1,
  '{"kernel":"mean3_plain","block":[64,1,1],"grid":[16384,1,1],"shared_bytes":0,"index_bytes":4,"extents":"runtime","arguments":["inputs","outputs","geometry"]}',
  '[0.25]', 1, '580.1', '13.0', 'sm_90', '// a winner', x'00');
