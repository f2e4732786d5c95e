/* selftest_try.c: compiles variants, runs them, and prints the results. */
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "stencil/file/grid_text.h"
#include "tuner/cli/output/variant_text.h"
#include "tuner/cli/selftest/selftest_try.h"

/* Load and verify a variant, time it for a moment, and verify it again. */
static halotune_status try_candidate(struct selftest *s, const struct candidate *candidate, struct verdict *verdict,
                                     double *time_ms) {
  enum { ROUNDS = 2 };
  const int slot = 0, batch = 3;
  double times_ms[ROUNDS];
  int failed;
  struct verdict loaded;
  const struct backend *b = s->backend.table;
  const struct sample_plan plan = {.slots = &slot, .batches = &batch, .slot_count = 1, .rounds = ROUNDS, .warm = true};
  *time_ms = 0;
  halotune_status status = b->load(s->backend.state, slot, candidate, verdict);
  if (status != HALOTUNE_OK || verdict->outcome != OUTCOME_MEASURED) return status;
  loaded = *verdict;
  status = b->sample(s->backend.state, &plan, times_ms, &failed, verdict);
  if (status != HALOTUNE_OK || failed >= 0) return status;
  *time_ms = times_ms[0] < times_ms[1] ? times_ms[0] : times_ms[1];
  status = b->recheck(s->backend.state, slot, verdict);
  if (status == HALOTUNE_OK && verdict->outcome == OUTCOME_MEASURED) *verdict = loaded;
  return status == HALOTUNE_OK ? b->unload(s->backend.state, slot) : status;
}

/* Print or collect the result of one variant.
 *   what  template and parameters, or "wrapper" */
static void variant_tell(struct selftest *s, const struct scene *scene, const struct text *what, json_t *parameters,
                         const char *template, const struct verdict *verdict, double time_ms) {
  const struct scene_request *r = &scene->request;
  bool passed = verdict->outcome == OUTCOME_MEASURED;
  s->variant_count++;
  s->failed_count += !passed;
  if (s->as_json) {
    json_t *row = json_object();
    json_put(&row, "stencil", text_json(r->stencil->name));
    json_put(&row, "dtype", text_json(dtype_names[r->dtype]));
    json_put(&row, "grid",
             json_pack("[iii]", (int)r->domain.grid.n[0], (int)r->domain.grid.n[1], (int)r->domain.grid.n[2]));
    json_put(&row, "template", text_json(template));
    json_put(&row, "parameters", parameters);
    json_put(&row, "outcome", text_json(passed ? "passed" : outcome_name(verdict->outcome)));
    json_put(&row, "reason", text_json(verdict->reason));
    json_put(&row, "max_error_units", number_json(verdict->worst.max_error_units));
    json_put(&row, "allowed_units", number_json(scene->allowed_units));
    json_put(&row, "time_ms", number_json(time_ms));
    json_add(&s->rows, row);
  } else {
    json_decref(parameters);
    if (!passed) {
      struct text grid = {0};
      grid_text(&r->domain.grid, r->stencil->dims, &grid);
      progress_hide(&s->line);
      printf("%s %s %s %s: %s: %s\n", r->stencil->name, dtype_names[r->dtype], text_string(&grid), text_string(what),
             outcome_name(verdict->outcome), verdict->reason);
      text_free(&grid);
    }
  }
}

static halotune_status try_item(struct selftest *s, const struct scene *scene, const struct selftest_item *item,
                                const struct compile_result *result) {
  struct text what = {0};
  struct verdict verdict = {.outcome = OUTCOME_COMPILE_FAILED};
  double time_ms = 0;
  const struct candidate candidate = {&item->spec, &item->generated, &result->compiled, false};
  halotune_status status = HALOTUNE_OK;
  if (result->outcome == COMPILE_OK) status = try_candidate(s, &candidate, &verdict, &time_ms);
  else snprintf(verdict.reason, sizeof verdict.reason, "%.500s", result->compiled.log);
  bool is_wrapper = item->spec.template == NULL;
  if (is_wrapper) text_printf(&what, "wrapper");
  else variant_text(item->spec.template, &item->spec.configuration, &what);
  if (status == HALOTUNE_OK) {
    json_t *parameters = !s->as_json  ? NULL
                         : is_wrapper ? json_object()
                                      : variant_json(item->spec.template, &item->spec.configuration);
    variant_tell(s, scene, &what, parameters, is_wrapper ? "wrapper" : item->spec.template->name, &verdict, time_ms);
  }
  text_free(&what);
  return status;
}

void selftest_tell(struct selftest *s, const struct scene_request *request, const char *what) {
  struct progress_parts parts = {.count = 0};
  struct text grid = {0};
  grid_text(&request->domain.grid, request->stencil->dims, &grid);
  progress_add(&parts, 0, "", "%s %s %s", request->stencil->name, dtype_names[request->dtype], text_string(&grid));
  text_free(&grid);
  if (request->launch_steps > 1) progress_add(&parts, 3, ", ", "%d steps", request->launch_steps);
  progress_add(&parts, 1, ": ", "%s", what);
  progress_add(&parts, 2, ", in all ", "%ld variant%s, %ld failed", s->variant_count, PLURAL(s->variant_count),
               s->failed_count);
  progress_show(&s->line, &parts);
}

/* Show how many items are done. */
static void items_tell(struct selftest *s, const struct scene *scene, long done, long count) {
  char what[64];
  snprintf(what, sizeof what, "%ld of %ld variants", done, count);
  selftest_tell(s, &scene->request, what);
}

halotune_status selftest_items(struct selftest *s, const struct scene *scene, const struct selftest_item *items,
                               long count) {
  char arch[16];
  halotune_status status = HALOTUNE_OK;
  long submitted = 0, done = 0;
  snprintf(arch, sizeof arch, "sm_%d", s->backend.facts.device.capability);
  while (done < count && status == HALOTUNE_OK && selftest_goes_on(s)) {
    struct compiler_result result;
    bool have = false;
    while (submitted < count && status == HALOTUNE_OK && compiler_has_room(s->compiler)) {
      const struct generated *g = &items[submitted].generated;
      const struct compile_request request = {.source = g->source, .name = g->launch.kernel, .arch = arch};
      status = compiler_submit(s->compiler, (uint64_t)submitted++, &request);
    }
    items_tell(s, scene, done, count);
    if (status == HALOTUNE_OK) status = compiler_wait(s->compiler, -1, &result, &have);
    if (status != HALOTUNE_OK || !have) continue;
    status = try_item(s, scene, &items[result.compile.id], &result.compile);
    compile_result_free(&result.compile);
    done++;
  }
  return status;
}

void selftest_say_done(struct selftest *s, const struct scene *scene, long variants_before, long failed_before) {
  const struct scene_request *r = &scene->request;
  if (s->as_json) return;
  progress_hide(&s->line);
  struct text grid = {0};
  grid_text(&r->domain.grid, r->stencil->dims, &grid);
  printf("%-14s %s %s", r->stencil->name, dtype_names[r->dtype], text_string(&grid));
  text_free(&grid);
  if (r->launch_steps > 1) printf(", %d steps", r->launch_steps);
  printf(": %ld variant%s, %ld failed\n", s->variant_count - variants_before,
         PLURAL(s->variant_count - variants_before), s->failed_count - failed_before);
  fflush(stdout);
}
