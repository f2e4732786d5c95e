halotune space box27 --reproducible --template scatter_direct 2>/dev/null
halotune verify scan_x --reproducible
# exit 2
