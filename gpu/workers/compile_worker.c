/* compile_worker.c: the loop of a worker process: read a request, compile, write a reply. It blocks on reads and
 * writes. The pool never does, so the two cannot wait for each other. */
#include "gpu/workers/compile_worker.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/system/clock.h"
#include "base/system/transfer.h"

/* Reserve room for the length, which message_end fills in. */
static void message_begin(struct text *out) { pack_u64(out, 0); }

static void message_end(struct text *out) {
  if (!text_ok(out)) return;
  uint64_t body = out->length - MESSAGE_HEAD_BYTES;
  memcpy(out->bytes, &body, sizeof body);
}

void compile_worker_request(const struct compile_request *request, struct text *out) {
  message_begin(out);
  pack_text(out, request->source);
  pack_text(out, request->name);
  pack_text(out, request->arch);
  pack_u64(out, (uint64_t)request->option_count);
  for (int i = 0; i < request->option_count; i++) pack_text(out, request->options[i]);
  message_end(out);
}

static void write_reply(halotune_status status, const char *detail, const struct compile_times *times,
                        const struct compiled *compiled, struct text *out) {
  message_begin(out);
  pack_u64(out, (uint64_t)status);
  pack_double(out, times->begin_ms);
  pack_double(out, times->end_ms);
  pack_double(out, times->processor_ms);
  pack_text(out, detail);
  compiled_pack(compiled, out);
  message_end(out);
}

halotune_status compile_worker_reply(const char *body, size_t length, struct compile_times *times,
                                     halotune_status *status, struct compiled *out) {
  struct unpack in = {.at = body, .left = length};
  *status = (halotune_status)unpack_u64(&in);
  times->begin_ms = unpack_double(&in);
  times->end_ms = unpack_double(&in);
  times->processor_ms = unpack_double(&in);
  const char *detail = unpack_text(&in);
  halotune_status read = compiled_unpack(&in, out);
  if (read != HALOTUNE_OK) return read;
  if (*status != HALOTUNE_OK && (*status != HALOTUNE_COMPILE || out->log[0] == '\0')) {
    free(out->log);
    out->log = strdup(detail);
    if (!out->log) {
      compiled_free(out);
      return fail_memory();
    }
  }
  return HALOTUNE_OK;
}

/* The processor time of this process so far. */
static double processor_now_ms(void) {
  const double ms_per_s = 1e3, ns_per_ms = 1e6;
  struct timespec now;
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) != 0) return 0;
  return (double)now.tv_sec * ms_per_s + (double)now.tv_nsec / ns_per_ms;
}

/* Keep the memory of a compile for the next one. NVRTC needs some megabytes each time. Mapping and clearing these pages
 * again takes time, on virtual machines much time. */
static void keep_memory(void) {
  enum { LARGEST_BYTES = 32 << 20, KEPT_BYTES = 1 << 30, GROWTH_BYTES = 16 << 20 };
  mallopt(M_MMAP_THRESHOLD, LARGEST_BYTES);
  mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
  mallopt(M_TOP_PAD, GROWTH_BYTES);
}

/* Compile what the body of a request describes, and write a complete reply. */
static void answer_request(const struct nvrtc *nvrtc, const char *body, size_t length, struct text *reply) {
  struct unpack in = {.at = body, .left = length};
  struct compiled compiled = {0};
  struct compile_request request = {0};
  struct compile_times times = {.begin_ms = clock_ms()};
  const double processor_ms = processor_now_ms();
  request.source = unpack_text(&in);
  request.name = unpack_text(&in);
  request.arch = unpack_text(&in);
  uint64_t count = unpack_u64(&in);
  const char **options = count <= in.left ? calloc(count + 1, sizeof *options) : NULL;
  halotune_status status;
  if (options) {
    for (uint64_t i = 0; i < count; i++) options[i] = unpack_text(&in);
    request.options = options;
    request.option_count = (int)count;
    status = compile_source(nvrtc, &request, &compiled);
  } else {
    status = fail_memory();
  }
  times.end_ms = clock_ms();
  times.processor_ms = processor_now_ms() - processor_ms;
  write_reply(status, status == HALOTUNE_OK ? "" : fail_text(), &times, &compiled, reply);
  free(options);
  compiled_free(&compiled);
}

static void serve_requests(void *state, int socket) {
  uint64_t length;
  keep_memory();
  while (read_all(socket, (char *)&length, sizeof length)) {
    struct text reply = {0};
    char *body = malloc(length);
    if (!body || !read_all(socket, body, length)) return;
    answer_request(state, body, length, &reply);
    free(body);
    if (!text_ok(&reply) || !write_all(socket, reply.bytes, reply.length)) return;
    text_free(&reply);
  }
}

static halotune_status load_nvrtc(void *state, struct text *said) {
  struct nvrtc *nvrtc = state;
  halotune_status status = nvrtc_open(nvrtc);
  if (status == HALOTUNE_OK) pack_bytes(said, &nvrtc->facts, sizeof nvrtc->facts);
  return status;
}

struct spawner_program compile_worker_program(struct nvrtc *nvrtc) {
  return (struct spawner_program){.name = "compile worker",
                                  .prepares = "loaded NVRTC",
                                  .prepare = load_nvrtc,
                                  .serve = serve_requests,
                                  .state = nvrtc};
}

bool compile_worker_facts(const struct text *said, struct nvrtc_facts *out) {
  struct unpack in = {.at = text_string(said), .left = said->length};
  size_t length;
  const char *bytes = unpack_bytes(&in, &length);
  if (length != sizeof *out) return false;
  memcpy(out, bytes, length);
  return true;
}
