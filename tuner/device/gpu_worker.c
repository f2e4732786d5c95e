/* gpu_worker.c: the loop of the worker process: read a request, work on the GPU, write a reply. */
#include "tuner/device/gpu_worker.h"

#include <stdlib.h>
#include <string.h>

#include "base/system/clock.h"
#include "base/system/transfer.h"

void gpu_request_begin(struct text *out, enum gpu_request request) {
  pack_u64(out, 0); /* the length, which gpu_message_end fills in */
  pack_u64(out, (uint64_t)request);
}

void gpu_message_end(struct text *out) {
  if (!text_ok(out)) return;
  uint64_t body = out->length - GPU_MESSAGE_HEAD_BYTES;
  memcpy(out->bytes, &body, sizeof body);
}

static void write_reply(const struct gpu_reply *reply, struct text *out) {
  pack_u64(out, 0);
  pack_u64(out, (uint64_t)reply->status);
  pack_text(out, reply->status == HALOTUNE_OK ? "" : reply->detail);
  pack_u64(out, (uint64_t)reply->outcome);
  pack_u64(out, (uint64_t)reply->slot);
  pack_u64(out, reply->is_lost);
  pack_bytes(out, reply->payload, reply->payload_bytes);
  for (int i = 0; i < GPU_MARK_COUNT; i++) pack_double(out, reply->marks_ms[i]);
  gpu_message_end(out);
}

bool gpu_reply_read(const char *body, size_t length, struct gpu_reply *out) {
  struct unpack in = {.at = body, .left = length};
  uint64_t status = unpack_u64(&in);
  const char *detail = unpack_text(&in);
  uint64_t outcome = unpack_u64(&in), slot = unpack_u64(&in), is_lost = unpack_u64(&in);
  size_t payload_bytes = 0;
  const char *payload = unpack_bytes(&in, &payload_bytes);
  double marks_ms[GPU_MARK_COUNT];
  for (int i = 0; i < GPU_MARK_COUNT; i++) marks_ms[i] = unpack_double(&in);
  if (in.failed || in.left > 0 || status > HALOTUNE_COMPILE || outcome >= OUTCOME_COUNT || slot >= GPU_ALL_SLOTS ||
      is_lost > 1) {
    return false;
  }
  *out = (struct gpu_reply){.status = (halotune_status)status,
                            .detail = detail,
                            .outcome = (enum outcome)outcome,
                            .slot = (int)slot,
                            .is_lost = is_lost == 1,
                            .payload = payload,
                            .payload_bytes = payload_bytes};
  memcpy(out->marks_ms, marks_ms, sizeof marks_ms);
  return true;
}

/* Read a structure, whose size must match. In the message it may be unaligned. */
static void unpack_struct(struct unpack *in, void *out, size_t bytes) {
  size_t length = 0;
  const char *found = unpack_bytes(in, &length);
  if (!in->failed && length == bytes) memcpy(out, found, bytes);
  else in->failed = true;
}

static halotune_status fail_malformed(void) { return fail(HALOTUNE_PARSE, "a request to the GPU worker is malformed"); }

/* Set the marks of a part of the request that has ended, and of all parts before it. */
static void set_marks(struct gpu_reply *reply, enum gpu_mark from, double now_ms) {
  for (int i = (int)from; i < GPU_MARK_COUNT; i++) reply->marks_ms[i] = now_ms;
}

struct worker {
  struct gpu_window *window;
  struct gpu_session *session;
  struct gpu_reply reply;
  struct text payload;
  struct text cubin; /* the parts of the cubin that have arrived */
  struct nvml nvml;  /* opened when energy is first asked for */
};

static halotune_status do_open(struct worker *w, struct unpack *in) {
  struct gpu_session *s = w->session;
  struct gpu_opened opened;
  int ordinal = (int)unpack_u64(in);
  memset(&opened, 0, sizeof opened);
  if (in->failed || s->cu.library) return fail_malformed();
  halotune_status status = gpu_session_open(ordinal, s);
  if (status != HALOTUNE_OK) return status;
  status = cu_check(&s->cu, s->cu.pci_bus_id(opened.pci_bus_id, sizeof opened.pci_bus_id, s->device.handle),
                    "cuDeviceGetPCIBusId");
  opened.device = s->device.facts;
  opened.cuda = s->cu.cuda_version;
  text_add(&w->payload, (const char *)&opened, sizeof opened);
  return status;
}

