halotune accesses star7 --template direct --workers 0
# exit 2
