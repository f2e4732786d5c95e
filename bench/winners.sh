#!/bin/sh
# winners.sh [--finalists] DATABASE [OPTION of db export ...]: prints an export of the current winners of DATABASE, for
# db/starter and bench/results. Everything that only a search needs is left out: all measurements or, with --finalists,
# those of variants that the finals did not measure. Variants of which the installed templates generate the same code are
# of these templates in the export. Needs the program sqlite3. HALOTUNE names the program.
set -eu
finalists=0
[ "${1:-}" != --finalists ] || { finalists=1 && shift; }
db=${1:?usage: bench/winners.sh [--finalists] DATABASE [OPTION ...]}
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
copy=$work/copy.db

sqlite3 "file:$db?mode=ro" "vacuum into '$copy'"
if [ "$finalists" = 0 ]; then
  sqlite3 "$copy" "update best set run_id = null; delete from finalist; delete from measurement; delete from run;"
fi
# Runs tell how a search was called, but not in which folder.
sqlite3 "$copy" "
delete from best where not is_current;
delete from measurement where not exists (select 1 from finalist f where f.run_id = measurement.run_id and f.variant_id = measurement.variant_id);
delete from variant where id not in (select variant_id from best union select variant_id from finalist union select variant_id from measurement);
delete from template where id not in (select template_id from variant);
update run set host = '', command = replace(command, '$(dirname "$db")/', '');
"
"${HALOTUNE:-build/halotune}" db refresh --db "$copy" >&2
"${HALOTUNE:-build/halotune}" db export --db "$copy" "$@"
