mkdir "$TMPDIR/more" && sed s/star7/mine/ kernels/star7.yaml >"$TMPDIR/more/mine.yaml"; HALOTUNE_PATH=/nowhere:$TMPDIR/more halotune show mine | head -n 1
# exit 0
