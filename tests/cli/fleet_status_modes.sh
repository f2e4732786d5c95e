# Tasks on one grid that differ in their modes alone are told apart, also in the document.
db=$TMPDIR/tuned.db
halotune db import --trust --yes --db "$db" tests/data/tuned.json >/dev/null 2>&1
sqlite3 "$db" "update problem set cache = 'cold' where id = 1; update run set state = 'partial', reason = 'Ctrl-C', ended = '2026-01-01T00:00:00.000Z';
  create temp table new as select * from problem where id = 1; update new set id = 99, is_reproducible = 1;
  insert into problem select * from new; create temp table newer as select * from run where problem_id = 1 limit 1;
  update newer set id = 999, problem_id = 99; insert into run select * from newer"
halotune fleet status "$db" | grep ', cold'
halotune fleet status "$db" --json | jq -c '.gpus[].tasks[] | select(.cache == "cold") | [.stencil, .steps, .cache, .reproducible]'
# exit 0
