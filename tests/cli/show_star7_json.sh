halotune show star7 --json
# exit 0
