/* gpu_sample.c: loads variants into slots, and measures the time of batches of launches.
 *
 * A slot has one or more bindings of its kernel to fields, which are used in turn. They are the phases of an iterated
 * stencil, or in cold mode the sets of fields that together exceed the L2 cache. */
#include <stdlib.h>

#include "base/system/clock.h"
#include "tuner/device/gpu_session.h"

enum {
  FRESH_APPLICATIONS = 256, /* after this many launches fields may have grown, so they are reset */
  SPACER_ROUNDS = 4000,     /* about 10 us of arithmetic, during which the launches after it are queued */
  WARM_ROUNDS = 40000,
  WARM_BLOCKS_PER_SM = 8,
};

static bool is_cold(const struct gpu_session *s) { return s->problem.cache == CACHE_COLD; }

static int bindings_of(const struct gpu_session *s, bool is_roof) {
  if (is_roof) return s->roof.count;
  if (!is_cold(s)) return s->problem.phase_count;
  return s->rotation.count > 0 ? s->rotation.count : 1;
}

/* Find the fields of a binding. */
static void fields_of(const struct gpu_session *s, bool is_roof, int binding, CUdeviceptr inputs[],
                      CUdeviceptr outputs[]) {
  const struct gpu_problem *p = &s->problem;
  if (is_roof) {
    inputs[0] = gpu_rotation_field(&s->roof, binding, 0);
    outputs[0] = gpu_rotation_field(&s->roof, binding, 1);
    return;
  }
  bool rotates = is_cold(s) && s->rotation.count > 0;
  const struct gpu_phase *phase = &p->phases[is_cold(s) ? 0 : binding];
  for (int i = 0; i < p->input_count; i++) {
    inputs[i] = rotates ? gpu_rotation_field(&s->rotation, binding, i) : s->fields[phase->inputs[i]].data;
  }
  for (int o = 0; o < p->output_count; o++) {
    outputs[o] =
        rotates ? gpu_rotation_field(&s->rotation, binding, p->input_count + o) : s->fields[phase->outputs[o]].data;
  }
}

static halotune_status bind_slot(struct gpu_session *s, struct gpu_slot *slot) {
  for (int i = 0; i < slot->binding_count; i++) {
    CUdeviceptr inputs[MAX_FIELDS] = {0}, outputs[MAX_FIELDS] = {0};
    fields_of(s, slot->is_roof, i, inputs, outputs);
    halotune_status status = kernel_bind(&slot->kernel, inputs, outputs, &slot->bindings[i]);
    if (status != HALOTUNE_OK) return status;
  }
  return HALOTUNE_OK;
}

/* Check that there is memory for the workspaces: one for each binding, and one for the run that is verified. */
static halotune_status check_room(struct gpu_session *s, const struct kernel_plan *plan, int binding_count) {
  const double giga = 1e9;
  size_t count = (size_t)binding_count + 1, bytes = plan->workspace_bytes, free_bytes = 0, total_bytes = 0;
  if (bytes == 0) return HALOTUNE_OK;
  halotune_status status = gpu_did(&s->gpu, s->cu.mem_info(&free_bytes, &total_bytes), "cuMemGetInfo");
  if (status != HALOTUNE_OK || bytes <= free_bytes / count) return status;
  s->gpu.failed = CUDA_ERROR_OUT_OF_MEMORY;
  return fail(HALOTUNE_NO_GPU, "the variant needs %zu workspaces of %.3f GB; %.3f GB of the GPU's %.2f GB are free",
              count, (double)bytes / giga, (double)free_bytes / giga, (double)total_bytes / giga);
}

halotune_status gpu_session_load(struct gpu_session *s, int number, const struct kernel_plan *plan, const void *cubin,
                                 bool is_roof) {
  if (number < 0 || number >= GPU_SLOTS || !s->has_problem || s->slots[number].is_loaded) {
    return fail(HALOTUNE_ARGUMENT, "slot %d cannot be loaded", number);
  }
  struct gpu_slot *slot = &s->slots[number];
  const struct gpu_problem *p = &s->problem;
  int inputs = is_roof ? 1 : p->input_count, outputs = is_roof ? 1 : p->output_count;
  if (plan->input_count != inputs || plan->output_count != outputs)
    return fail(HALOTUNE_ARGUMENT, "the variant is of another stencil");
  int count = bindings_of(s, is_roof);
  if (count == 0) return fail(HALOTUNE_NO_GPU, "the GPU's memory has no room for the copy of the roof");
  gpu_clear(&s->gpu);
  halotune_status status = check_room(s, plan, count);
  if (status != HALOTUNE_OK) return status;
  *slot = (struct gpu_slot){.is_roof = is_roof, .binding_count = count};
  slot->bindings = calloc((size_t)count, sizeof *slot->bindings);
  slot->graphs = calloc((size_t)count, sizeof(CUgraphExec));
  slot->is_loaded = true;
  if (!slot->bindings || !slot->graphs) status = fail_memory();
  if (status == HALOTUNE_OK) status = kernel_load(&s->cu, cubin, plan, &slot->kernel);
  if (status == HALOTUNE_OK) status = bind_slot(s, slot);
  if (status != HALOTUNE_OK) gpu_session_unload(s, number);
  return status;
}

