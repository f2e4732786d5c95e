/* launcher.h: finds out from the environment whether a launcher of MPI started this program. No part of MPI is
 * loaded. */
#ifndef FLEET_LAUNCHER_H
#define FLEET_LAUNCHER_H

#include <stdbool.h>

#include "base/fail.h"

struct launcher {
  const char *name;   /* for messages: "Open MPI's mpirun"; NULL if nothing started this program, or only one rank */
  const char *plugin; /* which plug-in fits: "openmpi", "mpich", or a path from $HALOTUNE_MPI */
  int rank, size;     /* from the launcher; 0 and 1 without a launcher */
  int local_rank;     /* this rank's number among the ranks of its host */
};

/* Read the environment of Open MPI's mpirun, of MPICH's mpiexec (PMI), and of Slurm's srun. $HALOTUNE_MPI overrides
 * them: openmpi, mpich, the path of a plug-in, or none.
 *   out  name NULL and rank 0 of 1 if there is no launcher or a single rank
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT if the environment contradicts itself, if srun offers no interface for MPI, or
 * if $HALOTUNE_MPI asks for MPI and no launcher is there. Also after a failure `out` says which rank this is. */
halotune_status launcher_find(struct launcher *out);

/* Advice for a job of Slurm that has several tasks, but whose script runs this program without srun, so that only one
 * task works. NULL in any other case. */
const char *launcher_advice(const struct launcher *launcher);

/* Whether this rank prints its error. All ranks have an error that launcher_find returned, so rank 0 prints it. Any
 * other error may belong to one host alone. Rank 0 prints it at once. A launcher usually ends a job when a rank fails,
 * so the other ranks wait LAUNCHER_WAIT_MS first. If all ranks have the error, they return false. Else the first rank
 * of each host then prints it. The others wait twice as long and print nothing. */
enum { LAUNCHER_WAIT_MS = 3000 };
bool launcher_speaks(const struct launcher *launcher, halotune_status launcher_status);

/* Ask MPICH's mpiexec to end all ranks with this exit code. It does not end them by itself when a rank ends before it
 * has begun MPI, and the others would wait for that rank. Under any other launcher this does nothing. */
void launcher_end_job(const struct launcher *launcher, int exit_code);

#endif
