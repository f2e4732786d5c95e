# Any number of folders with any names can be searched.
path=
for i in 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36; do
  path=$path$TMPDIR/many$i:
done
mkdir "$TMPDIR/[a-z]*" "$TMPDIR/[a-z]*/folder.yaml" && sed s/star7/mine/ kernels/star7.yaml >"$TMPDIR/[a-z]*/mine.yaml"
HALOTUNE_PATH="$path$TMPDIR/[a-z]*" halotune list stencils | grep -e mine -e folder
HALOTUNE_PATH="$path$TMPDIR/[a-z]*" halotune show mine | head -n 1
# exit 0
