#!/bin/sh
# merge.sh: how long `halotune db merge` takes for the databases of a fleet, whether a second merge changes nothing, and whether the
# order of the files decides anything. The files are made from the recording of bench/results: each is that of a node of 8 H200s, with
# 2500 measurements a GPU. Two nodes name the same GPUs, as where a disk was moved, so that bests are in conflict.
#
#   make bench-merge                    256 files of 20,000 measurements, in build/merge (3 GB); some ten minutes
#   FILES=32 WORK=DIR bench/merge.sh    other numbers, another folder
# Writes a table in Markdown to stdout. It needs sqlite3, gzip and GNU time.
set -eu
cd "$(dirname "$0")/.."
halotune=${HALOTUNE:-build/halotune} work=${WORK:-build/merge} files=${FILES:-256} gpus=8 results=2500
mkdir -p "$work"
export HALOTUNE_DB="$work/none.db" XDG_DATA_HOME="$work"

# The seed has the stencil, the templates and the variants of the recording; `recording.db` has its results.
seed_make() {
  gzip -dc bench/results/recording-star7-f32-512x512x512.json.gz >"$work/recording.json"
  rm -f "$work/recording.db" "$work/seed.db"
  "$halotune" db import --trust --yes --db "$work/recording.db" "$work/recording.json" >/dev/null 2>&1
  cp "$work/recording.db" "$work/seed.db"
  sqlite3 "$work/seed.db" 'delete from best; delete from finalist; delete from measurement; delete from run;
    delete from problem; delete from device; vacuum'
}

# The columns of a table without some.
columns() { # table, names as SQL strings
  sqlite3 "$work/seed.db" "select group_concat(name, ', ') from pragma_table_info('$1') where name not in ($2)"
}

# Write the statements that make node :node from the seed. GPU g of node n is n/2*$gpus + g.
sql_write() {
  device=$(columns device "'id', 'uuid'") problem=$(columns problem "'id', 'device_id'")
  run=$(columns run "'id', 'problem_id', 'started', 'ended', 'host', 'seed', 'outcomes'")
  measurement=$(columns measurement "'id', 'run_id', 'median_ms', 'minimum_ms', 'low_ms', 'high_ms'")
  finalist=$(columns finalist "'run_id'") best=$(columns best "'id', 'problem_id', 'run_id', 'time_ms', 'low_ms', 'high_ms', 'is_current', 'date'")
  cat <<SQL
pragma journal_mode = off; pragma synchronous = off;
attach '$work/recording.db' as r;
begin;
create temp table card as with recursive n(g) as (select 0 union all select g + 1 from n where g + 1 < $gpus)
  select g + 1 as id, :node/2*$gpus + g as number, 1 + (:node*97 + g*31) % 41*5e-4 as slow from n;
insert into device (id, uuid, $device) select card.id, printf('GPU-%08x-0000-4000-8000-000000000000', number), $device from r.device, card;
insert into problem (id, device_id, $problem) select card.id, card.id, $problem from r.problem, card;
insert into run (id, problem_id, started, ended, host, seed, outcomes, $run)
  select card.id, card.id, strftime('%Y-%m-%dT%H:%M:%fZ', r.run.started, :node || ' seconds'), strftime('%Y-%m-%dT%H:%M:%fZ', r.run.ended, :node || ' seconds'), printf('node%03d', :node), :node*$gpus + card.id, null, $run from r.run, card where r.run.id = 2;
create temp table picked as select id, card, slow from (select m.id as id, card.id as card, slow, row_number() over (partition by card.id
  order by (m.id*2654435761 + (:node*$gpus + card.id)*40503) % 4294967291) as place from (select min(id) as id from r.measurement
  where variant_id not in (select variant_id from r.finalist where run_id = 2) group by variant_id) m, card)
  where place <= $results - (select count(*) from r.finalist where run_id = 2);
insert into picked select (select min(id) from r.measurement m where m.variant_id = f.variant_id and m.median_ms is not null), card.id, slow
  from r.finalist f, card where f.run_id = 2;
insert into measurement (run_id, median_ms, minimum_ms, low_ms, high_ms, $measurement)
  select picked.card, median_ms*slow, minimum_ms*slow, low_ms*slow, high_ms*slow, $measurement
  from picked join r.measurement m using (id) order by picked.card;
update run set outcomes = (select json_group_object(outcome, n) from
  (select outcome, count(*) as n from measurement where run_id = run.id group by outcome order by outcome));
insert into finalist (run_id, $finalist) select card.id, $finalist from r.finalist, card where run_id = 2;
insert into best (problem_id, run_id, time_ms, low_ms, high_ms, is_current, date, $best)
  select card.id, card.id, time_ms*slow, low_ms*slow, high_ms*slow, 1, strftime('%Y-%m-%dT%H:%M:%fZ', date, :node || ' seconds'), $best from r.best, card where r.best.run_id = 2;
commit;
SQL
}

