halotune generate wave25 --template direct --reproducible | sed -n '/^[/][/] Each rounds/,/^}/p'
# exit 0
