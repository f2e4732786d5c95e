# The starter's documents are signed at release. With the release key no other document is taken, and signing again changes nothing.
export HOME="$TMPDIR/release" HALOTUNE
unset HALOTUNE_DB XDG_DATA_HOME
mkdir "$HOME" "$HOME/starter" && root=$PWD && cp tests/data/db/copy.json tests/data/db/copy_newer.json "$HOME/starter" && cd "$HOME" || exit 9
HALOTUNE=$(command -v halotune)
umask 077
printf 'halotune-private-key %064d\n' 0 >zero.key
printf 'halotune-private-key %064d\n' 1 >one.key
sh "$root/db/starter/sign.sh" starter/*.json
echo "exit $?"
KEY=zero.key sh "$root/db/starter/sign.sh" starter/*.json
cat starter/release.pub
halotune db import --signed-by starter/release.pub --yes --shipped --db starter.db starter/*.json 2>/dev/null | grep added
sqlite3 starter.db 'select kind, name, signer, signer_key from origin'
sha256sum starter/* >sums
KEY=zero.key sh "$root/db/starter/sign.sh" starter/*.json >/dev/null && sha256sum --quiet -c sums && echo "the same again"
KEY=one.key sh "$root/db/starter/sign.sh" starter/*.json
sed -i 's/"time_ms":0.3,/"time_ms":0.2,/' starter/copy.json
halotune db import --signed-by starter/release.pub --yes --shipped --db changed.db starter/*.json
cp "$root/tests/data/db/copy.json" starter/copy.json
halotune db import --signed-by starter/release.pub --yes --shipped --db changed.db starter/*.json
[ -e changed.db ] || echo "there is no database"
# A developer's build takes new documents, which are not signed yet.
halotune db import --signed-by starter/release.pub --trust --yes --shipped --db changed.db starter/*.json 2>/dev/null | grep added
echo "--- a release key that is none, and one that is missing"
echo "halotune-public-key 12" >starter/release.pub
halotune db import --signed-by starter/release.pub --yes --shipped --db other.db starter/*.json 2>&1
rm starter/release.pub
halotune db import --signed-by starter/release.pub --yes --shipped --db other.db starter/*.json 2>&1
echo "halotune-private-key 12" >broken.key
KEY=broken.key sh "$root/db/starter/sign.sh" starter/*.json 2>&1
KEY=missing.key sh "$root/db/starter/sign.sh" starter/*.json 2>&1
ls starter
[ -e other.db ] || echo "there is no database"
# exit 0
