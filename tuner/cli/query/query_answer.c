/* query_answer.c: turns the command line into a question for the library, and gets its answer. */
#include "tuner/cli/query/query_answer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/utf8.h"
#include "db/store/query.h"
#include "db/store/store.h"
#include "library/lookup/find_stencil.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/options/search_path.h"
#include "tuner/device/driver_limit.h"

/* The next line of a canonical text that does not name a coefficient; "" at the end. */
static const char *next_fact(const char *text) {
  static const char coefficient[] = "coefficient ";
  while (strncmp(text, coefficient, sizeof coefficient - 1) == 0) text += strcspn(text, "\n") + 1;
  return text;
}

/* Whether two stencils differ only in the order in which their coefficients are listed. */
static bool differ_in_order(const struct stencil *one, const char *one_text, const struct stencil *other,
                            const char *other_text) {
  if (one->coefficient_count != other->coefficient_count || strlen(one_text) != strlen(other_text)) return false;
  for (int i = 0; i < one->coefficient_count; i++) {
    int k = 0;
    while (k < other->coefficient_count && strcmp(one->coefficients[i].name, other->coefficients[k].name) != 0) k++;
    if (k == other->coefficient_count) return false;
  }
  for (;;) {
    one_text = next_fact(one_text), other_text = next_fact(other_text);
    const size_t length = strcspn(one_text, "\n") + 1;
    if (strncmp(one_text, other_text, length) != 0) return false;
    if (one_text[length - 1] == '\0') return true;
    one_text += length, other_text += length;
  }
}

/* Whether a stencil has all element types of another one. */
static bool has_all_types(const struct stencil *stencil, const struct stencil *other) {
  for (int i = 0; i < DTYPE_COUNT; i++) {
    if (other->dtypes[i] && !stencil->dtypes[i]) return false;
  }
  return true;
}

/* Find who gave the best rows of each stencil: this user, Halotune or others (enum giver); GIVER_NONE without a row.
 * NULL when memory is out; the caller frees it. */
enum { GIVER_NONE = GIVER_OTHERS + 1 };
static unsigned char *givers_of_rows(const struct catalog *catalog) {
  unsigned char *givers = malloc((size_t)catalog->stencil_count + 1);
  if (!givers) return NULL;
  memset(givers, GIVER_NONE, (size_t)catalog->stencil_count + 1);
  for (int i = 0; i < catalog->row_count; i++) {
    const struct served *row = &catalog->rows[i];
    const unsigned char giver = !row->is_foreign ? GIVER_USER : !row->is_imported ? GIVER_HALOTUNE : GIVER_OTHERS;
    if (giver < givers[row->stencil]) givers[row->stencil] = giver;
  }
  return givers;
}

/* Find a stencil that differs from the file's only in the order of coefficients, if its rows count more than those of
 * the file's meaning, and write its hash. A kernel takes the coefficients in the order of the database. A disputed name
 * has its rows for itself. Texts that are much longer than the file's are not read.
 *   givers    for each stencil who gave its rows
 *   is_found  receives whether there is one */
static halotune_status find_reordered(struct query *query, const unsigned char *givers, bool *is_found) {
  enum { LONGER_BYTES = 1 << 16 };
  const struct catalog *catalog = &query->ctx->catalog;
  const struct loaded *file = &query->file;
  const size_t most_bytes = strlen(file->text) + LONGER_BYTES;
  const int known = context_find_stencil(query->ctx, query->stencil_hash);
  int best = known >= 0 ? givers[catalog->stencils[known].rows_of] : GIVER_NONE;
  *is_found = false;
  if (best < GIVER_OTHERS) return HALOTUNE_OK; /* this user or Halotune gave results for the order of the file */
  for (int at = 0; at < catalog->stencil_count; at++) {
    const struct known_stencil *stencil = &catalog->stencils[at];
    const struct parsed_stencil *parsed;
    char hash[IDENTITY_HEX_BYTES];
    if (givers[at] >= best || stencil->is_disputed || strnlen(stencil->text, most_bytes + 1) > most_bytes) continue;
    const halotune_status status = context_stencil(query->ctx, at, &parsed);
    if (status == HALOTUNE_PARSE) continue; /* `db check` reports it */
    if (status != HALOTUNE_OK) return status;
    identity_hex(parsed->analysis->hash, hash);
    if (!differ_in_order(file->stencil, file->analysis->canonical, parsed->stencil, parsed->analysis->canonical) ||
        !has_all_types(parsed->stencil, file->stencil) || context_find_stencil(query->ctx, hash) < 0)
      continue;
    best = givers[at];
    *is_found = true;
    snprintf(query->stencil_hash, sizeof query->stencil_hash, "%s", hash);
  }
  return HALOTUNE_OK;
}

