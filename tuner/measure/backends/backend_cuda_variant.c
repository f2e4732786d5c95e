/* backend_cuda_variant.c: has the worker load, sample and recheck variants. If the worker dies or hangs, that is a
 * verdict about the variant. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/system/trace.h"

#include "tuner/device/gpu_partial.h"
#include "tuner/measure/backends/backend_cuda_parts.h"

_Static_assert((int)GPU_SLOTS == (int)BACKEND_SLOTS && (int)GPU_SLOT_EMPTY == (int)SLOT_EMPTY &&
                   (int)GPU_SLOT_MEMCPY == (int)SLOT_MEMCPY && (int)GPU_ENERGY_IDLE == (int)ENERGY_IDLE,
               "worker and backend number slots alike");

enum { HANG_FACTOR = 20 };

double cuda_reference_ms(const struct cuda *c, double points) {
  const double slow_taps_per_ms = 1e7;
  const struct scene_request *request = &c->problem.scene->request;
  const double taps = (double)request->analysis->tap_count + 1;
  return GPU_PARTIAL_MOST_REPEATS * points * taps * request->steps / slow_taps_per_ms;
}

/* The time that copies and checks of all fields may take on a slow GPU. Where fields fill the memory, the reference of
 * the drawn boxes is computed as well, once for each check. */
static double overhead_ms(const struct cuda *c) {
  const double slow_bytes_per_ms = 2e7;
  double points = (double)domain_elements(&c->wire.domain);
  const double bytes_ms = points * gpu_problem_buffers(&c->wire) * 4 * sizeof(double) / slow_bytes_per_ms;
  return bytes_ms + cuda_reference_ms(c, (double)c->drawn_points);
}

/* The time that a verification may take. With outputs in place, it makes another run and another check. */
static double verify_ms(const struct cuda *c, double run_ms) {
  const double once_ms = fmax(c->hang_ms, HANG_FACTOR * run_ms) + overhead_ms(c);
  return gpu_problem_allows_in_place(&c->wire) ? 2 * once_ms : once_ms;
}

/* How many sets of fields are used in turns. All are used before each sample. */
static int sets_in_turn(const struct cuda *c) {
  size_t bytes = gpu_problem_set_bytes(&c->wire);
  return c->wire.cache == CACHE_COLD ? gpu_rotation_sets(bytes, c->opened.device.l2_bytes) : 1;
}

static double expected_ms(const struct cuda *c, int slot) {
  return c->slots[slot].time_ms > 0 ? c->slots[slot].time_ms : c->best_ms;
}

void cuda_trace(const char *name, const struct candidate *candidate, const struct gpu_reply *reply, enum gpu_mark from,
                enum gpu_mark to) {
  if (!trace_is_on() || reply->marks_ms[to] <= 0) return;
  const struct identity *variant = candidate && candidate->generated ? &candidate->generated->hash : NULL;
  trace_span(TRACE_GPU, name, reply->marks_ms[from], reply->marks_ms[to], variant, NULL);
}

/* Send a request about a variant. If the worker or its GPU fails, that is a verdict about the variant.
 *   have  receives whether the reply has a payload */
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
    verdict_say(verdict, OUTCOME_CRASHED, c->link.death);
    return HALOTUNE_OK;
  }
  *have = reply->status == HALOTUNE_OK;
  halotune_status status = HALOTUNE_OK;
  if (reply->status == HALOTUNE_NO_GPU) verdict_say(verdict, reply->outcome, reply->detail);
  else if (reply->status != HALOTUNE_OK) status = fail(reply->status, "%s", reply->detail);
  if (reply->is_lost) gpu_link_stop(&c->link);
  return status;
}

/* Check that the payload has this size. A worker that sends another one is stopped. */
static halotune_status check_payload(struct cuda *c, const struct gpu_reply *reply, size_t bytes) {
  if (reply->payload_bytes == bytes) return HALOTUNE_OK;
  gpu_link_stop(&c->link);
  return fail(HALOTUNE_IO, "the GPU's worker sent an invalid answer");
}

/* Copy the payload, which must have this size. */
static halotune_status take_payload(struct cuda *c, const struct gpu_reply *reply, void *out, size_t bytes) {
  halotune_status status = check_payload(c, reply, bytes);
  if (status == HALOTUNE_OK) memcpy(out, reply->payload, bytes);
  return status;
}

