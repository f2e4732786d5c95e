# Fields of 8 TB are not asked for where the steps are wrong anyway.
halotune reference derivative_x --grid 10000,10000,10000 --steps 2
# exit 2
