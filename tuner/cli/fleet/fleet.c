/* fleet.c: `halotune fleet status`: shows from databases how far the GPUs of a fleet are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "stencil/file/grid_text.h"
#include "tuner/cli/fleet/fleet_rows.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/tune/tune_site.h"

/* Numbers of tasks, by stage. */
struct stage_counts {
  int of[STAGE_COUNT];
};

struct fleet {
  struct fleet_rows rows;
  struct plan_file site;
  struct task_list plan; /* the plan of --plan */
  const char *path;      /* path of the plan; NULL for none */
  int cache;             /* the cache mode of the plan's runs: an enum cache_mode */
  bool reproducible;
  json_t *json; /* NULL: print text */
};

static void counts_add(const struct stage_counts *counts, bool has_plan, struct text *out) {
  static const enum stage order[] = {STAGE_DONE,    STAGE_RUNNING, STAGE_UNENDED,
                                     STAGE_PARTIAL, STAGE_FAILED,  STAGE_MISSING};
  for (size_t i = 0; i < COUNT(order) - !has_plan; i++)
    text_printf(out, "%s%d %s", i ? ", " : "", counts->of[order[i]], stage_words[order[i]]);
}

static json_t *counts_json(const struct stage_counts *counts, bool has_plan) {
  json_t *json = json_object();
  json_put(&json, "done", json_integer(counts->of[STAGE_DONE]));
  json_put(&json, "running", json_integer(counts->of[STAGE_RUNNING]));
  json_put(&json, "unended", json_integer(counts->of[STAGE_UNENDED]));
  json_put(&json, "partial", json_integer(counts->of[STAGE_PARTIAL]));
  json_put(&json, "failed", json_integer(counts->of[STAGE_FAILED]));
  if (has_plan) json_put(&json, "missing", json_integer(counts->of[STAGE_MISSING]));
  return json;
}

static void state_text(const struct task_state *state, struct text *out) {
  text_printf(out, "%s %s ", state->stencil, state->dtype);
  grid_text(&state->grid, grid_dims(&state->grid), out);
  if (state->steps > 1) text_printf(out, ", %d steps", state->steps);
  if (state->reproducible) text_printf(out, ", reproducible");
  if (strcmp(state->cache, cache_mode_names[CACHE_STEADY]) != 0) text_printf(out, ", %s", state->cache);
}

static json_t *row_json(const struct fleet_row *row) {
  const struct task_state *state = &row->state;
  json_t *json = json_object();
  json_put(&json, "stencil", text_json(state->stencil));
  json_put(&json, "dtype", text_json(state->dtype));
  json_put(&json, "grid", grid_json(&state->grid, grid_dims(&state->grid)));
  json_put(&json, "steps", json_integer(state->steps));
  json_put(&json, "cache", text_json(state->cache));
  json_put(&json, "reproducible", json_boolean(state->reproducible));
  json_put(&json, "state", text_json(row->stage == STAGE_UNENDED ? "unended" : stage_words[row->stage]));
  json_put(&json, "reason", text_json(state->reason));
  json_put(&json, "host", text_json(state->host));
  json_put(&json, "last_sign", text_json(state->last_sign));
  json_put(&json, "is_own", json_boolean(state->is_own));
  return json;
}

/* Print a task that is not done. */
static void row_print(const struct fleet_row *row) {
  struct text text = {0};
  if (row->stage == STAGE_DONE) return;
  state_text(&row->state, &text);
  printf("  %s%s: %s", row->state.is_own ? "" : "imported, ", stage_words[row->stage], text_string(&text));
  if (row->state.host[0]) printf(", on %s", row->state.host); /* the documents of the starter database name none */
  printf(", last sign of life %s by its clock", row->state.last_sign);
  if (row->stage == STAGE_PARTIAL || row->stage == STAGE_FAILED) printf(": %s", row->state.reason);
  printf("\n");
  text_free(&text);
}

/* Show the rows of one GPU. */
static void gpu_show(struct fleet *fleet, const struct fleet_row *rows, int count, json_t **list) {
  struct stage_counts counts = {{0}};
  struct text text = {0};
  for (int i = 0; i < count; i++) counts.of[rows[i].stage]++;
  if (fleet->json) {
    json_t *json = json_object(), *tasks = json_array();
    json_put(&json, "device", text_json(rows->state.device));
    json_put(&json, "uuid", text_json(rows->state.uuid));
    json_put(&json, "counts", counts_json(&counts, false));
    for (int i = 0; i < count; i++) json_add(&tasks, row_json(&rows[i]));
    json_put(&json, "tasks", tasks);
    json_add(list, json);
    return;
  }
  counts_add(&counts, false, &text);
  printf("%s, %s: %s\n", rows->state.device, rows->state.uuid, text_string(&text));
  for (int i = 0; i < count; i++) row_print(&rows[i]);
  text_free(&text);
}

