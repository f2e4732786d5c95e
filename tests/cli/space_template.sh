halotune space star7 --template nowhere
# exit 4