/* Append a part of a cubin. The part with offset 0 begins a new one. */
static halotune_status do_cubin(struct worker *w, struct unpack *in) {
  uint64_t offset = unpack_u64(in), bytes = unpack_u64(in);
  if (offset == 0) text_free(&w->cubin);
  if (in->failed || bytes == 0 || bytes > GPU_WINDOW_BYTES || offset != w->cubin.length) return fail_malformed();
  text_add(&w->cubin, w->window->bytes, bytes);
  return text_ok(&w->cubin) ? HALOTUNE_OK : fail_memory();
}

/* The complete cubin, aligned as memory from malloc is; NULL if parts are missing. */
static const char *whole_cubin(const struct worker *w, struct unpack *in) {
  uint64_t bytes = unpack_u64(in);
  return !in->failed && bytes > 0 && bytes == w->cubin.length ? w->cubin.bytes : NULL;
}

static halotune_status do_prepare(struct worker *w, struct unpack *in) {
  const char *cubin = whole_cubin(w, in);
  halotune_status status = cubin && w->session->cu.library ? gpu_session_prepare(w->session, cubin) : fail_malformed();
  text_free(&w->cubin);
  return status;
}

static halotune_status do_problem(struct worker *w, struct unpack *in) {
  struct gpu_problem problem;
  unpack_struct(in, &problem, sizeof problem);
  return in->failed || !w->session->checker.gpu ? fail_malformed() : gpu_session_problem(w->session, &problem);
}

static halotune_status do_upload(struct worker *w, struct unpack *in) {
  uint64_t kind = unpack_u64(in), number = unpack_u64(in), offset = unpack_u64(in), bytes = unpack_u64(in);
  if (in->failed || kind >= GPU_UPLOAD_KINDS || number >= 2ull * MAX_FIELDS || bytes > GPU_WINDOW_BYTES)
    return fail_malformed();
  return gpu_session_upload(w->session, (enum gpu_upload)kind, (int)number, offset, w->window->bytes, bytes);
}

static halotune_status do_make_fields(struct worker *w, struct unpack *in) {
  struct gpu_made made;
  struct gpu_recipe *recipe = malloc(sizeof *recipe);
  halotune_status status = recipe ? HALOTUNE_OK : fail_memory();
  if (recipe) unpack_struct(in, recipe, sizeof *recipe);
  if (status == HALOTUNE_OK)
    status = in->failed ? fail_malformed() : gpu_session_make_fields(w->session, recipe, &made);
  if (status == HALOTUNE_OK) text_add(&w->payload, (const char *)&made, sizeof made);
  free(recipe);
  return status;
}

static halotune_status do_download(struct worker *w, struct unpack *in) {
  uint64_t kind = unpack_u64(in), number = unpack_u64(in), offset = unpack_u64(in), bytes = unpack_u64(in);
  if (in->failed || kind >= GPU_UPLOAD_KINDS || number >= 2ull * MAX_FIELDS || bytes > GPU_WINDOW_BYTES)
    return fail_malformed();
  return gpu_session_download(w->session, (enum gpu_upload)kind, (int)number, offset, w->window->bytes, bytes);
}

static halotune_status do_load(struct worker *w, struct unpack *in) {
  struct gpu_session *s = w->session;
  struct kernel_plan plan;
  struct gpu_results results;
  struct gpu_look_back look_back;
  int slot = (int)unpack_u64(in);
  bool is_roof = unpack_u64(in) != 0, verifies = unpack_u64(in) != 0;
  unpack_struct(in, &plan, sizeof plan);
  unpack_struct(in, &results, sizeof results);
  const char *cubin = whole_cubin(w, in);
  w->window->slot = slot;
  halotune_status status = in->failed || !cubin ? fail_malformed() : gpu_session_load(s, slot, &plan, cubin, is_roof);
  text_free(&w->cubin);
  set_marks(&w->reply, GPU_MARK_LOADED, clock_ms());
  if (status == HALOTUNE_OK) s->slots[slot].results = results;
  if (status != HALOTUNE_OK || !verifies) return status;
  status = gpu_session_verify(s, slot, &look_back);
  set_marks(&w->reply, GPU_MARK_RAN, s->ran_ms);
  if (status != HALOTUNE_OK) gpu_session_unload(s, slot);
  else text_add(&w->payload, (const char *)&look_back, sizeof look_back);
  return status;
}

static halotune_status do_unload(struct worker *w, struct unpack *in) {
  uint64_t slot = unpack_u64(in);
  if (in->failed || slot >= GPU_SLOTS) return fail_malformed();
  gpu_session_unload(w->session, (int)slot);
  return HALOTUNE_OK;
}

