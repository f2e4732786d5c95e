halotune show star8
# exit 4
