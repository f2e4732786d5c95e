/* reference.c: `halotune reference STENCIL`: computes a stencil on the CPU. */
#include <stdio.h>
#include <stdlib.h>

#include "base/system/clock.h"
#include "base/system/memory.h"
#include "base/system/parallel.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/output/progress.h"
#include "tuner/cli/output/stop_signals.h"
#include "tuner/cli/reference/reference_print.h"
#include "tuner/verify/inputs.h"
#include "tuner/verify/reference.h"

static halotune_status input_read(const struct invocation *invocation, struct reference_task *task) {
  int kind;
  halotune_status status = option_word(invocation, "input", input_kind_names, INPUT_KIND_COUNT, INPUT_SMOOTH, &kind);
  task->from_exact = !option_given(invocation, "input") && task->loaded.stencil->exact_count > 0;
  task->input = (enum input_kind)kind;
  return status;
}

static halotune_status options_read(const struct invocation *invocation, struct reference_task *task) {
  enum { MOST_STEPS = 1000000 };
  long threads;
  halotune_status status = option_grid(invocation, task->loaded.stencil, &task->grid);
  if (status == HALOTUNE_OK) status = option_whole(invocation, "steps", 1, MOST_STEPS, 1, &task->asked_steps);
  if (status == HALOTUNE_OK) status = option_whole(invocation, "seed", 0, 1L << 62, 1, &task->seed);
  if (status == HALOTUNE_OK) status = option_whole(invocation, "threads", 1, PARALLEL_MAX_THREADS, 0, &threads);
  if (status != HALOTUNE_OK) return status;
  task->threads = parallel_threads((int)threads);
  task->points = 1;
  for (int axis = 0; axis < MAX_DIMS; axis++) task->points *= task->grid.n[axis];
  return input_read(invocation, task);
}

static halotune_status fields_allocate(struct reference_task *task) {
  const struct stencil *stencil = task->loaded.stencil;
  bool ok = true;
  for (int i = 0; i < stencil->input_count; i++) {
    ok = ok && (task->inputs[i] = calloc((size_t)task->points, sizeof(double))) != NULL;
  }
  for (int i = 0; i < stencil->output_count; i++) {
    ok = ok && (task->outputs[i] = calloc((size_t)task->points, sizeof(double))) != NULL;
  }
  if (ok) return HALOTUNE_OK;
  return fail(HALOTUNE_MEMORY, "the fields of this grid do not fit into memory");
}

static halotune_status inputs_make(struct reference_task *task) {
  const struct stencil *stencil = task->loaded.stencil;
  struct inputs inputs = {task->input,
                          (uint64_t)task->seed,
                          DTYPE_F64,
                          task->threads,
                          !task->loaded.analysis->is_linear,
                          task->loaded.analysis->asks_signs};
  const struct ending ending = {.flag = stop_flag()};
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < stencil->input_count && status == HALOTUNE_OK; i++) {
    const struct exact *exact = exact_find(stencil, false, i);
    if (task->from_exact && exact) {
      status =
          exact_fill(stencil, exact, &task->grid, task->coefficients, 0, task->threads, stop_flag(), task->inputs[i]);
    } else {
      status = inputs_fill(&inputs, i, stencil, &task->grid, &ending, task->inputs[i]);
    }
  }
  if (status == HALOTUNE_OK) {
    struct box box = box_computed(stencil, task->loaded.analysis, &task->grid);
    inputs_share_skipped(stencil, task->loaded.analysis, &box, &task->grid, task->inputs, task->outputs);
  }
  return status;
}

/* Compute the error of each output against its exact formula. This is also done for the steps that were made before a
 * stop. A stop that comes meanwhile ends it. */
static halotune_status errors_find(struct reference_task *task) {
  const struct stencil *stencil = task->loaded.stencil;
  struct box box = box_computed(stencil, task->loaded.analysis, &task->grid);
  const volatile sig_atomic_t *stop = *stop_flag() ? NULL : stop_flag();
  double *want = calloc((size_t)task->points, sizeof *want);
  halotune_status status = want ? HALOTUNE_OK : fail_memory();
  for (int i = 0; i < stencil->output_count && status == HALOTUNE_OK; i++) {
    const struct exact *exact = exact_find(stencil, true, i);
    if (!exact || !stencil_exact_is_for(stencil, exact, task->steps)) continue;
    status = exact_fill(stencil, exact, &task->grid, task->coefficients, task->steps, task->threads, stop, want);
    if (status == HALOTUNE_OK) task->errors[i] = exact_compare(&task->grid, &box, want, task->outputs[i]);
  }
  free(want);
  return status;
}

/* The progress of the steps. */
struct course {
  struct reference_task *task;
  double start_ms;
  struct progress line;
};

static bool step_tell(void *context, int done) {
  struct course *course = context;
  struct reference_task *task = course->task;
  struct progress_parts parts = {.count = 0};
  const double percent = 100, spent_s = (clock_ms() - course->start_ms) * 1e-3;
  task->steps = done;
  progress_add(&parts, 0, "", "%d of %ld steps", done, task->asked_steps);
  progress_add(&parts, 1, ", ", "%.0f %%", percent * done / (double)task->asked_steps);
  progress_add(&parts, 2, ", ", "%.0f s left", spent_s * (double)(task->asked_steps - done) / done);
  progress_show(&course->line, &parts);
  return !*stop_flag();
}

