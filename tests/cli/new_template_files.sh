# The files of a new template. Existing files are not overwritten.
folder="$TMPDIR/new" && mkdir "$folder"
new() { halotune new "$@" 2>&1 | sed "s|$TMPDIR|FOLDER|g"; }
new template mine --template-dir "$folder/my templates"
cat "$folder/my templates/mine.yaml"
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
