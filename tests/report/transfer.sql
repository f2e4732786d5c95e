-- After golden.sql: three more GPUs with the problem of the first, and what each knows of the winners of the others.
insert into device select 2, 'GPU-00000000-0000-0000-0000-000000000002', 'NVIDIA A100', 80, 108, 1410000, 1593000, 5120, 41943040,
  85031714816, max_threads, max_threads_sm, max_registers, registers_sm, max_shared_bytes, warp_size, 0 from device where id = 1;
insert into device select 3, 'GPU-00000000-0000-0000-0000-000000000003', 'NVIDIA L40S', 89, 142, 2520000, 9001000, 384, 100663296,
  47697362944, max_threads, max_threads_sm, max_registers, registers_sm, max_shared_bytes, warp_size, 0 from device where id = 1;
insert into device select 4, 'GPU-00000000-0000-0000-0000-000000000004', 'NVIDIA B200', 100, 148, 1965000, 3996000, 8192, 132644864,
  191000000000, max_threads, max_threads_sm, max_registers, registers_sm, max_shared_bytes, warp_size, 0 from device where id = 1;
insert into problem select id + 9 + n, n, stencil_id, dtype, nx, ny, nz, launch, cache, is_reproducible from problem,
  (select 2 as n union select 3 union select 4) where id = 1;
create temp table more as select * from run where id = 2;
update more set id = 4, problem_id = 12; insert into run select * from more; -- of the A100
update more set id = 5, problem_id = 13; insert into run select * from more; -- of the L40S, an early one
update more set id = 6, problem_id = 13; insert into run select * from more; -- of the L40S
update more set id = 7, problem_id = 14; insert into run select * from more; -- of the B200
drop table more;
-- The A100's winner is variant 1; variant 2, which won on the H200, ran in its rounds, and was measured in the search before.
create temp table more as select * from finalist where run_id = 2 and variant_id = 2;
update more set run_id = 4, variant_id = 1, rank = 1, median_ms = 0.020, samples = x''; insert into finalist select * from more;
update more set variant_id = 2, rank = 2, median_ms = 0.026, ratio = 1.25, ratio_low = 1.0, ratio_high = 1.6;
insert into finalist select * from more;
-- The L40S's winner is variant 4. The A100's ran in earlier final rounds; the H200's was measured in the search alone.
update more set run_id = 5, variant_id = 1, rank = 1, median_ms = 0.040, ratio = 1, ratio_low = 1, ratio_high = 1;
insert into finalist select * from more;
update more set run_id = 6, variant_id = 4, rank = 1, median_ms = 0.010; insert into finalist select * from more;
drop table more;
create temp table more as select * from measurement where id = 4;
update more set id = 9, run_id = 4, median_ms = 0.021; insert into measurement select * from more;
update more set id = 10, run_id = 6, number = 1, variant_id = 2, median_ms = 0.016; insert into measurement select * from more;
update more set id = 11, run_id = 6, number = 2, variant_id = 4, median_ms = 0.012; insert into measurement select * from more;
-- The B200's winner, variant 3, came from elsewhere without its run: the fastest of the search there is variant 5.
update more set id = 12, run_id = 7, number = 1, variant_id = 2, median_ms = 0.050; insert into measurement select * from more;
update more set id = 13, run_id = 7, number = 2, variant_id = 5, median_ms = 0.040; insert into measurement select * from more;
drop table more;
create temp table more as select * from best where id = 2;
update more set id = 3, problem_id = 12, run_id = 4, variant_id = 1, time_ms = 0.020; insert into best select * from more;
update more set id = 4, problem_id = 13, run_id = 6, variant_id = 4, time_ms = 0.010; insert into best select * from more;
update more set id = 5, problem_id = 14, run_id = null, variant_id = 3, time_ms = 0.030, origin = 'other.json';
insert into best select * from more;
drop table more;