/* The rows of a model of GPU. */
struct model_rows {
  const struct fleet_row **list;
  int count;
};

/* Find the rows of a model. The caller frees the list.
 *   model  a row of that model; NULL: no database has one */
static halotune_status find_model_rows(const struct fleet *fleet, const struct task_state *model,
                                       struct model_rows *out) {
  *out = (struct model_rows){calloc((size_t)fleet->rows.count + 1, sizeof *out->list), 0};
  if (!out->list) return fail_memory();
  for (int i = 0; model && i < fleet->rows.count; i++) {
    const struct fleet_row *row = &fleet->rows.list[i];
    if (fleet_same_model(&row->state, model)) out->list[out->count++] = row;
  }
  return HALOTUNE_OK;
}

/* The stage of a task of the plan on a model of GPU. As in `tune --resume`, a task is not done if a run of it was
 * killed, perhaps while numbers of steps were searched for. */
static enum stage task_stage(const struct fleet *fleet, const struct planned_task *task,
                             const struct model_rows *rows) {
  enum stage stage = STAGE_MISSING;
  bool is_unended = false;
  for (int i = 0; i < rows->count; i++) {
    const struct fleet_row *row = rows->list[i];
    const struct site_match match = site_match_of(task, &row->state, -1, fleet->cache, fleet->reproducible);
    const enum stage own = row->stage == STAGE_DONE && !match.is_done ? STAGE_UNENDED : row->stage;
    if (match.is_same && own > stage) stage = own;
    is_unended = is_unended || (match.is_same && match.is_unended && !match.is_done);
  }
  return stage == STAGE_DONE && is_unended ? STAGE_UNENDED : stage;
}

/* Add a task of the plan that no run has to the missing ones of a model. */
static void missing_add(const struct planned_task *task, struct text *lines, json_t **list) {
  struct text text = {0};
  planned_task_text(task, &text);
  if (*list) json_add(list, text_json(text_string(&text)));
  else text_printf(lines, "  missing: %s\n", text_string(&text));
  text_free(&text);
}

/* Show the stages of the plan's tasks on a model of GPU.
 *   model  a row of that model; NULL: no database has one */
static halotune_status model_show(struct fleet *fleet, const char *name, const struct task_state *model,
                                  json_t **list) {
  struct stage_counts counts = {{0}};
  struct text text = {0}, lines = {0};
  struct model_rows rows;
  json_t *missing = fleet->json ? json_array() : NULL;
  halotune_status status = find_model_rows(fleet, model, &rows);
  for (int i = 0; i < fleet->plan.task_count && status == HALOTUNE_OK; i++) {
    const enum stage stage = task_stage(fleet, &fleet->plan.tasks[i], &rows);
    counts.of[stage]++;
    if (stage == STAGE_MISSING) missing_add(&fleet->plan.tasks[i], &lines, &missing);
  }
  counts_add(&counts, true, &text);
  if (status == HALOTUNE_OK && !(text_ok(&text) && text_ok(&lines))) status = fail_memory();
  if (status == HALOTUNE_OK && !fleet->json)
    printf("%s on %s: %s\n%s", fleet->path, name, text_string(&text), text_string(&lines));
  free(rows.list);
  text_free(&lines);
  text_free(&text);
  if (!fleet->json) return status;
  json_t *json = json_object();
  json_put(&json, "model", text_json(name));
  json_put(&json, "counts", counts_json(&counts, true));
  json_put(&json, "missing", missing);
  json_add(list, json);
  return status;
}

