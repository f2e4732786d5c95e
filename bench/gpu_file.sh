# gpu_file.sh: scripts source it to get the name of a GPU model as part of a file name.
gpu_file() { echo "$1" | tr 'A-Z /' 'a-z--'; }
