# Files that are no plans are refused with line, column and remedy.
for file in tests/data/bad/plans/*.yaml; do
  halotune tune --plan "$file" --resume --dry-run
  [ $? = 5 ] || echo "$file was taken"
done
halotune tune --plan tests/data/bad --resume
# exit 5
