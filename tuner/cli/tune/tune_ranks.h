/* tune_ranks.h: `halotune tune` under a launcher of MPI: each rank takes a GPU of its host, and ranks of one model are
 * a team. All ranks learn of an error of one, and rank 0 prints it. */
#ifndef CLI_TUNE_TUNE_RANKS_H
#define CLI_TUNE_TUNE_RANKS_H

#include "tuner/cli/tune/tune_backend.h"
#include "tuner/fleet/launcher.h"
#include "tuner/fleet/link.h"

/* Look for a launcher, and refuse options that do not go with one. Advice for a job of Slurm is printed.
 * Returns HALOTUNE_OK or HALOTUNE_ARGUMENT. */
halotune_status tune_ranks_find(const struct invocation *invocation, struct launcher *out);

/* Report an error from before tune_ranks_form: to all ranks if there is a launcher, else like report_failure.
 * Returns the exit code. */
enum exit_code tune_ranks_refuse(const struct launcher *launcher, halotune_status status);

/* Start MPI, introduce this rank to all others, and form the teams.
 *   words    the command, which must be the same on all ranks
 *   stencils the names of the plan's stencils, which must be the same, too
 *   which    receives the rank's GPU. The rank's number on its host selects it among those of --device, or of the host
 *   workers  number of compilers. The ranks of a host share its cores, unless --workers was given
 *   is_told  receives whether an error was printed, here or by another rank
 * Returns HALOTUNE_OK; else the status that all ranks return. */
halotune_status tune_ranks_form(const struct invocation *invocation, const struct launcher *launcher, const char *words,
                                const char *stencils, struct tune_backend *which, int *workers, struct fleet_link *out,
                                bool *is_told);

#endif
