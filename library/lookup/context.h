/* context.h: the inside of a halotune_ctx. */
#ifndef LIBRARY_LOOKUP_CONTEXT_H
#define LIBRARY_LOOKUP_CONTEXT_H

#include <pthread.h>

#include "gpu/compile/cubin_cache.h"
#include "gpu/driver/device.h"
#include "library/lookup/device_names.h"
#include "library/lookup/forked.h"
#include "library/lookup/row_table.h"
#include "library/lookup/rules_kept.h"

enum { CONTEXT_MOST_GPUS = 64 };

/* A GPU of this machine. */
struct own_device {
  struct known_device known;
  struct device_facts facts;
};

/* What a name of a GPU was found to mean. */
struct resolved_name {
  char *asked;
  struct named_device means;
  struct resolved_name *next;
};

/* Catalog and table do not change. Members that are made at their first use are published through atomic pointers, so
 * that later users need no lock. */
struct halotune_ctx {
  atomic_int references; /* the caller has one, and each kernel has one */
  unsigned generation;   /* forked_generation() at the open */
  /* The ctx that answers after halotune_tune: it has read the databases again. NULL before halotune_tune. `before` is
   * the ctx that answered until then: its configurations are still in use. Both pointers own a reference. */
  _Atomic(struct halotune_ctx *) newest;
  struct halotune_ctx *before;
  pthread_mutex_t renewing; /* held while the databases are read again */
  bool is_default;          /* halotune_open had no list of paths */
  struct catalog catalog;
  struct lookup_table table;
  struct rules_kept rules_kept; /* `lock` guards additions */
  pthread_mutex_t starting; /* held while the driver starts or describes a GPU, which may take long; before `lock` */
  bool driver_is_silent;    /* the driver did not answer in time and is not asked again; guarded by `starting` */
  pthread_mutex_t lock;     /* held while one of the other members below is made */
  _Atomic(struct cu *) cu;
  _Atomic(struct nvrtc *) nvrtc;
  _Atomic(struct own_device *) devices[CONTEXT_MOST_GPUS];
  _Atomic(struct resolved_name *) resolved; /* meanings of names, the newest first */
  const char *tune_argument; /* for messages: what to tune, such as a stencil file; NULL: the stencil's name */
  struct store **stores;     /* for each database its store, once it gave machine code; else NULL */
  struct texts texts;        /* texts that answers point to, such as parameters of defaults */
  /* Asked while a question is compared with other rows; NULL: nobody is asked. See context_limit. */
  bool (*is_over)(const void *context);
  const void *is_over_context;
  atomic_int added_stencils; /* number of stencils behind those of the databases */
  unsigned turns;            /* number of calls that added a stencil; guarded by `lock` */
};

/* The ctx that answers for the caller's ctx. */
static inline struct halotune_ctx *context_newest(struct halotune_ctx *root) {
  struct halotune_ctx *newest = atomic_load_explicit(&root->newest, memory_order_acquire);
  return newest ? newest : root;
}

/* Find the ctx that made a configuration: `root`, or a ctx that has answered for `root`. NULL if neither did. */
struct halotune_ctx *context_of_config(struct halotune_ctx *root, const halotune_config *config);

/* Open a ctx that answers from open stores, and from the starter database behind them if `has_starter`. The stores are
 * only read, and may change afterwards. No kernel can be made from the answers.
 *   out  receives the ctx, for the caller to end with halotune_close; NULL on failure
 * Returns HALOTUNE_OK or the errors of halotune_open. */
halotune_status context_open_stores(struct store *const *stores, int count, bool has_starter, halotune_ctx **out);

/* From now on, ask `is_over` before each text of a stencil, and before each row, that a question is compared with. What
 * was not looked at when it says true says nothing. Call it before the first question. */
void context_limit(struct halotune_ctx *ctx, bool (*is_over)(const void *context), const void *context);
bool context_is_over(const struct halotune_ctx *ctx);

/* Note whose a database is before a tune writes to it. This user will own a file or folder that is missing.
 *   path  of store_real_path; lives as long as `out` */
void context_note_database(char *path, struct known_database *out);

