# A count that fails in a thread says why. The limit of files also holds for those in memory, such as a field.
trap '' XFSZ
ulimit -f 2097152
halotune accesses star7 --template direct --sample 2 --workers 2 --grid 8192x8192x8192
# exit 1
