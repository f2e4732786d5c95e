/* tune_setup.c: opens what a run needs, and closes it in reverse order. */
#include "tuner/cli/tune/tune_setup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/files/file.h"
#include "db/store/store.h"
#include "db/store/store_copy.h"
#include "tuner/cli/options/option_value.h"

/* Open the database for the results. Results of a replayed recording are stored only in the database of --db, and never
 * in the recording itself. */
static halotune_status results_open(const struct invocation *invocation, const struct tune_backend *which,
                                    const struct tune_options *options, struct store **out) {
  const char *path = option_value(invocation, "db"), *recording = which->recording;
  if (recording && !path) return store_open_memory(out);
  if (recording && file_is_same(path, recording))
    return fail(HALOTUNE_ARGUMENT, "--db %s is the recording itself, which a replay must not change", path);
  const halotune_status status = store_open(path, STORE_WRITE, out);
  if (status == HALOTUNE_OK) store_wait_until(*out, options->deadline_ms); /* every user who can read it can lock it */
  return status;
}

/* When the file of --hints is read no further. */
struct hints_end {
  const struct tune_options *options;
  double until_ms; /* by clock_ms */
};

/* A quarter of the time that there is: who made the file decides how long it takes. 500 MB take 10 s. */
static struct hints_end hints_end_of(const struct tune_options *options) {
  static const double least_ms = 1000, most_ms = 20000;
  const double now_ms = clock_ms();
  const double time_ms = fmin(options->budget_s * 1e3, options->deadline_ms - now_ms);
  return (struct hints_end){options, now_ms + fmin(fmax(time_ms / 4, least_ms), most_ms)};
}

static bool is_hints_end(const void *context) {
  const struct hints_end *end = context;
  const double now_ms = clock_ms();
  if (end->options->stop && *end->options->stop) return true;
  return now_ms >= end->until_ms || !tune_has_time_to_read(end->options, now_ms);
}

/* Read the database of --hints. The search does without one that takes too long. */
static halotune_status named_hints_open(const char *path, const struct tune_options *options, struct tune_setup *out) {
  const struct hints_end end = hints_end_of(options);
  const halotune_status status = store_open_copy(path, out->copy_templates.list, out->copy_templates.count,
                                                 is_hints_end, &end, &out->hints[out->hint_count]);
  if (status == HALOTUNE_OK) out->hint_count++;
  if (status != HALOTUNE_CANCELLED) return status;
  fprintf(stderr, "halotune: %s gives no hints: the budget and the deadline leave too little time to read it\n", path);
  return HALOTUNE_OK;
}

/* Open the databases of hints. All templates are found already. The installed database is opened with --no-hints, too,
 * because the search reads the roof from it. */
static halotune_status hints_open(const struct invocation *invocation, const struct tune_options *options,
                                  struct tune_setup *out) {
  const char *named = option_value(invocation, "hints");
  if (named && option_value(invocation, "no-hints"))
    return fail(HALOTUNE_ARGUMENT, "--hints and --no-hints exclude each other");
  const halotune_status status = named ? named_hints_open(named, options, out) : HALOTUNE_OK;
  if (status != HALOTUNE_OK) return status;
  if (store_open_starter(&out->hints[out->hint_count]) != HALOTUNE_OK)
    fprintf(stderr, "halotune: the database that comes with Halotune gives no hints: %s\n", fail_text());
  else if (out->hints[out->hint_count]) out->hint_count++;
  return HALOTUNE_OK;
}

/* Find all templates, and load the stencil `copy`, if it is installed and is a 1D copy of one field. */
static void copy_open(const struct invocation *invocation, struct tune_setup *out) {
  struct loaded *loaded = &out->copy.loaded;
  struct invocation all = {.command = invocation->command};
  const bool has_templates = templates_open(&all, &out->copy_templates) == HALOTUNE_OK;
  if (loaded_open("copy", loaded) != HALOTUNE_OK) return;
  const struct stencil *copy = loaded->stencil;
  const bool is_copy = copy->dims == 1 && copy->input_count == 1 && copy->output_count == 1;
  if (!is_copy || !has_templates) loaded_free(loaded);
}

halotune_status tune_setup_tools(const struct tune_backend *which, int workers, int compile_timeout_ms,
                                 struct tune_setup *out) {
  struct compiler_options options = {.pool = {.workers = workers, .timeout_ms = compile_timeout_ms}};
  halotune_status status = HALOTUNE_OK;
  if (which->kind != TUNE_ON_RECORDING) status = compiler_open(&options, &out->tools.compiler);
  if (status == HALOTUNE_OK) status = tune_backend_open(which, out->tools.compiler, &out->backend);
  out->tools.backend = &out->backend;
  return status;
}

halotune_status tune_setup_databases(const struct invocation *invocation, const struct tune_backend *which,
                                     const struct tune_options *options, struct tune_setup *out) {
  halotune_status status = results_open(invocation, which, options, &out->tools.store);
  if (status != HALOTUNE_OK) return status;
  copy_open(invocation, out);
  status = hints_open(invocation, options, out);
  out->tools.hints = out->hints;
  out->tools.hint_count = out->hint_count;
  return status;
}

void tune_setup_close(struct tune_setup *setup) {
  templates_free(&setup->copy_templates);
  loaded_free(&setup->copy.loaded);
  for (int i = 0; i < setup->hint_count; i++) store_close(setup->hints[i]);
  store_close(setup->tools.store);
  if (setup->backend.table) backend_close(&setup->backend);
  compiler_close(setup->tools.compiler);
}
