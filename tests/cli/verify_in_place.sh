# An output in the memory of an input: variants pass with separate arrays and in place, and none reads through the read-only
# path.
halotune show tests/data/wave_in_place.yaml | grep "in place"
halotune verify tests/data/wave_in_place.yaml --template direct,flat,tile --sample 3 --json | jq -c "[.variants[].outcome]"
halotune space tests/data/wave_in_place.yaml --template fused_tile --grid 64,64 2>/dev/null | grep -o "launches of several steps.*"
halotune generate tests/data/wave_in_place.yaml --template direct --set load_path=readonly
# exit 2
