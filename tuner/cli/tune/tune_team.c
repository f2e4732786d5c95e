/* tune_team.c: forms a team of processes on one host. */
#include "tuner/cli/tune/tune_team.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/system/parallel.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/output/stop_signals.h"
#include "tuner/fleet/member.h"
#include "tuner/fleet/processes.h"

enum {
  MEET_MS = 60000,    /* limit for the start of all members' drivers and compilers */
  PATIENCE_MS = 20000 /* in addition to the longest compile and the longest run of a variant */
};

halotune_status tune_team_form(const struct invocation *invocation, struct tune_backend *which, int *workers,
                               struct tune_team *team) {
  const int count = which->process_count, cores = parallel_threads(0), share = (cores - count) / count;
  if (count < 2) return HALOTUNE_OK;
  if (!option_given(invocation, "workers")) *workers = share > 1 ? share : 1;
  fflush(NULL); /* otherwise a member would print the buffer's content again */
  halotune_status status = processes_open(count - 1, &team->link);
  if (status == HALOTUNE_OK) which->ordinal = which->ordinals[team->link.rank % which->ordinal_count];
  return status;
}

/* How many variants a process wants at a time: two for each compiler, and some that wait for the GPU. */
static int room_of(const struct tune_backend *which, int workers) {
  enum { AHEAD = 4 };
  return which->kind == TUNE_ON_RECORDING ? which->in_flight : 2 * workers + AHEAD;
}

enum exit_code tune_team_serve(struct tune_team *team, const struct tune_backend *which, int workers,
                               int compile_timeout_ms, const struct tune_templates *templates, const char *host,
                               struct tune_alone *alone) {
  struct tune_setup *setup = alone->setup;
  stop_signals_catch();
  halotune_status status = tune_setup_tools(which, workers, compile_timeout_ms, setup);
  const struct member_tools tools = {.backend = &setup->backend,
                                     .compiler = setup->tools.compiler,
                                     .templates = *templates,
                                     .host = host,
                                     .ordinal = which->ordinal,
                                     .room = room_of(which, workers),
                                     .in_full = alone->tasks->options->in_full,
                                     .stop = stop_flag(),
                                     .alone = tune_alone_run,
                                     .alone_context = alone};
  if (status == HALOTUNE_OK) status = member_serve(&team->link, &tools);
  else member_decline(&team->link, fail_text());
  tune_alone_end(alone);
  tune_setup_close(setup);
  return exit_code_of(status);
}

halotune_status tune_team_meet(struct tune_team *team, const struct tune_backend *which, int workers,
                               int compile_timeout_ms, const char *host, struct tune_setup *setup) {
  if (!team->link.table) return HALOTUNE_OK;
  const struct member_tools tools = {.backend = &setup->backend,
                                     .compiler = setup->tools.compiler,
                                     .host = host,
                                     .ordinal = which->ordinal,
                                     .room = room_of(which, workers)};
  team->own = fleet_hello_of(&tools);
  const struct leader_options options = {.link = &team->link,
                                         .own = team->own,
                                         .patience_ms = compile_timeout_ms + 2 * which->hang_ms + PATIENCE_MS,
                                         .may_share = which->may_share,
                                         .stop = stop_flag()};
  struct text words = {0};
  halotune_status status = leader_open(&options, &team->leader);
  if (status != HALOTUNE_OK) return status;
  const int count = leader_gather(team->leader, MEET_MS, &words);
  if (count < 0) status = HALOTUNE_IO;
  for (const char *line = text_string(&words); *line;) {
    const int length = (int)strcspn(line, "\n");
    fprintf(stderr, "halotune: %.*s\n", length, line);
    line += length + (line[length] == '\n');
  }
  text_free(&words);
  team->crew = leader_crew(team->leader);
  if (count > 0) setup->tools.crew = &team->crew;
  return status;
}

void tune_team_close(struct tune_team *team, bool is_failure, enum exit_code code) {
  leader_close(team->leader);
  team->leader = NULL;
  if (team->link.table) team->link.table->close(team->link.state, is_failure, code);
  team->link.table = NULL;
}
