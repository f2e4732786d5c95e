halotune
# exit 2
