# Fields that are too large for the machine are refused before they are made.
halotune reference star7 --grid 10000,10000,10000 2>&1 | sed 's/and [0-9.]* GB/and SOME GB/'
# exit 0