static void drop_graphs(struct gpu_session *s, struct gpu_slot *slot) {
  for (int i = 0; i < slot->binding_count && slot->graphs; i++) {
    if (slot->graphs[i]) s->cu.graph_exec_destroy(slot->graphs[i]);
    slot->graphs[i] = NULL;
  }
}

void gpu_session_unload(struct gpu_session *s, int number) {
  struct gpu_slot *slot = &s->slots[number];
  drop_graphs(s, slot);
  for (int i = 0; i < slot->binding_count && slot->bindings; i++) kernel_fields_free(&slot->kernel, &slot->bindings[i]);
  if (slot->kernel.cu) kernel_unload(&slot->kernel);
  free(slot->bindings);
  free(slot->graphs);
  *slot = (struct gpu_slot){.is_loaded = false};
}

/* Make the slot of the empty kernel or of the driver's copy, at its first sample. */
static halotune_status make_builtin(struct gpu_session *s, int number) {
  struct gpu_slot *slot = &s->slots[number];
  int count = number == GPU_SLOT_MEMCPY ? s->roof.count : 1;
  if (count == 0) return fail(HALOTUNE_NO_GPU, "the GPU's memory has no room for the copy of the roof");
  slot->graphs = calloc((size_t)count, sizeof(CUgraphExec));
  if (!slot->graphs) return fail_memory();
  slot->is_loaded = slot->is_roof = true;
  slot->binding_count = count;
  return HALOTUNE_OK;
}

static CUresult launch_binding(struct gpu_session *s, int number, int binding) {
  struct gpu_slot *slot = &s->slots[number];
  if (number == GPU_SLOT_EMPTY) return gpu_launch_empty(&s->checker);
  if (number == GPU_SLOT_MEMCPY) {
    size_t bytes = (size_t)s->problem.roof_elements * dtype_bytes(s->problem.dtype);
    return s->cu.copy_async(gpu_rotation_field(&s->roof, binding, 1), gpu_rotation_field(&s->roof, binding, 0), bytes,
                            s->stream);
  }
  return kernel_launch(&slot->kernel, &slot->bindings[binding], s->stream);
}

/* Apply bindings in turn, `count` times, from `binding` on. Returns the first failure. */
static CUresult launch_bindings(struct gpu_session *s, int number, int binding, int count) {
  CUresult result = CUDA_SUCCESS;
  for (int i = 0; i < count && result == CUDA_SUCCESS; i++) {
    result = launch_binding(s, number, (int)(((long)binding + i) % s->slots[number].binding_count));
  }
  return result;
}

/* Whether applications of this slot advance the fields in time. */
static bool advances_in_time(const struct gpu_session *s, const struct gpu_slot *slot) {
  return !is_cold(s) && !slot->is_roof && s->problem.phase_count > 1;
}

static void advance_phase(struct gpu_session *s, const struct gpu_slot *slot, int count) {
  if (!advances_in_time(s, slot)) return;
  s->phase = (int)(((long)s->phase + count) % s->problem.phase_count);
  s->applications += count;
}

/* Reset the fields to their content before the first time step. Outputs without a start keep their content, unless the
 * roof copies to them: it writes points outside of the box, too. */
static halotune_status make_fresh(struct gpu_session *s) {
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < gpu_problem_buffers(&s->problem) && status == HALOTUNE_OK; i++) {
    if (!gpu_problem_has_start(&s->problem, i)) {
      if (s->roof.is_borrowed) status = gpu_buffer_poison(&s->gpu, &s->fields[i], s->stream);
      continue;
    }
    status = gpu_session_restart(s, i, s->fields[i].data);
    for (int set = 0; set < s->rotation.count && status == HALOTUNE_OK; set++) {
      status = gpu_session_restart(s, i, gpu_rotation_field(&s->rotation, set, i));
    }
  }
  s->phase = 0;
  s->applications = 0;
  return status;
}

void gpu_session_refresh(struct gpu_session *s) {
  if (s->applications > 0) s->applications = -1;
}

