halotune show star7 --colour
# exit 2
