/* variant_count.c: generates variants, compiles those that the cache does not know, and runs one block of each. */
#include "tuner/count/variant_count.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/own.h"
#include "base/files/replace.h"
#include "base/identity/identity.h"
#include "base/system/parallel.h"
#include "db/store/launch_text.h"
#include "gpu/compile/cache_folder.h"
#include "stencil/analysis/iterate.h"
#include "tuner/emulate/emulation_cache.h"
#include "tuner/emulate/emulation_compiler.h"
#include "tuner/emulate/emulation_files.h"
#include "tuner/verify/emulated_fields.h"

/* ---- the cache: a file for each source and domain */

/* The content of a file. */
struct cached_count {
  struct hash seal; /* seal of the members below */
  struct variant_count count;
};

static struct hash seal_of(const struct cached_count *cached) {
  return hash_bytes(&cached->count, sizeof cached->count);
}

/* Name the file of a count. A count is for one compiler, its flags and one version of the emulation. The source does
 * not say all of the launch: two templates can have one source, and launch other blocks. The block in the middle is
 * another one where a launch has more blocks.
 * Returns the path, from malloc; NULL if memory is out. */
static char *count_path(const char *folder, const struct generated *generated, const struct variant_spec *spec,
                        struct hash compiler) {
  const struct hash emulation = emulation_files_hash();
  struct identity_maker maker;
  struct text launch = {0};
  long domain[DOMAIN_NUMBERS];
  char hex[IDENTITY_HEX_BYTES], *path = NULL;
  domain_numbers(&spec->domain, domain);
  launch_write(&generated->launch, &launch);
  identity_begin(&maker, "accesses");
  identity_add(&maker, &generated->hash, sizeof generated->hash);
  identity_add(&maker, text_string(&launch), launch.length);
  identity_add(&maker, domain, sizeof domain);
  identity_add(&maker, &spec->analysis->hash, sizeof spec->analysis->hash);
  identity_add(&maker, spec->coefficients, (size_t)spec->stencil->coefficient_count * sizeof *spec->coefficients);
  identity_add(&maker, &emulation, sizeof emulation);
  identity_add(&maker, &compiler, sizeof compiler);
  identity_hex(identity_end(&maker), hex);
  if (text_ok(&launch) && asprintf(&path, "%s/%s" CACHE_COUNT_SUFFIX, folder, hex) < 0) path = NULL;
  text_free(&launch);
  return path;
}

static bool read_count(const char *path, struct variant_count *out) {
  struct cached_count cached;
  char *bytes;
  size_t length;
  if (own_file_read(path, sizeof cached, &bytes, &length) != HALOTUNE_OK) return false;
  bool whole = length == sizeof cached;
  if (whole) memcpy(&cached, bytes, sizeof cached);
  free(bytes);
  if (!whole || hash_compare(cached.seal, seal_of(&cached)) != 0) return false;
  *out = cached.count;
  return true;
}

static void write_count(const char *path, const struct variant_count *count) {
  struct cached_count cached;
  memset(&cached, 0, sizeof cached); /* gaps between members, too */
  cached.count = *count;
  cached.seal = seal_of(&cached);
  (void)file_replace_cached(path, &cached, sizeof cached); /* without it the next call counts again */
}

/* ---- counting */

/* A job under way. */
struct member {
  struct count_job *job;
  struct generated generated;
  char *path; /* the path of its count in the cache */
  halotune_status status;
  char *detail; /* of a failure, because its thread takes fail_text along; NULL if memory is out */
};

struct group {
  struct member *members;
  int count;
  struct emulation_source *sources; /* sources of the members, in their order */
  const char **kernels;
  struct emulation_batch *batch;
  struct hash compiler;
};

static void refuse_job(struct count_job *job, const char *reason) {
  snprintf(job->reason, sizeof job->reason, "%.*s", (int)strcspn(reason, "\n"), reason);
}

