/* link_mpi.h: the transport "mpi": ranks that a launcher of MPI started, on any number of hosts. A process opens the
 * job (link_mpi_open), the ranks tell each other who they are (link_mpi_gather), and form teams (link_mpi_team).
 *
 * MPI runs in a thread of its own, which sleeps longer and longer, up to some milliseconds, while nothing comes. So it
 * also moves messages while the owner of the link is busy. Threads: one at a time for one job.
 *
 * Each wait for another rank has a limit: 300 s for each step until teams are formed and for MPI's own end, 90 s
 * without a sign of life at the end. $HALOTUNE_MPI_TIMEOUT replaces these limits by its seconds. */
#ifndef FLEET_LINK_MPI_H
#define FLEET_LINK_MPI_H

#include "tuner/fleet/launcher.h"
#include "tuner/fleet/link.h"
#include "tuner/fleet/mpi/plugin.h"

struct link_mpi;

/* Load the plug-in for the launcher, initialise MPI, and compare what both say of the job.
 *   launcher  with a name
 *   out       ended with link_mpi_leave, or with the link that link_mpi_team makes; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND without a plug-in, with the packages to install; HALOTUNE_IO for a plug-in
 * of another version, for a launcher of another MPI, and if MPI fails; HALOTUNE_MEMORY. Call it once in a process. */
halotune_status link_mpi_open(const struct launcher *launcher, struct link_mpi **out);

/* This rank's place, its host, and the version of MPI. Valid as long as the job is open. */
const struct fleet_mpi_world *link_mpi_world(const struct link_mpi *job);

/* Bring a record of each rank to every rank. All ranks must call it, with the same size.
 *   bytes  of one record
 *   all    receives `size` records, by rank
 * Returns HALOTUNE_OK or HALOTUNE_IO. */
halotune_status link_mpi_gather(struct link_mpi *job, const void *own, size_t bytes, void *all);

/* Form teams: ranks of one colour, which is not negative, have one link, whose rank 0 is the lowest of them. All ranks
 * must call it.
 *   out  owns the job, also if it has only one rank
 * A rank of the team counts as gone after 90 s of silence. MPI or the launcher usually ends the whole job earlier.
 * `drop` ends no process. `close` without failure waits until all teams are done; the leader waits 30 s for its own
 * members, and 5 s after a failure. If some do not come, `close` does not return, but ends all ranks by MPI_Abort with
 * its exit code. While there are other teams, and this one has not failed, it does so when these are done, or their
 * leaders are silent for the limit, with the greatest exit code of the leaders. A member does so when all leaders are
 * silent. A rank that ends the job because another one is silent prints a line. Where MPI itself does not end, `close`
 * prints a line and returns, and the process must end. Returns HALOTUNE_OK; HALOTUNE_IO, also if a rank does not come
 * within the limit; HALOTUNE_MEMORY. After a failure the caller still owns the job. */
halotune_status link_mpi_team(struct link_mpi *job, int colour, struct fleet_link *out);

/* End a job without a team, when all ranks do so. */
void link_mpi_leave(struct link_mpi *job);

#endif
