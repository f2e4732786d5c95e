# Machine code is compared with what NVRTC makes of its source: two winners of the starter database (those with the least code), of which one loses a byte, and one
# that another NVRTC compiled. Then one check names errors of all kinds.
db=$TMPDIR/check_compile.db
halotune db import --trust --yes --db "$db" db/starter/nvidia-h200.json >/dev/null 2>&1
sqlite3 "$db" 'pragma foreign_keys = off; delete from best where id not in (select id from best where length(cubin) > 0 order by length(cubin), id limit 3); update best set id = (select count(*) from best b where b.id <= best.id); delete from finalist; delete from measurement; delete from run where id not in (select run_id from best where run_id is not null); delete from variant where id not in (select variant_id from best)'
sqlite3 "$db" "update best set nvrtc = '13.7' where id = 3"
halotune db check --compile --db "$db" | sed "s|$TMPDIR|TMP|; s/NVRTC [0-9.]*/NVRTC N/"
sqlite3 "$db" "update best set cubin = cast(substr(cubin, 1, 100) || x'00' || substr(cubin, 102) as blob) where id = 2"
halotune db check --compile --db "$db" 2>&1 | sed "s|$TMPDIR|TMP|; s/NVRTC [0-9.]*/NVRTC N/"
sqlite3 "$db" "update best set launch = json_set(launch, '\$.block[1]', 2) where id = 1"
sqlite3 "$db" "update best set date = '2999-01-01T00:00:00Z' where id = 3"
echo '-- a launch, a date and a code'
halotune db check --compile --db "$db" >"$TMPDIR/found" 2>&1
code=$?
sed "s|$TMPDIR|TMP|; s/NVRTC [0-9.]*/NVRTC N/" "$TMPDIR/found"
exit $code
# slow
# exit 6