/* The times are doubles. After a failure, the reply has those before it. */
static halotune_status do_sample(struct worker *w, struct unpack *in) {
  struct gpu_session *s = w->session;
  uint64_t rounds = unpack_u64(in), warm = unpack_u64(in), checks = unpack_u64(in);
  uint64_t count = unpack_u64(in);
  int slots[GPU_ALL_SLOTS], batches[GPU_ALL_SLOTS];
  if (in->failed || count > GPU_ALL_SLOTS) return fail_malformed();
  for (uint64_t i = 0; i < count; i++) {
    slots[i] = (int)unpack_u64(in);
    batches[i] = (int)unpack_u64(in);
  }
  if (in->failed) return fail_malformed();
  gpu_session_refresh(s);
  for (uint64_t round = 0; round < rounds; round++) {
    for (uint64_t i = 0; i < count; i++) {
      double time_ms = 0;
      w->window->slot = slots[i];
      halotune_status status = checks != 0 ? gpu_session_sample_checked(s, slots[i], batches[i], &time_ms)
                                           : gpu_session_sample(s, slots[i], batches[i], warm != 0, &time_ms);
      if (status != HALOTUNE_OK) {
        w->reply.slot = slots[i] >= 0 && slots[i] < GPU_ALL_SLOTS ? slots[i] : 0;
        if (status == HALOTUNE_NO_GPU) gpu_session_unload(s, w->reply.slot);
        return status;
      }
      pack_double(&w->payload, time_ms);
    }
  }
  for (uint64_t i = 0; i < count && rounds > 0 && checks != 0; i++) {
    const struct gpu_results *results = &s->slots[slots[i]].results;
    text_add(&w->payload, (const char *)results, sizeof *results);
  }
  return HALOTUNE_OK;
}

static halotune_status do_recheck(struct worker *w, struct unpack *in) {
  struct gpu_look_back found[2];
  int slot = (int)unpack_u64(in);
  w->window->slot = slot;
  halotune_status status =
      in->failed || !w->session->has_problem ? fail_malformed() : gpu_session_inspect(w->session, slot, &found[0]);
  set_marks(&w->reply, GPU_MARK_LOADED, clock_ms());
  if (status == HALOTUNE_OK) status = gpu_session_verify(w->session, slot, &found[1]);
  set_marks(&w->reply, GPU_MARK_RAN, w->session->ran_ms);
  if (status == HALOTUNE_OK) text_add(&w->payload, (const char *)found, sizeof found);
  else if (status == HALOTUNE_NO_GPU) gpu_session_unload(w->session, slot);
  return status;
}

static halotune_status do_verify_all(struct worker *w, struct unpack *in) {
  struct gpu_look_back look_back;
  int slot = (int)unpack_u64(in);
  w->window->slot = slot;
  halotune_status status =
      in->failed || !w->session->has_problem ? fail_malformed() : gpu_session_verify_all(w->session, slot, &look_back);
  set_marks(&w->reply, GPU_MARK_RAN, w->session->ran_ms);
  if (status == HALOTUNE_OK) text_add(&w->payload, (const char *)&look_back, sizeof look_back);
  else if (status == HALOTUNE_NO_GPU) gpu_session_unload(w->session, slot);
  return status;
}

static halotune_status do_keep_warm(struct worker *w, struct unpack *in) {
  double time_ms = unpack_double(in);
  return in->failed || !w->session->checker.gpu ? fail_malformed() : gpu_session_keep_warm(w->session, time_ms);
}

/* Open NVML, if it is not open yet, for the session's GPU. */
static halotune_status need_nvml(struct worker *w) {
  struct gpu_session *s = w->session;
  char bus_id[32] = "";
  if (w->nvml.has_device) return HALOTUNE_OK;
  halotune_status status =
      cu_check(&s->cu, s->cu.pci_bus_id(bus_id, sizeof bus_id, s->device.handle), "cuDeviceGetPCIBusId");
  if (status == HALOTUNE_OK && nvml_open(&w->nvml) != HALOTUNE_OK) status = HALOTUNE_NOT_FOUND;
  return status == HALOTUNE_OK ? nvml_choose(&w->nvml, s->device.facts.uuid, bus_id) : status;
}

