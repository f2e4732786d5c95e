# A bad template hides no other. It is named on stderr, and the exit code shows it.
mkdir -p "$TMPDIR/broken/templates" && cd "$TMPDIR/broken" || exit 1
cp "$OLDPWD"/kernels/star7.yaml . && cp "$OLDPWD"/templates/direct.* "$OLDPWD"/templates/*.cuh templates
echo "name: bad" >templates/bad.yaml
sed "s/^name: direct/name: mine/" templates/direct.yaml >templates/yours.yaml && cp templates/direct.cu templates/yours.cu
halotune space ./star7.yaml 2>&1 >rows | grep -v combinations
echo "$(grep -c ^direct: rows) is shown"
halotune list templates 2>&1 | grep -c -e "^direct:" -e "bad.yaml" -e "'mine'"
halotune verify ./star7.yaml --set vector=2 2>/dev/null | tail -n 1
halotune compile ./star7.yaml --set vector=2 --no-cache >/dev/null 2>&1
echo "compile: $?"
halotune generate ./star7.yaml --template yours
echo "by another name: $?"
halotune space ./star7.yaml >/dev/null 2>&1
# exit 5
