/* launcher.h: whether a launcher of MPI started this program, as the environment tells it. Nothing of MPI is loaded. */
#ifndef FLEET_LAUNCHER_H
#define FLEET_LAUNCHER_H

#include <stdbool.h>

#include "base/fail.h"

struct launcher {
  const char *name;   /* for messages: "Open MPI's mpirun"; NULL if nothing started this program, or only one rank */
  const char *plugin; /* which plug-in fits: "openmpi", "mpich", or a path from $HALOTUNE_MPI */
  int rank, size;     /* as the launcher tells them; 0 and 1 without a launcher */
  int local_rank;     /* among the ranks of this host */
};

/* Read the environment of Open MPI's mpirun, of MPICH's mpiexec (PMI), and of Slurm's srun. $HALOTUNE_MPI decides
 * against them: openmpi, mpich, the path of a plug-in, or none.
 *   out  without a launcher, or with one of a single rank: name NULL, rank 0 of 1
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT if the environment contradicts itself, if srun offers no interface for MPI, or
 * if $HALOTUNE_MPI asks for MPI and no launcher is there. Also after a failure `out` says which rank this is. */
halotune_status launcher_find(struct launcher *out);

/* A sentence for a job of Slurm that has several tasks, but whose script runs this program without srun, so that one
 * task works for all; else NULL. */
const char *launcher_advice(const struct launcher *launcher);

/* Whether this rank prints its error. Of an error that launcher_find returned, rank 0 does, because all ranks have it.
 * Any other error may be that of one host alone. Rank 0 prints it at once. A launcher usually ends a job when a rank
 * fails. So all other ranks wait LAUNCHER_WAIT_MS, and return false if all have the error; else the first rank of every
 * host prints it then, and all others wait twice as long, and print nothing. */
enum { LAUNCHER_WAIT_MS = 3000 };
bool launcher_speaks(const struct launcher *launcher, halotune_status launcher_status);

#endif
