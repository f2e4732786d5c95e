halotune reference star7 --grid 16,12
# exit 2
