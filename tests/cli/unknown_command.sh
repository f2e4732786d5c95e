halotune frobnicate
# exit 2
