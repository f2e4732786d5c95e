# If a template does not apply, the output says why.
halotune space heat2d --template zmarch 2>/dev/null
# exit 0
