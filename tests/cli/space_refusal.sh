# A template that does not apply says why.
halotune space heat2d --template zmarch 2>/dev/null
# exit 0
