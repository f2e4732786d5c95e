/* task.c: makes specifications of variants from a task. */
#include "tuner/search/variants/task.h"

struct variant_spec task_variant(const struct task *task, const struct template *template,
                                 const struct configuration *configuration, const struct grid *grid) {
  return (struct variant_spec){.stencil = task->stencil,
                               .analysis = task->analysis,
                               .template = template,
                               .configuration = *configuration,
                               .dtype = task->dtype,
                               .domain = domain_dense(task->stencil, task->analysis, grid),
                               .coefficients = task->coefficients,
                               .limits = task->limits,
                               .reproducible = task->reproducible,
                               .most_steps = task->launch_steps};
}

long long task_bytes(const struct task *task) {
  const struct grid *grid = &task->grid;
  return (long long)grid->n[0] * grid->n[1] * grid->n[2] * task->analysis->bytes_per_point[task->dtype];
}

halotune_status task_bindings(const struct task *task, const struct template *template, struct bindings *out) {
  double facts[FACT_COUNT];
  struct domain domain = domain_dense(task->stencil, task->analysis, &task->grid);
  facts_fill(task->stencil, task->analysis, task->dtype, &domain, &task->limits, task->reproducible, facts);
  if (task->launch_steps > 1) facts_set_steps(task->stencil, task->launch_steps, task->launch_steps, facts);
  return bindings_make(template, facts, out);
}
