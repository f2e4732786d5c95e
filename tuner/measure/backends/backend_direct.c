/* backend_direct.c: a GPU session in this process as a backend, without a worker process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/compile/arch_support.h"
#include "tuner/device/driver_limit.h"
#include "tuner/device/gpu_worker.h"
#include "tuner/measure/backends/backend_cuda_judge.h"
#include "tuner/measure/backends/backend_cuda_upload.h"

struct direct {
  struct gpu_session session;
  struct compiled checks;
  struct gpu_problem wire;
  const struct scene *scene;
  void *window; /* memory for the next part while fields are sent */
  int hang_ms;
  char sentence[160]; /* printed when a call takes longer than the limit */
};

/* Limit the time of a call of the driver until driver_limit_end. Without a worker process, the program itself ends if
 * the call never returns. */
static void limit_begin(const struct direct *d) { driver_limit_begin_for(d->hang_ms, d->sentence); }

static halotune_status send_part(void *to, enum gpu_upload kind, int number, size_t offset_bytes, size_t byte_count) {
  struct direct *d = to;
  return gpu_session_upload(&d->session, kind, number, offset_bytes, d->window, byte_count);
}

static halotune_status problem_send(struct direct *d, const struct backend_problem *problem) {
  d->scene = problem->scene;
  halotune_status status = cuda_problem_make(problem, &d->wire);
  if (status == HALOTUNE_OK) status = gpu_session_problem(&d->session, &d->wire);
  if (status == HALOTUNE_OK && !(d->window = malloc(GPU_WINDOW_BYTES))) status = fail_memory();
  const struct cuda_upload upload = {d->window, send_part, d};
  if (status == HALOTUNE_OK) status = cuda_upload_scene(&upload, &d->wire, d->scene);
  free(d->window);
  d->window = NULL;
  return status;
}

static halotune_status direct_set_problem(void *state, const struct backend_problem *problem) {
  limit_begin(state);
  const halotune_status status = problem_send(state, problem);
  driver_limit_end();
  return status;
}

static halotune_status direct_unload(void *state, int slot) {
  struct direct *d = state;
  limit_begin(d);
  if (slot >= 0 && slot < GPU_SLOTS) gpu_session_unload(&d->session, slot);
  driver_limit_end();
  return HALOTUNE_OK;
}

/* Make an error of the driver the variant's verdict. Empty the slot unless the variant is right. */
static halotune_status settle_variant(struct direct *d, int slot, halotune_status status, struct verdict *verdict) {
  if (status == HALOTUNE_NO_GPU) {
    verdict->outcome = gpu_outcome(d->session.gpu.failed);
    snprintf(verdict->reason, sizeof verdict->reason, "%.500s", fail_text());
    status = HALOTUNE_OK;
  }
  if (verdict->outcome != OUTCOME_MEASURED || status != HALOTUNE_OK) direct_unload(d, slot);
  return status;
}

static halotune_status direct_load(void *state, int slot, const struct candidate *candidate, struct verdict *verdict) {
  struct direct *d = state;
  const struct variant_spec *spec = candidate->spec;
  struct kernel_plan plan;
  struct gpu_look_back seen;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  direct_unload(d, slot);
  kernel_plan_make(&candidate->generated->launch, spec->stencil, spec->dtype, &spec->domain, spec->coefficients, &plan);
  limit_begin(d);
  halotune_status status = gpu_session_load(&d->session, slot, &plan, candidate->compiled->cubin, candidate->is_roof);
  if (status == HALOTUNE_OK && !candidate->is_roof) {
    status = gpu_session_verify(&d->session, slot, &seen);
    if (status == HALOTUNE_OK) cuda_judge(d->scene, &d->wire, &seen, verdict);
  }
  driver_limit_end();
  return settle_variant(d, slot, status, verdict);
}

