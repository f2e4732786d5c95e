/* task_state.h: the progress of the runs of a database, by stencil text, problem and GPU. */
#ifndef DB_STORE_TASK_STATE_H
#define DB_STORE_TASK_STATE_H

#include "db/store/store.h"

/* All texts are valid during the call of visit(). Problems that differ in their launch mode alone count as one. */
struct task_state {
  const char *uuid, *device; /* UUID and model of the GPU */
  int capability, sm_count;
  bool is_emulation;
  const char *stencil, *hash,
      *text_hash; /* name, identity of its meaning, identity of the text with its coefficients */
  const char *dtype, *cache;
  struct grid grid;
  int steps;                                /* time steps of a launch */
  bool reproducible, has_stream, has_graph; /* has_...: a complete run used this launch mode. A run of a document
                                               counts only with a winner of its problem that lookups serve */
  bool has_winner;                          /* of any run, complete or not, in any launch mode */
  /* Of the run of this user that began last; where there is none, of the newest run of a document: */
  int64_t run;                       /* its id; a run that begins later has a greater one */
  const char *state, *reason, *host; /* "running", "complete" or "partial", and why it ended early */
  const char *last_sign;             /* date of its newest result, or of its start without one, by its host's clock */
  bool is_own;                       /* it was measured here */
  bool is_lost;                      /* it was measured here, and its process was lost (lost_member_run.h) */
};

/* Call `visit` for each task, GPU by GPU, until one call fails.
 * Returns HALOTUNE_OK, HALOTUNE_DB, or what `visit` returned. */
halotune_status task_states_each(struct store *store,
                                 halotune_status (*visit)(void *context, const struct task_state *state),
                                 void *context);

#endif
