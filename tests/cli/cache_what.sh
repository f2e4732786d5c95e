halotune cache empty
# exit 2
