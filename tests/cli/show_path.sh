cp kernels/star7.yaml "$TMPDIR/mine.yaml"; cd "$TMPDIR" && halotune show ./mine.yaml | grep -e "^file" -e "^hash"
# exit 0
