/* compile_worker.h: the loop of a compile worker, and the messages between workers and pool. */
#ifndef GPU_WORKERS_COMPILE_WORKER_H
#define GPU_WORKERS_COMPILE_WORKER_H

#include <stdbool.h>

#include "gpu/compile/compile.h"
#include "gpu/workers/spawner.h"

/* A spawner's program whose workers compile with libnvrtc. The spawner loads the library once, so that all workers
 * share its pages.
 *   nvrtc  used by the spawner and its workers; unchanged in the program */
struct spawner_program compile_worker_program(struct nvrtc *nvrtc);

/* Read what the spawner reported about the library that it loaded. Returns false if the text is malformed. */
bool compile_worker_facts(const struct text *said, struct nvrtc_facts *out);

/* A message is its length in 8 bytes, then that many bytes. */
enum { MESSAGE_HEAD_BYTES = 8 };

/* Write a request as a complete message. */
void compile_worker_request(const struct compile_request *request, struct text *out);

/* Read the body of a reply.
 *   times   receives when the worker read the request, and when it wrote the reply
 *   status  receives what compile_source returned in the worker
 *   out     receives the result, ended with compiled_free; its log is the detail if the compiler
 *           printed nothing or did not finish
 * Returns HALOTUNE_OK, HALOTUNE_PARSE or HALOTUNE_MEMORY. */
halotune_status compile_worker_reply(const char *body, size_t length, struct compile_times *times,
                                     halotune_status *status, struct compiled *out);

#endif
