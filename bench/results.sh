#!/bin/sh
# results.sh DATABASE: prints the winners of a tuning database as a table in Markdown. If several GPUs of a model tuned
# the same problem, the winner nearest to its roof counts. Winners of several steps a launch are left out: steps.sh has
# them. Needs the program sqlite3.
set -eu
db=${1:?usage: bench/results.sh DATABASE}

sqlite3 -noheader -separator '' "file:$db?mode=ro" "
select '# Winners on ', group_concat(distinct d.name) from device d;
select '';
select 'Driver ', group_concat(distinct driver), ', NVRTC ', group_concat(distinct nvrtc), ', ', min(substr(date, 1, 10)),
       case when min(substr(date, 1, 10)) < max(substr(date, 1, 10)) then ' to ' || max(substr(date, 1, 10)) else '' end
  from best where is_current;
select '';
select 'Share of the roof: time of the fastest copy of the same bytes (tuned or the driver''s), in the same rounds, over the winner''s time, with its';
select '95 % interval. Speed-up: over the default variant of template \`direct\`, of a scan of \`scan\`, in the same rounds. docs/measuring.md has the protocol.';
select '';
select '| stencil | type | grid | mode | time, us | +- % | GStencil/s | GB/s | share of the roof | interval | speed-up | tried | failed | template |';
select '| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: | --- |';
select '| ', s.name, ' | ', p.dtype, ' | ', p.nx, case when p.ny > 1 or p.nz > 1 then 'x' || p.ny else '' end, case when p.nz > 1 then 'x' || p.nz else '' end,
       ' | ', p.launch, ' | ', printf('%.2f', 1000 * b.time_ms), ' | ', printf('%.2f', 50 * (b.high_ms - b.low_ms) / b.time_ms), ' | ',
       printf('%.1f', p.nx * p.ny * p.nz / b.time_ms * 1e-6), ' | ', printf('%.0f', b.bytes / b.time_ms * 1e-6), ' | ',
       printf('%.3f', b.roof_ratio), ' | ', printf('%.3f to %.3f', b.roof_ratio_low, b.roof_ratio_high), ' | ',
       case when b.default_ms > 0 then printf('%.2f', b.default_ms / b.time_ms) else '-' end, ' | ',
       (select count(*) from measurement m where m.run_id = b.run_id), ' | ',
       (select count(*) from measurement m where m.run_id = b.run_id and m.outcome not in ('measured', 'screened', 'pruned')), ' | ', t.name, ' |'
  from best b join problem p on p.id = b.problem_id join stencil s on s.id = p.stencil_id join variant v on v.id = b.variant_id
  join template t on t.id = v.template_id
  where b.id in (select id from (select c.id, row_number() over (partition by q.stencil_id, q.dtype, q.nx, q.ny, q.nz, q.launch, q.cache
    order by c.roof_ratio desc) n from best c join problem q on q.id = c.problem_id where c.is_current and q.steps = 1) where n = 1) order by s.name, p.dtype, p.nx * p.ny * p.nz;
"