static halotune_status do_energy(struct worker *w, struct unpack *in) {
  struct gpu_energy energy;
  struct gpu_energy_plan plan = {.slot = (int)unpack_u64(in)};
  plan.time_ms = unpack_double(in);
  plan.least_ms = unpack_double(in);
  plan.least_changes = (long)unpack_u64(in);
  if (in->failed || !w->session->checker.gpu) return fail_malformed();
  w->window->slot = plan.slot;
  halotune_status status = need_nvml(w);
  if (status == HALOTUNE_OK) status = gpu_session_energy(w->session, &w->nvml, &plan, &energy);
  if (status == HALOTUNE_OK) text_add(&w->payload, (const char *)&energy, sizeof energy);
  else if (status == HALOTUNE_NO_GPU && plan.slot >= 0 && plan.slot < GPU_SLOTS)
    gpu_session_unload(w->session, plan.slot);
  return status;
}

typedef halotune_status request_work(struct worker *w, struct unpack *in);
static request_work *const work[GPU_REQUEST_COUNT] = {
    [GPU_REQUEST_OPEN] = do_open,         [GPU_REQUEST_CUBIN] = do_cubin,
    [GPU_REQUEST_PREPARE] = do_prepare,   [GPU_REQUEST_PROBLEM] = do_problem,
    [GPU_REQUEST_UPLOAD] = do_upload,     [GPU_REQUEST_LOAD] = do_load,
    [GPU_REQUEST_UNLOAD] = do_unload,     [GPU_REQUEST_SAMPLE] = do_sample,
    [GPU_REQUEST_RECHECK] = do_recheck,   [GPU_REQUEST_KEEP_WARM] = do_keep_warm,
    [GPU_REQUEST_ENERGY] = do_energy,     [GPU_REQUEST_MAKE_FIELDS] = do_make_fields,
    [GPU_REQUEST_DOWNLOAD] = do_download, [GPU_REQUEST_VERIFY_ALL] = do_verify_all,
};

/* Do what the body of a request says, and write a complete reply. */
static void answer_request(struct worker *w, const char *body, size_t length, struct text *out) {
  struct unpack in = {.at = body, .left = length};
  struct gpu_reply *reply = &w->reply;
  uint64_t request = unpack_u64(&in);
  *reply = (struct gpu_reply){.outcome = OUTCOME_MEASURED};
  set_marks(reply, GPU_MARK_BEGIN, clock_ms());
  w->payload.length = 0;
  w->window->slot = -1;
  reply->status = request < GPU_REQUEST_COUNT ? work[request](w, &in) : fail_malformed();
  w->window->slot = -1;
  set_marks(reply, GPU_MARK_END, clock_ms());
  if (!text_ok(&w->payload)) reply->status = fail_memory();
  reply->detail = fail_text();
  if (reply->status == HALOTUNE_NO_GPU) reply->outcome = gpu_outcome(w->session->gpu.failed);
  reply->is_lost = w->session->device.context && gpu_session_is_lost(w->session);
  /* A failure that looks like a refusal but destroyed the context was a crash. */
  if (reply->is_lost && reply->status == HALOTUNE_NO_GPU && reply->outcome == OUTCOME_LAUNCH_FAILED)
    reply->outcome = OUTCOME_CRASHED;
  reply->payload = text_string(&w->payload);
  reply->payload_bytes = reply->status == HALOTUNE_OK || request == GPU_REQUEST_SAMPLE ? w->payload.length : 0;
  write_reply(reply, out);
}

/* Serve one request of `length` bytes. Returns false if the program is gone or memory is out. */
static bool serve_one(struct worker *w, int socket, uint64_t length) {
  struct text reply = {0};
  char *body = length <= GPU_MESSAGE_MOST_BYTES ? malloc(length + 1) : NULL;
  bool read = body && read_all(socket, body, length);
  if (read) answer_request(w, body, length, &reply);
  free(body);
  bool served = read && text_ok(&reply) && write_all(socket, reply.bytes, reply.length);
  text_free(&reply);
  return served;
}

static void serve_requests(void *state, int socket) {
  struct worker w = {.window = state, .session = calloc(1, sizeof *w.session)};
  uint64_t length;
  if (!w.session) return;
  while (read_all(socket, (char *)&length, sizeof length) && serve_one(&w, socket, length)) {}
  gpu_session_close(w.session);
  nvml_close(&w.nvml);
  text_free(&w.payload);
  text_free(&w.cubin);
  free(w.session);
}

struct spawner_program gpu_worker_program(struct gpu_window *window) {
  return (struct spawner_program){.name = "GPU worker", .serve = serve_requests, .state = window};
}
