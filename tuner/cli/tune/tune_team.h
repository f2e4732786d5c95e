/* tune_team.h: forms the team of processes that tune together, and serves in it. */
#ifndef CLI_TUNE_TUNE_TEAM_H
#define CLI_TUNE_TUNE_TEAM_H

#include "tuner/cli/tune/tune_alone.h"
#include "tuner/fleet/leader.h"

/* A proposal of strategy `model` takes milliseconds, so one process cannot feed more GPUs than this. In a larger team
 * `local` searches, unless --strategy was given. */
enum { TEAM_MODEL_MOST = 8 };

/* Start with {0}; end with tune_team_close. It must not move. */
struct tune_team {
  struct fleet_link link; /* table NULL: this process works alone */
  struct fleet_hello own; /* facts of the leader */
  struct leader *leader;
  struct crew crew;
};

/* Fork the members that --device and --members ask for, if any. It returns in each of them as well, where
 * team->link.rank is not 0 and `which` has the process' own GPU.
 *   workers  number of compilers of each process: changed to a share of the cores, unless --workers was given
 * Returns HALOTUNE_OK, or what processes_open returns. Call it before anything else is opened. */
halotune_status tune_team_form(const struct invocation *invocation, struct tune_backend *which, int *workers,
                               struct tune_team *team);

/* In a member: open compilers and backend, serve until the leader sends the member home, and close them.
 *   alone  for tasks that it runs alone, with an empty setup
 * Returns its exit code. */
enum exit_code tune_team_serve(struct tune_team *team, const struct tune_backend *which, int workers,
                               int compile_timeout_ms, const struct tune_templates *templates, const char *host,
                               struct tune_alone *alone);

/* In the leader, after all is open: wait for the members. stderr names a member that does not take part.
 *   setup  gets the crew */
halotune_status tune_team_meet(struct tune_team *team, const struct tune_backend *which, int workers,
                               int compile_timeout_ms, const char *host, struct tune_setup *setup);

/* Send all members home, and wait for their ends.
 *   is_failure  the team could not work; a failed task does not count as this
 *   code        this process will end with it */
void tune_team_close(struct tune_team *team, bool is_failure, enum exit_code code);

#endif
