# A misspelt name after #if of a template is an error with file and line. In a search it costs the variant.
mkdir "$TMPDIR/bad"
cp templates/direct.yaml "$TMPDIR/bad/"
{ printf "#if VECTR == 4\n#endif\n"; cat templates/direct.cu; } >"$TMPDIR/bad/direct.cu"
halotune generate star7 --template-dir "$TMPDIR/bad" --template direct
HALOTUNE_DB=$TMPDIR/bad.db halotune tune star7 --template-dir "$TMPDIR/bad" --template direct --backend host --max-variants 2 --budget none \
  --grid 12,12,12 --dtype f32 --no-hints | sed 's/ [0-9.]* s$/ T s/' | grep -v '^stored'
# exit 0
