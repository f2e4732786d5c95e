/* run_gpu.c: computes a run on a GPU with the kernel that the library serves: its public functions look the kernel up,
 * make it, and advance the fields. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/driver/device.h"
#include "gpu/driver/kernel.h"
#include "stencil/analysis/iterate.h"
#include "tuner/cli/run/run_problem.h"
#include "tuner/device/driver_limit.h"

/* The time after which the GPU counts as hung in a load, in a copy, or in the steps between two waits. */
enum { HANG_MS = 600000 };

struct gpu_run {
  const struct run_problem *problem;
  struct cu cu;
  struct device device;
  halotune_ctx *ctx;
  halotune_config config;
  halotune_kernel *kernel;
  halotune_kernel_facts facts;
  void *fields[2 * MAX_FIELDS]; /* device pointers: inputs, then outputs and the arrays that launches carry */
  int hang_ms;
  char sentence[192];
};

/* Limit the time of a call of the driver until driver_limit_end, once the GPU is open. */
static void limit_begin(const struct gpu_run *run) { driver_limit_begin_for(run->hang_ms, run->sentence); }

static void load_begins(const void *run) { limit_begin(run); }

static void load_ends(const void *run) {
  (void)run;
  driver_limit_end();
}

static halotune_status limit_read(const struct invocation *invocation, struct gpu_run *run) {
  const double ms_per_s = 1e3;
  halotune_status status = option_milliseconds(invocation, "hang-timeout", HANG_MS, &run->hang_ms);
  if (status != HALOTUNE_OK) return status;
  snprintf(run->sentence, sizeof run->sentence,
           "halotune: the GPU did not end a part of the run in %g s (--hang-timeout); no output was written\n",
           run->hang_ms / ms_per_s);
  return HALOTUNE_OK;
}

static void gpu_close(void *state) {
  struct gpu_run *run = state;
  if (!run) return;
  limit_begin(run);
  for (int i = 0; i < 2 * MAX_FIELDS; i++) {
    if (run->fields[i]) run->cu.mem_free((CUdeviceptr)(uintptr_t)run->fields[i]);
  }
  halotune_kernel_free(run->kernel);
  halotune_close(run->ctx);
  if (run->device.cu) device_close(&run->device);
  cu_close(&run->cu);
  driver_limit_end();
  free(run);
}

static halotune_status device_find(const struct invocation *invocation, struct gpu_run *run) {
  enum { MOST_DEVICES = 1024 };
  long ordinal;
  halotune_status status = option_whole(invocation, "device", 0, MOST_DEVICES, 0, &ordinal);
  if (status != HALOTUNE_OK) return status;
  driver_limit_begin();
  status = cu_open(&run->cu);
  if (status == HALOTUNE_OK) status = device_open(&run->cu, (int)ordinal, &run->device);
  driver_limit_end();
  if (status != HALOTUNE_NO_GPU) return status;
  char *detail = strdup(fail_text());
  status = fail(HALOTUNE_NO_GPU, "%s; without a GPU, use --backend cpu", detail ? detail : "");
  free(detail);
  return status;
}

/* Ask the library for the best kernel. */
static halotune_status kernel_make(const struct invocation *invocation, struct gpu_run *run) {
  const struct run_problem *problem = run->problem;
  const char *database = option_value(invocation, "db");
  halotune_problem question = {.stencil = problem->loaded.stencil->name,
                               .dtype = (halotune_dtype)problem->dtype,
                               .reproducible = option_given(invocation, "reproducible")};
  for (int axis = 0; axis < MAX_DIMS; axis++) question.grid[axis] = problem->grid.n[axis];
  if (problem->loaded.analysis->can_iterate)
    question.steps = problem->steps < HALOTUNE_RUN_MOST_STEPS ? (int)problem->steps : HALOTUNE_STEPS_ANY;
  halotune_status status = halotune_open(database ? &database : NULL, database ? 1 : 0, &run->ctx);
  if (status == HALOTUNE_OK) status = halotune_stencil_add(run->ctx, problem->loaded.text);
  if (status == HALOTUNE_OK) status = halotune_lookup(run->ctx, &question, &run->config);
  kernel_loads_watch(load_begins, load_ends, run); /* the library and NVRTC have their own limits */
  if (status == HALOTUNE_OK)
    status = halotune_kernel_create(run->ctx, &run->config, problem->coefficients, NULL, &run->kernel);
  kernel_loads_watch(NULL, NULL, NULL);
  if (status == HALOTUNE_OK) halotune_kernel_info(run->kernel, &run->facts);
  return status;
}

/* The description of a field, which must exist. */
static halotune_field field_of(const struct gpu_run *run, int field) {
  halotune_field out = {0};
  (void)halotune_kernel_field(run->kernel, field, &out);
  return out;
}

static size_t field_bytes(const struct gpu_run *run, int field) {
  const halotune_field it = field_of(run, field);
  return (size_t)it.elements * (size_t)it.element_bytes;
}

