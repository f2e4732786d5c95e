# A stencil of as many fields as there may be: no launch of several steps is made, which would write more arrays than there is room for.
many=tests/data/many_arrays.yaml
halotune verify $many --grid 32,32 --template fused_tile --set steps=2 --sample 1
echo "exit $?"
halotune tune $many --grid 32,32 --steps 2 --backend host --budget 5s --db "$TMPDIR/t.db" | sed "s#$TMPDIR/##"
# exit 0
