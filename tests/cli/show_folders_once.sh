# A folder that is searched under several names is named once.
HALOTUNE_PATH=./kernels/:$PWD/kernels:/nonexistent:tests/data:/nonexistent halotune show star8
# exit 4
