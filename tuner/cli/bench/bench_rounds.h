/* bench_rounds.h: the stored winner, the plain kernel and the copy on this GPU, in interleaved rounds. */
#ifndef CLI_BENCH_BENCH_ROUNDS_H
#define CLI_BENCH_BENCH_ROUNDS_H

#include "gpu/workers/compiler.h"
#include "tuner/cli/query/query_answer.h"
#include "tuner/measure/backends/backend.h"
#include "tuner/measure/sampling/statistics.h"

/* The players: the winner; the default of template `direct`; the driver's copy of as many bytes. */
enum bench_player { BENCH_WINNER, BENCH_PLAIN, BENCH_COPY, BENCH_PLAYERS };

struct bench_request {
  struct backend_handle *backend; /* open, without a problem */
  struct compiler *compiler;
  const struct query *query;    /* its answer was measured for this very problem */
  const struct template *plain; /* NULL: there is none */
  double limit_ms;              /* limit of the rounds; a few are taken in any case */
};

/* The results. A player that did not take part has a verdict with its reason, and a summary of no samples. */
struct bench_result {
  struct verdict verdicts[BENCH_PLAYERS];
  struct summary times_ms[BENCH_PLAYERS];
  struct summary ratios[BENCH_PLAYERS]; /* each player's time over the winner's in the same round */
  /* source of the winner's code: "database", "cache" or "compiled"; NULL where it could not be made */
  const char *code;
  int rounds;
  bool is_throttled; /* too few rounds had no slowdown, so rounds with a slowdown count, too */
};

/* Verify and time the players.
 *   warnings  a line is added where the GPU could not make the inputs, and the CPU did
 * Returns HALOTUNE_OK whatever the verdicts are; else what backend or compiler return. */
halotune_status bench_rounds(const struct bench_request *request, struct text *warnings, struct bench_result *out);

#endif
