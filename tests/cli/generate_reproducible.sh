halotune generate wave25 --template direct --reproducible | sed -n '/^[/][/] Each function rounds/,/^}/p'
# exit 0
