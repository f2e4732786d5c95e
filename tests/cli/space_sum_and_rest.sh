# Templates that keep sums in registers refuse an update that does more than sum up, because they have no code for the rest.
halotune space tests/data/sum_and_rest.yaml --template pipeline_rows 2>"$TMPDIR/times" | head -n 3
# exit 0