static halotune_status direct_sample(void *state, const struct sample_plan *plan, double *times_ms, int *failed,
                                     struct verdict *verdict) {
  struct direct *d = state;
  long count = (long)plan->rounds * plan->slot_count;
  *failed = -1;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  for (long i = 0; i < count; i++) times_ms[i] = 0;
  gpu_session_refresh(&d->session);
  for (long i = 0; i < count && *failed < 0; i++) {
    int k = (int)(i % plan->slot_count), slot = plan->slots[k];
    limit_begin(d);
    halotune_status status = plan->checks
                                 ? gpu_session_sample_checked(&d->session, slot, plan->batches[k], &times_ms[i])
                                 : gpu_session_sample(&d->session, slot, plan->batches[k], plan->warm, &times_ms[i]);
    driver_limit_end();
    status = settle_variant(d, slot, status, verdict);
    if (status != HALOTUNE_OK) return status;
    if (verdict->outcome != OUTCOME_MEASURED) *failed = slot;
  }
  return HALOTUNE_OK;
}

static halotune_status direct_recheck(void *state, int slot, struct verdict *verdict) {
  struct direct *d = state;
  struct gpu_look_back seen;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  limit_begin(d);
  halotune_status status = gpu_session_inspect(&d->session, slot, &seen);
  if (status == HALOTUNE_OK) cuda_judge(d->scene, &d->wire, &seen, verdict);
  if (status == HALOTUNE_OK && verdict->outcome == OUTCOME_MEASURED) {
    status = gpu_session_verify(&d->session, slot, &seen);
    if (status == HALOTUNE_OK) cuda_judge(d->scene, &d->wire, &seen, verdict);
  }
  driver_limit_end();
  return settle_variant(d, slot, status, verdict);
}

static halotune_status keep_warm(void *state, double time_ms) {
  struct direct *d = state;
  limit_begin(d);
  const halotune_status status = gpu_session_keep_warm(&d->session, time_ms);
  driver_limit_end();
  return status;
}

static void close_backend(void *state) {
  struct direct *d = state;
  limit_begin(d);
  gpu_session_close(&d->session);
  driver_limit_end();
  compiled_free(&d->checks);
  free(d);
}

halotune_status backend_direct_open(const struct backend_cuda_options *options, struct backend_handle *out) {
  static const struct backend table = {.name = "direct",
                                       .set_problem = direct_set_problem,
                                       .load = direct_load,
                                       .unload = direct_unload,
                                       .sample = direct_sample,
                                       .recheck = direct_recheck,
                                       .read = backend_read_nothing,
                                       .keep_warm = keep_warm,
                                       .close = close_backend};
  const double ms_per_s = 1e3;
  char arch[16];
  *out = (struct backend_handle){.table = NULL};
  struct direct *d = calloc(1, sizeof *d);
  char *source = gpu_check_source();
  halotune_status status = d && source ? HALOTUNE_OK : fail_memory();
  if (status == HALOTUNE_OK) {
    d->hang_ms = options->hang_ms ? options->hang_ms : BACKEND_DIRECT_HANG_MS;
    snprintf(d->sentence, sizeof d->sentence,
             "halotune: a call of NVIDIA's driver did not return in %g s (--hang-timeout)\n", d->hang_ms / ms_per_s);
    limit_begin(d);
    status = gpu_session_open(options->ordinal, &d->session);
    driver_limit_end();
  }
  if (status == HALOTUNE_OK) {
    int capability = d->session.device.facts.capability;
    out->facts.device = d->session.device.facts;
    out->facts.cuda = d->session.cu.cuda_version;
    status = arch_support(out->facts.device.name, capability, compiler_nvrtc(options->compiler), &out->facts.arch);
    snprintf(arch, sizeof arch, "sm_%d", capability);
    const struct compile_request request = {.source = source, .name = "check.cu", .arch = arch};
    if (status == HALOTUNE_OK) status = compiler_compile(options->compiler, &request, &d->checks);
  }
  if (status == HALOTUNE_OK) {
    limit_begin(d);
    status = gpu_session_prepare(&d->session, d->checks.cubin);
    driver_limit_end();
  }
  free(source);
  if (status != HALOTUNE_OK) {
    if (d) close_backend(d);
    return status;
  }
  out->table = &table;
  out->state = d;
  return HALOTUNE_OK;
}