/* Read the databases of the caller's ctx again, and the tuned one first if it is none of them. After a failure the ctx
 * keeps its answers.
 *   tuned  from context_note_database
 * Returns HALOTUNE_OK or the errors of halotune_open; HALOTUNE_DB if another user's file or folder, or a link, has
 * taken the place of a database. */
halotune_status context_renew(struct halotune_ctx *root, const struct known_database *tuned);

/* Add a reference, or drop one. Dropping the last one frees the ctx. */
void context_hold(struct halotune_ctx *ctx);
void context_release(struct halotune_ctx *ctx);

/* How long NVIDIA's driver may take to start, or to describe a GPU. Tests shorten it. */
extern int context_driver_ms;

/* Get the driver, or NVRTC. The first call loads it; it lives as long as the ctx. Returns HALOTUNE_OK, or what
 * cu_open and nvrtc_open return. After a failure the next call tries again, but a driver that did not answer in time is
 * not asked again. */
halotune_status context_cu(struct halotune_ctx *ctx, const struct cu **out);
halotune_status context_nvrtc(struct halotune_ctx *ctx, const struct nvrtc **out);

/* The number of a GPU that a device's name is, such as "0"; -1 if the name is no number. */
int context_ordinal(const char *name);

/* Find the device that a problem names (see halotune_problem).
 *   room  holds a device that no database knows
 *   out   receives the device, valid as long as ctx and room
 * Returns HALOTUNE_OK, HALOTUNE_NOT_FOUND, HALOTUNE_NO_GPU or HALOTUNE_ARGUMENT. */
halotune_status context_find_device(struct halotune_ctx *ctx, const char *name, struct known_device *room,
                                    const struct known_device **out);

/* The same; most names are found at once. */
static inline halotune_status context_device(struct halotune_ctx *ctx, const char *name, struct known_device *room,
                                             const struct known_device **out) {
  /* others may be numbers, or architectures such as sm_90, which go before equal names */
  const bool is_plain = name && *name != 's' && !(*name >= '0' && *name <= '9');
  const int found = is_plain ? names_find(&ctx->catalog.device_names, name) : -1;
  if (found < 0) return context_find_device(ctx, name, room, out);
  *out = &ctx->catalog.devices[found];
  return HALOTUNE_OK;
}

/* Get the GPU of the calling thread's CUDA context. Returns HALOTUNE_OK or HALOTUNE_NO_GPU. */
halotune_status context_current_device(struct halotune_ctx *ctx, const struct own_device **out);

/* Get a parsed stencil or template. The first call parses the text. A stencil's text that is longer than a file may be
 * is not parsed. Returns HALOTUNE_OK, HALOTUNE_PARSE or HALOTUNE_MEMORY. */
halotune_status context_stencil(struct halotune_ctx *ctx, int stencil, const struct parsed_stencil **out);
halotune_status context_template(struct halotune_ctx *ctx, int template_at, const struct template **out);

/* Compare a template with the files that were installed at the open, by meaning, which takes a few milliseconds.
 * Threads that compare at the same time get the same result. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status context_find_standing(struct halotune_ctx *ctx, int template_at, bool *is_superseded);

/* Find whether another template of the same name is newer, or is installed. The first call compares the template.
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
static inline halotune_status context_is_superseded(struct halotune_ctx *ctx, int template_at, bool *out) {
  const enum standing standing = /* it publishes nothing else */
      atomic_load_explicit(&ctx->catalog.templates[template_at].standing, memory_order_relaxed);
  if (standing == STANDING_UNKNOWN) return context_find_standing(ctx, template_at, out);
  *out = standing == STANDING_SUPERSEDED;
  return HALOTUNE_OK;
}

/* Get the store of a database of the catalog. The first call opens it, and it stays open, because opening a file of
 * an older version copies and migrates all of it. The caller holds ctx->lock while it uses the store. Returns
 * HALOTUNE_OK, or what store_open returns. After a failure the next call tries again. */
halotune_status context_store(struct halotune_ctx *ctx, int database, struct store **out);

/* Get a copy of a text that lives as long as the ctx; equal texts have one copy. Returns NULL when memory is out. */
const char *context_text(struct halotune_ctx *ctx, const char *text);

#endif
