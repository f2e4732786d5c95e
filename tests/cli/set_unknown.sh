# The message names a parameter that no template has, and says why the last template has no such variant.
halotune compile star7 --set vector=2,bogus=1 --no-cache
halotune verify star7 --sample 2 --set pencils=4
halotune verify star7 --set vector=3
# exit 2
