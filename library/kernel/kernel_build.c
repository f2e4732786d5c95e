/* kernel_build.c: decides whether stored machine code fits a problem, and compiles where it does not.
 *
 * Stored code fits if it was built for this very problem, or from a source with the same meaning. Comments, such as
 * the banner with the grid, do not count. A source in which extents or coefficients are constants therefore never
 * serves another problem. A stored launch is used on another model of GPU only if it has as many blocks there. Code
 * that is cut short is compiled again. */
#include "library/kernel/kernel_build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/store/launch_text.h"
#include "db/store/query.h"
#include "gpu/compile/compile_limit.h"
#include "gpu/driver/cubin.h"
#include "stencil/analysis/iterate.h"
#include "stencil/cuda/cuda_tokens.h"
#include "stencil/generate/generate.h"

struct stored {
  struct launch launch;
  bool has_launch;
  double coefficients[MAX_COEFFICIENTS];
  int coefficient_count, steps;
  char arch[16];
  char hash[IDENTITY_HEX_BYTES]; /* of the source that was measured */
  char *parameters;              /* of the variant, as its database has them */
  char *text;                    /* of the stencil that was measured */
  char *source;
  void *cubin;
  size_t cubin_bytes;
};

static void stored_free(struct stored *stored) {
  free(stored->parameters);
  free(stored->text);
  free(stored->source);
  free(stored->cubin);
}

static bool stored_read(sqlite3_stmt *query, struct stored *out) {
  out->has_launch = launch_read(column_text(query, 0), &out->launch) == HALOTUNE_OK;
  if (coefficients_read(column_text(query, 1), out->coefficients, MAX_COEFFICIENTS, &out->coefficient_count) !=
      HALOTUNE_OK) {
    return false;
  }
  out->steps = sqlite3_column_int(query, 2);
  snprintf(out->arch, sizeof out->arch, "%s", column_text(query, 3));
  out->source = strdup(column_text(query, 4));
  const void *cubin = sqlite3_column_blob(query, 5);
  out->cubin_bytes = (size_t)sqlite3_column_bytes(query, 5);
  out->cubin = malloc(out->cubin_bytes + 1);
  snprintf(out->hash, sizeof out->hash, "%s", column_text(query, 6));
  out->parameters = strdup(column_text(query, 7));
  out->text = strdup(column_text(query, 8));
  if (!out->source || !out->cubin || !out->parameters || !out->text) return false;
  if (out->cubin_bytes > 0) memcpy(out->cubin, cubin, out->cubin_bytes);
  return true;
}

/* Whether stored parameters are those of a row. They may stand in another order than those of the catalog. */
static bool are_of_row(struct halotune_ctx *ctx, const struct served *row, const char *parameters) {
  const struct template *template;
  struct text text = {0};
  if (strcmp(parameters, row->parameters) == 0) return true;
  const bool is_same = context_template(ctx, row->template_at, &template) == HALOTUNE_OK &&
                       configuration_reword(template, parameters, &text) == HALOTUNE_OK &&
                       strcmp(text_string(&text), row->parameters) == 0;
  text_free(&text);
  return is_same;
}

/* Fetch the code of a row. Returns false if the database or the row no longer exists. Code is stored for winners only.
 * A finalist's row has the id of the winner. */
static bool stored_fetch(struct halotune_ctx *ctx, const struct served *row, struct stored *out) {
  static const char sql[] =
      "select b.launch, b.coefficients, b.steps, b.arch, b.source, b.cubin, v.source_hash, v.parameters,"
      " x.text from best b join variant v on v.id = b.variant_id join stencil_text x on x.id = b.text_id where b.id = ?1 and b.date = ?2";
  struct store *store = NULL;
  struct binder binder = {.at = 0};
  *out = (struct stored){.steps = 1};
  if (row->is_finalist) return false;
  pthread_mutex_lock(&ctx->lock);
  forked_enter();
  bool found = context_store(ctx, row->database, &store) == HALOTUNE_OK &&
               query_prepare(store_connection(store), sql, &binder.query) == HALOTUNE_OK;
  if (found) {
    bind_integer(&binder, row->id);
    bind_text(&binder, row->date);
    found = sqlite3_step(binder.query) == SQLITE_ROW && stored_read(binder.query, out);
  }
  sqlite3_finalize(binder.query);
  forked_leave();
  pthread_mutex_unlock(&ctx->lock);
  found = found && are_of_row(ctx, row, out->parameters);
  if (!found) stored_free(out);
  return found;
}

