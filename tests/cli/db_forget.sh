# First the counts are printed; rows are removed only with --yes.
HALOTUNE_DB=$TMPDIR/forget.db
export HALOTUNE_DB
halotune db import --trust --yes tests/data/db/copy.json tests/data/db/copy_newer.json >/dev/null 2>&1
halotune db forget --before 2016-01-15
halotune db info | grep rows
halotune db forget --before 2016-01-15 --yes
halotune db info | grep rows
halotune db forget --device 'NVIDIA H200' --yes
halotune db info | grep rows
halotune db forget --before yesterday
halotune db forget
# exit 2
