/* finals_parts.h: what the files of the final phase share. */
#ifndef MEASURE_FINALS_FINALS_PARTS_H
#define MEASURE_FINALS_FINALS_PARTS_H

#include "base/arena.h"
#include "tuner/measure/finals/finals.h"
#include "tuner/measure/finals/rounds.h"

/* What is known of a candidate. */
struct contestant {
  double time_ms;   /* over the anchor's scale; INFINITY where it cannot enter */
  double median_ms; /* as measured, for the batch; of the warm-up where it was screened; NaN where it failed since */
  bool is_tried;    /* it was screened, and measured fully since */
};

/* The phase at work. `out->entries` are in the order in which they were loaded until finals_result sorts them; player i
 * of the entry rounds is entry i. */
struct finals_phase {
  struct finals_request request;
  struct finals *out;
  struct arena arena; /* the arrays, the entries and their samples */
  struct finals_plan plan;
  double begin_ms, end_ms;
  struct contestant *contestants; /* a candidate each */
  double best_ms;                 /* of their times */
  int *by_time;                   /* candidates that may enter, the fastest first */
  int by_time_count;
  struct rounds entry, final;
  int *finalists; /* entries: players of the final rounds; the roofs are the players after them */
  int finalist_count;
};

static inline bool finals_stopped(const struct finals_request *request) {
  return request->is_stopped && request->is_stopped(request->state);
}

/* Who may enter: steps 1 and 2 of finals.h, in finals_enter.c. */
halotune_status finals_enter(struct finals_phase *phase);
/* Load them: of step 3. */
halotune_status finals_load(struct finals_phase *phase);

/* Step 6, and all that is told of the entries, which get into their order: in finals_result.c. At least one finalist is
 * still in. */
halotune_status finals_result(struct finals_phase *phase);

#endif