/* Whether a GPU of this capability can run a cubin for that architecture. */
static bool arch_runs(const char *text, int capability) {
  struct arch arch;
  if (arch_parse(text, &arch) != HALOTUNE_OK || arch.major != capability / 10) return false;
  return arch.feature ? arch.minor == capability % 10 : arch.minor <= capability % 10;
}

static bool is_same_domain(const struct question *q, const struct served *row) {
  struct grid grid = {{(long)row->n[0], (long)row->n[1], (long)row->n[2]}};
  struct domain dense = domain_dense(q->parsed->stencil, q->parsed->analysis, &grid);
  long mine[DOMAIN_NUMBERS], its[DOMAIN_NUMBERS];
  domain_numbers(&q->domain, mine);
  domain_numbers(&dense, its);
  return memcmp(mine, its, sizeof mine) == 0;
}

static bool are_within(const struct tensor_maps *maps, int fields) {
  for (int i = 0; i < maps->count; i++) {
    if (maps->fields[i] >= fields) return false;
  }
  return maps->count <= fields;
}

/* Whether a stored launch passes the arrays that launches for the question have, and makes as many steps. A launch with
 * more arrays would read pointers that nobody gave. */
static bool passes_arrays(const struct question *q, const struct stored *stored) {
  const struct stencil *stencil = q->parsed->stencil;
  const struct launch *launch = &stored->launch;
  struct carried carried[MAX_FIELDS];
  return stored->steps == q->key.steps && launch->steps == q->key.steps &&
         iterate_most_steps(stencil, q->key.steps) == q->key.steps &&
         launch->carried_count == iterate_carried(stencil, q->key.steps, carried) &&
         are_within(&launch->input_maps, stencil->input_count) &&
         are_within(&launch->output_maps, stencil->output_count);
}

/* Whether a stored source computes what the question asks for, without a look at the source. Texts of one meaning can
 * place parentheses in other ways, and so round in other ways. */
static bool is_same_problem(const struct question *q, const struct served *row, const struct stored *stored,
                            const double *coefficients) {
  int count = q->parsed->stencil->coefficient_count;
  if (!stored->has_launch || !is_same_domain(q, row) || stored->coefficient_count != count) return false;
  if (!passes_arrays(q, stored)) return false;
  if (strcmp(stored->text, q->ctx->catalog.stencils[q->key.text_of].text) != 0) return false;
  if (stored->launch.passes_coefficients) return true;
  for (int i = 0; i < count; i++) {
    const double mine = coefficients[i], its = stored->coefficients[i];
    if (mine != its || signbit(mine) != signbit(its)) return false;
  }
  return true;
}

/* Whether a stored launch has the blocks that the variant has on this GPU: some templates launch as many as the GPU
 * holds at a time. False when memory is out, or where the template cannot be read. */
static bool has_own_blocks(const struct question *q, const struct answer *answer, const struct stored *stored) {
  const struct template *template;
  struct bindings bindings;
  bool is_same = true;
  if (answer->row->model == q->device->model) return true;
  if (context_template(q->ctx, answer->template_at, &template) != HALOTUNE_OK ||
      bindings_make(template, q->facts, &bindings) != HALOTUNE_OK)
    return false;
  bindings_configure(&bindings, &answer->configuration);
  for (int axis = 0; axis < MAX_DIMS; axis++)
    is_same = is_same && bindings_value(&bindings, template->grid[axis]) == (double)stored->launch.grid[axis];
  bindings_free(&bindings);
  return is_same;
}