/* The name by which the lookup finds the stencil. A file's text is added, so that it answers for its own name. */
static halotune_status stencil_name_find(const struct invocation *invocation, struct query *query, const char **out) {
  *out = invocation->arguments[0];
  if (!search_is_path(*out)) return HALOTUNE_OK;
  halotune_status status = loaded_open(*out, &query->file);
  if (status != HALOTUNE_OK) return status;
  query->ctx->tune_argument = *out; /* a lookup would not find the stencil of the file by its name */
  *out = query->file.stencil->name;
  bool is_reordered = false;
  unsigned char *givers = givers_of_rows(&query->ctx->catalog);
  identity_hex(query->file.analysis->hash, query->stencil_hash);
  status = givers ? find_reordered(query, givers, &is_reordered) : fail_memory();
  free(givers);
  if (status == HALOTUNE_OK && !is_reordered) return halotune_stencil_add(query->ctx, query->file.text);
  *out = query->stencil_hash;
  return status;
}

/* Use the coefficients of the user's file, if there is one, in the order of the database's stencil. Stencils that
 * differ only in the values of coefficients have the same hash and the same winner, so the database may hold other
 * values. */
static halotune_status coefficients_find(struct query *query) {
  const struct stencil *stored = query->question.parsed->stencil;
  const struct stencil *stencil = query->file.stencil ? query->file.stencil : stored;
  const int count = stencil->coefficient_count;
  double *values = calloc((size_t)count + 1, sizeof *values);
  query->coefficients = calloc((size_t)count + 1, sizeof *query->coefficients);
  halotune_status status = values && query->coefficients ? HALOTUNE_OK : fail_memory();
  if (status == HALOTUNE_OK) status = stencil_coefficients(stencil, &query->question.domain.grid, values);
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) {
    for (int k = 0; k < count; k++) {
      if (strcmp(stencil->coefficients[i].name, stored->coefficients[k].name) == 0) query->coefficients[k] = values[i];
    }
  }
  free(values);
  return status;
}

/* Take a stencil that no database knows from the file of its name. */
static halotune_status stencil_from_file(halotune_ctx *ctx, const char *name, int *out) {
  struct loaded loaded;
  halotune_status status = loaded_open(name, &loaded);
  const struct nearest nearest = context_nearest_stencil(ctx, name);
  *out = -1;
  if (status == HALOTUNE_NOT_FOUND && *nearest.question)
    return fail(status, "no database knows the stencil '%s', and there is no file of it%s", name, nearest.question);
  if (status != HALOTUNE_OK) return status;
  status = halotune_stencil_add(ctx, loaded.text);
  loaded_free(&loaded);
  if (status == HALOTUNE_OK) *out = context_find_stencil(ctx, name);
  return status;
}

/* Read --steps: the largest number of time steps of a launch, or any number. `any` is for every stencil. */
static halotune_status option_most_steps(const struct invocation *invocation, const struct parsed_stencil *parsed,
                                         int *out) {
  const char *value = option_value(invocation, "steps");
  long steps;
  *out = HALOTUNE_STEPS_ANY;
  if (value && strcmp(value, "any") == 0) return HALOTUNE_OK;
  if (option_whole(invocation, "steps", 1, LAUNCH_MOST_STEPS, 1, &steps) != HALOTUNE_OK)
    return fail(HALOTUNE_ARGUMENT, "--steps takes 'any' or a whole number from 1 to %d, not '%s'", LAUNCH_MOST_STEPS,
                value);
  if (steps > 1 && !parsed->analysis->can_iterate) {
    return fail(HALOTUNE_ARGUMENT,
                "--steps %ld: %s makes one step only: it does not say in `iterate` which output becomes an input",
                steps, parsed->stencil->name);
  }
  *out = (int)steps;
  return HALOTUNE_OK;
}

