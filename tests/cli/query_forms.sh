halotune query star7 --json --source
# exit 2
