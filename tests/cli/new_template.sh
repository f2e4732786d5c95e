# The two files pass space, generate and verify as they are. verify finds what is wrong without in_box.
folder="$TMPDIR/new" && mkdir "$folder"
halotune new template mine --template-dir "$folder/my templates" >/dev/null
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
# slow
# exit 0
