/* tune_tasks.c: runs the search of a planned task, and shows its progress. */
#include "tuner/cli/tune/tune_tasks.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "tuner/cli/output/progress.h"

/* The line of progress of one task. */
struct task_line {
  const char *name;
  bool has_roof;
  struct progress *progress;
};

/* If the terminal is narrow, the task's name is left out first, because the user has typed it. */
static void task_show(void *context, const struct tune_progress *progress) {
  const struct task_line *line = context;
  struct progress_parts parts = {.count = 0};
  progress_add(&parts, 4, "", "%s", line->name);
  progress_add(&parts, 3, ": ", "%s", progress->phase);
  progress_add(&parts, 2, ", ", "%ld of %ld tried", progress->tried, progress->space);
  progress_add(&parts, 6, ", ", "%ld failed", progress->failed);
  progress_add(&parts, 7, ", ", "%.0f/s", progress->variants_per_s);
  if (isfinite(progress->best_ms)) {
    progress_add(&parts, 0, ", ", "best %.4g ms", progress->best_ms);
    if (line->has_roof && !isnan(progress->roof_share))
      progress_add(&parts, 5, " (", "%.3f of copy)", progress->roof_share);
  }
  if (isfinite(progress->left_s)) progress_add(&parts, 1, ", ", "%.0f s left", progress->left_s);
  progress_show(line->progress, &parts);
}

/* Make the task of a stencil.
 *   arch  the device's "sm_90"; lives as long as the task */
static struct task task_of(const struct tune_tasks *t, const struct planned_stencil *stencil,
                           const struct planned_task *planned, const char *arch) {
  const struct backend_facts *facts = &t->setup->backend.facts;
  return (struct task){.stencil = stencil->loaded.stencil,
                       .analysis = stencil->loaded.analysis,
                       .stencil_text = stencil->text,
                       .dtype = planned->dtype,
                       .grid = planned->grid,
                       .coefficients = planned->coefficients,
                       .limits = facts->device.limits,
                       .arch = facts->arch,
                       .arch_name = arch,
                       .sm_count = facts->device.sm_count,
                       .reproducible = t->reproducible,
                       .launch_steps = planned->launch_steps};
}

/* Make the copy that moves as many bytes as the task. It has no sums, so --reproducible does not apply to it. */
static struct task copy_of(const struct tune_tasks *t, const struct task *task, const struct planned_task *planned) {
  struct task copy = task_of(t, &t->setup->copy, planned, task->arch_name);
  copy.coefficients = NULL;
  copy.reproducible = false;
  copy.launch_steps = 1;
  copy.grid = (struct grid){{(long)(task_bytes(task) / 2 / (long long)dtype_bytes(task->dtype)), 1, 1}};
  return copy;
}

static halotune_status task_run(const struct tune_tasks *t, struct task_line *line, struct tuned *row) {
  const struct backend_facts *facts = &t->setup->backend.facts;
  const bool has_copy = t->setup->copy.loaded.stencil != NULL;
  const struct tune_templates templates = {t->set->list, t->set->fixed, t->set->count};
  const struct tune_templates copy_templates = {t->setup->copy_templates.list, NULL, t->setup->copy_templates.count};
  struct tune_options options = *t->options;
  struct task copy;
  char arch[16];
  snprintf(arch, sizeof arch, "sm_%d", facts->device.capability);
  const struct task task = task_of(t, row->task->stencil, row->task, arch);
  if (has_copy) copy = copy_of(t, &task, row->task);
  options.progress = task_show;
  options.context = line;
  halotune_status status =
      tune(&t->setup->tools, &task, &templates, has_copy ? &copy : NULL, &copy_templates, &options, &row->result);
  progress_hide(line->progress);
  row->is_done = true;
  row->reproducible = t->reproducible;
  row->is_recorded = facts->is_recording;
  row->is_emulated = facts->is_emulation;
  row->is_refused = status == HALOTUNE_NOT_FOUND || status == HALOTUNE_ARGUMENT;
  if (status == HALOTUNE_OK) return status;
  snprintf(row->result.reason, sizeof row->result.reason, "%s", fail_text());
  fprintf(stderr, "halotune: %s: %s\n", line->name, fail_text());
  return status;
}

halotune_status tune_tasks_run(const struct tune_tasks *tasks, struct tuned *rows) {
  halotune_status worst = HALOTUNE_OK;
  struct progress progress;
  struct text name = {0};
  progress_open(&progress);
  for (int i = 0; i < tasks->plan->task_count; i++) {
    if (*tasks->stop || !tune_has_time(tasks->options, clock_ms())) break;
    name.length = 0;
    planned_task_text(rows[i].task, &name);
    struct task_line line = {text_string(&name), !tasks->setup->backend.facts.is_emulation, &progress};
    halotune_status status = task_run(tasks, &line, &rows[i]);
    if (status == HALOTUNE_OK) continue;
    worst = status;
    if (status == HALOTUNE_DB || status == HALOTUNE_NO_GPU) break;
  }
  text_free(&name);
  return worst;
}
