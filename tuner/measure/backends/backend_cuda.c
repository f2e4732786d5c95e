/* backend_cuda.c: opens and closes a GPU's worker process as a backend, and gives it problems. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/trace.h"
#include "gpu/compile/arch_support.h"
#include "tuner/device/driver_limit.h"
#include "tuner/measure/backends/backend_cuda_parts.h"

static void forget_problem(struct cuda *c) {
  c->has_problem = false;
  c->best_ms = 0;
  c->drawn_points = 0;
  for (int i = 0; i < BACKEND_ALL_SLOTS; i++) cuda_forget(c, i);
}

static halotune_status check_room(void *state, const struct backend_problem *problem) {
  struct cuda *c = state;
  forget_problem(c);
  halotune_status status = cuda_problem_make(problem, &c->wire);
  if (status == HALOTUNE_OK) status = cuda_ensure_worker(c);
  c->wire.is_made_here = false;
  if (status == HALOTUNE_OK) status = cuda_allocate_problem(c);
  return status == HALOTUNE_MEMORY ? status : HALOTUNE_OK;
}

static halotune_status cuda_set_problem(void *state, const struct backend_problem *problem) {
  struct cuda *c = state;
  forget_problem(c);
  halotune_status status = cuda_problem_make(problem, &c->wire);
  if (status != HALOTUNE_OK) return status;
  c->problem = *problem;
  status = cuda_ensure_worker(c);
  if (status != HALOTUNE_OK) return status;
  status = cuda_send_problem(c);
  c->has_problem = status == HALOTUNE_OK || !gpu_link_is_up(&c->link);
  if (status == HALOTUNE_OK || !c->has_problem) return status;
  status = cuda_ensure_worker(c); /* a new worker gets the problem, too */
  c->has_problem = status == HALOTUNE_OK;
  return status;
}

static void read_gpu(void *state, struct gpu_reading *out) {
  const struct cuda *c = state;
  const double begin_ms = trace_now_ms();
  driver_limit_begin();
  nvml_read(&c->nvml, out);
  driver_limit_end();
  trace_end(TRACE_RUNNER, "read clocks", begin_ms, NULL, NULL);
}

/* Count the processes that NVML knows, without the worker. */
static int count_others(void *state) {
  const struct cuda *c = state;
  driver_limit_begin();
  const int others = nvml_process_count(&c->nvml) - (gpu_link_is_up(&c->link) ? 1 : 0);
  driver_limit_end();
  return others > 0 ? others : 0;
}

static bool counts_energy(void *state) {
  const struct cuda *c = state;
  double energy_mj;
  driver_limit_begin();
  const bool counts = nvml_energy(&c->nvml, &energy_mj);
  driver_limit_end();
  return counts;
}

static long long drawn_points(void *state) { return ((const struct cuda *)state)->drawn_points; }

static halotune_status ask_to_keep_warm(struct cuda *c, double time_ms) {
  struct text request = {0};
  struct gpu_reply reply;
  gpu_request_begin(&request, GPU_REQUEST_KEEP_WARM);
  pack_double(&request, time_ms);
  halotune_status status = cuda_ask(c, &request, time_ms + c->hang_ms, &reply);
  cuda_trace("keep warm", NULL, &reply, GPU_MARK_BEGIN, GPU_MARK_END);
  return status;
}

/* A single failure of the driver here does not end the run. */
static halotune_status keep_warm(void *state, double time_ms) {
  struct cuda *c = state;
  halotune_status status = cuda_ensure_worker(c);
  if (status != HALOTUNE_OK) return status;
  status = ask_to_keep_warm(c, time_ms);
  if (status != HALOTUNE_OK && gpu_link_is_up(&c->link)) status = ask_to_keep_warm(c, time_ms);
  return status == HALOTUNE_OK || gpu_link_is_up(&c->link) ? status : cuda_ensure_worker(c);
}

static void close_backend(void *state) {
  struct cuda *c = state;
  gpu_link_close(&c->link);
  nvml_close(&c->nvml);
  compiled_free(&c->checks);
  free(c);
}

