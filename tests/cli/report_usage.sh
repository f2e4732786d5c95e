halotune report --db /nowhere/none.db
# exit 4
