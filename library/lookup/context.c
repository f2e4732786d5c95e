/* context.c: opens and closes a halotune_ctx, and makes its members at their first use. */
#include "library/lookup/context.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system/limited_call.h"
#include "library/lookup/stencil_kin.h"
#include "stencil/template/template_read.h"

static halotune_status add_default(struct catalog *catalog) {
  char *path = NULL;
  halotune_status status = store_default_path(&path);
  if (status == HALOTUNE_MEMORY) return status;
  if (path) status = access(path, F_OK) == 0 ? catalog_add(catalog, path) : HALOTUNE_OK;
  else status = HALOTUNE_OK; /* without a home folder the user has no database */
  free(path);
  if (status == HALOTUNE_NOT_FOUND) status = HALOTUNE_OK; /* the database does not exist yet */
  return status == HALOTUNE_OK ? catalog_add_starter(catalog) : status;
}

/* The databases of a ctx. */
struct databases {
  struct store *const *stores; /* the first ones, which are open */
  int store_count;
  const char *const *paths; /* of the next ones */
  int count;
  bool has_default, has_starter;
};

static halotune_status add_databases(struct catalog *catalog, const struct databases *databases) {
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < databases->store_count && status == HALOTUNE_OK; i++)
    status = catalog_add_store(catalog, databases->stores[i]);
  if (status == HALOTUNE_OK && databases->has_default) status = add_default(catalog);
  for (int i = 0; i < databases->count && status == HALOTUNE_OK; i++) {
    const char *path = databases->paths[i];
    status = path ? catalog_add(catalog, path) : fail(HALOTUNE_ARGUMENT, "halotune_open: path %d is NULL", i);
  }
  if (status == HALOTUNE_OK && databases->has_starter) status = catalog_add_starter(catalog);
  return status;
}

static halotune_status open_databases(const struct databases *databases, halotune_ctx **out) {
  struct fail_kept before;
  fail_keep(&before);
  *out = NULL;
  halotune_ctx *ctx = calloc(1, sizeof *ctx);
  if (!ctx) return fail_memory();
  atomic_init(&ctx->references, 1);
  ctx->generation = forked_generation();
  pthread_mutex_init(&ctx->lock, NULL);
  pthread_mutex_init(&ctx->starting, NULL);
  pthread_mutex_init(&ctx->renewing, NULL);
  ctx->is_default = databases->has_default;
  forked_enter();
  halotune_status status = add_databases(&ctx->catalog, databases);
  if (status == HALOTUNE_OK) status = catalog_finish(&ctx->catalog);
  forked_leave();
  ctx->stores = calloc((size_t)ctx->catalog.database_count + 1, sizeof *ctx->stores);
  if (status == HALOTUNE_OK && !ctx->stores) status = fail_memory();
  if (status == HALOTUNE_OK) status = lookup_table_make(&ctx->catalog, &ctx->table);
  if (status != HALOTUNE_OK) {
    context_release(ctx);
    return status;
  }
  fail_put_back(&before); /* a missing home folder or template is not a failure here */
  *out = ctx;
  return HALOTUNE_OK;
}

halotune_status halotune_open(const char *const *paths, int count, halotune_ctx **out) {
  if (!out) return fail(HALOTUNE_ARGUMENT, "halotune_open: out is NULL");
  *out = NULL;
  if (count < 0 || (count > 0) != (paths != NULL))
    return fail(HALOTUNE_ARGUMENT, "halotune_open: count is %d, and paths is %s", count, paths ? "not NULL" : "NULL");
  return open_databases(&(struct databases){.paths = paths, .count = count, .has_default = !paths}, out);
}

halotune_status context_open_stores(struct store *const *stores, int count, bool has_starter, halotune_ctx **out) {
  const struct databases databases = {.stores = stores, .store_count = count, .has_starter = has_starter};
  return open_databases(&databases, out);
}

void context_hold(struct halotune_ctx *ctx) { atomic_fetch_add(&ctx->references, 1); }

static void resolved_free(struct halotune_ctx *ctx) {
  struct resolved_name *next;
  for (struct resolved_name *at = atomic_load(&ctx->resolved); at; at = next) {
    next = at->next;
    free(at->asked);
    free(at);
  }
}

