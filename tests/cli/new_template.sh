# The two files pass space, generate and verify as they are. Existing files are not overwritten.
folder="$TMPDIR/new" && mkdir "$folder"
new() { halotune new "$@" 2>&1 | sed "s|$TMPDIR|FOLDER|g"; }
new template mine --template-dir "$folder/my templates"
cat "$folder/my templates/mine.yaml"
halotune space star7 --template mine --template-dir "$folder/my templates" 2>/dev/null | tail -1
halotune generate star7 --template mine --template-dir "$folder/my templates" | grep -c '^extern "C" __global__'
halotune verify --all --template mine --template-dir "$folder/my templates" --sample 1 --dtype f32 2>/dev/null
echo "exit $?"
echo '-- without in_box, it writes outside'
sed -i '/in_box/d' "$folder/my templates/mine.cu"
for stencil in skew_1d skew_margins; do
  halotune verify kernels/asymmetric/$stencil.yaml --template mine --template-dir "$folder/my templates" --sample 1 --dtype f64 2>/dev/null |
    grep -E '^(wrote_outside|out_of_bounds)' | cut -d ' ' -f 1
done
echo '-- refused'
new template mine --template-dir "$folder/my templates"
rm "$folder/my templates/mine.yaml"
new template mine --template-dir "$folder/my templates"
new template direct
new template int
new templates mine
new template mine --template-dir "$folder/no/folder"
ls "$folder/my templates"
# exit 0