static halotune_status make_graph(struct gpu_session *s, int number, int binding, int batch) {
  CUgraph graph = NULL;
  halotune_status status =
      gpu_did(&s->gpu, s->cu.capture_begin(s->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "cuStreamBeginCapture");
  if (status != HALOTUNE_OK) return status;
  CUresult applied = launch_bindings(s, number, binding, batch);
  CUresult ended = s->cu.capture_end(s->stream, &graph);
  s->gpu.is_stuck = ended != CUDA_SUCCESS && ended != CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  status = gpu_did(&s->gpu, applied, "launch");
  if (status == HALOTUNE_OK) status = gpu_did(&s->gpu, ended, "cuStreamEndCapture");
  if (status == HALOTUNE_OK) {
    status =
        gpu_did(&s->gpu, s->cu.graph_instantiate(&s->slots[number].graphs[binding], graph, 0), "cuGraphInstantiate");
  }
  if (graph) s->cu.graph_destroy(graph);
  return status;
}

/* Make a graph for the batch that begins with the present phase. The first launch of a graph uploads it to the GPU, so
 * that launch is not timed. As it leads to another phase, up to as many graphs as phases may be needed. */
static halotune_status ready_graph(struct gpu_session *s, int number, int batch, CUgraphExec *out) {
  struct gpu_slot *slot = &s->slots[number];
  if (slot->graph_batch != batch) {
    drop_graphs(s, slot);
    slot->graph_batch = batch;
  }
  for (;;) {
    int binding = advances_in_time(s, slot) ? s->phase : 0;
    *out = slot->graphs[binding];
    if (*out) return HALOTUNE_OK;
    halotune_status status = make_graph(s, number, binding, batch);
    if (status == HALOTUNE_OK)
      status = gpu_did(&s->gpu, s->cu.graph_launch(slot->graphs[binding], s->stream), "cuGraphLaunch");
    if (status != HALOTUNE_OK) return status;
    advance_phase(s, slot, batch);
  }
}

/* Do the untimed work before a sample. In cold mode all other sets are used first, so that the timed ones are no longer
 * in the cache. */
static CUresult run_untimed(struct gpu_session *s, int number, bool warm) {
  struct gpu_slot *slot = &s->slots[number];
  if (is_cold(s) && slot->binding_count > 1) return launch_bindings(s, number, 1, slot->binding_count - 1);
  if (!warm) return CUDA_SUCCESS;
  CUresult result = launch_binding(s, number, advances_in_time(s, slot) ? s->phase : 0);
  advance_phase(s, slot, 1);
  return result;
}

halotune_status gpu_session_sample(struct gpu_session *s, int number, int batch, bool warm, double *time_ms) {
  struct gpu_slot *slot = number >= 0 && number < GPU_ALL_SLOTS ? &s->slots[number] : NULL;
  CUgraphExec graph = NULL;
  float batch_ms = 0;
  halotune_status status = HALOTUNE_OK;
  gpu_clear(&s->gpu);
  if (!slot || batch < 1 || !s->has_problem) return fail(HALOTUNE_ARGUMENT, "slot %d cannot be sampled", number);
  if (!slot->is_loaded && number >= GPU_SLOTS) status = make_builtin(s, number);
  else if (!slot->is_loaded) status = fail(HALOTUNE_ARGUMENT, "slot %d is empty", number);
  const bool overwrites_fields = slot->is_roof && number != GPU_SLOT_EMPTY && s->roof.is_borrowed;
  const bool is_stale = s->applications < 0 || s->applications > FRESH_APPLICATIONS;
  if (status == HALOTUNE_OK && is_stale && !overwrites_fields) status = make_fresh(s);
  if (number < GPU_SLOTS && !slot->is_roof) s->last = number;
  if (overwrites_fields) s->last = -1;
  if (status == HALOTUNE_OK && s->problem.launch == LAUNCH_GRAPH) status = ready_graph(s, number, batch, &graph);
  if (status == HALOTUNE_OK) status = gpu_did(&s->gpu, run_untimed(s, number, warm), "launch");
  /* The untimed application may have led to a phase without a graph. */
  if (status == HALOTUNE_OK && graph) status = ready_graph(s, number, batch, &graph);
  if (status == HALOTUNE_OK) status = gpu_did(&s->gpu, gpu_launch_spin(&s->checker, 1, SPACER_ROUNDS), "launch");
  if (status == HALOTUNE_OK) status = gpu_did(&s->gpu, s->cu.event_record(s->start, s->stream), "cuEventRecord");
  if (status == HALOTUNE_OK) {
    CUresult result = graph ? s->cu.graph_launch(graph, s->stream)
                            : launch_bindings(s, number, advances_in_time(s, slot) ? s->phase : 0, batch);
    status = gpu_did(&s->gpu, result, "launch");
  }
  if (status == HALOTUNE_OK) status = gpu_did(&s->gpu, s->cu.event_record(s->end, s->stream), "cuEventRecord");
  if (status == HALOTUNE_OK) status = gpu_did(&s->gpu, s->cu.event_synchronize(s->end), "kernel");
  if (status == HALOTUNE_OK)
    status = gpu_did(&s->gpu, s->cu.event_time(&batch_ms, s->start, s->end), "cuEventElapsedTime");
  if (status != HALOTUNE_OK) return status;
  advance_phase(s, slot, batch);
  if (overwrites_fields) s->applications = -1; /* a copy is no step */
  *time_ms = (double)batch_ms / batch;
  return HALOTUNE_OK;
}

int gpu_session_period(const struct gpu_session *s, int number) {
  return advances_in_time(s, &s->slots[number]) ? 1 : s->slots[number].binding_count;
}

halotune_status gpu_session_apply(struct gpu_session *s, int number, int batch, bool is_first) {
  struct gpu_slot *slot = number >= 0 && number < GPU_SLOTS ? &s->slots[number] : NULL;
  CUgraphExec graph = NULL;
  halotune_status status = HALOTUNE_OK;
  gpu_clear(&s->gpu);
  if (!slot || !slot->is_loaded || slot->is_roof || !s->has_problem || batch < 1)
    return fail(HALOTUNE_ARGUMENT, "slot %d is empty", number);
  if (is_first || s->applications < 0 || s->applications > FRESH_APPLICATIONS) status = make_fresh(s);
  s->last = number;
  if (status == HALOTUNE_OK && s->problem.launch == LAUNCH_GRAPH) status = ready_graph(s, number, batch, &graph);
  if (status == HALOTUNE_OK) {
    CUresult result = graph ? s->cu.graph_launch(graph, s->stream)
                            : launch_bindings(s, number, advances_in_time(s, slot) ? s->phase : 0, batch);
    status = gpu_did(&s->gpu, result, "launch");
  }
  if (status == HALOTUNE_OK) advance_phase(s, slot, batch);
  return status;
}

/* Compare everything that steps write: two runs of equally many steps from the same fields must give the same bits. */
static halotune_status look_at_steps(struct gpu_session *s, struct gpu_results *results) {
  const struct gpu_problem *p = &s->problem;
  const long long words = (long long)(gpu_problem_bytes(p) / sizeof gpu_poison_word);
  uint64_t digest = 0;
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < gpu_problem_buffers(p) && status == HALOTUNE_OK; i++) {
    enum { MIXING = 31 };
    uint64_t of_field = 0;
    if (!gpu_problem_writes(p, i)) continue;
    status = gpu_check_digest(&s->checker, s->fields[i].data, words, &of_field);
    digest = digest * MIXING + of_field;
  }
  if (status != HALOTUNE_OK) return status;
  results->differing += results->steps == s->applications && results->digest != digest;
  results->steps = s->applications;
  results->digest = digest;
  return HALOTUNE_OK;
}

