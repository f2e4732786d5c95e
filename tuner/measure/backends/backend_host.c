/* backend_host.c: the emulation as a backend, so that search and finals work without a GPU. A sample is wall time of
 * the emulation. Launch and cache modes make no difference. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/clock.h"
#include "tuner/measure/backends/backend.h"
#include "tuner/verify/emulated_check.h"

struct emulation_slot {
  struct emulation_batch *batch; /* NULL: empty */
  struct candidate candidate;
  struct emulated_fields fields; /* fields for samples, made at the first sample */
  bool has_fields;
};

struct host {
  bool has_problem;
  struct backend_problem problem;
  struct emulation_slot slots[BACKEND_SLOTS];
  struct emulation_batch *empty; /* a kernel that does nothing */
  char *copy_from, *copy_to;     /* arrays of roof_elements */
  size_t copy_bytes;
};

static const struct check_order first_order = {EMULATION_ASCENDING, EMULATION_ASCENDING, 1};

static void empty_slot(struct emulation_slot *slot) {
  if (slot->has_fields) emulated_fields_free(&slot->fields);
  emulation_batch_free(slot->batch);
  *slot = (struct emulation_slot){.batch = NULL};
}

static void free_problem(struct host *h) {
  for (int i = 0; i < BACKEND_SLOTS; i++) empty_slot(&h->slots[i]);
  free(h->copy_from);
  free(h->copy_to);
  h->copy_from = h->copy_to = NULL;
  h->has_problem = false;
}

static halotune_status host_set_problem(void *state, const struct backend_problem *problem) {
  struct host *h = state;
  free_problem(h);
  h->problem = *problem;
  h->copy_bytes = (size_t)problem->roof_elements * dtype_bytes(problem->scene->request.dtype);
  if (h->copy_bytes > 0) {
    h->copy_from = calloc(1, h->copy_bytes);
    h->copy_to = calloc(1, h->copy_bytes);
    if (!h->copy_from || !h->copy_to) return fail_memory();
  }
  h->has_problem = true;
  return HALOTUNE_OK;
}

/* The outcome on a GPU that corresponds to an outcome of the emulation. */
static enum outcome outcome_of(int kind) {
  switch (kind) {
  case EMULATION_OK: return OUTCOME_MEASURED;
  case EMULATION_BAD_LAUNCH: return OUTCOME_LAUNCH_FAILED;
  case EMULATION_HUNG: return OUTCOME_HUNG;
  case EMULATION_MISALIGNED:
  case EMULATION_OUT_OF_BOUNDS: return OUTCOME_OUT_OF_BOUNDS;
  case EMULATION_UNWRITTEN_SHARED:
  case EMULATION_UNWAITED_COPY: return OUTCOME_WRONG;
  default: return OUTCOME_CRASHED;
  }
}

static enum outcome outcome_of_name(const char *name) {
  for (int kind = EMULATION_OK; kind <= EMULATION_UNDEFINED; kind++) {
    if (strcmp(emulation_outcome_name(kind), name) == 0) return outcome_of(kind);
  }
  return OUTCOME_CRASHED;
}

static enum outcome outcome_of_check(const struct check_result *result) {
  switch (result->outcome) {
  case CHECK_PASSED: return OUTCOME_MEASURED;
  case CHECK_WROTE_OUTSIDE: return OUTCOME_OUT_OF_BOUNDS;
  case CHECK_HOST: return outcome_of_name(result->name);
  default: return OUTCOME_WRONG;
  }
}

static void say_compile(struct verdict *verdict, const struct emulation_compile *compile) {
  const enum outcome outcomes[] = {[COMPILE_OK] = OUTCOME_MEASURED,
                                   [COMPILE_FAILED] = OUTCOME_COMPILE_FAILED,
                                   [COMPILE_CRASHED] = OUTCOME_COMPILE_CRASHED,
                                   [COMPILE_TIMEOUT] = OUTCOME_COMPILE_TIMEOUT};
  verdict_say(verdict, outcomes[compile->outcome], compile->log);
}

