# For an error in a template, NVRTC and the emulation name the template's file and line.
mkdir "$TMPDIR/torn" && cp templates/*.cuh "$TMPDIR/torn"
sed "s/^name: direct/name: torn/" templates/direct.yaml >"$TMPDIR/torn/torn.yaml"
sed "s/^  const Fields f = FIELDS;/  no_such_name = 1;\n&/" templates/direct.cu >"$TMPDIR/torn/torn.cu"
line=$(grep -n no_such_name "$TMPDIR/torn/torn.cu" | cut -d: -f1)
for coefficients in parameter literal; do
  halotune compile star7 --template-dir "$TMPDIR/torn" --template torn --set coefficients=$coefficients --no-cache --sample 1 2>&1 |
    grep -c "torn.cu($line): error"
  halotune verify star7 --template-dir "$TMPDIR/torn" --template torn --set coefficients=$coefficients --sample 1 2>&1 |
    grep -c "torn.cu:$line:[0-9]*: error"
done
# exit 0
