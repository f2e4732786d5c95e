/* backend_cuda.c: a GPU's worker process as a backend. The program keeps all that it takes to start the worker
 * again: the scene, and the candidates of live slots. */
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "gpu/nvml.h"
#include "tuner/bench/backend_cuda_judge.h"
#include "tuner/bench/gpu_link.h"

_Static_assert((int)GPU_SLOTS == (int)BACKEND_SLOTS && (int)GPU_SLOT_EMPTY == (int)SLOT_EMPTY &&
               (int)GPU_SLOT_MEMCPY == (int)SLOT_MEMCPY, "worker and backend number slots alike");

/* A context takes a second; more where many GPUs have to wake up. */
enum { START_MS = 120000, UPLOAD_MS = 60000, HANG_FACTOR = 20 };

struct cuda_slot {
  bool is_live;
  struct candidate candidate;
  double time_ms; /* of one application, as far as is known; 0: not yet */
};

struct cuda {
  struct gpu_link link;
  int ordinal;
  double hang_ms;
  struct compiled checks; /* gpu_check_source */
  struct nvml nvml;
  struct gpu_opened opened;
  bool has_problem;
  struct backend_problem problem;
  struct gpu_problem wire;
  struct cuda_slot slots[BACKEND_ALL_SLOTS];
  double best_ms; /* the fastest application of any variant of the problem; 0: none yet */
};

/* --- requests that are not about a variant ------------------------------------------------------------------------ */

/* Ask; that the worker dies or hangs is an error. */
static halotune_status ask(struct cuda *c, struct text *request, double deadline_ms, struct gpu_reply *reply) {
  *reply = (struct gpu_reply){.status = HALOTUNE_OK};
  gpu_message_end(request);
  enum gpu_link_end end = text_ok(request) ? gpu_link_call(&c->link, request, deadline_ms, reply) : GPU_LINK_DIED;
  bool complete = text_ok(request);
  text_free(request);
  if (!complete) return fail_memory();
  if (end == GPU_LINK_HUNG)
    return fail(HALOTUNE_IO, "the GPU's worker process did not answer in %.0f s", deadline_ms / 1000);
  if (end == GPU_LINK_DIED) return fail(HALOTUNE_IO, "the GPU's worker is gone: %s", c->link.death);
  if (reply->status == HALOTUNE_OK) return HALOTUNE_OK;
  halotune_status status = fail(reply->status, "%s", reply->detail);
  if (reply->is_lost) gpu_link_stop(&c->link);
  return status;
}

struct conversion {
  const double *from;
  void *to;
};

static void convert(void *context, int thread, long first, long end) {
  const struct conversion *conversion = context;
  float *to = conversion->to;
  (void)thread;
  for (long i = first; i < end; i++) to[i] = (float)conversion->from[i];
}

/* Fill a field of the worker's from an array of doubles, part by part through the window. */
static halotune_status upload(struct cuda *c, enum gpu_upload kind, int number, const double *values) {
  enum { GRAIN = 1 << 16 };
  bool is_single = kind == GPU_UPLOAD_START && c->wire.dtype == DTYPE_F32;
  size_t element_bytes = is_single ? sizeof(float) : sizeof(double);
  long count = domain_elements(&c->wire.domain), part = (long)(GPU_WINDOW_BYTES / element_bytes);
  halotune_status status = HALOTUNE_OK;
  for (long done = 0; done < count && status == HALOTUNE_OK; done += part) {
    long now = count - done < part ? count - done : part;
    struct conversion conversion = {values + done, c->link.window->bytes};
    struct text request = {0};
    struct gpu_reply reply;
    if (is_single) parallel_for(now, GRAIN, parallel_threads(0), convert, &conversion);
    else memcpy(c->link.window->bytes, values + done, (size_t)now * sizeof *values);
    gpu_request_begin(&request, GPU_REQUEST_UPLOAD);
    pack_u64(&request, kind);
    pack_u64(&request, (uint64_t)number);
    pack_u64(&request, (uint64_t)done * element_bytes);
    pack_u64(&request, (uint64_t)now * element_bytes);
    status = ask(c, &request, UPLOAD_MS, &reply);
  }
  return status;
}

