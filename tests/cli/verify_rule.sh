# If a rule excludes the only requested variant, the command line is wrong. The message names the rule.
halotune verify heat2d --template direct --set block_z=2
# exit 2
