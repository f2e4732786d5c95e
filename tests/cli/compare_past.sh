# The winner that counts at a date is the newest one before it. A winner that is known to be wrong does not count, nor does one of a
# search that was cut short.
db=$TMPDIR/past.db
halotune db import --trust --yes --db "$db" tests/data/tuned.json >/dev/null 2>&1
add() { # table id-of-the-copied-row assignments
  sqlite3 "$db" "create temp table t as select * from $1 where id = $2; update t set $3; insert into $1 select * from t"
}
compare() { halotune compare "$db" --date 2026-11-20 --all 2>&1 | sed "s|$TMPDIR/||g"; }
add best 1 "id = 10, is_current = 0, date = '2026-11-05T12:00:00Z', time_ms = 0.9, low_ms = 0.9, high_ms = 0.9"
add best 1 "id = 11, is_current = 0, date = '2026-11-10T12:00:00Z', time_ms = 0.25, low_ms = 0.25, high_ms = 0.25"
compare
# a faster one that a later run found wrong
add variant 1 "id = 10, source_hash = 'ab' || substr(source_hash, 3), parameters = json_set(parameters, '\$.block_y', 4)"
add run 1 "id = 10, started = '2026-11-25T12:00:00.000Z'"
add measurement 1 "id = 10, run_id = 10, variant_id = 10, outcome = 'wrong'"
add best 1 "id = 12, variant_id = 10, is_current = 0, date = '2026-11-24T12:00:00Z', time_ms = 0.2, low_ms = 0.2, high_ms = 0.2"
compare
# one of a search that was cut short
add run 1 "id = 11, state = 'partial'"
add best 1 "id = 13, run_id = 11, is_current = 0, date = '2026-11-26T12:00:00Z', time_ms = 0.1, low_ms = 0.1, high_ms = 0.1"
compare
# the same of a whole search
sqlite3 "$db" "update run set state = 'complete' where id = 11"
compare
# exit 0
