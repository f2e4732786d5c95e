# A kernel takes coefficients in the order of the file, so a file with another order is another stencil. The winner of the
# first order answers as that of a similar problem. Each coefficient has the file's value.
halotune db import tests/data/tuned.json --trust --yes --db "$TMPDIR/query.db" >/dev/null 2>&1
sed 's/{c0: 0.4, c1: 0.1, c2: 0.11, c3: 0.09, c4: 0.1, c5: 0.12, c6: 0.08}/{c6: 0.0625, c1: 0.1, c2: 0.11, c3: 0.09, c4: 0.1, c5: 0.12, c0: 0.3125}/' \
  kernels/star7.yaml >"$TMPDIR/star7.yaml"
query() { halotune query "$@" --db "$TMPDIR/query.db" --device 'NVIDIA H200' --grid 512,512,512; }
query kernels/star7.yaml | grep -E '^(match|template|parameters)'
query "$TMPDIR/star7.yaml" | grep -E '^(match|template|parameters)'
query "$TMPDIR/star7.yaml" --json | jq -c .coefficients
query "$TMPDIR/star7.yaml" --source | grep -o 'c[06]_ = real([0-9.]*)'
# exit 0
