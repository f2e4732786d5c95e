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
#include "tuner/cli/options/loaded_stencil.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/options/search_path.h"
#include "tuner/device/driver_limit.h"

/* Use the default values of the coefficients of the text that answers. */
static halotune_status coefficients_find(struct query *query) {
  const struct stencil *stencil = query->question.parsed->stencil;
  query->coefficients = calloc((size_t)stencil->coefficient_count + 1, sizeof *query->coefficients);
  if (!query->coefficients) return fail_memory();
  return stencil_coefficients(stencil, &query->question.domain.grid, query->coefficients);
}

/* Load a stencil file and add its text to the ctx, so that it answers under its own name.
 *   argument  path of the file, or the name of a stencil */
static halotune_status stencil_from_file(halotune_ctx *ctx, const char *argument, int *out) {
  struct loaded loaded;
  const bool is_path = search_is_path(argument);
  halotune_status status = loaded_open(argument, &loaded);
  const struct nearest nearest = context_nearest_stencil(ctx, argument);
  if (status == HALOTUNE_NOT_FOUND && !is_path && *nearest.question)
    status =
        fail(status, "no database knows the stencil '%s', and there is no file of it%s", argument, nearest.question);
  if (is_path) ctx->tune_argument = argument; /* `tune` would not find the file by the stencil's name */
  if (status == HALOTUNE_OK) status = halotune_stencil_add(ctx, loaded.text);
  if (status == HALOTUNE_OK) *out = context_find_stencil(ctx, loaded.stencil->name);
  loaded_free(&loaded);
  return status;
}

/* Find the stencil that an argument means: a file, a name or identity that a database knows, or a name of a file. */
static halotune_status stencil_find(halotune_ctx *ctx, const char *argument, int *out) {
  *out = search_is_path(argument) ? -1 : context_find_stencil(ctx, argument);
  return *out >= 0 ? HALOTUNE_OK : stencil_from_file(ctx, argument, out);
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

static halotune_status problem_read(const struct invocation *invocation, struct query *query) {
  halotune_problem *out = &query->problem;
  const struct parsed_stencil *parsed;
  struct grid grid;
  enum dtype dtype;
  int at, launch = -1, cache = -1;
  const char *argument = invocation->arguments[0], *device = option_value(invocation, "device");
  halotune_status status = stencil_find(query->ctx, argument, &at);
  if (status == HALOTUNE_OK) status = context_stencil(query->ctx, at, &parsed);
  if (status == HALOTUNE_OK) status = option_grid(invocation, parsed->stencil, &grid);
  if (status == HALOTUNE_OK) status = option_dtype(invocation, parsed->stencil, &dtype);
  if (status == HALOTUNE_OK)
    status = option_word(invocation, "launch", launch_mode_names, LAUNCH_MODE_COUNT, -1, &launch);
  if (status == HALOTUNE_OK) status = option_word(invocation, "cache", cache_mode_names, CACHE_MODE_COUNT, -1, &cache);
  if (status != HALOTUNE_OK) return status;
  const char *name = query->ctx->catalog.stencils[at].name;
  *out = (halotune_problem){.stencil = search_is_path(argument) ? name : argument, .device = device ? device : "0"};
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
  const char *path = option_value(invocation, "db");
  struct lookup_key key;
  *out = (struct query){.names_database = path != NULL};
  if (!path) tell_missing_database();
  halotune_status status = halotune_open(path ? &path : NULL, path ? 1 : 0, &out->ctx);
  if (status == HALOTUNE_OK) status = problem_read(invocation, out);
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
