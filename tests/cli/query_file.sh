# A file with other values of its coefficients has the same winner. Its source and header have the file's values.
halotune db import tests/data/tuned.json --trust --yes --db "$TMPDIR/query.db" >/dev/null 2>&1
sed 's/c0: 0.4,/c0: 0.3125,/' kernels/star7.yaml >"$TMPDIR/star7.yaml"
query() { halotune query "$@" --db "$TMPDIR/query.db" --device 'NVIDIA H200'; }
query "$TMPDIR/star7.yaml" --grid 512,512,512 | grep -E '^(match|template)'
query "$TMPDIR/star7.yaml" --grid 512,512,512 --source | grep -o 'c0_ = real([0-9.]*)'
query star7 --grid 512,512,512 --source | grep -o 'c0_ = real([0-9.]*)'
query "$TMPDIR/star7.yaml" --grid 300,300,300 --header -o "$TMPDIR/star7.h"
grep -E ' (match|measured|expected) ' "$TMPDIR/star7.h" && stat -c %A "$TMPDIR/star7.h"
# A database may call the stencil anything. Its name gets into no code of the header.
sqlite3 "$TMPDIR/query.db" "update stencil set name = 'x; void theirs(void); int ' where name = 'star7'"
query 4b653f5bff4b0d18e6060bfb2631dab886fd68f86a75a551977b90351089e127 --grid 512,512,512 --header -o "$TMPDIR/named.h"
grep -E '#ifndef|theirs' "$TMPDIR/named.h"
# The file answers under its own name, with the results of its meaning.
query kernels/star7.yaml --grid 512,512,512 | head -2
# exit 0
