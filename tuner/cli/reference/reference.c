/* reference.c: `halotune reference STENCIL`: compute it on the CPU, print checksums and time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/parallel.h"
#include "tuner/cli/options/command.h"
#include "tuner/cli/options/problem.h"
#include "tuner/cli/output/grid_text.h"
#include "tuner/cli/output/output.h"
#include "tuner/verify/checksum.h"
#include "tuner/verify/exact.h"
#include "tuner/verify/inputs.h"
#include "tuner/verify/reference.h"

/* What the command line asks for. */
struct task {
  struct loaded loaded;
  struct grid grid;
  long points, steps, seed;
  int threads;
  enum input_kind input;
  bool from_exact; /* inputs come from the file's formulas */
  double *coefficients;
  double *inputs[MAX_FIELDS], *outputs[MAX_FIELDS];
  double time_ms;
  struct checksum checksums[MAX_FIELDS];
  struct exact_error errors[MAX_FIELDS];
};

static halotune_status input_read(const struct invocation *invocation, struct task *task) {
  int kind;
  halotune_status status = option_word(invocation, "input", input_kind_names, INPUT_KIND_COUNT, INPUT_SMOOTH, &kind);
  task->from_exact = !option_given(invocation, "input") && task->loaded.stencil->exact_count > 0;
  task->input = (enum input_kind)kind;
  return status;
}

static halotune_status read_options(const struct invocation *invocation, struct task *task) {
  enum { MOST_STEPS = 1000000 };
  long threads;
  halotune_status status = option_grid(invocation, task->loaded.stencil, &task->grid);
  if (status == HALOTUNE_OK) status = option_whole(invocation, "steps", 1, MOST_STEPS, 1, &task->steps);
  if (status == HALOTUNE_OK) status = option_whole(invocation, "seed", 0, 1L << 62, 1, &task->seed);
  if (status == HALOTUNE_OK) status = option_whole(invocation, "threads", 1, PARALLEL_MAX_THREADS, 0, &threads);
  if (status != HALOTUNE_OK) return status;
  task->threads = parallel_threads((int)threads);
  task->points = 1;
  for (int axis = 0; axis < MAX_DIMS; axis++) task->points *= task->grid.n[axis];
  return input_read(invocation, task);
}

static halotune_status allocate(struct task *task) {
  const struct stencil *stencil = task->loaded.stencil;
  bool ok = true;
  for (int i = 0; i < stencil->input_count; i++) {
    ok = ok && (task->inputs[i] = calloc((size_t)task->points, sizeof(double))) != NULL;
  }
  for (int i = 0; i < stencil->output_count; i++) {
    ok = ok && (task->outputs[i] = calloc((size_t)task->points, sizeof(double))) != NULL;
  }
  if (ok) return HALOTUNE_OK;
  return fail(HALOTUNE_MEMORY, "the fields of this grid do not fit into the memory");
}

static halotune_status fill_inputs(struct task *task) {
  const struct stencil *stencil = task->loaded.stencil;
  struct inputs inputs = {task->input, (uint64_t)task->seed, DTYPE_F64, task->threads,
                          !task->loaded.analysis->is_linear};
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < stencil->input_count && status == HALOTUNE_OK; i++) {
    const struct exact *exact = exact_find(stencil, false, i);
    if (task->from_exact && exact) {
      status = exact_fill(stencil, exact, &task->grid, task->coefficients, task->threads, task->inputs[i]);
    } else {
      status = inputs_fill(&inputs, i, stencil, &task->grid, task->inputs[i]);
    }
  }
  if (status == HALOTUNE_OK) {
    inputs_share_skipped(stencil, task->loaded.analysis, &task->grid, task->inputs, task->outputs);
  }
  return status;
}

/* How far each output is from its formula. */
static halotune_status find_errors(struct task *task) {
  const struct stencil *stencil = task->loaded.stencil;
  struct box box = box_computed(stencil, task->loaded.analysis, &task->grid);
  double *want = calloc((size_t)task->points, sizeof *want);
  halotune_status status = want ? HALOTUNE_OK : fail_memory();
  for (int i = 0; i < stencil->output_count && status == HALOTUNE_OK; i++) {
    const struct exact *exact = exact_find(stencil, true, i);
    if (!exact) continue;
    status = exact_fill(stencil, exact, &task->grid, task->coefficients, task->threads, want);
    if (status == HALOTUNE_OK) task->errors[i] = exact_compare(&task->grid, &box, want, task->outputs[i]);
  }
  free(want);
  return status;
}

static halotune_status compute(struct task *task) {
  const struct stencil *stencil = task->loaded.stencil;
  const double *inputs[MAX_FIELDS];
  task->coefficients = calloc((size_t)stencil->coefficient_count + 1, sizeof *task->coefficients);
  if (!task->coefficients) return fail_memory();
  struct reference reference = {.stencil = stencil,
                                .analysis = task->loaded.analysis,
                                .grid = task->grid,
                                .coefficients = task->coefficients,
                                .steps = (int)task->steps,
                                .threads = task->threads};
  halotune_status status = reference_check(&reference);
  if (status == HALOTUNE_OK) status = stencil_coefficients(stencil, &task->grid, task->coefficients);
  if (status == HALOTUNE_OK) status = allocate(task);
  if (status == HALOTUNE_OK) status = fill_inputs(task);
  if (status != HALOTUNE_OK) return status;
  for (int i = 0; i < MAX_FIELDS; i++) inputs[i] = task->inputs[i];
  double start_ms = clock_ms();
  if ((status = reference_run(&reference, inputs, task->outputs, NULL)) != HALOTUNE_OK) return status;
  task->time_ms = clock_ms() - start_ms;
  for (int i = 0; i < stencil->output_count; i++) task->checksums[i] = checksum_make(task->outputs[i], task->points);
  return task->from_exact && task->steps == 1 ? find_errors(task) : HALOTUNE_OK;
}

