/* selftest.c: `halotune selftest --gpu`: verifies a sample of variants and all wrappers on this machine's GPU. Nothing
 * is stored. */
#include <stdio.h>
#include <string.h>

#include "tuner/cli/options/gpu_options.h"
#include "tuner/cli/options/pick_variants.h"
#include "tuner/cli/options/search_path.h"
#include "tuner/cli/output/stop_signals.h"
#include "tuner/cli/output/variant_text.h"
#include "tuner/cli/selftest/selftest_try.h"
#include "tuner/cli/selftest/selftest_wrappers.h"

/* Make the stencil of the wrappers. It is built in, so that the test needs no file. */
static halotune_status open_copy(int dims, struct stencil **stencil, struct analysis **analysis) {
  static const char *const texts[] = {
      "name: wrappers\ndims: 2\ninputs: [u]\noutputs: [v]\nupdate: v = u[0,0]\nboundary: skip\n"
      "dtypes: [f32, f64]\ngrids: [[256, 256]]\n",
      "name: wrappers\ndims: 3\ninputs: [u]\noutputs: [v]\nupdate: v = u[0,0,0]\nboundary: skip\n"
      "dtypes: [f32, f64]\ngrids: [[64, 32, 32]]\n"};
  const char *text = texts[dims - 2];
  const struct source source = source_of("wrappers", text, strlen(text));
  *analysis = NULL;
  halotune_status status = stencil_parse(&source, stencil);
  return status == HALOTUNE_OK ? analysis_make(*stencil, analysis) : status;
}

static halotune_status try_wrapper(struct selftest *s, const struct scene *scene, int number) {
  const struct scene_request *r = &scene->request;
  struct selftest_item item = {.spec = {.stencil = r->stencil,
                                        .analysis = r->analysis,
                                        .dtype = r->dtype,
                                        .domain = r->domain,
                                        .coefficients = r->coefficients}};
  long failed = s->failed_count;
  halotune_status status = wrapper_generate(number, r->dtype, &item.generated);
  if (status == HALOTUNE_OK) status = selftest_items(s, scene, &item, 1);
  if (status == HALOTUNE_OK && !s->as_json && s->failed_count > failed)
    printf("  that was wrapper %s\n", wrapper_cases[number].name);
  generated_free(&item.generated);
  return status;
}

/* Try the wrappers for fields of `dims` dimensions. */
static halotune_status try_wrappers(struct selftest *s, int dims) {
  struct stencil *stencil = NULL;
  struct analysis *analysis = NULL;
  struct domain domain;
  double coefficients[1];
  halotune_status status = open_copy(dims, &stencil, &analysis);
  if (status == HALOTUNE_OK) domain = domain_dense(stencil, analysis, &wrapper_grids[dims - 2]);
  for (int d = 0; d < DTYPE_COUNT && status == HALOTUNE_OK && selftest_goes_on(s); d++) {
    struct scene scene = {.allowed_units = 0};
    long variants = s->variant_count, failed = s->failed_count;
    status = selftest_scene(s, stencil, analysis, (enum dtype)d, &domain, 1, coefficients, LAUNCH_STREAM, &scene);
    for (int i = 0; i < wrapper_case_count && status == HALOTUNE_OK && selftest_goes_on(s); i++) {
      if (wrapper_dims(i) != dims || wrapper_cases[i].capability > s->backend.facts.device.capability) continue;
      status = try_wrapper(s, &scene, i);
    }
    if (status == HALOTUNE_OK) selftest_say_done(s, &scene, variants, failed);
    scene_free(&scene);
  }
  analysis_free(analysis);
  stencil_free(stencil);
  return status;
}

/* Try all wrappers, then all stencils. */
static halotune_status try_all(struct selftest *s) {
  char **paths = NULL;
  int count = 0;
  halotune_status status = try_wrappers(s, 2);
  if (status == HALOTUNE_OK && s->backend.facts.device.capability >= 90) status = try_wrappers(s, 3);
  if (status == HALOTUNE_OK && !option_value(s->invocation, "wrappers"))
    status = search_all(&search_stencils, NULL, &paths, &count);
  for (int i = 0; i < count && status == HALOTUNE_OK && selftest_goes_on(s); i++)
    status = selftest_stencil(s, paths[i]);
  search_free(paths, count);
  return status;
}

