# Before the first import there is no database. The list has the answers of the starter database that would change, also if --db names the usual
# database or another one, and as many change with --yes.
export HALOTUNE_DB="$TMPDIR/new.db"
mkdir -p "$TMPDIR/prefix/bin" "$TMPDIR/prefix/share/halotune" && cp "$(command -v halotune)" "$TMPDIR/prefix/bin"
cp build/starter.db "$TMPDIR/prefix/share/halotune"
import() { "$TMPDIR/prefix/bin/halotune" db import tests/data/tuned.json --trust "$@" 2>&1; }
without=$(import | grep -cE '^  (answer|name) ')
with=$(import --db "$TMPDIR/new.db" | grep -cE '^  (answer|name) ')
other=$(import --db "$TMPDIR/other.db" | grep -cE '^  (answer|name) ')
changed=$(import --yes --db "$TMPDIR/new.db" | grep -o '^[0-9]* answers of lookups have changed')
[ "$without" -gt 1 ] && echo "some would change"
[ "$with" = "$without" ] && echo "the same with --db"
[ "$other" = "$without" ] && echo "also if it names another database"
[ "$changed" = "$without answers of lookups have changed" ] && echo "and with --yes"
# exit 0
