#!/bin/sh
# winners.sh [--finalists | --candidates] DATABASE [OPTION of db export ...]: prints an export of the current winners of
# DATABASE, for bench/results and db/starter. Everything that only a search needs is left out: all measurements; with
# --finalists, those of variants that the finals did not measure; with --candidates, what lookups do not use: samples,
# winners that lost to the same problem's winner on another GPU of the same name, finalists that lost by more than 25 %,
# finalists with the blocks of a better one, than which they are predicted to be slower, machine code that the search compiled in less than two seconds, on busy processors, and sources without machine code that this
# Halotune generates when they are needed. Variants of which the installed templates generate the same code are of these
# templates in the export. Needs the program sqlite3. HALOTUNE names the program.
set -eu
kept=winners
case ${1:-} in
--finalists | --candidates) kept=${1#--} && shift ;;
esac
db=${1:?usage: bench/winners.sh [--finalists | --candidates] DATABASE [OPTION ...]}
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
copy=$work/copy.db

sqlite3 "file:$db?mode=ro" "vacuum into '$copy'"
if [ "$kept" = winners ]; then
  sqlite3 "$copy" "update best set run_id = null; delete from finalist; delete from measurement; delete from run;"
fi
if [ "$kept" = candidates ]; then
  sqlite3 "$copy" "
create temp table candidate as select b.id, b.time_ms, d.name as device, p.stencil_id, p.dtype, p.nx, p.ny, p.nz, p.launch, p.cache, p.is_reproducible, p.steps
  from best b join problem p on p.id = b.problem_id join device d on d.id = p.device_id where b.is_current;
delete from best where id in (select slow.id from candidate slow
  join candidate fast using (device, stencil_id, dtype, nx, ny, nz, launch, cache, is_reproducible, steps)
  where (fast.time_ms, fast.id) < (slow.time_ms, slow.id));
delete from finalist where run_id not in (select run_id from best where run_id is not null);
update best set cubin = x'' where exists (select 1 from measurement m where m.run_id = best.run_id and m.variant_id = best.variant_id
  and m.compile_ms < 2000);
delete from finalist where rank > 3 or rank > 1 and ratio > 1.25 or run_id not in (select run_id from best where is_current);
update finalist set samples = x'';
create temp table blocks as select f.run_id, f.variant_id, f.rank, v.template_id, json_remove(v.parameters, '\$.streaming', '\$.coefficients', '\$.extents',
  '\$.min_blocks', '\$.load_path', '\$.padding', '\$.unroll', '\$.prefetch') as parameters from finalist f join variant v on v.id = f.variant_id;
delete from finalist where (run_id, variant_id) in (select b.run_id, b.variant_id from blocks b join blocks w using (run_id, template_id, parameters)
  where w.rank < b.rank);
delete from measurement where not exists (select 1 from finalist f where f.run_id = measurement.run_id and f.variant_id = measurement.variant_id and f.rank > 1);
update measurement set samples = x'';
delete from best where not is_current;
delete from run where id not in (select run_id from best where run_id is not null);"
fi
sqlite3 "$copy" "
delete from best where not is_current;
delete from measurement where not exists (select 1 from finalist f where f.run_id = measurement.run_id and f.variant_id = measurement.variant_id);
delete from variant where id not in (select variant_id from best union select variant_id from finalist union select variant_id from measurement);
delete from template where id not in (select template_id from variant);
delete from problem where id not in (select problem_id from best union select problem_id from run);
delete from device where id not in (select device_id from problem union select device_id from prediction);
update run set host = '';
"
# Runs tell how a search was called, but not in which folders: of an absolute path, the file's name stays.
sqlite3 -separator ' ' "$copy" "select id, command from run" | sed "s/'/''/g; s|/[^ ]*/||g; s/^\([0-9]*\) \(.*\)/update run set command = '\2' where id = \1;/" \
  >"$work/commands"
sqlite3 "$copy" <"$work/commands"
"${HALOTUNE:-build/halotune}" db refresh --db "$copy" >&2
if [ "$kept" = candidates ]; then
  # A source that this Halotune does not generate stays.
  sqlite3 "$copy" "vacuum into '$work/bare.db'"
  sqlite3 "$work/bare.db" "update best set source = '' where length(cubin) = 0"
  others=$("${HALOTUNE:-build/halotune}" db check --db "$work/bare.db" 2>"$work/log" | sed -n 's/^best \([0-9]*\): its source was left out.*/\1,/p')
  sqlite3 "$copy" "update best set source = '' where length(cubin) = 0 and id not in (${others}0)"
fi
"${HALOTUNE:-build/halotune}" db export --db "$copy" "$@"
