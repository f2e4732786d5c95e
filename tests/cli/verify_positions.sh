# Updates that use the number of a point along an axis: in templates that fetch fields in different ways.
halotune verify tests/data/positions.yaml --template direct,tile,fused_tile --sample 3 --json | jq -c "[.variants[].outcome]"
# slow
# exit 0