/* The points that the block computed, from the elements that it stored: each output gets one element for a point. */
static uint64_t computed_points(const struct emulation_counts *counts, const struct variant_spec *spec) {
  uint64_t words = 0;
  for (int i = 0; i < spec->stencil->output_count; i++) words += counts->stored[spec->stencil->input_count + i].words;
  return words * 4 / dtype_bytes(spec->dtype) / (uint64_t)spec->stencil->output_count;
}

/* The different bytes that the block read of the inputs that lie along all axes. */
static uint64_t read_bytes(const struct emulation_counts *counts, const struct stencil *stencil) {
  uint64_t words = 0;
  for (int i = 0; i < stencil->input_count; i++) words += input_is_thin(stencil, i) ? 0 : counts->loaded[i].words;
  return 4 * words;
}

static halotune_status count_member(const struct group *group, int number) {
  const struct member *member = &group->members[number];
  struct count_job *job = member->job;
  const struct variant_spec *spec = &job->spec;
  struct carried carried[MAX_FIELDS];
  const int steps = member->generated.launch.steps;
  const struct scene scene = {.written_count =
                                  spec->stencil->output_count + iterate_carried(spec->stencil, steps, carried),
                              .launches = 1,
                              .request = {.stencil = spec->stencil,
                                          .analysis = spec->analysis,
                                          .dtype = spec->dtype,
                                          .domain = spec->domain,
                                          .coefficients = spec->coefficients,
                                          .launch_steps = steps,
                                          .steps = steps}};
  const struct emulation_compile *compile = emulation_batch_compile(group->batch, number);
  struct emulation_outcome outcome;
  struct emulated_fields fields;
  unsigned block[MAX_DIMS];
  if (compile->outcome != COMPILE_OK) {
    refuse_job(job, compile->log);
    return HALOTUNE_OK;
  }
  if (member->generated.launch.cooperative) {
    refuse_job(job, "its blocks wait for each other, but a count runs one block alone");
    return HALOTUNE_OK;
  }
  for (int axis = 0; axis < MAX_DIMS; axis++) block[axis] = (unsigned)member->generated.launch.grid[axis] / 2;
  job->count = (struct variant_count){.input_bytes = (uint32_t)spec->analysis->read_bytes_per_point[spec->dtype],
                                      .element_bytes = (uint32_t)dtype_bytes(spec->dtype)};
  halotune_status status = emulated_fields_make_empty(&scene, &member->generated, &fields);
  if (status == HALOTUNE_OK)
    status = emulated_fields_count(&fields, group->batch, number, block, &outcome, &job->count.counts);
  emulated_fields_free(&fields);
  emulation_rest(group->batch, number);
  if (status != HALOTUNE_OK) return status;
  if (outcome.kind != EMULATION_OK) {
    refuse_job(job, outcome.text);
    return HALOTUNE_OK;
  }
  job->count.points = computed_points(&job->count.counts, spec);
  job->count.read_bytes = read_bytes(&job->count.counts, spec->stencil);
  job->has_count = job->count.points > 0;
  if (!job->has_count) refuse_job(job, "the block in the middle of the grid computes nothing");
  if (job->has_count && member->path) write_count(member->path, &job->count);
  return HALOTUNE_OK;
}

static void count_members(void *context, int thread, long first, long end) {
  struct group *group = context;
  (void)thread;
  for (long i = first; i < end; i++) {
    struct member *member = &group->members[i];
    member->status = count_member(group, (int)i);
    if (member->status != HALOTUNE_OK) member->detail = strdup(fail_text());
  }
}

