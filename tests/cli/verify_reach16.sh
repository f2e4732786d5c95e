# Reach 16, different in each direction, three inputs, two outputs, functions, and the boundaries periodic, clamp and
# zero, with every template that applies.
halotune verify tests/data/reach16.yaml --sample 12 --json | jq -c '[.variants[] | {template, outcome}] | unique'
# slow
# exit 0
