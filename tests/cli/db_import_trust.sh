# An untrusted winner is stored and shown. Trust can be given later. A newer result is a conflict.
HALOTUNE_DB=$TMPDIR/trust.db
export HALOTUNE_DB
cd tests/data/db || exit 9
halotune db import copy.json
halotune db info | grep best:
halotune db import copy.json --trust
halotune db info | grep best:
halotune db import copy_newer.json
halotune db info | grep best:
halotune db import copy_newer.json --trust
halotune db info | grep best:
# exit 0
