/* explain.c: `halotune explain STENCIL`: says in sentences why the stored winner won, from the database alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "library/lookup/installed.h"
#include "reports/document/document.h"
#include "stencil/template/template_read.h"
#include "tuner/cli/explain/explain_choice.h"
#include "tuner/cli/explain/explain_text.h"
#include "tuner/cli/options/database.h"
#include "tuner/cli/options/loaded_stencil.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/options/search_path.h"
#include "tuner/cli/output/output.h"

static const struct template *template_of(const struct definitions *definitions, int64_t id) {
  const struct known_template *known = definitions_template(definitions, id);
  return known ? known->template : NULL;
}

/* Whether the installed template of this name is another version. One that is not installed, or has an error, makes no
 * winner stale, because there is nothing to compare with. */
static halotune_status find_stale(const struct template *template, bool *is_stale) {
  struct template *installed = NULL;
  *is_stale = false;
  if (!template) return HALOTUNE_OK;
  halotune_status status = installed_template(template->name, &installed);
  if (installed) *is_stale = identity_compare(installed->hash, template->hash) != 0;
  template_free(installed);
  return status == HALOTUNE_PARSE ? HALOTUNE_OK : status;
}

/* A problem, and the database that holds it. Start with {0}, end with found_free. */
struct found {
  struct store *store;
  struct definitions definitions;
  json_t *document;
  const json_t *problem;
  bool lacks_results; /* of the stencil, or of the stencil on the GPU that was asked for */
};

static void found_free(struct found *found) {
  json_decref(found->document);
  definitions_free(&found->definitions);
  store_close(found->store);
}

static halotune_status problem_explain(const struct invocation *invocation, const struct found *found,
                                       const struct counters *counters) {
  const json_t *document = found->document, *problem = found->problem;
  const struct definitions *definitions = &found->definitions;
  struct explained explained = {.document = document,
                                .definitions = definitions,
                                .counters = counters,
                                .typed = invocation->arguments[0],
                                .named = option_value(invocation, "db"),
                                .problem = problem,
                                .winner = json_object_get(problem, "winner"),
                                .points = member_number(problem, "points"),
                                .steps = (int)member_whole(problem, "steps")};
  struct text text = {0};
  explained.device = row_with_id(json_object_get(document, "devices"), member_whole(problem, "device"));
  explained.stencil = row_with_id(json_object_get(document, "stencils"), member_whole(problem, "stencil"));
  explained.run = row_with_id(json_object_get(document, "runs"), member_whole(explained.winner, "run"));
  explained.template = template_of(definitions, member_whole(explained.winner, "template"));
  explained.has_roof = !json_is_true(json_object_get(explained.device, "is_emulation"));
  halotune_status status = find_stale(explained.template, &explained.is_stale);
  if (status != HALOTUNE_OK) return status;
  explain_write(&explained, &text);
  const bool ok = text_ok(&text);
  if (ok) fputs(text_string(&text), stdout);
  text_free(&text);
  return ok ? HALOTUNE_OK : fail_memory();
}

static void read_extents(const json_t *list, int64_t out[3]) {
  for (size_t i = 0; i < 3; i++) out[i] = json_integer_value(json_array_get(list, i));
}

/* Read the profiler's table, in which the winner's launch must be. */
static halotune_status read_counters(const char *path, const json_t *document, const json_t *problem,
                                     struct counters *out) {
  const json_t *winner = json_object_get(problem, "winner"), *launch = json_object_get(winner, "launch");
  const json_t *device = row_with_id(json_object_get(document, "devices"), member_whole(problem, "device"));
  struct counted_launch counted = {.kernel = member_text(launch, "kernel"),
                                   .registers = member_whole(winner, "registers"),
                                   .shared_bytes = member_whole(launch, "shared_bytes"),
                                   .capability = member_whole(device, "capability"),
                                   .gpu = member_text(device, "name")};
  read_extents(json_object_get(launch, "block"), counted.block);
  read_extents(json_object_get(launch, "grid"), counted.blocks);
  return counters_read(path, &counted, out);
}

/* Make all texts of a document printable lines: they come from a database, and the answer prints them. */
static halotune_status make_printable(json_t *value) {
  const char *key;
  size_t i;
  json_t *member;
  halotune_status status = HALOTUNE_OK;
  if (json_is_string(value) && !is_printable_line(json_string_value(value))) {
    char *line = strdup(json_string_value(value));
    if (!line) return fail_memory();
    printable_name(line, strlen(line) + 1, json_string_value(value));
    if (json_string_set(value, line) != 0) status = fail_memory();
    free(line);
  }
  json_object_foreach(value, key, member) {
    if (status == HALOTUNE_OK) status = make_printable(member);
  }
  json_array_foreach(value, i, member) {
    if (status == HALOTUNE_OK) status = make_printable(member);
  }
  return status;
}

