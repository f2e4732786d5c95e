/* compile_worker.h: what a compile worker does, and the messages between it and the pool. */
#ifndef GPU_WORKERS_COMPILE_WORKER_H
#define GPU_WORKERS_COMPILE_WORKER_H

#include <stdbool.h>

#include "gpu/compile/compile.h"
#include "gpu/workers/spawner.h"

/* Workers that compile with one libnvrtc, loaded once by the spawner; the pages of the library are common to all.
 *   nvrtc  the workers' own, untouched in the program */
struct spawner_program compile_worker_program(struct nvrtc *nvrtc);

/* Read what the spawner said about the library it loaded. False if malformed. */
bool compile_worker_facts(const struct text *said, struct nvrtc_facts *out);

/* A message is its length in 8 bytes and then that many. */
enum { MESSAGE_HEAD_BYTES = 8 };

/* A request as a whole message. */
void compile_worker_request(const struct compile_request *request, struct text *out);

/* Read the body of a reply.
 *   status  receives what compile_source returned in the worker
 *   out     what it made, ended with compiled_free; its log holds the detail where the compiler said nothing
 * Returns HALOTUNE_OK, HALOTUNE_PARSE or HALOTUNE_MEMORY. */
halotune_status compile_worker_reply(const char *body, size_t length, halotune_status *status, struct compiled *out);

#endif
