# Rows and planes begin at any position in vectors. In one stencil the box begins with the first row, so only planes of
# whole vectors are possible.
for dtype in f32 f64; do
  for case in "star7 29,19,23" "star7 31,18,20" "star2d9 30,17" "heat2d 30,17"; do
    printf "%s %s " $dtype "$case"
    halotune verify "${case% *}" --grid "${case#* }" --dtype $dtype --template flat --sample 4 --json | jq -c "[.variants[].outcome]"
  done
  halotune space tests/data/sheet.yaml --template flat --grid 17,9,11 --dtype $dtype 2>/dev/null | sed -n 2p
  printf "%s sheet 17,12,11 " $dtype
  halotune verify tests/data/sheet.yaml --grid 17,12,11 --dtype $dtype --template flat --sample 4 --json | jq -c "[.variants[].outcome]"
done
# slow
# exit 0
