path=$(printf "$TMPDIR/a\\377b.yaml")
cp kernels/copy.yaml "$path" && halotune show "$path" --json | jq -r '.file | split("/") | last'
# exit 0
