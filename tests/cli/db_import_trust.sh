# A document that is not trusted is kept in a file of its own. --trust lists what it would bring. With --yes, too, its rows are taken, and one line
# says how many of each kind came. A newer result is a conflict.
HALOTUNE_DB=$TMPDIR/trust.db
export HALOTUNE_DB
cd tests/data/db || exit 9
halotune db import copy.json | sed "s|$TMPDIR|TMP|"
halotune db import copy.json | sed "s|$TMPDIR|TMP|"
[ -e "$HALOTUNE_DB" ] || echo "there is no database"
halotune db import copy.json --trust
[ -e "$HALOTUNE_DB" ] || echo "there is none still"
halotune db import copy.json --trust --yes
halotune db info | grep best:
halotune db import copy_newer.json --trust 2>/dev/null | sed -n '/change/,$p'
halotune db import copy_newer.json --trust --yes
halotune db info | grep -E 'best:|not trusted' | sed "s|$TMPDIR|TMP|"
halotune query copy --device 'NVIDIA H200' --db "$HALOTUNE_DB.untrusted"/copy.json-*.db 2>&1 | sed "s|$TMPDIR|TMP|"
halotune db check --db "$HALOTUNE_DB.untrusted"/copy.json-*.db | sed "s|$TMPDIR|TMP|"
# exit 0
