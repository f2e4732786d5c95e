/* steps_offered.c: counts the variants for each number of steps. */
#include "tuner/cli/tune/steps_offered.h"

#include "stencil/template/space.h"

/* Whether a template has a variant whose launches make as many steps as the task says. */
static halotune_status has_variant(const struct task *task, const struct template *template,
                                   const struct fixed_parameters *fixed, const struct walk_limit *limit, bool *out) {
  struct bindings bindings;
  struct space_counts counts;
  halotune_status status = task_bindings(task, template, &bindings);
  *out = false;
  if (status != HALOTUNE_OK) return status;
  bindings.limit = *limit;
  if (!space_refusal(&bindings)) {
    bindings_remember(&bindings);
    space_walk(&bindings, fixed ? fixed->is_fixed : NULL, fixed ? &fixed->values : NULL, NULL, NULL, &counts);
    *out = counts.kept > 0;
    status = space_is_walkable(&bindings);
  }
  bindings_free(&bindings);
  return status;
}

/* Walks check the limit only from time to time. The walk of a small space ends before its first check. */
static bool is_over(const struct walk_limit *limit) { return limit->is_over && limit->is_over(limit->context); }

halotune_status steps_offered(const struct task *task, const struct tune_templates *templates, int from, int to,
                              const struct walk_limit *limit, struct steps_search *out) {
  halotune_status status = HALOTUNE_OK;
  struct task several = *task;
  *out = (struct steps_search){.count = 0};
  for (int steps = from; steps <= to && task->analysis->can_iterate && status == HALOTUNE_OK; steps++) {
    bool has = false;
    if (is_over(limit)) break;
    several.launch_steps = steps;
    for (int i = 0; i < templates->count && !has && status == HALOTUNE_OK; i++) {
      if (!templates->list[i]->steps.is_given) continue;
      status = has_variant(&several, templates->list[i], templates->fixed ? &templates->fixed[i] : NULL, limit, &has);
    }
    if (has) out->offered[out->count++] = steps;
  }
  return status;
}
