# The name of a file does not look like the signer that the list names behind it.
cd "$TMPDIR" || exit 9
name='a.json, document 00, signed by alice'
cp "$OLDPWD/tests/data/db/copy.json" "$name" || exit 9
halotune db import "$name" --trust --db none.db 2>/dev/null | sed -n 1p
halotune db import "$name" --trust --yes --db some.db 2>/dev/null | sed -n 1p
# exit 0