static halotune_status send_problem(struct cuda *c) {
  const struct scene *scene = c->problem.scene;
  const struct stencil *stencil = scene->request.stencil;
  struct text request = {0};
  struct gpu_reply reply;
  gpu_request_begin(&request, GPU_REQUEST_PROBLEM);
  pack_bytes(&request, &c->wire, sizeof c->wire);
  halotune_status status = ask(c, &request, START_MS, &reply);
  for (int i = 0; i < stencil->input_count && status == HALOTUNE_OK; i++)
    status = upload(c, GPU_UPLOAD_START, i, scene->inputs[i]);
  for (int o = 0; o < stencil->output_count && status == HALOTUNE_OK; o++) {
    if (c->wire.phase_count > 1) status = upload(c, GPU_UPLOAD_START, stencil->input_count + o, scene->outputs[o]);
    if (status == HALOTUNE_OK) status = upload(c, GPU_UPLOAD_WANT, o, scene->want[o]);
    if (status == HALOTUNE_OK) status = upload(c, GPU_UPLOAD_MAGNITUDE, o, scene->magnitudes[o]);
  }
  return status;
}

/* --- the worker --------------------------------------------------------------------------------------------------- */

static void write_load(int slot, const struct candidate *candidate, bool verifies, struct text *request) {
  const struct variant_spec *spec = candidate->spec;
  struct kernel_plan plan;
  memset(&plan, 0, sizeof plan);
  kernel_plan_make(&candidate->generated->launch, spec->stencil, spec->dtype, &spec->domain, spec->coefficients, &plan);
  gpu_request_begin(request, GPU_REQUEST_LOAD);
  pack_u64(request, (uint64_t)slot);
  pack_u64(request, candidate->is_roof);
  pack_u64(request, verifies);
  pack_bytes(request, &plan, sizeof plan);
  pack_bytes(request, candidate->compiled->cubin, candidate->compiled->cubin_bytes);
}

static halotune_status open_gpu(struct cuda *c) {
  struct text request = {0};
  struct gpu_reply reply;
  gpu_request_begin(&request, GPU_REQUEST_OPEN);
  pack_u64(&request, (uint64_t)c->ordinal);
  halotune_status status = ask(c, &request, START_MS, &reply);
  if (status != HALOTUNE_OK) return status;
  if (reply.payload_bytes != sizeof c->opened)
    return fail(HALOTUNE_IO, "the GPU's worker gave an answer that makes no sense");
  memcpy(&c->opened, reply.payload, sizeof c->opened);
  return HALOTUNE_OK;
}

static halotune_status prepare(struct cuda *c) {
  struct text request = {0};
  struct gpu_reply reply;
  gpu_request_begin(&request, GPU_REQUEST_PREPARE);
  pack_bytes(&request, c->checks.cubin, c->checks.cubin_bytes);
  return ask(c, &request, START_MS, &reply);
}

static halotune_status restore(struct cuda *c) {
  halotune_status status = c->has_problem ? send_problem(c) : HALOTUNE_OK;
  for (int i = 0; i < BACKEND_SLOTS && status == HALOTUNE_OK; i++) {
    struct text request = {0};
    struct gpu_reply reply;
    if (!c->slots[i].is_live) continue;
    write_load(i, &c->slots[i].candidate, false, &request);
    status = ask(c, &request, START_MS, &reply);
  }
  return status;
}

/* Have a worker that is as it should be, whether or not there was one. */
static halotune_status ensure_worker(struct cuda *c) {
  struct pollfd idle = {.fd = c->link.socket, .events = POLLIN};
  if (c->link.pid != 0 && poll(&idle, 1, 0) == 0) return HALOTUNE_OK; /* an idle one has nothing to say */
  halotune_status status = gpu_link_start(&c->link);
  if (status == HALOTUNE_OK) status = open_gpu(c);
  if (status == HALOTUNE_OK) status = prepare(c);
  if (status == HALOTUNE_OK) status = restore(c);
  if (status != HALOTUNE_OK) gpu_link_stop(&c->link);
  return status;
}

/* --- requests about a variant ------------------------------------------------------------------------------------- */

/* What copies and checks of all fields may take beside the kernel, on a slow GPU. */
static double overhead_ms(const struct cuda *c) {
  const double slow_bytes_per_ms = 2e7;
  double points = (double)domain_elements(&c->wire.domain);
  return points * gpu_problem_buffers(&c->wire) * 4 * sizeof(double) / slow_bytes_per_ms;
}

/* How many sets of fields take turns; all do before each sample. */
static int sets_in_turn(const struct cuda *c) {
  size_t bytes = gpu_problem_bytes(&c->wire) * (size_t)gpu_problem_buffers(&c->wire);
  return c->wire.cache == CACHE_COLD ? gpu_rotation_sets(bytes, c->opened.device.l2_bytes) : 1;
}

