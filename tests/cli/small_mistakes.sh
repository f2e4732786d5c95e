# The message about a small mistake says what would be right.
HALOTUNE_DB=$TMPDIR/mistakes/halotune.db HALOTUNE_LIBCUDA=/nonexistent/libcuda.so
export HALOTUNE_DB HALOTUNE_LIBCUDA
try() {
  halotune "$@" 2>&1 | sed "s|$TMPDIR|FOLDER|"
}
try show
try show star7 copy
try report extra
try db
try db forget --stencil star7 --yes
[ -e "$HALOTUNE_DB" ] && echo "forgetting made a database"
try db import
[ -e "$HALOTUNE_DB" ] && echo "importing nothing made a database"
try db import --trust --yes tests/data/db/empty.json
try db forget --before 2026-13-01
try query star8
try query star7 --output "$TMPDIR/mistakes/query"
try report -o "$TMPDIR/nowhere/report.html"
try tune star7 --set block_x --dry-run
try tune star7 copy star7 --dry-run
try tune star7 --backend replay:
try tune star7
try tune star7 --template pencil --backend host --grid 16,16,16 | grep -v 'star7 f32\|^task'
try query star7 --db a.db --device sm_90 --db b.db | head -n 1
try show star7 --json --json | head -n 1
try generate star7 -o one.cu --output two.cu | head -n 1
try tune star7 --template direct --templates zmarch | head -n 1
try generate star7 --set block_x=32 --set vector=2 | head -n 1
# exit 0