/* Read the problem of the command line. A file's grids and types count, also where a stencil with another order of
 * coefficients answers. */
static halotune_status problem_read(const struct invocation *invocation, struct query *query, const char *name) {
  halotune_problem *out = &query->problem;
  const struct parsed_stencil *parsed;
  const struct stencil *stencil = query->file.stencil;
  struct grid grid;
  enum dtype dtype;
  int launch = -1, cache = -1;
  halotune_status status = HALOTUNE_OK;
  int at = context_find_stencil(query->ctx, name);
  *out = (halotune_problem){.stencil = name};
  if (at < 0) status = stencil_from_file(query->ctx, name, &at);
  if (status != HALOTUNE_OK) return status;
  const char *device = option_value(invocation, "device");
  out->device = device ? device : "0";
  status = context_stencil(query->ctx, at, &parsed);
  if (status == HALOTUNE_OK && !stencil) stencil = parsed->stencil;
  if (status == HALOTUNE_OK) status = option_grid(invocation, stencil, &grid);
  if (status == HALOTUNE_OK) status = option_dtype(invocation, stencil, &dtype);
  if (status == HALOTUNE_OK)
    status = option_word(invocation, "launch", launch_mode_names, LAUNCH_MODE_COUNT, -1, &launch);
  if (status == HALOTUNE_OK) status = option_word(invocation, "cache", cache_mode_names, CACHE_MODE_COUNT, -1, &cache);
  if (status != HALOTUNE_OK) return status;
  for (int axis = 0; axis < MAX_DIMS; axis++) out->grid[axis] = grid.n[axis];
  out->dtype = (halotune_dtype)dtype;
  out->launch = (halotune_launch_mode)(launch + 1); /* 0 means any */
  out->cache = (halotune_cache_mode)(cache + 1);
  out->reproducible = option_given(invocation, "reproducible");
  return option_most_steps(invocation, parsed, &out->steps);
}

/* Without a GPU the user must name a device. Append the names that the databases know. */
static halotune_status explain_no_gpu(const halotune_ctx *ctx) {
  struct text names = {0};
  char detail[FAIL_TEXT_BYTES / 2];
  snprintf(detail, sizeof detail, "%s", fail_text());
  device_names_write(&ctx->catalog, &names);
  halotune_status status = fail(HALOTUNE_NO_GPU, "%s; or name one with --device, such as %s%s", detail,
                                text_string(&names), names.length ? "" : "sm_90");
  text_free(&names);
  return status;
}

/* Warn if $HALOTUNE_DB names no file. halotune_open accepts that, because there is no database before the first tune.
 * But the name may be misspelt. */
static void tell_missing_database(void) {
  const char *named = getenv("HALOTUNE_DB");
  if (!named || !*named || access(named, F_OK) == 0) return;
  fprintf(stderr, "halotune: $HALOTUNE_DB names %s: %s; it is ignored\n", named, strerror(errno));
}

/* A lookup knows that a template has changed, but does not generate. Answer in the same way if the source was left out
 * of the database, and this program generates another one. */
static halotune_status compare_source(struct query *query) {
  struct built built;
  if (query->config.match != HALOTUNE_MATCH_EXACT) return HALOTUNE_OK;
  const halotune_status status = kernel_source(&query->question, &query->answer, query->coefficients, &built);
  if (status != HALOTUNE_OK) return status == HALOTUNE_MEMORY ? status : HALOTUNE_OK; /* whoever builds it is told */
  if (built.is_stale) {
    query->config.match = query->answer.match = HALOTUNE_MATCH_STALE;
    query->config.is_stale = query->answer.is_stale = true;
  }
  built_free(&built);
  return HALOTUNE_OK;
}

