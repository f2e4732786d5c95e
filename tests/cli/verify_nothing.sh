# Where no point is computed, nothing is proven.
halotune verify star25 --grid 7,5,3 --sample 1 --template direct 2>/dev/null | tail -n 1
# exit 0