static halotune_status open_backend(struct selftest *s) {
  struct backend_cuda_options options;
  halotune_status status = gpu_options_read(s->invocation, &options);
  if (status != HALOTUNE_OK) return status;
  if (!option_value(s->invocation, "gpu")) {
    return fail(HALOTUNE_ARGUMENT, "selftest needs --gpu; without a GPU, 'halotune verify' checks variants on the CPU");
  }
  if (option_value(s->invocation, "no-large-planes") && option_value(s->invocation, "grid")) {
    return fail(HALOTUNE_ARGUMENT,
                "--no-large-planes leaves out one of selftest's own grids, so it cannot be combined with --grid");
  }
  if (option_given(s->invocation, "in-process") && !option_given(s->invocation, "hang-timeout")) options.hang_ms = 0;
  status = compiler_open(&(struct compiler_options){.no_cache = false}, &s->compiler);
  if (status != HALOTUNE_OK) return status;
  options.compiler = s->compiler;
  return option_value(s->invocation, "in-process") ? backend_direct_open(&options, &s->backend)
                                                   : backend_cuda_open(&options, &s->backend);
}

static enum exit_code selftest_run(const struct invocation *invocation) {
  struct selftest s = {.invocation = invocation,
                       .as_json = option_given(invocation, "json"),
                       .fails_fast = option_given(invocation, "fail-fast"),
                       .stop = stop_flag()};
  halotune_status status = open_backend(&s);
  if (s.as_json) s.rows = json_array();
  stop_signals_catch();
  progress_open(&s.line);
  if (s.backend.table && invocation->argument_count == 0) status = try_all(&s);
  for (int i = 0; s.backend.table && i < invocation->argument_count && status == HALOTUNE_OK && selftest_goes_on(&s);
       i++)
    status = selftest_stencil(&s, invocation->arguments[i]);
  progress_hide(&s.line);
  if (status == HALOTUNE_CANCELLED && *s.stop) status = HALOTUNE_OK;
  if (status == HALOTUNE_OK && s.as_json) {
    json_t *document = json_object();
    json_put(&document, "device", text_json(s.backend.facts.device.name));
    json_put(&document, "variants", json_incref(s.rows));
    json_put(&document, "failed", json_integer(s.failed_count));
    json_put(&document, "stopped", json_boolean(*s.stop));
    status = print_json(document);
  } else if (status == HALOTUNE_OK) {
    printf("%s: %ld variant%s, %ld failed\n", s.backend.facts.device.name, s.variant_count, PLURAL(s.variant_count),
           s.failed_count);
  }
  json_decref(s.rows);
  backend_close(&s.backend);
  compiler_close(s.compiler);
  if (status != HALOTUNE_OK) return report_failure(status);
  if (*s.stop) fprintf(stderr, "halotune: stopped; these are the results of the variants that were done before\n");
  return s.failed_count > 0 || *s.stop ? HALOTUNE_EXIT_FAILURE : HALOTUNE_EXIT_SUCCESS;
}

static const struct option_row options[] = {
    {"gpu", NULL, "use this machine's GPU; required"},
    GPU_OPTIONS,
    {"wrappers", NULL, "without a stencil: only the wrappers that templates use"},
    {"fail-fast", NULL, "end with the first variant that fails"},
    {"single-steps", NULL, "leave out variants whose launches make several time steps"},
    {"in-process", NULL, "launch in this process instead of a worker process, for compute-sanitizer"},
    {"no-large-planes", NULL,
     "leave out the grid of large planes, on which compute-sanitizer's racecheck takes minutes"},
    {"dtype", "TYPE", "f32 or f64; both by default"},
    {"grid", "NX,NY,NZ",
     "points along each axis; by default several awkward grids: with ghost layers, long lines, large planes"},
    {"arch", "sm_XX", "ignored: the GPU's architecture is used"},
    TEMPLATE_OPTIONS,
    PICK_OPTIONS("12 of single steps, and 12 of several, for each stencil, type and grid"),
    LONG_OPTION,
    {"json", NULL, "print a JSON document"},
    {0},
};

const struct command command_selftest = {
    "selftest", "[STENCIL...]", 0, 64, "verify variants and PTX wrappers on this machine's GPU", options, selftest_run,
};
