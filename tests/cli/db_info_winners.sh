# Winners with finalists, as in the starter database, and winners without their search.
halotune db import --trust --yes --db "$TMPDIR/winners.db" db/starter/nvidia-h200.json >/dev/null 2>&1
info() { halotune db info --db "$TMPDIR/winners.db" | grep -A 1 '^copy f32' | sed 's/best: [0-9.]* ms, direct block_x=.*/best: a time, a variant/'; }
info
sqlite3 "$TMPDIR/winners.db" "update best set run_id = null; delete from finalist; delete from measurement; delete from run"
info
# slow
# exit 0