/* Generate the source of a job and look for its count. If there is none, the job joins the group. */
static halotune_status add_job(struct group *group, struct count_job *job, const char *folder) {
  struct member *member = &group->members[group->count];
  *member = (struct member){.job = job};
  job->has_count = job->is_cached = false;
  halotune_status status = generate(&job->spec, &member->generated);
  if (status == HALOTUNE_ARGUMENT) { /* a rule excludes the variant */
    refuse_job(job, fail_text());
    return HALOTUNE_OK;
  }
  if (status != HALOTUNE_OK) return status;
  member->path = count_path(folder, &member->generated, &job->spec, group->compiler);
  if (member->path && read_count(member->path, &job->count)) {
    job->has_count = job->is_cached = true;
    free(member->path);
    generated_free(&member->generated);
    return HALOTUNE_OK;
  }
  group->kernels[group->count] = member->generated.launch.kernel;
  group->sources[group->count] = (struct emulation_source){member->generated.launch.kernel, member->generated.source,
                                                           &group->kernels[group->count], 1};
  group->count++;
  return HALOTUNE_OK;
}

static halotune_status find_compiler(const struct emulation_options *options, struct hash *out) {
  struct emulation_compiler compiler;
  halotune_status status = emulation_compiler_open(options->compiler, options->sanitize, options->counts, &compiler);
  if (status == HALOTUNE_OK) *out = emulation_compiler_hash(&compiler, EMULATION_VARIANT);
  emulation_compiler_close(&compiler);
  return status;
}

halotune_status variants_count(struct count_job *jobs, int count, const struct emulation_options *options) {
  struct emulation_options counting = *options;
  struct group group = {.members = calloc((size_t)count + 1, sizeof *group.members),
                        .sources = calloc((size_t)count + 1, sizeof *group.sources),
                        .kernels = calloc((size_t)count + 1, sizeof *group.kernels)};
  char *folder = NULL;
  counting.counts = true;
  halotune_status status = group.members && group.sources && group.kernels ? HALOTUNE_OK : fail_memory();
  if (status == HALOTUNE_OK) status = find_compiler(&counting, &group.compiler);
  if (status == HALOTUNE_OK) status = emulation_cache_open(options, &folder);
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) status = add_job(&group, &jobs[i], folder);
  if (status == HALOTUNE_OK && group.count > 0)
    status = emulation_build(group.sources, group.count, &counting, &group.batch);
  if (status == HALOTUNE_OK && group.count > 0)
    parallel_for(group.count, 1, parallel_threads(options->workers), count_members, &group);
  for (int i = 0; i < group.count; i++) {
    struct member *member = &group.members[i];
    if (status == HALOTUNE_OK && member->status != HALOTUNE_OK)
      status = fail(member->status, "%s: %s", group.kernels[i], member->detail ? member->detail : "out of memory");
    free(member->detail);
    free(member->path);
    generated_free(&member->generated);
  }
  emulation_batch_free(group.batch);
  free(folder);
  free(group.members);
  free(group.sources);
  free(group.kernels);
  return status;
}

/* ---- figures */

struct count_figures count_figures_of(const struct variant_count *count) {
  enum { WARP = 32 };
  const struct emulation_counts *c = &count->counts;
  const double points = (double)count->points;
  const uint64_t wavefronts = c->shared_loads.wavefronts + c->shared_stores.wavefronts;
  const uint64_t fewest = c->shared_loads.fewest_wavefronts + c->shared_stores.fewest_wavefronts;
  const double own_bytes = (double)count->input_bytes * points;
  return (struct count_figures){
      .loads = (double)c->global_loads.lanes / points,
      .stores = (double)c->global_stores.lanes / points,
      .issued_loads = WARP * (double)c->global_loads.instructions / points,
      .load_sectors = (double)c->global_loads.sectors / points,
      .over_read = own_bytes > 0 ? (double)count->read_bytes / own_bytes : NAN,
      .shared_wavefronts = fewest > 0 ? (double)wavefronts / points : NAN,
      .mean_conflicts = fewest > 0 ? (double)wavefronts / (double)fewest : NAN,
      .worst_conflicts = fewest > 0 ? (double)c->worst_wavefronts / (double)c->worst_fewest : NAN,
      .engine_bytes = (double)(c->engine_loaded_bytes + c->engine_stored_bytes) / points,
  };
}