static halotune_status compile_checks(struct cuda *c, struct compiler *compiler) {
  char arch[16];
  char *source = gpu_check_source();
  if (!source) return fail_memory();
  snprintf(arch, sizeof arch, "sm_%d", c->opened.device.capability);
  const struct compile_request request = {.source = source, .name = "check.cu", .arch = arch};
  halotune_status status = compiler_compile(compiler, &request, &c->checks);
  free(source);
  return status;
}

/* Load the first machine code. A driver that is older than the compiler may not know the format, and then only says
 * that the code is invalid. */
static halotune_status prepare_worker(struct cuda *c, const struct nvrtc_facts *nvrtc) {
  enum { THOUSAND = 1000, TEN = 10 };
  halotune_status status = cuda_prepare(c);
  if (status != HALOTUNE_NO_GPU || c->opened.cuda >= THOUSAND * nvrtc->major + TEN * nvrtc->minor) return status;
  char detail[256];
  snprintf(detail, sizeof detail, "%.250s", fail_text());
  return fail(
      status,
      "the driver runs CUDA %d.%d, and does not load what NVRTC %d.%d compiles (%s): update the driver, or name an "
      "NVRTC of its version in $HALOTUNE_NVRTC",
      c->opened.cuda / THOUSAND, c->opened.cuda % THOUSAND / TEN, nvrtc->major, nvrtc->minor, detail);
}

static void fill_facts(struct cuda *c, struct backend_facts *facts) {
  facts->device = c->opened.device;
  facts->cuda = c->opened.cuda;
  driver_limit_begin();
  if (nvml_open(&c->nvml) != HALOTUNE_OK ||
      nvml_choose(&c->nvml, c->opened.device.uuid, c->opened.pci_bus_id) != HALOTUNE_OK) {
    snprintf(facts->warnings, sizeof facts->warnings, "%.500s\n", fail_text());
  }
  facts->power_limit_w = nvml_power_limit_w(&c->nvml);
  driver_limit_end();
  snprintf(facts->driver, sizeof facts->driver, "%s", c->nvml.driver);
  const int others = count_others(c);
  if (others > 0) {
    size_t length = strlen(facts->warnings);
    snprintf(facts->warnings + length, sizeof facts->warnings - length,
             "%d other process%s on the GPU: times may be off\n", others, others == 1 ? " computes" : "es compute");
  }
}

halotune_status backend_cuda_open(const struct backend_cuda_options *options, struct backend_handle *out) {
  static const struct backend table = {.name = "cuda",
                                       .may_change_thread = true,
                                       .makes_fields = cuda_makes_fields,
                                       .check_room = check_room,
                                       .set_problem = cuda_set_problem,
                                       .load = cuda_load,
                                       .unload = cuda_unload,
                                       .sample = cuda_sample,
                                       .recheck = cuda_recheck,
                                       .drawn_points = drawn_points,
                                       .verify_all = cuda_verify_all,
                                       .read = read_gpu,
                                       .energy = cuda_energy,
                                       .counts_energy = counts_energy,
                                       .others = count_others,
                                       .keep_warm = keep_warm,
                                       .close = close_backend};
  *out = (struct backend_handle){.table = NULL};
  struct cuda *c = calloc(1, sizeof *c);
  if (!c) return fail_memory();
  c->ordinal = options->ordinal;
  c->hang_ms = options->hang_ms > 0 ? options->hang_ms : BACKEND_HANG_MS;
  halotune_status status = gpu_link_open(NULL, &c->link);
  if (status == HALOTUNE_OK) status = gpu_link_start(&c->link);
  if (status == HALOTUNE_OK) status = cuda_open_gpu(c);
  const struct device_facts *device = &c->opened.device;
  const struct nvrtc_facts *nvrtc = compiler_nvrtc(options->compiler);
  if (status == HALOTUNE_OK) status = arch_support(device->name, device->capability, nvrtc, &out->facts.arch);
  if (status == HALOTUNE_OK) status = compile_checks(c, options->compiler);
  if (status == HALOTUNE_OK) status = prepare_worker(c, nvrtc);
  if (status != HALOTUNE_OK) {
    close_backend(c);
    return status;
  }
  fill_facts(c, &out->facts);
  out->table = &table;
  out->state = c;
  return HALOTUNE_OK;
}
