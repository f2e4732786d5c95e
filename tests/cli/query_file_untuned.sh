# Advice about a stencil that was given as a file names the file, in every message.
mkdir "$TMPDIR/run halotune tune star7" && cp kernels/star7.yaml "$TMPDIR/run halotune tune star7/star7.yaml"
halotune db import tests/data/tuned.json --trust --yes --db "$TMPDIR/query.db" >/dev/null 2>&1
halotune db import tests/data/db/copy.json --trust --yes --db "$TMPDIR/other.db" >/dev/null 2>&1
query() { halotune query "$@" --device 'NVIDIA H200' 2>&1 | sed "s|$TMPDIR|FOLDER|g"; }
query "$TMPDIR/run halotune tune star7/star7.yaml" --db "$TMPDIR/other.db" --grid 300,300,300
query star7 --db "$TMPDIR/other.db" --grid 300,300,300
query kernels/star13.yaml --db "$TMPDIR/query.db"
# A pipe can be read only once.
cat kernels/star7.yaml | query /dev/stdin --db "$TMPDIR/other.db" --grid 300,300,300 | tail -n 3
# exit 0
