/* problem_set.c: tries the device first. */
#include "tuner/search/variants/problem_set.h"

#include "base/fail.h"
#include "base/system/trace.h"

static void tell_step(const struct problem_teller *teller, const char *what) {
  if (teller && teller->tell) teller->tell(teller->context, what);
}

static halotune_status set_problem(struct backend_handle *backend, const struct backend_problem *problem) {
  const double begin_ms = trace_now_ms();
  const halotune_status status = backend->table->set_problem(backend->state, problem);
  trace_end(TRACE_PHASES, "problem to the device", begin_ms, NULL, NULL);
  return status;
}

/* Have the device make the fields. If it cannot, the warnings say why.
 *   done  receives whether it did, or failed for another reason than that it cannot */
static halotune_status make_on_device(struct backend_handle *backend, const struct scene_request *request,
                                      struct scene *scene, const struct backend_problem *problem, struct text *warnings,
                                      const struct problem_teller *teller, bool *done) {
  *done = false;
  if (!backend->table->makes_fields) return HALOTUNE_OK;
  halotune_status status = scene_plan(request, scene);
  if (status != HALOTUNE_OK || !backend->table->makes_fields(scene)) return status;
  tell_step(teller, "inputs and reference on the GPU");
  status = set_problem(backend, problem);
  *done = status != HALOTUNE_NOT_FOUND;
  if (*done) return status;
  text_printf(warnings, "%s; the CPU makes inputs and reference\n", fail_text());
  return HALOTUNE_OK;
}

halotune_status problem_make(struct backend_handle *backend, const struct scene_request *request, struct scene *scene,
                             const struct backend_problem *problem, struct text *warnings,
                             const struct problem_teller *teller) {
  bool done;
  halotune_status status = make_on_device(backend, request, scene, problem, warnings, teller, &done);
  if (status != HALOTUNE_OK || done) return status;
  const double begin_ms = trace_now_ms();
  tell_step(teller, "inputs and reference on the CPU");
  status = scene_make(request, scene);
  trace_end(TRACE_PHASES, "inputs and reference", begin_ms, NULL, NULL);
  if (status != HALOTUNE_OK) return status;
  tell_step(teller, "inputs and reference to the device");
  return set_problem(backend, problem);
}
