/* context.h: what stands behind a halotune_ctx. */
#ifndef LIBRARY_LOOKUP_CONTEXT_H
#define LIBRARY_LOOKUP_CONTEXT_H

#include <pthread.h>

#include "base/nearest.h"
#include "gpu/compile/cubin_cache.h"
#include "gpu/driver/device.h"
#include "library/lookup/row_table.h"

enum { CONTEXT_MOST_GPUS = 64 };

/* A GPU of this machine. */
struct own_device {
  struct known_device known;
  struct device_facts facts;
};

/* Catalog and table never change. What is made when it is first needed is published through atomic pointers, so that those who
 * come later need no lock. */
struct halotune_ctx {
  atomic_int references; /* the caller's, and one for each kernel */
  struct catalog catalog;
  struct lookup_table table;
  pthread_mutex_t lock; /* held by whoever makes one of the following */
  _Atomic(struct cu *) cu;
  _Atomic(struct nvrtc *) nvrtc;
  _Atomic(struct own_device *) devices[CONTEXT_MOST_GPUS];
  const char
      *tune_argument; /* what messages tell the user to tune, such as a stencil file's path; NULL: the stencil's name */
  struct store **stores; /* of the databases that machine code was fetched from; NULL for the others */
  struct texts texts;    /* parameters of defaults that were given */
};

/* Take part in a ctx, and leave it. */
void context_hold(struct halotune_ctx *ctx);
void context_release(struct halotune_ctx *ctx);

/* The driver, and NVRTC, loaded by the first who asks. They live as long as the ctx.
 * Return HALOTUNE_OK, or what cu_open and nvrtc_open return; the next one who asks tries again. */
halotune_status context_cu(struct halotune_ctx *ctx, const struct cu **out);
halotune_status context_nvrtc(struct halotune_ctx *ctx, const struct nvrtc **out);

/* The device that a problem names (see halotune_problem).
 *   room  for one that only an architecture is known of
 *   out   receives it, valid as long as ctx and room
 * Returns HALOTUNE_OK, HALOTUNE_NOT_FOUND, HALOTUNE_NO_GPU or HALOTUNE_ARGUMENT. */
halotune_status context_device(struct halotune_ctx *ctx, const char *name, struct known_device *room,
                               const struct known_device **out);

/* Append the names of the devices that databases know: "'NVIDIA A100', 'NVIDIA H200'". */
void context_device_names(const struct halotune_ctx *ctx, struct text *text);

/* The stencil's name that databases know and that is nearest to one that they do not. */
struct nearest context_nearest_stencil(const struct halotune_ctx *ctx, const char *name);

/* The GPU of the calling thread's current CUDA context. HALOTUNE_OK or HALOTUNE_NO_GPU. */
halotune_status context_current_device(struct halotune_ctx *ctx, const struct own_device **out);

/* Stencil and template as structs, read from their texts by the first who asks.
 * Return HALOTUNE_OK, HALOTUNE_PARSE or HALOTUNE_MEMORY. */
halotune_status context_stencil(struct halotune_ctx *ctx, int stencil, const struct parsed_stencil **out);
halotune_status context_template(struct halotune_ctx *ctx, int template_at, const struct template **out);

/* The store of a database of the catalog, opened by the first who asks, and kept: to open a file of an older version means to
 * copy and migrate all of it. The caller holds ctx->lock as long as it uses the store.
 * Returns HALOTUNE_OK, or what store_open returns; the next one who asks tries again. */
halotune_status context_store(struct halotune_ctx *ctx, int database, struct store **out);

/* A copy of a text that lives as long as the ctx, the same one for the same text; NULL when memory is out. */
const char *context_text(struct halotune_ctx *ctx, const char *text);

#endif
