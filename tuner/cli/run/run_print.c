/* run_print.c: prints what was computed, by what, how fast, and the range of each output. */
#include "tuner/cli/run/run_print.h"

#include <math.h>
#include <stdio.h>

#include "stencil/file/grid_text.h"

void run_print_title(const struct run_result *result) {
  const struct run_problem *problem = result->problem;
  const struct stencil *stencil = problem->loaded.stencil;
  struct text grid = {0};
  grid_text(&problem->grid, stencil->dims, &grid);
  printf("%s on %s points, %ld step%s, %s, on %s\n", stencil->name, text_string(&grid), problem->steps,
         PLURAL(problem->steps), dtype_names[problem->dtype], result->facts.device);
  text_free(&grid);
}

static double points_per_s(const struct run_result *result) {
  const double ms_per_s = 1e3;
  if (!(result->time_ms > 0)) return 0;
  return (double)result->problem->points * (double)result->problem->steps / result->time_ms * ms_per_s;
}

void run_print(const struct run_result *result) {
  const struct stencil *stencil = result->problem->loaded.stencil;
  const struct run_facts *facts = &result->facts;
  for (int i = 0; i < run_result_count(stencil); i++) {
    const struct run_written *written = &result->written[i];
    if (!result->files->output_paths[i]) continue;
    printf("%-10s ", run_result_name(stencil, i));
    if (isnan(written->min)) printf("no finite value, written to %s\n", result->files->output_paths[i]);
    else printf("from %.9g to %.9g, written to %s\n", written->min, written->max, result->files->output_paths[i]);
    if (written->not_finite > 0)
      printf("%-10s %ld point%s not finite\n", "", written->not_finite, written->not_finite == 1 ? " is" : "s are");
  }
  if (facts->template_name)
    printf("%-10s %s %s (%s), %d step%s a launch\n", "kernel", facts->template_name, facts->parameters, facts->match,
           facts->launch_steps, PLURAL(facts->launch_steps));
  printf("%-10s %.3f ms, %.1f million points a second\n", "time", result->time_ms, points_per_s(result) * 1e-6);
}

static json_t *output_json(const struct run_result *result, int output) {
  json_t *json = json_object();
  json_put(&json, "name", text_json(run_result_name(result->problem->loaded.stencil, output)));
  json_put(&json, "file", text_json(result->files->output_paths[output]));
  json_put(&json, "min", number_json(result->written[output].min));
  json_put(&json, "max", number_json(result->written[output].max));
  json_put(&json, "not_finite_points", json_integer(result->written[output].not_finite));
  return json;
}

json_t *run_json(const struct run_result *result) {
  const struct run_problem *problem = result->problem;
  const struct stencil *stencil = problem->loaded.stencil;
  const struct run_facts *facts = &result->facts;
  json_t *json = json_object(), *outputs = json_array();
  for (int i = 0; i < run_result_count(stencil); i++) {
    if (result->files->output_paths[i]) json_add(&outputs, output_json(result, i));
  }
  json_put(&json, "name", text_json(stencil->name));
  json_put(&json, "grid", grid_json(&problem->grid, stencil->dims));
  json_put(&json, "steps", json_integer(problem->steps));
  json_put(&json, "dtype", text_json(dtype_names[problem->dtype]));
  json_put(&json, "backend", text_json(result->backend->name));
  json_put(&json, "device", text_json(facts->device));
  if (facts->template_name) {
    json_put(&json, "match", text_json(facts->match));
    json_put(&json, "template", text_json(facts->template_name));
    json_put(&json, "parameters", json_of_text(facts->parameters));
    json_put(&json, "launch_steps", json_integer(facts->launch_steps));
  } else {
    json_put(&json, "threads", json_integer(facts->threads));
  }
  json_put(&json, "outputs", outputs);
  json_put(&json, "time_ms", number_json(result->time_ms));
  json_put(&json, "points_per_s", number_json(points_per_s(result)));
  return json;
}