void context_release(struct halotune_ctx *ctx) {
  if (atomic_fetch_sub(&ctx->references, 1) > 1) return;
  struct halotune_ctx *later = atomic_load(&ctx->newest), *earlier;
  for (; later; later = earlier) {
    earlier = later->before;
    context_release(later);
  }
  forked_enter();
  for (int i = 0; ctx->stores && i < ctx->catalog.database_count; i++) store_close(ctx->stores[i]);
  forked_leave();
  struct cu *cu = atomic_load(&ctx->cu);
  struct nvrtc *nvrtc = atomic_load(&ctx->nvrtc);
  if (cu) cu_close(cu);
  if (nvrtc) nvrtc_close(nvrtc);
  free(cu);
  free(nvrtc);
  for (int i = 0; i < CONTEXT_MOST_GPUS; i++) free(atomic_load(&ctx->devices[i]));
  free(ctx->stores);
  for (int i = 0; i < atomic_load(&ctx->added_stencils); i++) {
    const struct known_stencil *added = &ctx->catalog.stencils[ctx->catalog.stencil_count + i];
    parsed_stencil_free(atomic_load(&added->parsed));
    kin_free(atomic_load(&added->kin));
  }
  lookup_table_free(&ctx->table);
  rules_kept_free(&ctx->rules_kept);
  catalog_free(&ctx->catalog);
  texts_free(&ctx->texts);
  resolved_free(ctx);
  pthread_mutex_destroy(&ctx->renewing);
  pthread_mutex_destroy(&ctx->starting);
  pthread_mutex_destroy(&ctx->lock);
  free(ctx);
}

void halotune_close(halotune_ctx *ctx) {
  /* In a forked child the members belong to the parent, and a lock may stay held for ever. */
  if (ctx && ctx->generation == forked_generation()) context_release(ctx);
}

int context_driver_ms = 90000;

static halotune_status driver_late(void) {
  const double ms_per_s = 1e3;
  fail(HALOTUNE_NO_GPU,
       "NVIDIA's driver has not answered in %g s; 'nvidia-smi' and the system's log may tell why. A new ctx asks again",
       context_driver_ms / ms_per_s);
  return HALOTUNE_NO_GPU; /* returned here so that static analysers see the status */
}

static halotune_status driver_open(void *cu) { return cu_open(cu); }

static void driver_free(void *cu) {
  cu_close(cu);
  free(cu);
}

/* Start the driver, with ctx->starting held. */
static halotune_status driver_make(struct halotune_ctx *ctx, struct cu **out) {
  const struct limited_call how = {.work = driver_open, .drop = driver_free, .limit_ms = context_driver_ms};
  struct cu *cu = calloc(1, sizeof *cu);
  bool is_late;
  *out = NULL;
  if (!cu) return fail_memory();
  const halotune_status status = limited_call(&how, cu, &is_late);
  ctx->driver_is_silent = is_late;
  if (is_late) return driver_late();
  if (status == HALOTUNE_OK) *out = cu;
  else driver_free(cu);
  return status;
}

halotune_status context_cu(struct halotune_ctx *ctx, const struct cu **out) {
  halotune_status status = HALOTUNE_OK;
  struct cu *cu = atomic_load_explicit(&ctx->cu, memory_order_acquire);
  if (!cu) {
    pthread_mutex_lock(&ctx->starting);
    if (!(cu = atomic_load(&ctx->cu))) {
      status = ctx->driver_is_silent ? driver_late() : driver_make(ctx, &cu);
      if (status == HALOTUNE_OK) atomic_store_explicit(&ctx->cu, cu, memory_order_release);
    }
    pthread_mutex_unlock(&ctx->starting);
  }
  *out = cu;
  return status;
}

halotune_status context_nvrtc(struct halotune_ctx *ctx, const struct nvrtc **out) {
  halotune_status status = HALOTUNE_OK;
  struct nvrtc *nvrtc = atomic_load_explicit(&ctx->nvrtc, memory_order_acquire);
  if (!nvrtc) {
    pthread_mutex_lock(&ctx->lock);
    if (!(nvrtc = atomic_load(&ctx->nvrtc))) {
      nvrtc = calloc(1, sizeof *nvrtc);
      status = nvrtc ? nvrtc_open(nvrtc) : fail_memory();
      if (status == HALOTUNE_OK) {
        atomic_store_explicit(&ctx->nvrtc, nvrtc, memory_order_release);
      } else if (nvrtc) {
        nvrtc_close(nvrtc);
        free(nvrtc);
        nvrtc = NULL;
      }
    }
    pthread_mutex_unlock(&ctx->lock);
  }
  *out = nvrtc;
  return status;
}

