# A file name that is not a path, because it has neither a folder nor .yaml. The message says what to write. For a
# folder it says nothing.
mkdir "$TMPDIR/here" && cp kernels/star7.yaml "$TMPDIR/here/heat.yml" && cd "$TMPDIR/here" || exit 9
cp heat.yml 'my heat' && cp heat.yml star8 && mkdir folder
unset HALOTUNE_PATH
for name in heat.yml 'my heat' star8 folder; do
  halotune show "$name" 2>&1 | sed 's/ in .*; .halotune/ in FOLDERS; '"'"'halotune/'
done
halotune show ./heat.yml | head -n 1
# exit 0
