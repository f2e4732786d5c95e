# An output in the memory of an input that the next step needs: the header says so, and does not sort such pointers.
export HALOTUNE_TEMPLATE_PATH=templates
advance() { halotune query "$1" --header --device sm_90 --dtype f32 | sed -n '/^\/\* Sort/,/^}/p'; }
advance tests/data/wave_in_place.yaml
cat >"$TMPDIR/lost.yaml" <<'END'
name: lost
about: a sum that is written over the weights
dims: 1
inputs: [u, w]
outputs: [v]
update: v = u[-1] + u[1] + w[0]
boundary: skip
iterate: {v: u}
in_place: {v: w}
dtypes: [f32]
grids: [[64]]
END
advance "$TMPDIR/lost.yaml"
# exit 0
