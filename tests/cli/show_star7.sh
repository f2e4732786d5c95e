halotune show star7
# exit 0
