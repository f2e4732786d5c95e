/* link_mpi.h: the transport "mpi": ranks that a launcher of MPI started, on any number of hosts. */
#ifndef FLEET_LINK_MPI_H
#define FLEET_LINK_MPI_H

#include "tuner/fleet/launcher.h"
#include "tuner/fleet/link.h"
#include "tuner/fleet/mpi/plugin.h"

enum { LINK_MPI_BEGIN_MS = 300000 };

/* Load the plug-in for the launcher, initialise MPI, and compare what both say of the job.
 *   launcher  with a name
 *   begin_ms  the most that MPI may wait for the other ranks to start
 *   world     receives this rank's place, host, and the version of MPI
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND without a plug-in, with the packages to install; HALOTUNE_IO for a plug-in
 * of another version, for a launcher of another MPI, and if MPI fails; HALOTUNE_MEMORY. `out` and `world` are filled
 * on success. Call it once in a process.
 *
 * MPI runs in a thread of its own, which sleeps longer and longer, up to some milliseconds, while nothing comes. So it
 * also moves messages while this thread is busy. A rank is gone if nothing was heard of it for 90 s, although MPI or
 * the launcher usually end the whole job before.
 *
 * `drop` ends no process. `close` without failure waits for the other ranks, at the leader 30 s at the most. If one of
 * them is gone, or after a failure, `close` ends all ranks by MPI_Abort, and does not return. */
halotune_status link_mpi_open(const struct launcher *launcher, int begin_ms, struct fleet_link *out,
                              struct fleet_mpi_world *world);

#endif
