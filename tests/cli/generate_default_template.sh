# Without --template the source is that of `direct`, or of another template that applies.
halotune generate star7 | head -n 1
halotune generate scan_y | head -n 1
halotune generate star7 --set storage=planes | head -n 1
halotune generate star7 --set no_such=1
# exit 2
