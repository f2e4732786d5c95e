halotune reference star7 --grid 16,12,10 --steps 3 --input random --json | jq "del(.time_ms, .threads, .points_per_s)"
# exit 0
