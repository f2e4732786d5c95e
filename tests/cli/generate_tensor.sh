# The lines of a source about tensor maps, clusters and overlap. Maps are refused if rows are not aligned.
halotune generate star7 --template-dir tests/data/templates --template tensor --set stores=engine,overlap=1 | grep -E '^(// launch|#define LAUNCH_|  const real [*]in_|#define FIELDS)'
halotune generate star7 --template-dir tests/data/templates --template cluster --set cluster_y=2 | grep -E '^(// launch|#define LAUNCH_)'
halotune generate star7 --template-dir tests/data/templates --template tensor --grid 511,64,64
# exit 2