/* Whether the user stops the first step. A stop in a later step waits for its end, so that there are whole results. */
static bool first_step_is_stopped(const void *context) {
  const struct course *course = context;
  return course->task->steps == 0 && *stop_flag();
}

/* Show the phase that begins now, before there are steps to count. */
static void phase_show(struct progress *line, const char *what) {
  struct progress_parts parts = {.count = 0};
  progress_add(&parts, 0, "", "%s", what);
  progress_hurry(line);
  progress_show(line, &parts);
  progress_hurry(line);
}

/* Make the steps. A stop is not an error if there is a step to show. */
static halotune_status steps_make(struct reference_task *task, struct reference *reference, struct course *course) {
  const double *inputs[MAX_FIELDS];
  if (*stop_flag()) return fail(HALOTUNE_CANCELLED, "stopped before the first step");
  for (int i = 0; i < MAX_FIELDS; i++) inputs[i] = task->inputs[i];
  phase_show(&course->line, "the first step");
  reference->goes_on = step_tell;
  reference->context = course;
  reference->ending = (struct ending){.is_over = first_step_is_stopped, .context = course};
  course->start_ms = clock_ms();
  halotune_status status = reference_run(reference, inputs, task->outputs, NULL);
  task->time_ms = clock_ms() - course->start_ms;
  if (status == HALOTUNE_OK) task->steps = task->asked_steps;
  if (status == HALOTUNE_CANCELLED && task->steps == 0) return fail(status, "stopped before the first step ended");
  return status == HALOTUNE_CANCELLED ? HALOTUNE_OK : status;
}

static halotune_status outputs_compute(struct reference_task *task) {
  const struct stencil *stencil = task->loaded.stencil;
  struct course course = {.task = task};
  task->coefficients = calloc((size_t)stencil->coefficient_count + 1, sizeof *task->coefficients);
  if (!task->coefficients) return fail_memory();
  struct reference reference = {.stencil = stencil,
                                .analysis = task->loaded.analysis,
                                .grid = task->grid,
                                .coefficients = task->coefficients,
                                .steps = (int)task->asked_steps,
                                .threads = task->threads};
  halotune_status status = reference_check(&reference);
  const double exact_bytes = task->from_exact ? (double)task->points * sizeof(double) : 0;
  if (status == HALOTUNE_OK) status = memory_check("the fields", reference_bytes(&reference) + exact_bytes);
  if (status == HALOTUNE_OK) status = stencil_coefficients(stencil, &task->grid, task->coefficients);
  if (status == HALOTUNE_OK) status = fields_allocate(task);
  if (status != HALOTUNE_OK) return status;
  progress_open(&course.line);
  phase_show(&course.line, "the inputs");
  status = inputs_make(task);
  if (status == HALOTUNE_OK) status = steps_make(task, &reference, &course);
  progress_hide(&course.line);
  if (status != HALOTUNE_OK) return status;
  for (int i = 0; i < stencil->output_count; i++) task->checksums[i] = checksum_make(task->outputs[i], task->points);
  return task->from_exact ? errors_find(task) : HALOTUNE_OK;
}

static void task_free(struct reference_task *task) {
  for (int i = 0; i < MAX_FIELDS; i++) free(task->inputs[i]), free(task->outputs[i]);
  free(task->coefficients);
  loaded_free(&task->loaded);
}

static enum exit_code reference_command_run(const struct invocation *invocation) {
  struct reference_task task = {.points = 0};
  halotune_status status = loaded_open(invocation->arguments[0], &task.loaded);
  if (status != HALOTUNE_OK) return report_file_failure(status);
  stop_signals_catch();
  status = options_read(invocation, &task);
  if (status == HALOTUNE_OK) status = outputs_compute(&task);
  if (status == HALOTUNE_OK && option_value(invocation, "json")) status = print_json(reference_json(&task));
  else if (status == HALOTUNE_OK) reference_print(&task);
  const bool was_stopped = status == HALOTUNE_OK && task.steps < task.asked_steps;
  if (was_stopped)
    fprintf(stderr, "halotune: stopped after %ld of %ld steps, whose results these are\n", task.steps,
            task.asked_steps);
  task_free(&task);
  if (status != HALOTUNE_OK) return report_failure(status);
  return was_stopped ? HALOTUNE_EXIT_FAILURE : HALOTUNE_EXIT_SUCCESS;
}

static const struct option_row options[] = {
    {"grid", "NX,NY,NZ", "points along each axis; the file's first grid by default"},
    {"steps", "N", "time steps, 1 by default; more where the stencil has an `iterate`"},
    {"input", "KIND", "smooth (the default where the file has no exact formulas), random or wide"},
    {"seed", "N", "random seed of the input; 1 by default"},
    {"threads", "N", "one for each CPU by default"},
    {"json", NULL, "print a JSON document"},
    {0},
};

const struct command command_reference = {
    "reference", "STENCIL", 1, 1, "compute a stencil on the CPU in double precision", options, reference_command_run,
};
