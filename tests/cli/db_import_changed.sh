# A file that another program changes after it was checked, and before it is read again, is not taken. What the files would bring is more than
# fits into a pipe, because the names of most are long. So the first byte of it comes when all files are checked, and the program waits until
# the rest is read.
HALOTUNE_DB=$TMPDIR/changed.db
export HALOTUNE_DB
cp tests/data/tuned.json tests/data/db/copy.json "$TMPDIR"
mkfifo "$TMPDIR/listing"
cd "$TMPDIR" || exit 9
long=$(printf '%04000d' 0 | sed 's|00|./|g')copy.json
set -- "$long" "$long" "$long" "$long" "$long"
halotune db import --trust --yes tuned.json "$@" "$@" "$@" "$@" >listing &
exec 3<listing
dd bs=1 count=1 status=none <&3 >first
printf ' ' >>tuned.json
cat <&3 >rest
wait "$!"
code=$?
cat first rest | sed -E 's|^[./]*||; s/document [0-9a-f]{64}/document HASH/' | uniq
halotune db info | grep -c best:
exit "$code"
# exit 6
