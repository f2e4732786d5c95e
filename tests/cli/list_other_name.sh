# Commands accept every listed name. So a file whose stencil has another name is an error, but it does not hide other
# files.
mkdir "$TMPDIR/other" && sed s/star7/mine/ kernels/star7.yaml >"$TMPDIR/other/yours.yaml"
cd "$TMPDIR" && HALOTUNE_PATH=other halotune list stencils | grep -c -e mine -e yours
HALOTUNE_PATH=other halotune list stencils >/dev/null
HALOTUNE_PATH=other halotune show yours
# exit 5
