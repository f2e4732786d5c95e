halotune generate copy --template direct --dtype f64 --grid 64
# exit 0
