# The file is right, but the grid of the command line is not.
halotune reference advect1d --grid 1
# exit 2
