/* task_state.h: how far the runs of a database have come: a row for each text, problem and GPU that a run was for. */
#ifndef DB_STORE_TASK_STATE_H
#define DB_STORE_TASK_STATE_H

#include "db/store/store.h"

/* All texts are valid during the call of visit(). Problems that differ in their launch mode alone count as one. */
struct task_state {
  const char *uuid, *device; /* of the GPU: its identity, its model */
  int capability, sm_count;
  bool is_emulation;
  const char *stencil, *hash,
      *text_hash; /* name, identity of its meaning, identity of the text with its coefficients */
  const char *dtype, *cache;
  struct grid grid;
  int steps;                                /* time steps of a launch */
  bool reproducible, has_stream, has_graph; /* has: a complete run was in this launch mode */
  bool has_winner;                          /* of any run, complete or not, in any launch mode */
  /* Of the run that began last: */
  int64_t run;                       /* its row; one that begins later has a greater number */
  const char *state, *reason, *host; /* "running", "complete" or "partial", and why it ended early */
  const char *last_sign;             /* date of its newest result, else of its begin, by its host's clock */
  bool is_lost;                      /* it was measured here, and its process was lost or killed (lost_run.h) */
};

/* Call `visit` for each of them, GPU by GPU. A call that fails ends it.
 * Returns HALOTUNE_OK, HALOTUNE_DB, or what `visit` returned. */
halotune_status task_states_each(struct store *store,
                                 halotune_status (*visit)(void *context, const struct task_state *state),
                                 void *context);

#endif