halotune_status query_open(const struct invocation *invocation, struct query *out) {
  const char *path = option_value(invocation, "db"), *name;
  struct lookup_key key;
  *out = (struct query){.names_database = path != NULL};
  if (!path) tell_missing_database();
  halotune_status status = halotune_open(path ? &path : NULL, path ? 1 : 0, &out->ctx);
  if (status == HALOTUNE_OK) status = stencil_name_find(invocation, out, &name);
  if (status == HALOTUNE_OK) status = problem_read(invocation, out, name);
  driver_limit_begin(); /* without --device, or with a number, the driver is asked */
  if (status == HALOTUNE_OK) {
    status = halotune_lookup(out->ctx, &out->problem, &out->config);
    out->is_untuned = status == HALOTUNE_OK ? out->config.match > HALOTUNE_MATCH_STALE : status == HALOTUNE_NOT_FOUND;
    if (status == HALOTUNE_NO_GPU && !option_value(invocation, "device")) status = explain_no_gpu(out->ctx);
  }
  if (status == HALOTUNE_OK) status = context_device(out->ctx, out->problem.device, &out->room, &out->device);
  driver_limit_end();
  if (status == HALOTUNE_OK) status = config_read(out->ctx, &out->config, &key, &out->answer);
  if (status == HALOTUNE_OK) {
    key.model = out->device->model;
    status = question_begin(out->ctx, &key, out->device, &out->question);
  }
  if (status == HALOTUNE_OK) status = coefficients_find(out);
  if (status == HALOTUNE_OK) status = compare_source(out);
  return status;
}

void query_free(struct query *query) {
  free(query->coefficients);
  loaded_free(&query->file);
  halotune_close(query->ctx);
}

void query_add_origin(const struct query *query, struct text *out) {
  const halotune_config *c = &query->config;
  const struct served *row = query->answer.row;
  if (!row || (strcmp(c->measured_stencil, c->stencil) == 0 && row->dtype == (enum dtype)c->dtype)) return;
  text_printf(out, "for %s %s, ", c->measured_stencil, dtype_names[row->dtype]);
}

/* Read what the database has about a row. Returns false if it has no such row any more. */
static bool read_stored(const struct catalog *catalog, const struct served *row, struct query_stored *out) {
  static const char sql[] =
      "select printable(second_grid), coalesce(printable(objective), 'time'), energy_mj from best where id = ?1 and date = ?2";
  struct store *store = NULL;
  struct binder binder = {.at = 0};
  if (catalog_open_again(catalog, row->database, &store) != HALOTUNE_OK) return false;
  bool found = query_prepare(store_connection(store), sql, &binder.query) == HALOTUNE_OK;
  if (found) {
    bind_integer(&binder, row->id);
    bind_text(&binder, row->date);
    found = sqlite3_step(binder.query) == SQLITE_ROW;
  }
  if (found) {
    snprintf(out->second_grid, sizeof out->second_grid, "%s", column_text(binder.query, 0));
    snprintf(out->objective, sizeof out->objective, "%s", column_text(binder.query, 1));
    out->energy_mj = column_real(binder.query, 2);
  }
  sqlite3_finalize(binder.query);
  store_close(store);
  return found;
}

/* The second grid is read from the database, because the catalog does not hold it: lookups do not need it. Since the
 * catalog was read, another program can have exchanged the file. */
bool query_stored(const struct query *query, struct query_stored *out) {
  const struct served *row = query->answer.row;
  *out = (struct query_stored){.energy_mj = NAN};
  if (!row || row->is_finalist) return false; /* only winners are verified on it */
  const struct catalog *catalog = &query->ctx->catalog;
  if (read_stored(catalog, row, out)) return true;
  char name[FAIL_TEXT_BYTES];
  printable_name(name, sizeof name, catalog->databases[row->database].path);
  fprintf(stderr,
          "halotune: %s: another program has changed or removed it since the answer was read; second grid, objective "
          "and energy are not known, so ask again\n",
          name);
  return false;
}
