halotune list kernels
# exit 2
