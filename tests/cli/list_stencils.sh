halotune list stencils
# exit 0