/* Whether two sources have the same meaning; false when memory is out. */
static bool is_same_source(const char *left, const char *right) {
  struct identity hashes[2];
  return source_hash(left, &hashes[0]) == HALOTUNE_OK && source_hash(right, &hashes[1]) == HALOTUNE_OK &&
         identity_compare(hashes[0], hashes[1]) == 0;
}

/* Whether an exact answer is about another source than the one that was generated for the same problem. */
static bool is_another_source(const struct question *q, const struct answer *answer, const struct stored *stored,
                              const double *coefficients, const struct generated *generated) {
  char hex[IDENTITY_HEX_BYTES];
  if (answer->match != HALOTUNE_MATCH_EXACT || !is_same_problem(q, answer->row, stored, coefficients)) return false;
  identity_hex(generated->hash, hex);
  return strcmp(hex, stored->hash) != 0;
}

static halotune_status generate_for(const struct question *q, const struct answer *answer, const double *coefficients,
                                    struct generated *out) {
  const struct template *template;
  halotune_status status = context_template(q->ctx, answer->template_at, &template);
  if (status != HALOTUNE_OK) return status;
  struct variant_spec spec = {.stencil = q->parsed->stencil,
                              .analysis = q->parsed->analysis,
                              .template = template,
                              .configuration = answer->configuration,
                              .dtype = (enum dtype)q->key.dtype,
                              .domain = q->domain,
                              .coefficients = coefficients,
                              .limits = q->device->limits,
                              .reproducible = q->key.reproducible,
                              .most_steps = q->key.steps};
  if ((status = generate(&spec, out)) == HALOTUNE_OK) source_strip_lines(out->source);
  return status;
}

int kernel_compile_ms = 300000;

halotune_status kernel_compile(struct halotune_ctx *ctx, int capability, const char *source, const char *name,
                               struct compiled *out, const char **origin) {
  const struct nvrtc *nvrtc;
  struct cubin_cache cache = {0};
  char arch[16];
  struct fail_kept before;
  *out = (struct compiled){.cubin = NULL};
  fail_keep(&before);
  snprintf(arch, sizeof arch, "sm_%d", capability);
  struct compile_request request = {.source = source, .name = name, .arch = arch};
  halotune_status status = context_nvrtc(ctx, &nvrtc);
  if (status == HALOTUNE_OK) status = cubin_cache_open(NULL, 0, &cache);
  if (status != HALOTUNE_OK) return status;
  *origin = "cache";
  if (cubin_cache_get(&cache, &request, &nvrtc->facts, out) != CUBIN_CACHE_HIT) {
    *origin = "compiled";
    status = compile_within(nvrtc, &request, kernel_compile_ms, out);
    /* The cache is optional, so that a failure here does not matter. */
    if (status == HALOTUNE_OK) cubin_cache_put(&cache, &request, &nvrtc->facts, out);
  }
  cubin_cache_close(&cache);
  if (status == HALOTUNE_OK) fail_put_back(&before); /* of the cache */
  return status;
}

static halotune_status source_compile(const struct question *q, struct built *out) {
  struct compiled compiled;
  halotune_status status =
      kernel_compile(q->ctx, q->device->capability, out->source, out->launch.kernel, &compiled, &out->code);
  if (status == HALOTUNE_OK) {
    out->cubin = compiled.cubin;
    out->cubin_bytes = compiled.cubin_bytes;
    compiled.cubin = NULL;
  }
  compiled_free(&compiled);
  return status;
}

/* Move stored code into `out`; with `with_source`, also the source and the launch. */
static void stored_move(struct stored *stored, bool with_source, struct built *out) {
  if (with_source) {
    free(out->source);
    out->source = stored->source;
    out->launch = stored->launch;
    out->steps = stored->steps;
    stored->source = NULL;
  }
  out->cubin = stored->cubin;
  out->cubin_bytes = stored->cubin_bytes;
  out->code = "database";
  stored->cubin = NULL;
}

