# A document of Halotune 0.1.0 with templates of a user, which have no field `sums`: `mine` leaves all sums to `update`, `own` does not. `mine` had
# the identity of a template that says so, and gets one of its own. The rows are taken, pass the check and answer.
HALOTUNE_DB=$TMPDIR/old.db
export HALOTUNE_DB
halotune db import --trust --yes tests/data/db/version_5.json 2>/dev/null
halotune db check | sed "s|$TMPDIR|TMP|"
for type in f32 f64; do halotune query copy --dtype $type --grid 4096 --device emulation-sm_90 | grep -E '^(match|template)'; done
# exit 0
