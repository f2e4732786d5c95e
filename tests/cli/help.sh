halotune --help
# exit 0
