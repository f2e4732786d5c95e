# A template that does not apply says which rule is in the way. A name beside a file of its own asks for the path.
halotune compile star7 --template scan
halotune verify heat2d --template pencil
halotune verify star7 --template resident
cp kernels/star7.yaml "$TMPDIR/acoustic.yaml"
(cd "$TMPDIR" && halotune show acoustic) 2>&1 | sed 's/ in .*; for/ ...; for/'
halotune show gradient | grep -A 1 '^weights'
halotune compile star7 --template scan
# exit 2
