# A GPU is found without case, in parts of its name, in the databases or in the table of GPUs. Two that fit equally well are both named.
halotune db import tests/data/tuned.json --trust --yes --db "$TMPDIR/query.db" >/dev/null 2>&1
query() { echo "-- $1"; halotune query star7 --db "$TMPDIR/query.db" --device "$1" 2>&1 | grep -v '^param\|^coeff\|^band\|^template\|^measured'; }
query 'nvidia h200'
query H200
query 'NVIDIA H100 80GB HBM3'
query h100
query 'a100 40gb'
query 'geforce rtx'
query 'NVIDIA X'
query ''
HALOTUNE_LIBCUDA=/nonexistent/libcuda.so query 4090 | sed 's/([^)]*)/(...)/'
HALOTUNE_LIBCUDA=/nonexistent/libcuda.so query 1 | sed 's/([^)]*)/(...)/'
# exit 0
