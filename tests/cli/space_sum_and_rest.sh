# Templates that keep sums in registers take no update that does more than sum up, because nothing would do the rest.
halotune space tests/data/sum_and_rest.yaml --template pipeline_rows 2>"$TMPDIR/times" | head -n 3
# exit 0
