halotune reference derivative_x --grid 16,12,10 --steps 2
# exit 2
