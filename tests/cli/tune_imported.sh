# Results that came by an import do not count as those of earlier runs: their variants are measured. What was measured into the database counts.
# A variant whose time drifts is measured again, so variants are counted, and not measurements.
tune() { # database
  halotune tune copy --backend host --grid 32 --template direct --max-variants 2 --no-hints --db "$TMPDIR/$1.db" 2>/dev/null | grep -o '[0-9][0-9]* tried[^:]*'
}
tune theirs
halotune db export --db "$TMPDIR/theirs.db" -o "$TMPDIR/theirs.json"
halotune db import --trust --yes --db "$TMPDIR/own.db" "$TMPDIR/theirs.json" >/dev/null 2>&1
tune own
tune own
sqlite3 "$TMPDIR/own.db" "select kind, count(distinct variant_id) from measurement m join run r on r.id = run_id join origin o on o.id = r.origin_id group by 1"
halotune db check --db "$TMPDIR/own.db" | sed "s|$TMPDIR|FOLDER|"
# slow
# exit 0
