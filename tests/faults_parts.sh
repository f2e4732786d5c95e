# faults_parts.sh: what faults*.sh have in common, for them to source: the fake GPU, and looks at databases and processes.
HANG=15s # how long a test of what hangs waits for it
. "$(dirname "$0")/fake_gpu.sh"

query() { sqlite3 -separator ' ' "$1" "$2"; } # DB SQL
is_sound() { [ "$(query "$1" 'pragma integrity_check; pragma foreign_key_check')" = ok ]; }

# For a subshell that is to be killed: as tune of fake_gpu.sh, in the subshell's own process.
become_tune() { # DB option...
  start_tune exec "$@"
}

# The numbers of the processes that have this word in their environment: the tuner's, its workers', and theirs. Others run
# these tests, too: the word has to be a path in $work.
processes_of() { # word
  grep -lsF "$1" /proc/[0-9]*/environ | cut -d/ -f3
}
has_no_process() { [ -z "$(processes_of "$1")" ]; } # word
processes_end() { await has_no_process "$1"; }      # word
children_of() { # process
  cat /proc/[0-9]*/stat 2>/dev/null | sed 's/ (.*) / /' | awk -v parent="$1" '$3 == parent {print $1}' | sort -n
}
