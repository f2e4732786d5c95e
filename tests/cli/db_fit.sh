# Weights of static costs are learnt from a database's times, and a search uses them; with few times, and with nonsense, the built-in ones stay.
db=$TMPDIR/fit.db
HALOTUNE_DB=$db
export HALOTUNE_DB
halotune db import tests/data/tuned.json --trust --yes >/dev/null 2>&1
halotune db fit
# variants whose times grow with the points of a thread, contrary to the built-in weights
sqlite3 "$db" "with x(x) as (values (32), (64), (128), (256)), y(y) as (values (1), (2), (4)), p(p) as (values (1), (2), (4)), v(v) as
    (values (1), (2), (4)), old as (select * from variant where template_id = (select id from template where name = 'direct') limit 1)
  insert into variant (source_hash, stencil_id, template_id, parameters, origin_id) select printf('%064x', 1 + ((x*8 + y)*8 + p)*8 + v), stencil_id,
    template_id, json_set(parameters, '\$.block_x', x, '\$.block_y', y, '\$.points_y', p, '\$.vector', v), origin_id from old, x, y, p, v;
  insert into measurement (run_id, variant_id, number, at_s, outcome, sample_count, median_ms, minimum_ms, low_ms, high_ms)
    select r.id, v.id, 10 + v.id, 1, 'measured', 3, ms, ms, ms, ms from (select *, 0.3 + 0.05*json_extract(parameters, '\$.points_y')
      + 0.02*json_extract(parameters, '\$.vector') as ms from variant) v, run r join problem p on p.id = r.problem_id join device d on d.id =
      p.device_id where v.source_hash like '00000000%' and not d.is_emulation"
halotune db fit | sed 's/ -\{0,1\}[0-9]*\.[0-9]\{4\}$/ NUMBER/' # weights differ in their last digit between compilers
# a search in a recording of the same GPU says where weights make no sense
cp "$db" "$TMPDIR/recording.db"
search() {
  halotune tune star7 --grid 512,512,512 --backend "replay:$TMPDIR/recording.db" --hints "$db" --max-variants 30 --seed 1 --json | jq -c '.tasks[].remark'
}
search
sqlite3 "$db" "update prediction set value = 42 where coefficient = 'static_row'"
search
sqlite3 "$db" "delete from prediction where coefficient = 'static_row'"
search
# lookups do not use weights
sqlite3 "$db" "delete from prediction where coefficient not glob 'static_*'"
halotune query star7 --device 'NVIDIA H200' --grid 509,256,256 --why | grep '^prediction'
# exit 0
