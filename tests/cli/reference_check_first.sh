# Wrong steps are refused before fields of 8 TB are allocated.
halotune reference derivative_x --grid 10000,10000,10000 --steps 2
# exit 2
