/* backend.h: a stencil's scene, and variants compiled for it, for tests of backends. */
#ifndef MEASURE_BACKEND_H
#define MEASURE_BACKEND_H

#include "gpu/architecture/arch.h"
#include "stencil/template/template_read.h"
#include "tests/unit/stencils.h"
#include "tests/unit/template/templates.h"
#include "tuner/measure/backends/backend.h"

/* A stencil on a grid, with the reference's results. End with stage_close. */
struct stage {
  struct stencil *stencil;
  struct analysis *analysis;
  enum dtype dtype;
  double coefficients[MAX_COEFFICIENTS];
  struct scene scene;
};

/* The results are those of one launch of this many time steps. */
static inline void stage_open_steps(struct stage *s, const char *name, enum dtype dtype, struct grid grid, int steps) {
  s->dtype = dtype;
  CHECK_OK(stencil_of_kernels(name, &s->stencil));
  CHECK_OK(analysis_make(s->stencil, &s->analysis));
  for (int axis = s->stencil->dims; axis < MAX_DIMS; axis++) grid.n[axis] = 1;
  CHECK_OK(scene_coefficients(s->stencil, &grid, dtype, s->coefficients));
  struct scene_request request = {.stencil = s->stencil,
                                  .analysis = s->analysis,
                                  .dtype = dtype,
                                  .domain = domain_dense(s->stencil, s->analysis, &grid),
                                  .coefficients = s->coefficients,
                                  .input = INPUT_RANDOM,
                                  .seed = 1,
                                  .steps = steps,
                                  .launch_steps = steps,
                                  .threads = 1};
  CHECK_OK(scene_make(&request, &s->scene));
}

static inline void stage_open(struct stage *s, const char *name, enum dtype dtype, struct grid grid) {
  stage_open_steps(s, name, dtype, grid, 1);
}

static inline void stage_close(struct stage *s) {
  scene_free(&s->scene);
  analysis_free(s->analysis);
  stencil_free(s->stencil);
}

/* One variant: the template's default, or the nearest configuration that the rules keep, changed as `set` says. End
 * with variant_close. */
struct variant {
  struct template *template;
  struct variant_spec spec;
  struct generated generated;
  struct compiled compiled;
};

/* Returns false if a rule excludes the variant; then there is nothing to close.
 *   compiler  NULL: the variant is not compiled */
static inline bool variant_open(struct variant *v, const struct stage *s, const char *template, const char *set,
                                struct compiler *compiler) {
  char path[128];
  snprintf(path, sizeof path, "templates/%s.yaml", template);
  *v = (struct variant){.template = NULL};
  CHECK_OK(template_read(path, &v->template));
  v->spec = (struct variant_spec){.stencil = s->stencil,
                                  .analysis = s->analysis,
                                  .template = v->template,
                                  .dtype = s->dtype,
                                  .domain = s->scene.request.domain,
                                  .coefficients = s->coefficients,
                                  .limits = arch_device_limits(arch_find(9, 0)),
                                  .most_steps = s->scene.request.launch_steps};
  v->spec.configuration = configuration_for(&v->spec, set);
  if (generate(&v->spec, &v->generated) != HALOTUNE_OK) {
    template_free(v->template);
    return false;
  }
  const struct compile_request request = {
      .source = v->generated.source, .name = v->generated.launch.kernel, .arch = "sm_90"};
  if (compiler) CHECK_OK(compiler_compile(compiler, &request, &v->compiled));
  return true;
}

static inline struct candidate candidate_of(const struct variant *v) {
  return (struct candidate){&v->spec, &v->generated, v->compiled.cubin ? &v->compiled : NULL, false};
}

static inline void variant_close(struct variant *v) {
  compiled_free(&v->compiled);
  generated_free(&v->generated);
  template_free(v->template);
}

#endif
