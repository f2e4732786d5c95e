/* tune.c: halotune_tune: tunes a problem with the installed program, and lets the ctx answer with the result. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/clock.h"
#include "db/store/launch_text.h"
#include "library/lookup/find_stencil.h"
#include "library/lookup/forked.h"
#include "library/lookup/lookup.h"
#include "library/tune/tune_lock.h"
#include "library/tune/tune_program.h"

static const double least_budget_s = 1e-3; /* the budget has three decimals on the command line */

/* How much longer another process is waited for that tunes the same problem: it may have a larger budget. */
static const double others_ms = 600e3;

/* A tune of one problem, and the texts of its command line. */
struct tuning {
  struct halotune_ctx *ctx; /* the newest ctx behind the caller's */
  const halotune_problem *problem;
  const struct known_stencil *stencil; /* NULL: the program finds it by its name */
  const char *name;                    /* the stencil's name or hash, as the caller gave it */
  double budget_s;
  char *database;
  struct known_database noted; /* whose it was before the tune */
  char device[16], grid[64], budget[32], variants[32], steps[16];
};

static void tuning_free(struct tuning *tuning) { free(tuning->database); }

/* The database that receives the result: that of the options, else the first of the ctx, else the user's own. Its path
 * is absolute and has no links, unless its folder does not exist. */
static halotune_status find_database(const struct halotune_ctx *root, const halotune_tune_options *options,
                                     struct tuning *out) {
  char *own = NULL;
  halotune_status status = HALOTUNE_OK;
  if (!options->database && root->is_default) status = store_default_path(&own);
  if (status != HALOTUNE_OK) return status;
  status = store_real_path(own                 ? own
                           : options->database ? options->database
                                               : root->catalog.databases[0].path,
                           &out->database);
  if (status == HALOTUNE_OK) context_note_database(out->database, &out->noted);
  free(own);
  return status;
}

/* The number of the GPU, for the program's --device. */
static halotune_status find_device(struct tuning *t, const halotune_tune_options *options) {
  const char *name = t->problem->device;
  const int ordinal = name ? context_ordinal(name) : -1;
  const struct cu *cu;
  CUdevice device = 0;
  if (options->backend && strcmp(options->backend, "cuda") != 0) return HALOTUNE_OK;
  if (name && ordinal < 0)
    return fail(
        HALOTUNE_ARGUMENT,
        "halotune_tune: the device '%s' is not a number: name the current device (NULL) or a number, such as \"0\"",
        name);
  if (name) {
    snprintf(t->device, sizeof t->device, "%d", ordinal);
    return HALOTUNE_OK;
  }
  halotune_status status = context_cu(t->ctx, &cu);
  if (status == HALOTUNE_OK && cu->ctx_device(&device) != CUDA_SUCCESS)
    status = fail(HALOTUNE_NO_GPU, "this thread has no current CUDA context: name the device's number");
  snprintf(t->device, sizeof t->device, "%d", (int)device);
  return status;
}

static halotune_status run_program(struct tuning *t, const halotune_tune_options *options,
                                   struct tune_program *program) {
  enum { MOST = 32 };
  const halotune_problem *p = t->problem;
  const char *list[MOST];
  int count = 0;
  const struct {
    const char *name, *value; /* an option without a value has the value "" */
  } rows[] = {
      {"--dtype", dtype_names[p->dtype]},
      {"--grid", t->grid},
      {"--db", t->database},
      {"--budget", t->budget},
      {"--device", *t->device ? t->device : NULL},
      {"--backend", options->backend},
      {"--max-variants", options->max_variants > 0 ? t->variants : NULL},
      {"--launch", p->launch ? launch_mode_names[p->launch - 1] : NULL},
      {"--cache", p->cache ? cache_mode_names[p->cache - 1] : NULL},
      {"--steps", p->steps == HALOTUNE_STEPS_ANY ? NULL : t->steps},
      {"--reproducible", p->reproducible ? "" : NULL},
  };
  program->input = t->stencil ? t->stencil->text : NULL;
  list[count++] = t->stencil ? "/dev/stdin" : t->name;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (!rows[i].value) continue;
    list[count++] = rows[i].name;
    if (*rows[i].value) list[count++] = rows[i].value;
  }
  list[count] = NULL;
  program->arguments = list;
  return tune_program_run(program);
}

/* Whether a text can be the name of a stencil, and no option and no path. */
static bool is_plain_name(const char *name) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return name && *name && name[strspn(name, letters)] == '\0';
}

/* Write the points along each axis that the stencil has. For one that the ctx does not know, these are the axes up to
 * the last that has points. */
static halotune_status write_grid(struct tuning *t, int stencil) {
  const long long *n = t->problem->grid;
  int dims = n[2] > 0 ? 3 : n[1] > 0 ? 2 : 1, length = 0;
  if (stencil >= 0) {
    const struct parsed_stencil *parsed;
    halotune_status status = context_stencil(t->ctx, stencil, &parsed);
    if (status != HALOTUNE_OK) return status;
    dims = parsed->stencil->dims;
  }
  for (int axis = 0; axis < dims; axis++) {
    length +=
        snprintf(t->grid + length, sizeof t->grid - (size_t)length, "%s%lld", axis ? "," : "", n[axis] ? n[axis] : 1);
  }
  return HALOTUNE_OK;
}

/* Check what a lookup checks, so that no search ends with a result that nobody can ask for. A problem without an answer
 * passes. */
