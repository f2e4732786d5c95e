# launch.sh: tests source it to start ranks of Open MPI and MPICH on this host. More ranks than cores are allowed.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# The launcher of an MPI: openmpi or mpich.
launcher_of() { command -v "mpirun.$1"; }

# Fails if ranks cannot be started, and prints the reason.
can_launch() { # kind
  launcher_of "$1" >/dev/null || { echo "there is no mpirun.$1: make deps-fleet installs it"; return 1; }
  [ -e "build/mpi/$1/libhalotune-mpi.so" ] || { echo "the plug-in for it is not built: make deps-fleet installs what it needs"; return 1; }
}

# Start ranks, and wait for them. A limit ends those that hang.
launch() { # kind ranks command...
  kind_=$1 ranks_=$2
  shift 2
  case $kind_ in openmpi) set -- --oversubscribe -n "$ranks_" "$@" ;; *) set -- -n "$ranks_" "$@" ;; esac
  timeout "${LIMIT_S:-300}" "mpirun.$kind_" "$@"
}

# The process of a rank whose environment has this word. Workers inherit the environment of the rank, and are its children.
process_of_rank() { # rank word
  found_=$(grep -lsE "(OMPI_COMM_WORLD_RANK|PMI_RANK)=$1" /proc/[0-9]*/environ | xargs -r grep -lsF "$2" | sed 's|/proc/\([0-9]*\)/.*|\1|')
  for process_ in $found_; do
    parent_=$(sed -n 's/^PPid:\t//p' "/proc/$process_/status" 2>/dev/null)
    case " $(echo $found_) " in *" $parent_ "*) ;; *) [ -z "$parent_" ] || echo "$process_" ;; esac
  done | tail -n 1
}
