# Nothing is taken from a file that another program changes between the check and the second reading. The list of what the files would bring
# is longer than the room of a pipe, because most names are long. Its first byte comes when all files have been checked. The program then waits
# until the rest is read.
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
