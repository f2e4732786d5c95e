/* tune_setup.c: opens what a run needs, and closes it in reverse order. */
#include "tuner/cli/tune/tune_setup.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/files/file.h"
#include "db/store/store.h"
#include "db/store/store_copy.h"
#include "tuner/cli/options/option_value.h"

/* Open the database for the results. Results of a replayed recording are stored only in the database of --db, and never
 * in the recording itself. */
static halotune_status results_open(const struct invocation *invocation, const struct tune_backend *which,
                                    struct store **out) {
  const char *path = option_value(invocation, "db"), *recording = which->recording;
  if (recording && !path) return store_open_memory(out);
  if (recording && file_is_same(path, recording))
    return fail(HALOTUNE_ARGUMENT, "--db %s is the recording itself, which a replay must not change", path);
  return store_open(path, STORE_WRITE, out);
}

/* Open the databases of hints. All templates are found already. The installed database is opened with --no-hints, too,
 * because the search reads the roof from it. */
static halotune_status hints_open(const struct invocation *invocation, struct tune_setup *out) {
  const char *named = option_value(invocation, "hints");
  if (named && option_value(invocation, "no-hints"))
    return fail(HALOTUNE_ARGUMENT, "--hints and --no-hints exclude each other");
  if (named) {
    const halotune_status status =
        store_open_copy(named, out->copy_templates.list, out->copy_templates.count, &out->hints[out->hint_count]);
    if (status != HALOTUNE_OK) return status;
    out->hint_count++;
  }
  char *starter = NULL;
  halotune_status status = store_starter_path(&starter);
  if (status == HALOTUNE_OK && store_starter_is_usable(starter)) {
    if (store_open(starter, STORE_READ, &out->hints[out->hint_count]) == HALOTUNE_OK) out->hint_count++;
    else fprintf(stderr, "halotune: the database that comes with Halotune gives no hints: %s\n", fail_text());
  }
  free(starter);
  return status;
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
                                     struct tune_setup *out) {
  halotune_status status = results_open(invocation, which, &out->tools.store);
  if (status != HALOTUNE_OK) return status;
  copy_open(invocation, out);
  status = hints_open(invocation, out);
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