static double expected_ms(const struct cuda *c, int slot) {
  return c->slots[slot].time_ms > 0 ? c->slots[slot].time_ms : c->best_ms;
}

static void say(struct verdict *verdict, enum outcome outcome, const char *reason) {
  verdict->outcome = outcome;
  snprintf(verdict->reason, sizeof verdict->reason, "%.500s", reason);
}

/* Ask; what becomes of the worker or of its GPU is a verdict about the variant.
 *   have  receives whether there is a payload to look at */
static halotune_status ask_variant(struct cuda *c, struct text *request, double deadline_ms, struct gpu_reply *reply,
                                   struct verdict *verdict, bool *have) {
  *have = false;
  gpu_message_end(request);
  bool complete = text_ok(request);
  enum gpu_link_end end = complete ? gpu_link_call(&c->link, request, deadline_ms, reply) : GPU_LINK_DIED;
  text_free(request);
  if (!complete) return fail_memory();
  if (end == GPU_LINK_HUNG) {
    verdict->outcome = OUTCOME_HUNG;
    snprintf(verdict->reason, sizeof verdict->reason, "did not end in %.1f s", deadline_ms / 1000);
    return HALOTUNE_OK;
  }
  if (end == GPU_LINK_DIED) {
    say(verdict, OUTCOME_CRASHED, c->link.death);
    return HALOTUNE_OK;
  }
  *have = reply->status == HALOTUNE_OK;
  halotune_status status = HALOTUNE_OK;
  if (reply->status == HALOTUNE_NO_GPU) say(verdict, reply->outcome, reply->detail);
  else if (reply->status != HALOTUNE_OK) status = fail(reply->status, "%s", reply->detail);
  if (reply->is_lost) gpu_link_stop(&c->link);
  return status;
}

/* Copy the payload, which has to be so large. */
static halotune_status take_payload(struct cuda *c, const struct gpu_reply *reply, void *out, size_t bytes) {
  if (reply->payload_bytes == bytes) {
    memcpy(out, reply->payload, bytes);
    return HALOTUNE_OK;
  }
  gpu_link_stop(&c->link);
  return fail(HALOTUNE_IO, "the GPU's worker gave an answer that makes no sense");
}

static void forget(struct cuda *c, int slot) { c->slots[slot] = (struct cuda_slot){.is_live = false}; }

static halotune_status unload(void *state, int slot) {
  struct cuda *c = state;
  struct text request = {0};
  struct gpu_reply reply;
  bool was_live = slot >= 0 && slot < BACKEND_SLOTS && c->slots[slot].is_live;
  if (!was_live) return HALOTUNE_OK;
  forget(c, slot);
  if (c->link.pid == 0) return HALOTUNE_OK;
  gpu_request_begin(&request, GPU_REQUEST_UNLOAD);
  pack_u64(&request, (uint64_t)slot);
  /* A worker that cannot even do this is replaced by the next call. */
  if (ask(c, &request, c->hang_ms, &reply) != HALOTUNE_OK) gpu_link_stop(&c->link);
  return HALOTUNE_OK;
}

static void note_time(struct cuda *c, int slot, double time_ms) {
  struct cuda_slot *s = &c->slots[slot];
  if (!(time_ms > 0)) return;
  if (s->time_ms == 0 || time_ms < s->time_ms) s->time_ms = time_ms;
  bool counts = slot < BACKEND_SLOTS && !s->candidate.is_roof;
  if (counts && (c->best_ms == 0 || time_ms < c->best_ms)) c->best_ms = time_ms;
}

static halotune_status load(void *state, int slot, const struct candidate *candidate, struct verdict *verdict) {
  struct cuda *c = state;
  struct gpu_look_back seen;
  struct text request = {0};
  struct gpu_reply reply;
  bool have, verifies = !candidate->is_roof;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  if (slot < 0 || slot >= BACKEND_SLOTS || !c->has_problem || !candidate->compiled || !candidate->compiled->cubin) {
    return fail(HALOTUNE_ARGUMENT, "slot %d cannot be loaded", slot);
  }
  unload(c, slot);
  halotune_status status = ensure_worker(c);
  if (status != HALOTUNE_OK) return status;
  write_load(slot, candidate, verifies, &request);
  double deadline_ms = fmax(c->hang_ms, HANG_FACTOR * c->best_ms) + overhead_ms(c);
  status = ask_variant(c, &request, deadline_ms, &reply, verdict, &have);
  if (status != HALOTUNE_OK || !have) return status;
  c->slots[slot] = (struct cuda_slot){.is_live = true, .candidate = *candidate};
  if (verifies) status = take_payload(c, &reply, &seen, sizeof seen);
  if (verifies && status == HALOTUNE_OK) cuda_judge(candidate->spec->stencil, &c->wire, &seen, verdict);
  if (status == HALOTUNE_OK && verdict->outcome == OUTCOME_MEASURED) note_time(c, slot, verdict->run_ms);
  else unload(c, slot);
  return status;
}