static halotune_status check_problem(halotune_ctx *root, const halotune_problem *problem) {
  halotune_config config;
  struct fail_kept before;
  fail_keep(&before);
  const halotune_status status = halotune_lookup(root, problem, &config);
  if (status != HALOTUNE_OK && status != HALOTUNE_NOT_FOUND) return status;
  fail_put_back(&before);
  return HALOTUNE_OK;
}

static halotune_status prepare_tuning(halotune_ctx *root, const halotune_problem *problem,
                                      const halotune_tune_options *options, struct tuning *t) {
  const int at = problem->stencil ? context_find_stencil(t->ctx, problem->stencil) : -1;
  if (at < 0 && !is_plain_name(problem->stencil))
    return fail(HALOTUNE_ARGUMENT, "halotune_tune: '%s' is not the name of a stencil",
                problem->stencil ? problem->stencil : "");
  if ((unsigned)problem->dtype >= DTYPE_COUNT || (unsigned)problem->launch > LAUNCH_MODE_COUNT ||
      (unsigned)problem->cache > CACHE_MODE_COUNT)
    return fail(HALOTUNE_ARGUMENT, "halotune_tune: dtype, launch or cache is not one of its enumerators");
  if (isnan(options->budget_s) || options->budget_s < 0 || options->budget_s > 1e7)
    return fail(HALOTUNE_ARGUMENT, "halotune_tune: budget_s is %g; it must be from 0 to 1e7", options->budget_s);
  if (options->max_variants < 0)
    return fail(HALOTUNE_ARGUMENT, "halotune_tune: max_variants is %d; it must be 0 or more", options->max_variants);
  t->stencil = at >= 0 ? &t->ctx->catalog.stencils[at] : NULL;
  t->name = problem->stencil;
  halotune_status status = find_device(t, options);
  if (status == HALOTUNE_OK) status = check_problem(root, problem);
  if (status == HALOTUNE_OK) status = write_grid(t, at);
  if (status != HALOTUNE_OK) return status;
  snprintf(t->budget, sizeof t->budget, "%.3fs", fmax(t->budget_s, least_budget_s));
  snprintf(t->variants, sizeof t->variants, "%d", options->max_variants);
  snprintf(t->steps, sizeof t->steps, problem->steps > 1 ? "1..%d" : "1",
           problem->steps < LAUNCH_MOST_STEPS ? problem->steps : LAUNCH_MOST_STEPS);
  return find_database(root, options, t);
}

/* Another process may have tuned the problem while this one waited. It may have failed before it made a database. */
static halotune_status take_result(const struct tuning *t, halotune_ctx *root, bool *found) {
  halotune_status status = context_renew(root, &t->noted);
  *found = false;
  if (status == HALOTUNE_OK) status = lookup_has_row(root, t->problem, found);
  return status == HALOTUNE_NOT_FOUND ? HALOTUNE_OK : status;
}

/* Run the program, and read what it has stored. */
static halotune_status make_result(struct tuning *t, halotune_ctx *root, const halotune_tune_options *options,
                                   struct tune_program *program) {
  bool found = false;
  halotune_status status = run_program(t, options, program);
  if (status == HALOTUNE_OK) status = context_renew(root, &t->noted);
  if (status == HALOTUNE_OK) status = lookup_has_row(root, t->problem, &found);
  if (status != HALOTUNE_OK || found) return status;
  return fail(HALOTUNE_NOT_FOUND, "halotune_tune: no variant of %s was found to be correct", t->name);
}

halotune_status halotune_tune(halotune_ctx *ctx, const halotune_problem *problem, const halotune_tune_options *options,
                              halotune_tune_progress *progress, void *user) {
  static const halotune_tune_options usual = {.program = NULL};
  const double usual_budget_s = 20, ms_per_s = 1e3;
  struct text key = {0};
  struct tune_lock lock = {-1};
  bool waited = false, found = false;
  if (!ctx || !problem) return fail(HALOTUNE_ARGUMENT, "halotune_tune: an argument is NULL");
  if (!options) options = &usual;
  struct tuning t = {.ctx = context_newest(ctx),
                     .problem = problem,
                     .budget_s = options->budget_s > 0 ? options->budget_s : usual_budget_s};
  const char *named = getenv("HALOTUNE_PROGRAM");
  struct tune_listener listener = {.progress = progress, .user = user, .start_ms = clock_ms()};
  struct tune_program program = {.program = options->program  ? options->program
                                            : named && *named ? named
                                                              : "halotune",
                                 .budget_s = t.budget_s,
                                 .listener = &listener};
  halotune_status status = forked_check(ctx->generation);
  if (status == HALOTUNE_OK) status = prepare_tuning(ctx, problem, options, &t);
  if (status == HALOTUNE_OK) {
    text_printf(&key, "%s %s %s %d %s %d %d %d %d", t.database, t.stencil ? t.stencil->hash : t.name, t.grid,
                (int)problem->dtype, t.device, (int)problem->launch, (int)problem->cache, problem->reproducible,
                problem->steps);
    status = text_ok(&key)
                 ? tune_lock_take(text_string(&key), others_ms + t.budget_s * ms_per_s, &listener, &lock, &waited)
                 : fail_memory();
  }
  if (status == HALOTUNE_OK && waited) status = take_result(&t, ctx, &found);
  if (status == HALOTUNE_OK && !found) status = make_result(&t, ctx, options, &program);
  tune_lock_release(&lock);
  text_free(&key);
  tuning_free(&t);
  return status;
}