/* Make the document of a report on the stencil alone. */
static halotune_status document_read(struct store *store, const struct report_request *request, json_t **out) {
  struct text text = {0};
  halotune_status status = report_document(store_connection(store), request, &text);
  if (status == HALOTUNE_OK) status = json_read(text_string(&text), text.length, "the report's document", out);
  if (status == HALOTUNE_OK) status = make_printable(*out);
  text_free(&text);
  return status;
}

/* Find the problem of the options in the database found->store. */
static halotune_status problem_find(const struct invocation *invocation, const char *stencil, struct found *found) {
  const struct report_request request = {.database = store_path(found->store),
                                         .stencil = stencil,
                                         .is_of_file = search_is_path(invocation->arguments[0]),
                                         .device = option_value(invocation, "device"),
                                         .generated = ""};
  halotune_status status = document_read(found->store, &request, &found->document);
  found->lacks_results = status == HALOTUNE_NOT_FOUND;
  if (status == HALOTUNE_OK) status = definitions_read(store_connection(found->store), &found->definitions);
  if (status != HALOTUNE_OK) return status;
  return explain_choose(invocation, &found->definitions, found->document, stencil, &found->problem);
}

/* Find the problem in the database that comes with Halotune, because the user's own does not have it, and say so. If
 * neither has it, the first failure stays. */
static halotune_status starter_find(const struct invocation *invocation, const char *stencil, struct found *found) {
  struct found starter = {0};
  struct fail_kept kept;
  fail_keep(&kept);
  halotune_status status = database_open_starter(&starter.store);
  if (status == HALOTUNE_OK) status = problem_find(invocation, stencil, &starter);
  if (status != HALOTUNE_OK) {
    found_free(&starter);
    fail_put_back(&kept);
    return HALOTUNE_NOT_FOUND;
  }
  fprintf(stderr, "halotune: %s; this explanation is from the database that comes with Halotune, %s\n", kept.text,
          store_path(starter.store));
  found_free(found);
  *found = starter;
  return HALOTUNE_OK;
}

/* Name the command that answers for a GPU without results. */
static void tell_query(const char *stencil, const char *device) {
  struct text command = {0};
  text_printf(&command, "halotune query ");
  text_shell_path(&command, stencil);
  text_printf(&command, " --device ");
  text_shell_word(&command, device);
  if (text_ok(&command))
    fprintf(stderr, "halotune: to see the expected result there, run: %s\n", text_string(&command));
  text_free(&command);
}

static enum exit_code explain_run(const struct invocation *invocation) {
  struct loaded file = {0};
  struct found found = {0};
  struct counters counters;
  const char *stencil = invocation->arguments[0], *profile = option_value(invocation, "counters");
  const char *named = option_value(invocation, "db");
  halotune_status status = HALOTUNE_OK;
  if (search_is_path(stencil)) {
    status = loaded_open(stencil, &file);
    if (status != HALOTUNE_OK) return report_file_failure(status);
    stencil = file.stencil->name;
  }
  status = database_open(named, "this explanation is from", &found.store);
  if (status == HALOTUNE_OK) {
    status = problem_find(invocation, stencil, &found);
    if (status == HALOTUNE_NOT_FOUND && !named) status = starter_find(invocation, stencil, &found);
  }
  if (status == HALOTUNE_OK && profile) status = read_counters(profile, found.document, found.problem, &counters);
  if (status == HALOTUNE_OK) status = problem_explain(invocation, &found, profile ? &counters : NULL);
  const char *device = found.lacks_results ? option_value(invocation, "device") : NULL;
  found_free(&found);
  loaded_free(&file);
  if (status == HALOTUNE_OK) return HALOTUNE_EXIT_SUCCESS;
  const enum exit_code code = report_failure(status);
  if (device) tell_query(invocation->arguments[0], device);
  return code;
}

static const struct option_row options[] = {
    {"dtype", "TYPE", "f32 or f64; f32 by default, where the stencil has it"},
    {"grid", "NX,NY,NZ",
     "points along each axis; the stencil's first grid by default, else the largest that was tuned"},
    {"device", "GPU", "only GPUs with this UUID, or with this text in their name"},
    {"launch", "MODE", "stream or graph; the newest by default"},
    {"cache", "MODE", "steady or cold; the newest by default"},
    {"steps", "N", "time steps of a launch; 1 by default"},
    {"reproducible", NULL, "the winner among variants that all give the same bits"},
    {"counters", "FILE", "counters that NVIDIA's profiler, ncu, measured while the winner ran (docs/output.md)"},
    {"db", "FILE", "the database; by default yours, then the one that was installed"},
    {0},
};

const struct command command_explain = {
    .name = "explain",
    .arguments = "STENCIL",
    .least_arguments = 1,
    .most_arguments = 1,
    .what = "say why the stored winner won, what bounds it, and what to try next",
    .options = options,
    .run = explain_run,
};
