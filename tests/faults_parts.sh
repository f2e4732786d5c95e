# faults_parts.sh: faults*.sh source it: the fake GPU, and functions that inspect databases and processes.
. "$(dirname "$0")/fake_gpu.sh"

query() { sqlite3 -separator ' ' "$1" "$2"; } # DB SQL
is_sound() { [ "$(query "$1" 'pragma integrity_check; pragma foreign_key_check')" = ok ]; }

# Like tune of fake_gpu.sh, in the process of a subshell that will be killed.
become_tune() { # DB option...
  start_tune exec "$@"
}

# The processes that have this word in their environment: the tuner, its workers and their children. Other users run
# these tests, too, so the word must be a path in $work.
processes_of() { # word
  grep -lsF "$1" /proc/[0-9]*/environ | cut -d/ -f3
}
has_no_process() { [ -z "$(processes_of "$1")" ]; } # word
processes_end() { await has_no_process "$1"; }      # word
children_of() { # process
  cat /proc/[0-9]*/stat 2>/dev/null | sed 's/ (.*) / /' | awk -v parent="$1" '$3 == parent {print $1}' | sort -n
}
