# No command replaces a file that it reads by its output.
HALOTUNE_DB=$TMPDIR/usual.db
export HALOTUNE_DB
halotune db import --trust --yes tests/data/tuned.json >/dev/null 2>&1
cp "$HALOTUNE_DB" "$TMPDIR/other.db"
cp kernels/star7.yaml "$TMPDIR/star7.yaml"
ln -s usual.db "$TMPDIR/link.db"
cd "$TMPDIR" || exit 1
cksum usual.db other.db star7.yaml >sums
try() { halotune "$@" 2>&1 | sed "s|$TMPDIR|TMP|g"; }
for output in usual.db ./usual.db link.db; do try db export -o "$output"; done
try db export --db other.db -o other.db
try report --db other.db --output "$TMPDIR/other.db"
try query copy --device 'NVIDIA H200' --source -o usual.db
try tune ./star7.yaml --trace usual.db
try generate ./star7.yaml --template direct -o star7.yaml
cksum usual.db other.db star7.yaml | cmp - sums && echo 'all files are as before'
try db export --db other.db -o star7.yaml && head -c 20 star7.yaml # another file is replaced
# exit 0