void cuda_forget(struct cuda *c, int slot) { c->slots[slot] = (struct cuda_slot){.is_live = false}; }

halotune_status cuda_unload(void *state, int slot) {
  struct cuda *c = state;
  struct text request = {0};
  struct gpu_reply reply;
  bool was_live = slot >= 0 && slot < BACKEND_SLOTS && c->slots[slot].is_live;
  if (!was_live) return HALOTUNE_OK;
  cuda_forget(c, slot);
  if (c->link.pid == 0) return HALOTUNE_OK;
  gpu_request_begin(&request, GPU_REQUEST_UNLOAD);
  pack_u64(&request, (uint64_t)slot);
  /* A worker that cannot even do this is replaced by the next call. */
  if (cuda_ask(c, &request, c->hang_ms, &reply) != HALOTUNE_OK) gpu_link_stop(&c->link);
  return HALOTUNE_OK;
}

static void note_time(struct cuda *c, int slot, double time_ms) {
  struct cuda_slot *s = &c->slots[slot];
  if (!(time_ms > 0)) return;
  if (s->time_ms == 0 || time_ms < s->time_ms) s->time_ms = time_ms;
  bool counts = slot < BACKEND_SLOTS && !s->candidate.is_roof;
  if (counts && (c->best_ms == 0 || time_ms < c->best_ms)) c->best_ms = time_ms;
}

/* Send the cubin to the worker. If the worker dies meanwhile, that is a verdict, too.
 *   have  receives whether the whole cubin is there */
static halotune_status bring_cubin(struct cuda *c, const struct compiled *compiled, double deadline_ms,
                                   struct verdict *verdict, bool *have) {
  halotune_status status = HALOTUNE_OK;
  *have = true;
  for (size_t done = 0; done < compiled->cubin_bytes && status == HALOTUNE_OK && *have;) {
    struct text request = {0};
    struct gpu_reply reply;
    done += cuda_write_cubin(c, compiled, done, &request);
    status = ask_variant(c, &request, deadline_ms, &reply, verdict, have);
  }
  return status;
}

/* Write the spans of a verification: the whole, the run and the comparison. */
static void trace_verify(const struct candidate *candidate, const struct gpu_reply *reply) {
  cuda_trace("verify", candidate, reply, GPU_MARK_LOADED, GPU_MARK_END);
  cuda_trace("run", candidate, reply, GPU_MARK_LOADED, GPU_MARK_RAN);
  cuda_trace("compare", candidate, reply, GPU_MARK_RAN, GPU_MARK_END);
}

halotune_status cuda_load(void *state, int slot, const struct candidate *candidate, struct verdict *verdict) {
  struct cuda *c = state;
  struct gpu_look_back seen;
  struct text request = {0};
  struct gpu_reply reply = {.status = HALOTUNE_OK};
  bool have, verifies = !candidate->is_roof;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  if (slot < 0 || slot >= BACKEND_SLOTS || !c->has_problem || !candidate->compiled || !candidate->compiled->cubin) {
    return fail(HALOTUNE_ARGUMENT, "slot %d cannot be loaded", slot);
  }
  cuda_unload(c, slot);
  halotune_status status = cuda_ensure_worker(c);
  if (status != HALOTUNE_OK) return status;
  const double deadline_ms = verify_ms(c, c->best_ms);
  status = bring_cubin(c, candidate->compiled, deadline_ms, verdict, &have);
  if (status != HALOTUNE_OK || !have) return status;
  cuda_write_load(slot, candidate, verifies, &(struct gpu_results){0}, &request);
  status = ask_variant(c, &request, deadline_ms, &reply, verdict, &have);
  cuda_trace("load", candidate, &reply, GPU_MARK_BEGIN, GPU_MARK_LOADED);
  if (verifies) trace_verify(candidate, &reply);
  if (status != HALOTUNE_OK || !have) return status;
  c->slots[slot] = (struct cuda_slot){.is_live = true, .candidate = *candidate};
  if (verifies) status = take_payload(c, &reply, &seen, sizeof seen);
  if (verifies && status == HALOTUNE_OK) cuda_judge(c->problem.scene, &c->wire, &seen, verdict);
  if (status == HALOTUNE_OK && verdict->outcome == OUTCOME_MEASURED) note_time(c, slot, verdict->run_ms);
  else cuda_unload(c, slot);
  return status;
}