static halotune_status check_candidate(struct host *h, struct emulation_slot *slot, struct verdict *verdict) {
  struct check_result result;
  double start_ms = clock_ms();
  halotune_status status =
      emulated_check(slot->batch, 0, slot->candidate.generated, h->problem.scene, first_order, &result);
  if (status != HALOTUNE_OK) return status;
  verdict_say(verdict, outcome_of_check(&result), result.text);
  verdict->worst = result.worst;
  verdict->run_ms = clock_ms() - start_ms;
  return HALOTUNE_OK;
}

static halotune_status host_unload(void *state, int slot) {
  struct host *h = state;
  if (slot >= 0 && slot < BACKEND_SLOTS) empty_slot(&h->slots[slot]);
  return HALOTUNE_OK;
}

/* Compiles end with other work of the CPU for the problem. */
static struct emulation_options compile_options(const struct host *h) {
  static const struct ending never = {.flag = NULL};
  return (struct emulation_options){.workers = 1, .ending = h->has_problem ? h->problem.scene->request.ending : never};
}

static halotune_status host_load(void *state, int number, const struct candidate *candidate, struct verdict *verdict) {
  struct host *h = state;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  if (number < 0 || number >= BACKEND_SLOTS || !h->has_problem)
    return fail(HALOTUNE_ARGUMENT, "slot %d cannot be loaded", number);
  struct emulation_slot *slot = &h->slots[number];
  const char *kernel = candidate->generated->launch.kernel;
  const struct emulation_source source = {kernel, candidate->generated->source, &kernel, 1};
  const struct emulation_options options = compile_options(h);
  empty_slot(slot);
  if (candidate->is_roof) { /* the emulation has no roof, because memory does not bound it */
    verdict_say(verdict, OUTCOME_LAUNCH_FAILED, "the emulation has no roof");
    return HALOTUNE_OK;
  }
  slot->candidate = *candidate;
  halotune_status status = emulation_build(&source, 1, &options, &slot->batch);
  if (status == HALOTUNE_OK) say_compile(verdict, emulation_batch_compile(slot->batch, 0));
  if (status == HALOTUNE_OK && verdict->outcome == OUTCOME_MEASURED) status = check_candidate(h, slot, verdict);
  if (status != HALOTUNE_OK || verdict->outcome != OUTCOME_MEASURED) empty_slot(slot);
  return status;
}

static halotune_status make_empty(struct host *h) {
  const struct emulation_options options = compile_options(h);
  static const char *const kernel = "empty";
  const struct emulation_source source = {"empty.cu", "extern \"C\" __global__ void empty() {}\n", &kernel, 1};
  return h->empty ? HALOTUNE_OK : emulation_build(&source, 1, &options, &h->empty);
}

/* Run one application. */
static halotune_status apply_slot(struct host *h, int number, struct emulation_outcome *outcome) {
  *outcome = (struct emulation_outcome){.kind = EMULATION_OK};
  if (number == SLOT_MEMCPY) {
    memcpy(h->copy_to, h->copy_from, h->copy_bytes);
    return HALOTUNE_OK;
  }
  if (number == SLOT_EMPTY) {
    const struct emulation_launch launch = {.kernel = "empty", .grid = {1, 1, 1}, .block = {1, 1, 1}};
    return emulation_run(h->empty, 0, &launch, outcome);
  }
  struct emulation_slot *slot = &h->slots[number];
  return emulated_fields_launch(&slot->fields, slot->batch, 0, first_order, outcome);
}

static halotune_status make_ready(struct host *h, int number) {
  if (number == SLOT_EMPTY) return make_empty(h);
  if (number == SLOT_MEMCPY)
    return h->copy_bytes > 0 ? HALOTUNE_OK : fail(HALOTUNE_ARGUMENT, "the problem has no roof");
  struct emulation_slot *slot = number >= 0 && number < BACKEND_SLOTS ? &h->slots[number] : NULL;
  if (!slot || !slot->batch) return fail(HALOTUNE_ARGUMENT, "slot %d is empty", number);
  if (slot->has_fields) return HALOTUNE_OK;
  slot->has_fields = true;
  return emulated_fields_make(h->problem.scene, slot->candidate.generated, &slot->fields);
}

