/* problem_set.c: tries the device first. */
#include "tuner/search/variants/problem_set.h"

#include "base/fail.h"
#include "base/system/trace.h"

static void tell_step(const struct problem_teller *teller, const char *what) {
  if (teller && teller->tell) teller->tell(teller->context, what);
}

static halotune_status send_problem(struct backend_handle *backend, const struct backend_problem *problem) {
  const double begin_ms = trace_now_ms();
  const halotune_status status = backend->table->set_problem(backend->state, problem);
  trace_end(TRACE_PHASES, "problem to the device", begin_ms, NULL, NULL);
  return status;
}

/* Make the fields on the CPU, and bring them to the device. */
static halotune_status make_on_cpu(struct backend_handle *backend, const struct scene_request *request,
                                   struct scene *scene, const struct backend_problem *problem,
                                   const struct problem_teller *teller) {
  halotune_status status =
      backend->table->check_room ? backend->table->check_room(backend->state, problem) : HALOTUNE_OK;
  if (status != HALOTUNE_OK) return status;
  const double begin_ms = trace_now_ms();
  tell_step(teller, "inputs and reference on the CPU");
  status = scene_make(request, scene);
  trace_end(TRACE_PHASES, "inputs and reference", begin_ms, NULL, NULL);
  if (status != HALOTUNE_OK) return status;
  tell_step(teller, "inputs and reference to the device");
  return send_problem(backend, problem);
}

halotune_status problem_set(struct backend_handle *backend, struct scene *scene, const struct backend_problem *problem,
                            struct text *warnings, const struct problem_teller *teller) {
  const bool can_fall_back = backend->table->makes_fields && !scene_has_fields(scene);
  const struct scene_request request = scene->request;
  if (can_fall_back) tell_step(teller, "inputs and reference on the GPU");
  const halotune_status status = send_problem(backend, problem);
  if (status != HALOTUNE_NOT_FOUND || !can_fall_back) return status;
  text_printf(warnings, "%s; the CPU makes inputs and reference\n", fail_text());
  return make_on_cpu(backend, &request, scene, problem, teller);
}

halotune_status problem_make(struct backend_handle *backend, const struct scene_request *request, struct scene *scene,
                             const struct backend_problem *problem, struct text *warnings,
                             const struct problem_teller *teller) {
  if (!backend->table->makes_fields) return make_on_cpu(backend, request, scene, problem, teller);
  const halotune_status status = scene_plan(request, scene);
  if (status != HALOTUNE_OK) return status;
  if (!backend->table->makes_fields(scene)) return make_on_cpu(backend, request, scene, problem, teller);
  return problem_set(backend, scene, problem, warnings, teller);
}

void problem_warn_of_drawing(const struct backend_handle *backend, const struct scene *scene, struct text *warnings) {
  const long long drawn_points = backend_drawn_points(backend);
  if (drawn_points == 0) return;
  text_printf(warnings,
              "the fields fill the GPU's memory: variants are compared with the reference at %lld of %ld points, in "
              "planes and boxes drawn from the seed\n",
              drawn_points, box_points(&scene->box));
}