static void write_sample(const struct sample_plan *plan, struct text *request) {
  gpu_request_begin(request, GPU_REQUEST_SAMPLE);
  pack_u64(request, (uint64_t)plan->rounds);
  pack_u64(request, plan->warm);
  pack_u64(request, plan->checks);
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

/* Note the slot that failed. It is empty in the worker, too, or there is no worker. */
static void fail_slot(struct cuda *c, const struct sample_plan *plan, const struct gpu_reply *reply, int *failed) {
  int slot = reply->status == HALOTUNE_NO_GPU ? reply->slot : c->link.last_slot;
  *failed = is_in_plan(plan, slot) ? slot : plan->slots[0];
  cuda_forget(c, *failed);
}

/* Take the times of samples, and what their checks have found. */
static halotune_status take_samples(struct cuda *c, const struct sample_plan *plan, const struct gpu_reply *reply,
                                    double *times_ms) {
  const size_t times_bytes = (size_t)plan->rounds * (size_t)plan->slot_count * sizeof *times_ms;
  const size_t each = sizeof c->slots[0].results, results = plan->checks ? (size_t)plan->slot_count : 0;
  halotune_status status = check_payload(c, reply, times_bytes + results * each);
  if (status != HALOTUNE_OK) return status;
  memcpy(times_ms, reply->payload, times_bytes);
  for (size_t i = 0; i < results; i++)
    memcpy(&c->slots[plan->slots[i]].results, reply->payload + times_bytes + i * each, each);
  return HALOTUNE_OK;
}

halotune_status cuda_sample(void *state, const struct sample_plan *plan, double *times_ms, int *failed,
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
    if (!is_there) { /* its variant died in an earlier call, or was never loaded */
      *failed = slot;
      verdict->outcome = OUTCOME_CRASHED;
      snprintf(verdict->reason, sizeof verdict->reason, "slot %d is empty", slot);
      return HALOTUNE_OK;
    }
    /* The batch counts twice, because the first launch of a graph is not timed. */
    plan_ms += (2.0 * plan->batches[i] + plan->warm + sets_in_turn(c)) * plan->rounds * expected_ms(c, slot);
  }
  halotune_status status = cuda_ensure_worker(c);
  if (status != HALOTUNE_OK) return status;
  write_sample(plan, &request);
  const double looks_ms = (plan->checks ? (double)count : 1) * overhead_ms(c);
  status = ask_variant(c, &request, fmax(c->hang_ms, HANG_FACTOR * plan_ms) + looks_ms, &reply, verdict, &have);
  cuda_trace("sample", plan->slot_count == 1 ? &c->slots[plan->slots[0]].candidate : NULL, &reply, GPU_MARK_BEGIN,
             GPU_MARK_END);
  if (status != HALOTUNE_OK) return status;
  if (!have) fail_slot(c, plan, &reply, failed);
  else status = take_samples(c, plan, &reply, times_ms);
  for (long i = 0; i < count && status == HALOTUNE_OK; i++)
    note_time(c, plan->slots[i % plan->slot_count], times_ms[i]);
  return status;
}

halotune_status cuda_recheck(void *state, int slot, struct verdict *verdict) {
  struct cuda *c = state;
  struct gpu_look_back seen[2];
  struct text request = {0};
  struct gpu_reply reply = {.status = HALOTUNE_OK};
  bool have;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  if (slot < 0 || slot >= BACKEND_SLOTS || !c->slots[slot].is_live)
    return fail(HALOTUNE_ARGUMENT, "slot %d is empty", slot);
  if (c->slots[slot].candidate.is_roof) return HALOTUNE_OK;
  halotune_status status = cuda_ensure_worker(c);
  if (status != HALOTUNE_OK) return status;
  gpu_request_begin(&request, GPU_REQUEST_RECHECK);
  pack_u64(&request, (uint64_t)slot);
  const double deadline_ms = verify_ms(c, expected_ms(c, slot)) + overhead_ms(c);
  status = ask_variant(c, &request, deadline_ms, &reply, verdict, &have);
  cuda_trace("inspect", &c->slots[slot].candidate, &reply, GPU_MARK_BEGIN, GPU_MARK_LOADED);
  trace_verify(&c->slots[slot].candidate, &reply);
  if (status == HALOTUNE_OK && !have) cuda_forget(c, slot);
  if (status != HALOTUNE_OK || !have) return status;
  status = take_payload(c, &reply, seen, sizeof seen);
  for (int i = 0; i < 2 && status == HALOTUNE_OK && verdict->outcome == OUTCOME_MEASURED; i++) {
    cuda_judge(c->problem.scene, &c->wire, &seen[i], verdict);
  }
  if (status != HALOTUNE_OK || verdict->outcome != OUTCOME_MEASURED) cuda_unload(c, slot);
  return status;
}

