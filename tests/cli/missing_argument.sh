halotune show
# exit 2