/* Show the plan on each model that a database has, and on the other models that the plan names. */
static halotune_status plan_show(struct fleet *fleet) {
  json_t *list = fleet->json ? json_array() : NULL;
  halotune_status status = HALOTUNE_OK;
  bool has[PLAN_FILE_MOST_GPUS] = {false};
  for (int i = 0; i < fleet->rows.count && status == HALOTUNE_OK; i++) {
    const struct task_state *state = &fleet->rows.list[i].state;
    bool is_new = true;
    for (int j = i - 1; j >= 0 && is_new; j--) is_new = !fleet_same_model(&fleet->rows.list[j].state, state);
    if (!is_new || !plan_file_has_gpu(&fleet->site, state->device)) continue;
    for (int j = 0; j < fleet->site.gpu_count; j++)
      has[j] = has[j] || plan_file_is_gpu(fleet->site.gpus[j], state->device);
    status = model_show(fleet, state->device, state, &list);
  }
  for (int j = 0; j < fleet->site.gpu_count && status == HALOTUNE_OK; j++) {
    if (!has[j]) status = model_show(fleet, fleet->site.gpus[j], NULL, &list);
  }
  if (fleet->json) json_put(&fleet->json, "plan", list);
  return status;
}

static void gpus_show(struct fleet *fleet) {
  json_t *list = fleet->json ? json_array() : NULL;
  const struct fleet_row *rows = fleet->rows.list;
  for (int first = 0, end; first < fleet->rows.count; first = end) {
    for (end = first + 1; end < fleet->rows.count && strcmp(rows[end].state.uuid, rows[first].state.uuid) == 0;) end++;
    gpu_show(fleet, &rows[first], end - first, &list);
  }
  if (fleet->json) json_put(&fleet->json, "gpus", list);
  else if (fleet->rows.count == 0) printf("no run is stored there yet\n");
}

/* Read the database of --db, else the user's own, and the other databases that are named. */
static halotune_status databases_read(const struct invocation *invocation, struct fleet *fleet) {
  halotune_status status = HALOTUNE_OK;
  if (invocation->argument_count == 1 || option_given(invocation, "db"))
    status = fleet_rows_add(&fleet->rows, option_value(invocation, "db"));
  for (int i = 1; i < invocation->argument_count && status == HALOTUNE_OK; i++)
    status = fleet_rows_add(&fleet->rows, invocation->arguments[i]);
  fleet_rows_end(&fleet->rows);
  return status;
}

static enum exit_code fleet_run(const struct invocation *invocation) {
  static const char *const parts[] = {"status"};
  int part;
  halotune_status status = word_find("fleet", invocation->arguments[0], parts, COUNT(parts), &part);
  if (status != HALOTUNE_OK) return report_failure(status);
  struct fleet fleet = {.path = option_value(invocation, "plan"),
                        .reproducible = option_given(invocation, "reproducible")};
  status = option_word(invocation, "cache", cache_mode_names, CACHE_MODE_COUNT, CACHE_STEADY, &fleet.cache);
  if (status == HALOTUNE_OK && !fleet.path && (fleet.reproducible || option_given(invocation, "cache")))
    status = fail(HALOTUNE_ARGUMENT, "--cache and --reproducible say how a plan is run: add --plan FILE");
  if (status != HALOTUNE_OK) return report_failure(status);
  if (fleet.path) status = plan_file_read(fleet.path, &fleet.site);
  if (status == HALOTUNE_OK && fleet.path) status = site_tasks_make(&fleet.site, &fleet.plan);
  const bool is_bad_plan = status != HALOTUNE_OK;
  if (!is_bad_plan) status = databases_read(invocation, &fleet);
  if (status == HALOTUNE_OK) {
    if (option_given(invocation, "json")) fleet.json = json_object();
    gpus_show(&fleet);
    if (fleet.path) status = plan_show(&fleet);
    if (status == HALOTUNE_OK && fleet.json) status = print_json(json_incref(fleet.json));
    json_decref(fleet.json);
  }
  task_list_free(&fleet.plan);
  plan_file_free(&fleet.site);
  fleet_rows_free(&fleet.rows);
  if (status == HALOTUNE_OK) return HALOTUNE_EXIT_SUCCESS;
  return is_bad_plan ? report_file_failure(status) : report_failure(status);
}

static const struct option_row options[] = {
    {"db", "FILE", "a database; $HALOTUNE_DB, else halotune/halotune.db in $XDG_DATA_HOME by default. More may follow"},
    {"plan", "FILE", "also show the progress of this plan of a site on each model of GPU, and the missing tasks"},
    {"cache", "MODE", "steady (the default) or cold: how the plan is run"},
    {"reproducible", NULL, "the plan is run with --reproducible"},
    {"json", NULL, "print a JSON document"},
    {0},
};

const struct command command_fleet = {
    "fleet", "WHAT [DB...]", 1, 4097, "show how far the GPUs of a fleet are: status", options, fleet_run,
};