node_make() { # number
  file=$(printf '%s/node%03d.db' "$work" "$1")
  cp "$work/seed.db" "$file"
  { echo '.parameter init'; echo ".parameter set :node $1"; cat "$work/node.sql"; } | sqlite3 "$file" >/dev/null
}

seed_make
sql_write >"$work/node.sql"
node=0
while [ "$node" -lt "$files" ]; do
  node_make "$node"
  node=$((node + 1))
done

merge() { # database, order; prints wall clock and processor time in seconds, and MB of memory
  ls "$work"/node*.db | sort "$2" | xargs /usr/bin/time -f '%e %U %S %M' -o "$work/time" "$halotune" db merge --trust --yes --db "$1" >"$1.out" 2>"$1.err" ||
    { cat "$1.err" >&2; exit 1; }
  awk '{printf "%.1f %.1f %.0f", $1, $2 + $3, $4/1024}' "$work/time"
}

# What lookups are served, without what is of one file: ids, origins.
winners() { # database
  sqlite3 "$1" 'select d.uuid, b.time_ms, b.date, v.source_hash, v.parameters from best b join problem p on p.id = b.problem_id
    join device d on d.id = p.device_id join variant v on v.id = b.variant_id where b.is_current order by 1' | cksum
}
rows() { # database
  sqlite3 "$1" 'select (select count(*) from measurement) + (select count(*) from variant) + (select count(*) from run) +
    (select count(*) from finalist) + (select count(*) from best) + (select count(*) from device) + (select count(*) from problem)'
}

rm -f "$work/all.db" "$work/backwards.db"
first=$(merge "$work/all.db" -n) content=$(rows "$work/all.db") served=$(winners "$work/all.db")
again=$(merge "$work/all.db" -n)
[ "$(rows "$work/all.db") $(winners "$work/all.db")" = "$content $served" ] || { echo 'merge.sh: the second merge changed something' >&2; exit 1; }
backwards=$(merge "$work/backwards.db" -r)
[ "$(rows "$work/backwards.db") $(winners "$work/backwards.db")" = "$content $served" ] ||
  { echo 'merge.sh: the order of the files decides' >&2; exit 1; }
conflicts=$(grep -c '^conflict' "$work/backwards.db.out" || true)

line() { # words, "wall processor memory"
  set -- "$1" $2
  echo "| $1 | $2 | $3 | $4 |"
}
echo "| $files files, $(rows "$work/node000.db") rows each ($((gpus*results)) measurements), $(($(stat -c %s "$work/node000.db")/1000000)) MB each | wall clock (s) | processor time (s) | memory (MB) |"
echo "| --- | --- | --- | --- |"
line "into a new database: $content rows, $(($(stat -c %s "$work/all.db")/1000000)) MB" "$first"
line "once more: nothing changes" "$again"
line "into a new database, in the opposite order: the same winners, $conflicts conflicts told" "$backwards"
