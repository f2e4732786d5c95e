# A generated source has only what its variant uses, so that a user can review it. The limits are in lines.
for limit in direct:150 tile:300 zmarch:400 scatter:500; do
  lines=$(halotune generate star7 --template "${limit%:*}" | wc -l)
  if [ "$lines" -le "${limit#*:}" ]; then echo "${limit%:*}: at most ${limit#*:} lines"; else echo "${limit%:*}: $lines lines"; fi
done
# exit 0