static void write_sample(const struct sample_plan *plan, struct text *request) {
  gpu_request_begin(request, GPU_REQUEST_SAMPLE);
  pack_u64(request, (uint64_t)plan->rounds);
  pack_u64(request, plan->warm);
  pack_u64(request, (uint64_t)plan->slot_count);
  for (int i = 0; i < plan->slot_count; i++) {
    pack_u64(request, (uint64_t)plan->slots[i]);
    pack_u64(request, (uint64_t)plan->batches[i]);
  }
}

static bool is_in_plan(const struct sample_plan *plan, int slot) {
  for (int i = 0; i < plan->slot_count; i++) {
    if (plan->slots[i] == slot) return true;
  }
  return false;
}

/* A failed one is empty in the worker too, or there is no worker. */
static void fail_slot(struct cuda *c, const struct sample_plan *plan, const struct gpu_reply *reply, int *failed) {
  int slot = reply->status == HALOTUNE_NO_GPU ? reply->slot : c->link.last_slot;
  *failed = is_in_plan(plan, slot) ? slot : plan->slots[0];
  forget(c, *failed);
}

static halotune_status sample(void *state, const struct sample_plan *plan, double *times_ms, int *failed,
                              struct verdict *verdict) {
  struct cuda *c = state;
  struct text request = {0};
  struct gpu_reply reply = {.status = HALOTUNE_OK};
  double plan_ms = 0;
  bool have;
  long count = (long)plan->rounds * plan->slot_count;
  *failed = -1;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  if (count <= 0) return HALOTUNE_OK;
  for (long i = 0; i < count; i++) times_ms[i] = 0;
  for (int i = 0; i < plan->slot_count; i++) {
    int slot = plan->slots[i];
    bool is_there = slot >= 0 && slot < BACKEND_ALL_SLOTS && (slot >= BACKEND_SLOTS || c->slots[slot].is_live);
    if (!is_there) { /* it died in an earlier call, or was never loaded */
      *failed = slot;
      verdict->outcome = OUTCOME_CRASHED;
      snprintf(verdict->reason, sizeof verdict->reason, "slot %d is empty", slot);
      return HALOTUNE_OK;
    }
    /* Twice the batch, for the first launch of a graph is not a timed one. */
    plan_ms += (2.0 * plan->batches[i] + plan->warm + sets_in_turn(c)) * plan->rounds * expected_ms(c, slot);
  }
  halotune_status status = ensure_worker(c);
  if (status != HALOTUNE_OK) return status;
  write_sample(plan, &request);
  status = ask_variant(c, &request, fmax(c->hang_ms, HANG_FACTOR * plan_ms) + overhead_ms(c), &reply, verdict, &have);
  if (status != HALOTUNE_OK) return status;
  if (!have) fail_slot(c, plan, &reply, failed);
  else status = take_payload(c, &reply, times_ms, (size_t)count * sizeof *times_ms);
  for (long i = 0; i < count && status == HALOTUNE_OK; i++)
    note_time(c, plan->slots[i % plan->slot_count], times_ms[i]);
  return status;
}

static halotune_status recheck(void *state, int slot, struct verdict *verdict) {
  struct cuda *c = state;
  struct gpu_look_back seen[2];
  struct text request = {0};
  struct gpu_reply reply;
  bool have;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  if (slot < 0 || slot >= BACKEND_SLOTS || !c->slots[slot].is_live)
    return fail(HALOTUNE_ARGUMENT, "slot %d is empty", slot);
  if (c->slots[slot].candidate.is_roof) return HALOTUNE_OK;
  halotune_status status = ensure_worker(c);
  if (status != HALOTUNE_OK) return status;
  gpu_request_begin(&request, GPU_REQUEST_RECHECK);
  pack_u64(&request, (uint64_t)slot);
  double deadline_ms = fmax(c->hang_ms, HANG_FACTOR * expected_ms(c, slot)) + 2 * overhead_ms(c);
  status = ask_variant(c, &request, deadline_ms, &reply, verdict, &have);
  if (status == HALOTUNE_OK && !have) forget(c, slot);
  if (status != HALOTUNE_OK || !have) return status;
  status = take_payload(c, &reply, seen, sizeof seen);
  const struct stencil *stencil = c->slots[slot].candidate.spec->stencil;
  for (int i = 0; i < 2 && status == HALOTUNE_OK && verdict->outcome == OUTCOME_MEASURED; i++) {
    cuda_judge(stencil, &c->wire, &seen[i], verdict);
  }
  if (status != HALOTUNE_OK || verdict->outcome != OUTCOME_MEASURED) unload(c, slot);
  return status;
}

