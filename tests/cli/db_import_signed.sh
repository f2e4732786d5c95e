# A document of a signer that the user has named is shown, and taken with --yes. A document is not trusted if its signer is unknown, if a byte
# was changed, or if its signature is missing, moved or that of another document.
export HOME="$TMPDIR/signed" HALOTUNE_DB="$TMPDIR/signed/own.db"
unset XDG_DATA_HOME
mkdir "$HOME" && data=$PWD/tests/data/db && cd "$HOME" || exit 9
umask 077
printf 'halotune-private-key %064d\n' 0 >zero.key
printf 'halotune-private-key %064d\n' 1 >one.key
for name in copy copy_newer; do
  halotune db import --trust --yes --db "$name.db" "$data/$name.json" >/dev/null 2>&1
  halotune db export --cubins --db "$name.db" --sign zero.key -o "$name.json"
done
tail -n 1 copy.json | cut -c 1-88
halotune db export --db copy.db --sign zero.key --format t4
echo "exit $?"
halotune trust add zero "$(halotune key show zero.key)"
halotune db import copy.json
echo "exit $?"
[ -e own.db ] || echo "there is no database"

bad() { # what: a change of copy.json by sed
  echo "--- $1"
  sed "$2" copy.json >"bad.json"
  halotune db import bad.json 2>&1 | sed 's|halotune: ||'
  halotune db import --yes bad.json >said 2>&1
  echo "exit $?"
  halotune db import --trust --yes bad.json >said 2>&1
  echo "with --trust, exit $?"
  rm -rf own.db own.db.untrusted
}
bad "a changed byte" 's/"time_ms":0.3,/"time_ms":0.2,/'
bad "a signature that is that of another document" "\$s/.*/$(tail -n 1 copy_newer.json)/"
bad "a signature in another place" '$s/^"signer"\(.*\)}$/"signer" \1}/'
bad "another signer's name" "\$s/$(halotune key show zero.key)/$(halotune key show one.key)/"
bad "a blank at the end" '$s/$/ /'
bad "a signature in the front" '1s/{/{"signature": "", /'

echo "--- an unknown signer"
halotune db export --db copy.db --sign one.key -o one.json
halotune db import one.json | sed "s|$HOME|HOME|"
halotune db import --yes one.json
echo "exit $?"
halotune db import --trust --yes one.json
echo "exit $?"
echo "--- no signature"
halotune db import --yes "$data/copy.json" 2>&1 | sed "s|$data|DATA|"
[ -e own.db ] || echo "there is no database still"
echo "--- a named signer"
halotune db import --yes copy.json
halotune db info | grep best:
sqlite3 own.db "select kind, name, signer, signer_key from origin"
echo "--- the same rows from another signer"
halotune trust add one "$(halotune key show one.key)"
cp own.db same.db
halotune db import --yes --db same.db one.json
halotune db forget --signer zero --yes --db same.db
halotune db import --yes --db same.db one.json 2>/dev/null | tail -n 1
halotune trust remove one 2>/dev/null
echo "--- a named key"
halotune db import --signed-by zero.key copy_newer.json
echo "exit $?"
halotune key show zero.key >zero.pub
halotune db import --signed-by "$(cat zero.pub)" --yes copy_newer.json 2>/dev/null | grep added
halotune db import --signed-by "$(cat zero.pub)" --yes one.json
echo "exit $?"
echo "--- nobody signs what is kept apart"
halotune db export --sign zero.key --db own.db.untrusted/one.json-*.db 2>&1 >signed.json | sed "s|.*: this|this|"
echo "--- a folder that others can write"
chmod go+w own.db.untrusted
halotune db import "$data/copy_newer.json" 2>&1 | sed "s|$HOME|HOME|g"
halotune trust remove zero
halotune db import --yes copy.json
# exit 5