static halotune_status take_sample(struct host *h, int number, int batch, bool warm, double *time_ms,
                                   struct emulation_outcome *outcome) {
  halotune_status status = make_ready(h, number);
  outcome->kind = EMULATION_OK;
  if (status == HALOTUNE_OK && warm) status = apply_slot(h, number, outcome);
  double start_ms = clock_ms();
  for (int i = 0; i < batch && status == HALOTUNE_OK && outcome->kind == EMULATION_OK; i++)
    status = apply_slot(h, number, outcome);
  *time_ms = (clock_ms() - start_ms) / batch;
  return status;
}

static halotune_status host_sample(void *state, const struct sample_plan *plan, double *times_ms, int *failed,
                                   struct verdict *verdict) {
  struct host *h = state;
  *failed = -1;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  for (long i = 0; i < (long)plan->rounds * plan->slot_count; i++) times_ms[i] = 0;
  for (long i = 0; i < (long)plan->rounds * plan->slot_count; i++) {
    struct emulation_outcome outcome;
    int k = (int)(i % plan->slot_count);
    halotune_status status = take_sample(h, plan->slots[k], plan->batches[k], plan->warm, &times_ms[i], &outcome);
    if (status != HALOTUNE_OK) return status;
    if (outcome.kind == EMULATION_OK) continue;
    times_ms[i] = 0;
    *failed = plan->slots[k];
    verdict_say(verdict, outcome_of(outcome.kind), outcome.text);
    return host_unload(h, *failed);
  }
  return HALOTUNE_OK;
}

/* Each run of the emulation checks its buffers already, so that only the comparison is repeated. */
static halotune_status host_recheck(void *state, int number, struct verdict *verdict) {
  struct host *h = state;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  if (number < 0 || number >= BACKEND_SLOTS || !h->slots[number].batch)
    return fail(HALOTUNE_ARGUMENT, "slot %d is empty", number);
  halotune_status status = check_candidate(h, &h->slots[number], verdict);
  if (status != HALOTUNE_OK || verdict->outcome != OUTCOME_MEASURED) empty_slot(&h->slots[number]);
  return status;
}

static halotune_status keep_warm(void *state, double time_ms) {
  (void)state, (void)time_ms;
  return HALOTUNE_OK;
}

static void close_backend(void *state) {
  struct host *h = state;
  free_problem(h);
  emulation_batch_free(h->empty);
  free(h);
}

halotune_status backend_host_open(const char *arch, struct backend_handle *out) {
  static const struct backend table = {.name = "host",
                                       .set_problem = host_set_problem,
                                       .load = host_load,
                                       .unload = host_unload,
                                       .sample = host_sample,
                                       .recheck = host_recheck,
                                       .read = backend_read_nothing,
                                       .keep_warm = keep_warm,
                                       .close = close_backend};
  enum { TEN = 10 };
  struct arch parsed;
  *out = (struct backend_handle){.table = NULL};
  halotune_status status = arch_parse(arch, &parsed);
  if (status != HALOTUNE_OK) return status;
  const struct arch_facts *facts = arch_find(parsed.major, parsed.minor);
  if (!facts) return fail(HALOTUNE_ARGUMENT, "the architecture %s is not known", arch);
  struct host *h = calloc(1, sizeof *h);
  if (!h) return fail_memory();
  struct device_facts *device = &out->facts.device;
  snprintf(device->name, sizeof device->name, "host emulation of %s", arch);
  snprintf(device->uuid, sizeof device->uuid, "emulation-%s", arch);
  device->capability = TEN * parsed.major + parsed.minor;
  device->sm_count = 1;
  device->limits = arch_device_limits(facts);
  /* the number that the database has, because it generates launches again */
  device->limits.multiprocessors = device->sm_count;
  out->facts.arch = facts;
  out->facts.is_emulation = true;
  out->table = &table;
  out->state = h;
  return HALOTUNE_OK;
}
