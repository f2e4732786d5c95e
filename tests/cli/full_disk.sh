halotune show star7 >/dev/full
# exit 1
