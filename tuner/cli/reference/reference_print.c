/* reference_print.c: prints sums, extremes, hashes and errors. */
#include "tuner/cli/reference/reference_print.h"

#include <stdio.h>

#include "stencil/file/grid_text.h"

/* Whether the output was compared with its formula. A formula that does not use the number of steps is for one
 * step. */
static bool has_error(const struct reference_task *task, int output) {
  const struct stencil *stencil = task->loaded.stencil;
  const struct exact *exact = exact_find(stencil, true, output);
  return task->from_exact && exact && stencil_exact_is_for(stencil, exact, task->steps);
}

static double points_per_s(const struct reference_task *task) {
  return task->time_ms > 0 ? (double)task->points * (double)task->steps / task->time_ms * 1e3 : 0;
}

static const char *input_name(const struct reference_task *task) {
  return task->from_exact ? "exact" : input_kind_names[task->input];
}

void reference_print(const struct reference_task *task) {
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

static json_t *output_json(const struct reference_task *task, int output) {
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

json_t *reference_json(const struct reference_task *task) {
  const struct stencil *stencil = task->loaded.stencil;
  json_t *json = json_object(), *outputs = json_array();
  for (int i = 0; i < stencil->output_count; i++) json_add(&outputs, output_json(task, i));
  json_put(&json, "name", text_json(stencil->name));
  json_put(&json, "grid", grid_json(&task->grid, stencil->dims));
  json_put(&json, "steps", json_integer(task->steps));
  json_put(&json, "stopped", json_boolean(task->steps < task->asked_steps));
  json_put(&json, "input", text_json(input_name(task)));
  json_put(&json, "seed", json_integer(task->seed));
  json_put(&json, "outputs", outputs);
  json_put(&json, "time_ms", number_json(task->time_ms));
  json_put(&json, "threads", json_integer(task->threads));
  json_put(&json, "points_per_s", number_json(points_per_s(task)));
  return json;
}