/* The model of a GPU in the catalog; -1 if no row is of this model. */
static int find_model(const struct catalog *catalog, const struct device_facts *facts) {
  for (int i = 0; i < catalog->device_count; i++) {
    const struct known_device *known = &catalog->devices[i];
    if (!known->is_emulation && strcmp(known->name, facts->name) == 0 && known->capability == facts->capability &&
        known->sm_count == facts->sm_count) {
      return known->model;
    }
  }
  return -1;
}

/* A question about a GPU. It has its own copy of the driver's functions, because the ctx may be closed before the
 * answer comes. */
struct device_job {
  struct cu cu;
  int ordinal;
  struct device_facts facts;
};

static halotune_status device_work(void *argument) {
  struct device_job *job = argument;
  return device_ask(&job->cu, job->ordinal, &job->facts);
}

static halotune_status device_ask_within(struct halotune_ctx *ctx, const struct cu *cu, int ordinal,
                                         struct device_facts *out) {
  const struct limited_call how = {.work = device_work, .drop = free, .limit_ms = context_driver_ms};
  struct device_job *job = calloc(1, sizeof *job);
  bool is_late;
  if (!job) return fail_memory();
  job->cu = *cu;
  job->ordinal = ordinal;
  const halotune_status status = limited_call(&how, job, &is_late);
  ctx->driver_is_silent = is_late;
  if (is_late) {
    const void *function;
    memcpy(&function, &cu->device_name, sizeof function);
    limited_call_keep(function);
    return driver_late();
  }
  *out = job->facts;
  free(job);
  return status;
}

static halotune_status ask_device(struct halotune_ctx *ctx, const struct cu *cu, int ordinal, struct own_device **out) {
  struct own_device *own = calloc(1, sizeof *own);
  halotune_status status = own ? device_ask_within(ctx, cu, ordinal, &own->facts) : fail_memory();
  *out = NULL;
  if (status != HALOTUNE_OK) {
    free(own);
    return status;
  }
  const struct device_facts *facts = &own->facts;
  own->known = (struct known_device){.name = facts->name,
                                     .uuid = facts->uuid,
                                     .capability = facts->capability,
                                     .model = find_model(&ctx->catalog, facts),
                                     .sm_count = facts->sm_count,
                                     .memory_gbs = device_memory_gbs(facts->memory_clock_khz, facts->bus_bits),
                                     .l2_bytes = facts->l2_bytes,
                                     .limits = facts->limits};
  const struct gpu_row *row = gpu_row_named(facts->name);
  if (row && !(own->known.memory_gbs > 0)) own->known.memory_gbs = row->memory_gbs; /* some drivers give no clock */
  *out = own;
  return HALOTUNE_OK;
}

static halotune_status own_device(struct halotune_ctx *ctx, const struct cu *cu, int ordinal,
                                  const struct own_device **out) {
  halotune_status status = HALOTUNE_OK;
  *out = NULL;
  if (ordinal >= CONTEXT_MOST_GPUS)
    return fail(HALOTUNE_NO_GPU, "only the first %d GPUs of a machine can be used", CONTEXT_MOST_GPUS);
  struct own_device *own = atomic_load_explicit(&ctx->devices[ordinal], memory_order_acquire);
  if (!own) {
    pthread_mutex_lock(&ctx->starting);
    if (!(own = atomic_load(&ctx->devices[ordinal]))) {
      status = ctx->driver_is_silent ? driver_late() : ask_device(ctx, cu, ordinal, &own);
      if (status == HALOTUNE_OK) atomic_store_explicit(&ctx->devices[ordinal], own, memory_order_release);
    }
    pthread_mutex_unlock(&ctx->starting);
  }
  *out = own;
  return status == HALOTUNE_ARGUMENT ? HALOTUNE_NO_GPU : status; /* the driver has no GPU of this number */
}