static halotune_status set_problem(void *state, const struct backend_problem *problem) {
  struct cuda *c = state;
  c->has_problem = false;
  c->best_ms = 0;
  for (int i = 0; i < BACKEND_ALL_SLOTS; i++) forget(c, i);
  halotune_status status = cuda_problem_make(problem, &c->wire);
  if (status != HALOTUNE_OK) return status;
  c->problem = *problem;
  status = ensure_worker(c);
  if (status == HALOTUNE_OK) status = send_problem(c);
  c->has_problem = status == HALOTUNE_OK;
  return status;
}

static void read_gpu(void *state, struct gpu_reading *out) {
  const struct cuda *c = state;
  nvml_read(&c->nvml, out);
}

static halotune_status keep_warm(void *state, double time_ms) {
  struct cuda *c = state;
  struct text request = {0};
  struct gpu_reply reply;
  halotune_status status = ensure_worker(c);
  if (status != HALOTUNE_OK) return status;
  gpu_request_begin(&request, GPU_REQUEST_KEEP_WARM);
  pack_double(&request, time_ms);
  return ask(c, &request, time_ms + c->hang_ms, &reply);
}

static void close_backend(void *state) {
  struct cuda *c = state;
  gpu_link_close(&c->link);
  nvml_close(&c->nvml);
  compiled_free(&c->checks);
  free(c);
}

/* --- open --------------------------------------------------------------------------------------------------------- */

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

static halotune_status fill_facts(struct cuda *c, struct backend_facts *facts) {
  enum { TEN = 10 };
  int capability = c->opened.device.capability;
  facts->device = c->opened.device;
  facts->cuda = c->opened.cuda;
  facts->arch = arch_find(capability / TEN, capability % TEN);
  if (!facts->arch) {
    return fail(HALOTUNE_NO_GPU, "%s has compute capability %d.%d, which this Halotune does not know",
                c->opened.device.name, capability / TEN, capability % TEN);
  }
  if (nvml_open(&c->nvml) != HALOTUNE_OK ||
      nvml_choose(&c->nvml, c->opened.device.uuid, c->opened.pci_bus_id) != HALOTUNE_OK) {
    snprintf(facts->warnings, sizeof facts->warnings, "%.500s\n", fail_text());
  }
  snprintf(facts->driver, sizeof facts->driver, "%s", c->nvml.driver);
  int others = nvml_process_count(&c->nvml) - 1; /* one is the worker */
  if (others > 0) {
    size_t length = strlen(facts->warnings);
    snprintf(facts->warnings + length, sizeof facts->warnings - length,
             "%d other process%s on the GPU: times may be off\n", others, others == 1 ? " computes" : "es compute");
  }
  return HALOTUNE_OK;
}

halotune_status backend_cuda_open(const struct backend_cuda_options *options, struct backend_handle *out) {
  static const struct backend table = {.name = "cuda",
                                       .set_problem = set_problem,
                                       .load = load,
                                       .unload = unload,
                                       .sample = sample,
                                       .recheck = recheck,
                                       .read = read_gpu,
                                       .keep_warm = keep_warm,
                                       .close = close_backend};
  *out = (struct backend_handle){.table = NULL};
  struct cuda *c = calloc(1, sizeof *c);
  if (!c) return fail_memory();
  c->ordinal = options->ordinal;
  c->hang_ms = options->hang_ms > 0 ? options->hang_ms : BACKEND_HANG_MS;
  halotune_status status = gpu_link_open(NULL, &c->link);
  if (status == HALOTUNE_OK) status = gpu_link_start(&c->link);
  if (status == HALOTUNE_OK) status = open_gpu(c);
  if (status == HALOTUNE_OK) status = compile_checks(c, options->compiler);
  if (status == HALOTUNE_OK) status = prepare(c);
  if (status == HALOTUNE_OK) status = fill_facts(c, &out->facts);
  if (status != HALOTUNE_OK) {
    close_backend(c);
    return status;
  }
  out->table = &table;
  out->state = c;
  return HALOTUNE_OK;
}
