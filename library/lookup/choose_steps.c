/* choose_steps.c: compares the answers for each number of steps that was measured for a stencil. */
#include "library/lookup/choose_steps.h"

#include <math.h>

#include "db/store/launch_text.h"
#include "library/lookup/candidates.h"

/* The smallest number of steps above `steps` that a row of the stencil in the question's element type has; 0 if there
 * is none. */
static int next_steps(const struct question *q, int steps) {
  const struct lookup_table *table = &q->ctx->table;
  int next = 0;
  for (int f = table->first_family[q->key.stencil]; f < table->first_family[q->key.stencil + 1]; f++) {
    const struct lookup_family *family = &table->families[f];
    const bool is_more = family->dtype == q->key.dtype && family->steps > steps;
    if (is_more && (next == 0 || family->steps < next)) next = family->steps;
  }
  return next;
}

/* The expected time of one step and its error; infinite if the time is not known. With the error, a launch that was
 * measured for this problem loses only to one that is surely faster. A time of one sample has no known error: none is
 * added. */
static double step_ms(const struct question *q, const struct answer *answer) {
  const struct prediction *p = &answer->prediction;
  const double error = isnan(p->error) ? 0 : p->error;
  return isnan(p->time_ms) ? INFINITY : p->time_ms * (1 + error) / q->key.steps;
}

/* Answer with the row that was measured for exactly this problem, if it fits. `found` receives whether it does. */
static halotune_status choose_exact(const struct question *q, struct answer *out, bool *found) {
  const struct served *row = q->device->model >= 0 ? lookup_exact(&q->ctx->table, &q->key) : NULL;
  const struct template *template;
  *found = false;
  if (!row) return HALOTUNE_OK;
  *out = (struct answer){
      .match = HALOTUNE_MATCH_EXACT, .row = row, .template_at = row->template_at, .prediction = candidates_exact(row)};
  halotune_status status = context_template(q->ctx, row->template_at, &template);
  if (status == HALOTUNE_OK) status = configuration_read(template, row->parameters, &out->configuration);
  return status == HALOTUNE_OK ? question_check(q, template, &out->configuration, found) : status;
}

halotune_status choose_of_steps(struct question *q, int steps, struct answer *out) {
  bool is_exact;
  question_set_steps(q, steps);
  bool is_instead = false;
  halotune_status status = choose_exact(q, out, &is_exact);
  if (status == HALOTUNE_OK && is_exact) status = choose_instead(q, out->row, out, &is_instead);
  if (status == HALOTUNE_OK && !is_exact) status = choose(q, out);
  return status == HALOTUNE_OK && !out->row && steps > 1 ? HALOTUNE_NOT_FOUND : status;
}

halotune_status choose_steps(struct question *q, int most, struct answer *out) {
  const bool iterates = q->parsed->analysis->can_iterate;
  double best_ms = INFINITY;
  int best = 0;
  struct fail_kept before;
  fail_keep(&before);
  for (int steps = 1; steps > 0 && steps <= most; steps = iterates ? next_steps(q, steps) : 0) {
    struct answer answer;
    const halotune_status status = choose_of_steps(q, steps, &answer);
    if (status == HALOTUNE_NOT_FOUND) continue;
    if (status != HALOTUNE_OK) return status;
    if (best > 0 && step_ms(q, &answer) >= best_ms) continue;
    best_ms = step_ms(q, &answer);
    best = steps;
    *out = answer;
  }
  question_set_steps(q, best > 0 ? best : 1);
  if (best == 0) return choose(q, out); /* it fails again, and its detail says why */
  fail_put_back(&before);
  return HALOTUNE_OK;
}
