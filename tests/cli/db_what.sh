# An unknown part of db, an option of another part, files where none are allowed, and a file that is not a database.
halotune db
halotune db look
halotune db info --trust
halotune db info file
halotune db merge
cp README.md "$TMPDIR" && cd "$TMPDIR" || exit 9
HALOTUNE_DB=README.md halotune db check 2>notes
code=$?
sed "s|$TMPDIR|TMP|" notes >&2
exit $code
# exit 6