/* Compile the source in place of stored code that is damaged. If that fails, the detail also says why.
 *   damage  what cubin_check said */
static halotune_status compile_instead(const struct question *q, const char *damage, struct built *out) {
  char why[FAIL_TEXT_BYTES / 2];
  const halotune_status status = source_compile(q, out);
  if (status == HALOTUNE_OK) return status;
  snprintf(why, sizeof why, "%s", fail_text());
  return fail(status, "%s; the code in the database is not used: %s", why, damage);
}

static halotune_status variant_build(const struct question *q, const struct answer *answer, const double *coefficients,
                                     bool with_code, struct built *out) {
  struct stored stored = {.steps = 1};
  struct generated generated = {0};
  struct fail_kept before;
  halotune_status status = HALOTUNE_OK;
  *out = (struct built){.steps = 1, .code = ""};
  fail_keep(&before);
  /* Code of a similar stencil computes that other stencil, and is not used. */
  const bool is_own = answer->row && answer->row->stencil == q->key.stencil && answer->row->dtype == q->key.dtype;
  const bool is_stored = is_own && stored_fetch(q->ctx, answer->row, &stored);
  const bool have = is_stored && *stored.source; /* an export may have left it out */
  bool runs = have && stored.cubin_bytes > 0 && arch_runs(stored.arch, q->device->capability);
  char damage[256] = "";
  if (runs && cubin_check(stored.cubin, stored.cubin_bytes) != HALOTUNE_OK) {
    snprintf(damage, sizeof damage, "%s", fail_text());
    runs = false;
  }
  bool compiles = have && !with_code && source_capability(stored.source) <= q->device->capability;
  if (have && (runs || compiles) && is_same_problem(q, answer->row, &stored, coefficients) &&
      has_own_blocks(q, answer, &stored)) {
    stored_move(&stored, true, out);
  } else if ((status = generate_for(q, answer, coefficients, &generated)) == HALOTUNE_OK) {
    out->source = generated.source;
    out->launch = generated.launch;
    out->steps = generated.launch.steps;
    out->is_stale = is_stored && !have && is_another_source(q, answer, &stored, coefficients, &generated);
    if (runs && is_same_source(out->source, stored.source)) stored_move(&stored, false, out);
    else if (with_code) status = *damage ? compile_instead(q, damage, out) : source_compile(q, out);
  }
  if (is_stored) stored_free(&stored);
  if (status == HALOTUNE_OK) fail_put_back(&before); /* of stored code that cannot be used */
  else built_free(out);
  return status;
}

halotune_status kernel_build(const struct question *question, const struct answer *answer, const double *coefficients,
                             struct built *out) {
  return variant_build(question, answer, coefficients, true, out);
}

halotune_status kernel_source(const struct question *question, const struct answer *answer, const double *coefficients,
                              struct built *out) {
  return variant_build(question, answer, coefficients, false, out);
}

void built_free(struct built *built) {
  free(built->source);
  free(built->cubin);
  *built = (struct built){.steps = 1};
}

halotune_status kernel_coefficients(const struct question *q, const double *given, double **out) {
  const struct stencil *stencil = q->parsed->stencil;
  *out = calloc((size_t)stencil->coefficient_count + 1, sizeof **out);
  if (!*out) return fail_memory();
  halotune_status status = given ? HALOTUNE_OK : stencil_coefficients(stencil, &q->domain.grid, *out);
  for (int i = 0; i < stencil->coefficient_count && given && status == HALOTUNE_OK; i++) {
    (*out)[i] = given[i];
    if (!isfinite(given[i]))
      status =
          fail(HALOTUNE_ARGUMENT, "coefficient %s is %g; it must be finite", stencil->coefficients[i].name, given[i]);
  }
  if (status == HALOTUNE_OK) return HALOTUNE_OK;
  free(*out);
  *out = NULL;
  return status;
}