halotune_status cuda_verify_all(void *state, int slot, struct verdict *verdict) {
  struct cuda *c = state;
  struct gpu_look_back seen;
  struct text request = {0};
  struct gpu_reply reply = {.status = HALOTUNE_OK};
  bool have;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  if (slot < 0 || slot >= BACKEND_SLOTS || !c->slots[slot].is_live)
    return fail(HALOTUNE_ARGUMENT, "slot %d is empty", slot);
  halotune_status status = cuda_ensure_worker(c);
  if (status != HALOTUNE_OK) return status;
  gpu_request_begin(&request, GPU_REQUEST_VERIFY_ALL);
  pack_u64(&request, (uint64_t)slot);
  /* Where outputs are verified in place, too, the reference is computed twice. */
  const double all_ms = 2 * cuda_reference_ms(c, (double)domain_elements(&c->wire.domain));
  const double deadline_ms = verify_ms(c, expected_ms(c, slot)) + all_ms;
  status = ask_variant(c, &request, deadline_ms, &reply, verdict, &have);
  trace_verify(&c->slots[slot].candidate, &reply);
  if (status == HALOTUNE_OK && !have) cuda_forget(c, slot);
  if (status != HALOTUNE_OK || !have) return status;
  status = take_payload(c, &reply, &seen, sizeof seen);
  if (status == HALOTUNE_OK) cuda_judge(c->problem.scene, &c->wire, &seen, verdict);
  if (status != HALOTUNE_OK || verdict->outcome != OUTCOME_MEASURED) cuda_unload(c, slot);
  return status;
}

halotune_status cuda_energy(void *state, const struct energy_plan *plan, struct energy_sample *out,
                            struct verdict *verdict) {
  struct cuda *c = state;
  struct text request = {0};
  struct gpu_energy taken;
  struct gpu_reply reply = {.status = HALOTUNE_OK};
  const bool is_idle = plan->slot == ENERGY_IDLE;
  bool have;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  if (!is_idle && (plan->slot < 0 || plan->slot >= BACKEND_SLOTS || !c->slots[plan->slot].is_live))
    return fail(HALOTUNE_ARGUMENT, "slot %d is empty", plan->slot);
  halotune_status status = cuda_ensure_worker(c);
  if (status != HALOTUNE_OK) return status;
  gpu_request_begin(&request, GPU_REQUEST_ENERGY);
  pack_u64(&request, (uint64_t)plan->slot);
  pack_double(&request, plan->time_ms);
  pack_double(&request, plan->least_ms);
  pack_u64(&request, (uint64_t)plan->least_changes);
  const double most_ms = GPU_ENERGY_MOST_MS + (is_idle ? 0 : HANG_FACTOR * GPU_ENERGY_UNITS * plan->time_ms);
  status = ask_variant(c, &request, fmax(c->hang_ms, plan->least_ms) + most_ms, &reply, verdict, &have);
  cuda_trace("energy", is_idle ? NULL : &c->slots[plan->slot].candidate, &reply, GPU_MARK_BEGIN, GPU_MARK_END);
  if (!is_idle && verdict->outcome != OUTCOME_MEASURED) cuda_forget(c, plan->slot);
  if (status != HALOTUNE_OK || !have) return status;
  if ((status = take_payload(c, &reply, &taken, sizeof taken)) != HALOTUNE_OK) return status;
  *out = (struct energy_sample){taken.energy_mj, taken.span_ms, taken.applications, taken.changes};
  return HALOTUNE_OK;
}