/* Whether the output was compared with a formula, which says what one application makes. */
static bool has_error(const struct task *task, int output) {
  return task->from_exact && task->steps == 1 && exact_find(task->loaded.stencil, true, output);
}

static double points_per_s(const struct task *task) {
  return task->time_ms > 0 ? (double)task->points * (double)task->steps / task->time_ms * 1e3 : 0;
}

static const char *input_name(const struct task *task) {
  return task->from_exact ? "exact" : input_kind_names[task->input];
}

static void print_text(const struct task *task) {
  const struct stencil *stencil = task->loaded.stencil;
  struct text grid = {0};
  grid_text(&task->grid, stencil->dims, &grid);
  printf("%s on %s points, %ld step%s, %s input, seed %ld\n", stencil->name, text_string(&grid), task->steps,
         PLURAL(task->steps), input_name(task), task->seed);
  text_free(&grid);
  for (int i = 0; i < stencil->output_count; i++) {
    const struct checksum *c = &task->checksums[i];
    char hex[HASH_HEX_BYTES];
    struct text text = {0};
    hash_hex(c->hash, hex);
    text_printf(&text, "%-10s sum ", stencil->outputs[i]);
    text_number(&text, c->sum);
    text_printf(&text, ", sum of sizes ");
    text_number(&text, c->absolute_sum);
    printf("%s, from %.9g to %.9g, hash %s\n", text_string(&text), c->min, c->max, hex);
    text_free(&text);
    if (c->not_finite > 0) {
      printf("%-10s %ld point%s not finite\n", "", c->not_finite, c->not_finite == 1 ? " is" : "s are");
    }
    if (has_error(task, i)) {
      printf("%-10s off its formula by %.6g RMS, %.6g at most; the formula reaches %.6g\n", "", task->errors[i].rms,
             task->errors[i].max, task->errors[i].scale);
    }
  }
  printf("%-10s %.3f ms on %d thread%s, %.1f million points a second\n", "time", task->time_ms, task->threads,
         PLURAL(task->threads), points_per_s(task) * 1e-6);
}

static json_t *output_json(const struct task *task, int output) {
  const struct checksum *c = &task->checksums[output];
  json_t *json = json_object();
  char hex[HASH_HEX_BYTES];
  hash_hex(c->hash, hex);
  json_put(&json, "name", text_json(task->loaded.stencil->outputs[output]));
  json_put(&json, "sum", number_json(c->sum));
  json_put(&json, "absolute_sum", number_json(c->absolute_sum));
  json_put(&json, "min", number_json(c->min));
  json_put(&json, "max", number_json(c->max));
  json_put(&json, "not_finite_points", json_integer(c->not_finite));
  json_put(&json, "hash", text_json(hex));
  if (has_error(task, output)) {
    json_put(&json, "exact_rms_error", number_json(task->errors[output].rms));
    json_put(&json, "exact_max_error", number_json(task->errors[output].max));
  }
  return json;
}

static json_t *task_json(const struct task *task) {
  const struct stencil *stencil = task->loaded.stencil;
  json_t *json = json_object(), *outputs = json_array();
  for (int i = 0; i < stencil->output_count; i++) json_add(&outputs, output_json(task, i));
  json_put(&json, "name", text_json(stencil->name));
  json_put(&json, "grid", grid_json(&task->grid, stencil->dims));
  json_put(&json, "steps", json_integer(task->steps));
  json_put(&json, "input", text_json(input_name(task)));
  json_put(&json, "seed", json_integer(task->seed));
  json_put(&json, "outputs", outputs);
  json_put(&json, "time_ms", number_json(task->time_ms));
  json_put(&json, "threads", json_integer(task->threads));
  json_put(&json, "points_per_s", number_json(points_per_s(task)));
  return json;
}

static void task_free(struct task *task) {
  for (int i = 0; i < MAX_FIELDS; i++) free(task->inputs[i]), free(task->outputs[i]);
  free(task->coefficients);
  loaded_free(&task->loaded);
}

static enum exit_code run(const struct invocation *invocation) {
  struct task task = {.points = 0};
  halotune_status status = loaded_open(invocation->arguments[0], &task.loaded);
  if (status != HALOTUNE_OK) return report_file_failure(status);
  status = read_options(invocation, &task);
  if (status == HALOTUNE_OK) status = compute(&task);
  if (status == HALOTUNE_OK && option_value(invocation, "json")) status = print_json(task_json(&task));
  else if (status == HALOTUNE_OK) print_text(&task);
  task_free(&task);
  return status == HALOTUNE_OK ? HALOTUNE_EXIT_SUCCESS : report_failure(status);
}

static const struct option_row options[] = {
    {"grid", "NX,NY,NZ", "points along each axis; the file's first grid by default"},
    {"steps", "N", "time steps, 1 by default; more where the stencil has an `iterate`"},
    {"input", "KIND", "smooth (the default where the file has no exact formulas), random or wide"},
    {"seed", "N", "of the input, 1 by default"},
    {"threads", "N", "one for each CPU by default"},
    {"json", NULL, "print a JSON document"},
    {0},
};

const struct command command_reference = {
    "reference", "STENCIL", 1, 1, "compute a stencil on the CPU in double precision", options, run,
};