halotune_status context_current_device(struct halotune_ctx *ctx, const struct own_device **out) {
  const struct cu *cu;
  CUdevice device = 0;
  *out = NULL;
  halotune_status status = context_cu(ctx, &cu);
  if (status != HALOTUNE_OK) return status;
  if (cu->ctx_device(&device) != CUDA_SUCCESS) {
    return fail(
        HALOTUNE_NO_GPU,
        "this thread has no current CUDA context: first call cudaSetDevice and a function of the CUDA runtime, or cuCtxSetCurrent; or name the device");
  }
  return own_device(ctx, cu, (int)device, out);
}

/* A program asks for few names. Further names are searched for at each call. */
enum { MOST_RESOLVED = 64 };

static const struct resolved_name *resolved_find(const struct halotune_ctx *ctx, const char *asked, int *count) {
  *count = 0;
  for (const struct resolved_name *at = atomic_load_explicit(&ctx->resolved, memory_order_acquire); at; at = at->next) {
    if (strcmp(at->asked, asked) == 0) return at;
    ++*count;
  }
  return NULL;
}

/* Keep what a name means. This only saves time, so failures do not matter. */
static void resolved_keep(struct halotune_ctx *ctx, const char *asked, const struct named_device *means) {
  int count;
  pthread_mutex_lock(&ctx->lock);
  const bool is_new = !resolved_find(ctx, asked, &count) && count < MOST_RESOLVED;
  struct resolved_name *name = is_new ? malloc(sizeof *name) : NULL;
  if (name) {
    *name = (struct resolved_name){strdup(asked), *means, atomic_load(&ctx->resolved)};
    if (name->asked) atomic_store_explicit(&ctx->resolved, name, memory_order_release);
    else free(name);
  }
  pthread_mutex_unlock(&ctx->lock);
}

static halotune_status named_device(struct halotune_ctx *ctx, const char *name, struct known_device *room,
                                    const struct known_device **out) {
  struct named_device means;
  int count;
  const struct resolved_name *known = resolved_find(ctx, name, &count);
  if (known) {
    means = known->means;
  } else {
    halotune_status status = device_find(&ctx->catalog, name, &means);
    if (status != HALOTUNE_OK) return status;
    if (count < MOST_RESOLVED) resolved_keep(ctx, name, &means);
  }
  if (means.row) *room = device_of_row(means.row);
  *out = means.row ? room : &ctx->catalog.devices[means.device];
  return HALOTUNE_OK;
}

int context_ordinal(const char *name) {
  const bool begins = *name >= '0' && *name <= '9'; /* decides for most names, at once */
  if (!begins || name[strspn(name, "0123456789")] != '\0') return -1;
  const long number = strtol(name, NULL, 10); /* LONG_MAX if it is larger */
  return number < INT_MAX ? (int)number : INT_MAX;
}

/* A user who writes 4090 may mean a model. Append to the failure how the number was read. */
static halotune_status fail_ordinal(halotune_status status, const char *number) {
  enum { DIGITS_OF_A_MODEL = 3 };
  struct fail_kept kept;
  if (strlen(number) < DIGITS_OF_A_MODEL || status != HALOTUNE_NO_GPU) return status;
  fail_keep(&kept);
  return fail(status, "%s is read as the number of a GPU; for a model write its letters, too, such as rtx4090: %s",
              number, kept.text);
}

halotune_status context_find_device(struct halotune_ctx *ctx, const char *name, struct known_device *room,
                                    const struct known_device **out) {
  const struct own_device *own = NULL;
  const struct cu *cu;
  const int ordinal = name ? context_ordinal(name) : -1;
  halotune_status status;
  *out = NULL;
  if (!name || ordinal >= 0) {
    status = name ? context_cu(ctx, &cu) : context_current_device(ctx, &own);
    if (status == HALOTUNE_OK && name) status = own_device(ctx, cu, ordinal, &own);
    if (status == HALOTUNE_OK) *out = &own->known;
    return name ? fail_ordinal(status, name) : status;
  }
  const bool is_arch = device_of_arch(name, room); /* also if a recording gives its GPU the name of an architecture */
  const int found = is_arch ? -1 : names_find(&ctx->catalog.device_names, name);
  if (found < 0 && !is_arch) return named_device(ctx, name, room, out);
  *out = found >= 0 ? &ctx->catalog.devices[found] : room;
  return HALOTUNE_OK;
}

