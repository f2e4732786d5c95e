# Reach 16, unequal in each direction, three inputs, two outputs, functions, periodic, clamp and zero: every template that applies.
halotune verify tests/data/reach16.yaml --sample 12 --json | jq -c '[.variants[] | {template, outcome}] | unique'
# exit 0
