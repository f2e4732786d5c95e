# gpu_file.sh: for scripts that source it: the name of a model of GPU as part of a file's name.
gpu_file() { echo "$1" | tr 'A-Z /' 'a-z--'; }