/* Compare one application with the reference. Each application had the same inputs. */
static halotune_status look_at_application(struct gpu_session *s, int binding, struct gpu_results *results) {
  CUdeviceptr inputs[MAX_FIELDS] = {0}, outputs[MAX_FIELDS] = {0};
  struct gpu_look_back seen;
  fields_of(s, false, binding, inputs, outputs);
  halotune_status status = gpu_session_compare(s, outputs, &seen);
  if (status != HALOTUNE_OK || results->has_wrong) return status;
  for (int o = 0; o < s->problem.output_count; o++) {
    if (seen.buffers[s->problem.input_count + o].bad > 0) results->has_wrong = true;
  }
  if (results->has_wrong) results->wrong = seen;
  return HALOTUNE_OK;
}

halotune_status gpu_session_sample_checked(struct gpu_session *s, int number, int batch, double *time_ms) {
  bool is_variant = number >= 0 && number < GPU_SLOTS && s->slots[number].is_loaded && !s->slots[number].is_roof;
  if (!is_variant) return gpu_session_sample(s, number, batch, true, time_ms);
  struct gpu_slot *slot = &s->slots[number];
  s->applications = -1;
  halotune_status status = gpu_session_sample(s, number, batch, true, time_ms);
  if (status != HALOTUNE_OK) return status;
  slot->results.samples++;
  return advances_in_time(s, slot) ? look_at_steps(s, &slot->results)
                                   : look_at_application(s, (batch - 1) % slot->binding_count, &slot->results);
}

halotune_status gpu_session_keep_warm(struct gpu_session *s, double time_ms) {
  double until_ms = clock_ms() + time_ms;
  int blocks = s->device.facts.sm_count * WARM_BLOCKS_PER_SM;
  halotune_status status = HALOTUNE_OK;
  gpu_clear(&s->gpu);
  while (status == HALOTUNE_OK && clock_ms() < until_ms) {
    status = gpu_did(&s->gpu, gpu_launch_spin(&s->checker, blocks < 1 ? 1 : blocks, WARM_ROUNDS), "launch");
    if (status == HALOTUNE_OK) status = gpu_did(&s->gpu, s->cu.stream_synchronize(s->stream), "keeping warm");
  }
  return status;
}