static halotune_status memory_take(struct gpu_run *run) {
  const int count = run->facts.input_count + run->facts.output_count;
  const double gigabyte = 1e9;
  double total_gb = 0;
  size_t free_bytes = 0, total_bytes = 0;
  halotune_status status = cu_check(&run->cu, run->cu.mem_info(&free_bytes, &total_bytes), "cuMemGetInfo");
  for (int i = 0; i < count; i++) total_gb += (double)field_bytes(run, i) / gigabyte;
  if (status == HALOTUNE_OK && total_gb > (double)free_bytes / gigabyte)
    return fail(HALOTUNE_MEMORY, "the run needs %d fields of %.3g GB in all, but %s has %.3g GB free", count, total_gb,
                run->device.facts.name, (double)free_bytes / gigabyte);
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) {
    CUdeviceptr pointer = 0;
    status = cu_check(&run->cu, run->cu.mem_alloc(&pointer, field_bytes(run, i)), "cuMemAlloc of a field");
    run->fields[i] = (void *)(uintptr_t)pointer;
  }
  return status;
}

static halotune_status fields_allocate(struct gpu_run *run) {
  limit_begin(run);
  const halotune_status status = memory_take(run);
  driver_limit_end();
  return status;
}

static halotune_status gpu_open(const struct invocation *invocation, const struct run_problem *problem, void **state) {
  struct gpu_run *run = calloc(1, sizeof *run);
  *state = NULL;
  if (!run) return fail_memory();
  run->problem = problem;
  halotune_status status = limit_read(invocation, run);
  if (status != HALOTUNE_OK) { /* gpu_close needs the limit */
    free(run);
    return status;
  }
  status = device_find(invocation, run);
  if (status == HALOTUNE_OK) status = kernel_make(invocation, run);
  if (status == HALOTUNE_OK) status = fields_allocate(run);
  if (status == HALOTUNE_OK) *state = run;
  else gpu_close(run);
  return status;
}

/* The device address of an element. */
static CUdeviceptr element_at(const struct gpu_run *run, int field, long at) {
  return (CUdeviceptr)(uintptr_t)run->fields[field] + (size_t)at * (size_t)field_of(run, field).element_bytes;
}

static halotune_status gpu_put(void *state, int input, long first, long count, const void *values) {
  const struct gpu_run *run = state;
  const size_t bytes = (size_t)count * (size_t)field_of(run, input).element_bytes;
  limit_begin(run);
  const CUresult result = run->cu.to_device(element_at(run, input, first), values, bytes);
  driver_limit_end();
  return cu_check(&run->cu, result, "cuMemcpyHtoD");
}

static halotune_status outputs_start(const struct gpu_run *run) {
  const struct stencil *stencil = run->problem->loaded.stencil;
  struct carried carried[MAX_FIELDS];
  int leader[2 * MAX_FIELDS];
  halotune_status status = HALOTUNE_OK;
  iterate_leaders(stencil, leader);
  (void)iterate_carried(stencil, run->facts.steps, carried);
  for (int i = stencil->input_count; i < stencil->input_count + run->facts.output_count; i++) {
    const int more = i - stencil->input_count - stencil->output_count; /* number of a carried array */
    const int from = more < 0 ? leader[i] : leader[carried[more].input];
    CUresult result;
    if (from == i) result = run->cu.fill_words(element_at(run, i, 0), 0, field_bytes(run, i) / sizeof(unsigned), NULL);
    else result = run->cu.copy_async(element_at(run, i, 0), element_at(run, from, 0), field_bytes(run, i), NULL);
    if ((status = cu_check(&run->cu, result, "the start of an output")) != HALOTUNE_OK) return status;
  }
  return cu_check(&run->cu, run->cu.ctx_synchronize(), "cuCtxSynchronize");
}

static halotune_status gpu_start(void *state) {
  limit_begin(state);
  const halotune_status status = outputs_start(state);
  driver_limit_end();
  return status;
}

static halotune_status steps_make(struct gpu_run *run, long steps) {
  halotune_status status = HALOTUNE_OK;
  if (run->problem->loaded.analysis->can_iterate) {
    status = halotune_run(run->kernel, NULL, run->fields, steps);
  } else {
    const void *inputs[MAX_FIELDS];
    for (int i = 0; i < run->facts.input_count; i++) inputs[i] = run->fields[i];
    status = halotune_kernel_launch(run->kernel, NULL, inputs, run->fields + run->facts.input_count);
  }
  return status == HALOTUNE_OK ? cu_check(&run->cu, run->cu.ctx_synchronize(), "cuCtxSynchronize") : status;
}

static halotune_status gpu_advance(void *state, long steps) {
  limit_begin(state);
  const halotune_status status = steps_make(state, steps);
  driver_limit_end();
  return status;
}

static halotune_status gpu_get(void *state, int result, long first, long count, void *values) {
  const struct gpu_run *run = state;
  const struct loaded *loaded = &run->problem->loaded;
  const int place = run_result_place(loaded->stencil, loaded->analysis, result);
  const size_t bytes = (size_t)count * dtype_bytes(run->problem->dtype);
  limit_begin(run);
  const CUresult copied = run->cu.to_host(values, element_at(run, place, first), bytes);
  driver_limit_end();
  return cu_check(&run->cu, copied, "cuMemcpyDtoH");
}

static struct run_facts gpu_facts(void *state) {
  const struct gpu_run *run = state;
  return (struct run_facts){.device = run->device.facts.name,
                            .match = halotune_match_name(run->config.match),
                            .template_name = run->facts.template_name,
                            .parameters = run->facts.parameters,
                            .launch_steps = run->facts.steps};
}

const struct run_backend run_backend_gpu = {
    "gpu", gpu_open, gpu_put, gpu_start, gpu_advance, gpu_get, gpu_facts, gpu_close,
};
