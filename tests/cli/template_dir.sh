halotune space star7 --template-dir /nonexistent
# exit 4
