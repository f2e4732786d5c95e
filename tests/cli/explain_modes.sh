# One stencil and grid in several modes: which winner is explained, and which of the others are compared with it.
HALOTUNE_DB=$TMPDIR/modes.db
export HALOTUNE_DB
halotune db import --trust --yes tests/data/tuned.json >/dev/null 2>&1
add() { # id time_ms assignments-to-the-problem: a newer winner of a problem that is like the first one
  sqlite3 "$HALOTUNE_DB" "create temp table p as select * from problem where id = 1; update p set id = $1, $3;
    insert into problem select * from p; create temp table r as select * from run where id = 1; update r set id = $1, problem_id = $1;
    insert into run select * from r; create temp table b as select * from best where id = 1; update b set id = $1, problem_id = $1,
    run_id = $1, date = '2026-11-2$1T12:00:00Z', time_ms = $2, low_ms = $2, high_ms = $2; insert into best select * from b"
}
explain() { halotune explain star7 "$@" 2>&1 | grep -E '^(time|try|  |halo)' | cut -d : -f 1,2; }
add 4 0.3 'is_reproducible = 1'
explain
explain --reproducible
add 5 0.25 "launch = 'graph'"
add 6 0.8 "cache = 'cold', steps = 4"
explain --launch stream
add 7 0.9 'steps = 4'
explain --launch stream
# measured on another GPU of the same model, and of another one
sqlite3 "$HALOTUNE_DB" "create temp table d as select * from device where id = 1; update d set id = 7, uuid = 'GPU-7'; insert into device select * from d;
  update d set id = 8, uuid = 'GPU-8', name = 'NVIDIA A100'; insert into device select * from d; update problem set device_id = 7 where id = 7"
explain --launch stream
sqlite3 "$HALOTUNE_DB" 'update problem set device_id = 8 where id = 7'
explain --launch stream
sqlite3 "$HALOTUNE_DB" 'update problem set device_id = 1 where id = 7'
# of several steps: the roof is that of a launch with its halos, and what to try has the number of steps
sqlite3 "$HALOTUNE_DB" "update best set steps = 4 where problem_id = 7; update run set state = 'partial', reason = 'Ctrl-C' where problem_id = 7"
halotune explain star7 --launch stream --steps 4 | grep -E '^(won|time|bound|try|  )'
# bytes bound it from 0.75 of the copy's rate
for ms in 0.5 0.4; do
  sqlite3 "$HALOTUNE_DB" "update best set time_ms = $ms, low_ms = $ms, high_ms = $ms where problem_id = 7"
  halotune explain star7 --launch stream --steps 4 | grep '^bound'
done
sqlite3 "$HALOTUNE_DB" 'update best set time_ms = 0.9, low_ms = 0.9, high_ms = 0.9 where problem_id = 7'
halotune explain star7 --launch stream --reproducible | head -n 1 | grep -o 'steady.*'
halotune explain star7 --dtype f64
# exit 4