void context_limit(struct halotune_ctx *ctx, bool (*is_over)(const void *context), const void *context) {
  ctx->is_over = is_over;
  ctx->is_over_context = context;
}

bool context_is_over(const struct halotune_ctx *ctx) { return ctx->is_over && ctx->is_over(ctx->is_over_context); }

halotune_status context_stencil(struct halotune_ctx *ctx, int stencil, const struct parsed_stencil **out) {
  struct known_stencil *known = &ctx->catalog.stencils[stencil];
  halotune_status status = HALOTUNE_OK;
  struct parsed_stencil *parsed = atomic_load_explicit(&known->parsed, memory_order_acquire);
  if (!parsed) {
    pthread_mutex_lock(&ctx->lock);
    if (!(parsed = atomic_load(&known->parsed))) {
      const struct source source = source_of(known->name, known->text, strlen(known->text));
      status = parsed_stencil_make(&source, &parsed);
      if (status == HALOTUNE_OK) atomic_store_explicit(&known->parsed, parsed, memory_order_release);
    }
    pthread_mutex_unlock(&ctx->lock);
  }
  *out = parsed;
  return status;
}

halotune_status context_template(struct halotune_ctx *ctx, int template_at, const struct template **out) {
  struct known_template *known = &ctx->catalog.templates[template_at];
  halotune_status status = HALOTUNE_OK;
  struct template *parsed = atomic_load_explicit(&known->parsed, memory_order_acquire);
  if (!parsed) {
    pthread_mutex_lock(&ctx->lock);
    if (!(parsed = atomic_load(&known->parsed))) {
      struct source yaml = source_of(known->name, known->yaml, strlen(known->yaml));
      status = template_parse(&yaml, known->cuda, &parsed);
      if (status == HALOTUNE_OK) atomic_store_explicit(&known->parsed, parsed, memory_order_release);
    }
    pthread_mutex_unlock(&ctx->lock);
  }
  *out = parsed;
  return status;
}

/* Compare a template with the installed files by meaning. Different texts may have the same meaning. Equal texts may
 * have different ones, because they use this program's common.cuh and common.yml. A file that is not a valid template
 * counts as different. */
static halotune_status compare_installed(struct halotune_ctx *ctx, int template_at, enum standing *out) {
  const struct known_template *known = &ctx->catalog.templates[template_at];
  const struct template *installed = NULL;
  struct template *own = NULL;
  halotune_status status;
  struct fail_kept before;
  fail_keep(&before);
  if (known->installed_yaml == known->yaml && known->installed_cuda == known->cuda) {
    status = context_template(ctx, template_at, &installed);
  } else {
    struct source yaml = source_of(known->name, known->installed_yaml, strlen(known->installed_yaml));
    status = template_parse(&yaml, known->installed_cuda, &own);
    installed = own;
  }
  char hash[IDENTITY_HEX_BYTES] = "";
  if (status == HALOTUNE_OK) identity_hex(installed->hash, hash);
  *out = strcmp(hash, known->hash) == 0 ? STANDING_CURRENT : STANDING_SUPERSEDED;
  template_free(own);
  if (status != HALOTUNE_PARSE) return status;
  fail_put_back(&before);
  return HALOTUNE_OK;
}

halotune_status context_find_standing(struct halotune_ctx *ctx, int template_at, bool *is_superseded) {
  enum standing standing = STANDING_UNKNOWN;
  const halotune_status status = compare_installed(ctx, template_at, &standing);
  if (status == HALOTUNE_OK)
    atomic_store_explicit(&ctx->catalog.templates[template_at].standing, standing, memory_order_relaxed);
  *is_superseded = standing == STANDING_SUPERSEDED;
  return status;
}

halotune_status context_store(struct halotune_ctx *ctx, int database, struct store **out) {
  struct store **kept = &ctx->stores[database];
  halotune_status status = *kept ? HALOTUNE_OK : catalog_open_again(&ctx->catalog, database, kept);
  if (status == HALOTUNE_OK) store_renew(*kept);
  *out = *kept;
  return status;
}

const char *context_text(struct halotune_ctx *ctx, const char *text) {
  pthread_mutex_lock(&ctx->lock);
  const char *kept = texts_keep(&ctx->texts, text);
  pthread_mutex_unlock(&ctx->lock);
  return kept;
}
