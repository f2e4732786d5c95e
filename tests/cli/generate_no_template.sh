halotune generate star7
# exit 2
