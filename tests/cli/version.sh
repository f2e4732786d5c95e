halotune --version
# exit 0
