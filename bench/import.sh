# import.sh: functions that make databases of documents. `program` is halotune, `work` a folder.

import() { # DATABASE document...
  db=$1
  shift
  "$program" db import --trust --yes --db "$db" "$@" >"$work/import" 2>&1 || { cat "$work/import" >&2 && exit 1; }
}

# Unpack a recording, and import it: $work/$name.json and $work/$name.db.
import_recording() { # FILE.json.gz
  name=$(basename "$1" .json.gz)
  gunzip -c "$1" >"$work/$name.json"
  import "$work/$name.db" "$work/$name.json"
}
