halotune show ./kernels
# exit 5
