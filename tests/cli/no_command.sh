# Without a command, the program shows what there is.
halotune
# exit 0
