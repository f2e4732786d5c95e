# A stencil's names cannot collide with names in generated sources. Numbers too small for f32 become 0.
halotune compile tests/data/names.yaml --sample 6 --no-cache --json | jq -c '[.variants[].outcome] | unique' &&
  halotune verify tests/data/names.yaml --sample 6 --json | jq -c '[.variants[].outcome] | unique'
# exit 0
