# One variant that a rule leaves out is a mistake on the command line; the rule is named.
halotune verify heat2d --template direct --set block_z=2
# exit 2
