/* tune.c: `halotune tune STENCIL...`: search for the fastest variants, and store them. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/parallel.h"
#include "tuner/bench/backend_replay.h"
#include "tuner/cli/duration.h"
#include "tuner/cli/progress.h"
#include "tuner/cli/tune_table.h"

enum { DEFAULT_BUDGET_S = 60, SETUP_S = 8 };

struct tune_command {
  const struct invocation *invocation;
  struct tune_plan plan;
  struct templates templates, copy_templates; /* copy_templates: all that can be found, whatever --template says */
  struct planned_stencil copy; /* of the roof; nothing where there is no such file */
  struct tune_tools tools;
  struct backend_handle backend;
  struct tune_options options;
  struct tuned *rows;
  struct progress progress;
  struct text command, task_name;
  double start_ms;
  bool json;
};

/* --- ending early --- */

static volatile sig_atomic_t stop;

/* The first signal ends the run soon, the second one at once. */
static void ask_to_stop(int number) {
  stop = 1;
  signal(number, SIG_DFL);
}

static void catch_signals(void) {
  struct sigaction action = {.sa_handler = ask_to_stop, .sa_flags = SA_RESTART};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

/* --- options --- */

static halotune_status option_share(const struct invocation *invocation, const char *name, double *out) {
  const char *value = option_value(invocation, name);
  char *end;
  *out = 0;
  if (!value) return HALOTUNE_OK;
  *out = strtod(value, &end);
  if (end > value && !*end && *out > 0 && *out < 10) return HALOTUNE_OK;
  return fail(HALOTUNE_ARGUMENT, "--%s takes a share of the roof such as 0.97, not '%s'", name, value);
}

/* The position of an option's word in a list; -1 where it was not given. */
static halotune_status option_word(const struct invocation *invocation, const char *name, const char *const *words, int count, int *out) {
  const char *value = option_value(invocation, name);
  *out = -1;
  for (int i = 0; i < count && value; i++) {
    if (strcmp(value, words[i]) == 0) *out = i;
  }
  if (!value || *out >= 0) return HALOTUNE_OK;
  struct text text = {0};
  for (int i = 0; i < count; i++) text_printf(&text, "%s%s", i ? ", " : "", words[i]);
  halotune_status status = fail(HALOTUNE_ARGUMENT, "--%s is one of %s, not '%s'", name, text_string(&text), value);
  text_free(&text);
  return status;
}

static halotune_status option_strategy(const struct invocation *invocation, const struct strategy **out) {
  const char *name = option_value(invocation, "strategy");
  *out = strategy_find(name ? name : "local");
  if (*out) return HALOTUNE_OK;
  struct text text = {0};
  for (int i = 0; strategies[i]; i++) text_printf(&text, "%s%s", i ? ", " : "", strategies[i]->name);
  halotune_status status = fail(HALOTUNE_ARGUMENT, "--strategy is one of %s, not '%s'", text_string(&text), name);
  text_free(&text);
  return status;
}

static halotune_status read_options(struct tune_command *c) {
  const struct invocation *invocation = c->invocation;
  struct tune_options *options = &c->options;
  double deadline_s;
  long seed;
  int cache;
  halotune_status status;
  if ((status = option_strategy(invocation, &options->strategy)) != HALOTUNE_OK) return status;
  if ((status = option_seconds(invocation, "budget", DEFAULT_BUDGET_S, &options->budget_s)) != HALOTUNE_OK) return status;
  if ((status = option_seconds(invocation, "deadline", INFINITY, &deadline_s)) != HALOTUNE_OK) return status;
  if ((status = option_whole(invocation, "max-variants", 1, 1L << 40, 0, &options->max_variants)) != HALOTUNE_OK) return status;
  if ((status = option_whole(invocation, "seed", 0, 1L << 62, 1, &seed)) != HALOTUNE_OK) return status;
  if ((status = option_share(invocation, "good-enough", &options->good_enough)) != HALOTUNE_OK) return status;
  status = option_word(invocation, "launch", launch_mode_names, LAUNCH_MODE_COUNT, &options->launch);
  if (status == HALOTUNE_OK) status = option_word(invocation, "cache", cache_mode_names, CACHE_MODE_COUNT, &cache);
  if (status != HALOTUNE_OK) return status;
  options->cache = cache < 0 ? CACHE_STEADY : (enum cache_mode)cache;
  options->deadline_ms = c->start_ms + deadline_s * 1e3;
  options->seed = (uint64_t)seed;
  options->fresh = option_value(invocation, "fresh") != NULL;
  options->rematch = option_value(invocation, "rematch") != NULL;
  if (options->fresh && options->rematch) return fail(HALOTUNE_ARGUMENT, "--fresh forgets what --rematch is about");
  options->stop = &stop;
  c->json = option_value(invocation, "json") != NULL;
  return HALOTUNE_OK;
}

/* The command line, for the store. */
static void write_command(struct tune_command *c) {
  const struct invocation *invocation = c->invocation;
  text_printf(&c->command, "halotune tune");
  for (int i = 0; i < invocation->argument_count; i++) text_printf(&c->command, " %s", invocation->arguments[i]);
  for (int i = 0; invocation->command->options[i].name; i++) {
    const char *value = invocation->values[i];
    if (value) text_printf(&c->command, " --%s%s%s", invocation->command->options[i].name, *value ? " " : "", value);
  }
  c->options.command = text_string(&c->command);
}

/* --- what it needs --- */

static halotune_status open_backend(struct tune_command *c) {
  const char *name = option_value(c->invocation, "backend");
  static const char replay[] = "replay:";
  long ordinal;
  halotune_status status = option_whole(c->invocation, "device", 0, 255, 0, &ordinal);
  if (status != HALOTUNE_OK) return status;
  if (!name || strcmp(name, "cuda") == 0) {
    struct backend_cuda_options options = {.ordinal = (int)ordinal, .compiler = c->tools.compiler};
    return backend_cuda_open(&options, &c->backend);
  }
  if (strcmp(name, "host") == 0) return backend_host_open("sm_90", &c->backend);
  if (strncmp(name, replay, strlen(replay)) == 0) return backend_replay_open(name + strlen(replay), &c->backend);
  return fail(HALOTUNE_ARGUMENT, "--backend is cuda, host or replay:FILE, not '%s'", name);
}

/* One core is left to the process that launches. */
static halotune_status open_tools(struct tune_command *c) {
  long workers;
  int cores = parallel_threads(0);
  halotune_status status = option_whole(c->invocation, "workers", 1, 256, cores > 1 ? cores - 1 : 1, &workers);
  if (status != HALOTUNE_OK) return status;
  struct compiler_options options = {.pool = {.workers = (int)workers}};
  status = compiler_open(&options, &c->tools.compiler);
  if (status == HALOTUNE_OK) status = open_backend(c);
  c->tools.backend = &c->backend;
  if (status == HALOTUNE_OK) status = store_open(option_value(c->invocation, "db"), STORE_WRITE, &c->tools.store);
  return status;
}

/* The stencil whose kernels are the roof, if it is installed. */
static void open_copy(struct tune_command *c) {
  if (loaded_open("copy", &c->copy.loaded) != HALOTUNE_OK) return;
  const struct stencil *copy = c->copy.loaded.stencil;
  bool is_copy = copy->dims == 1 && copy->input_count == 1 && copy->output_count == 1;
  struct invocation all = {.command = c->invocation->command};
  if (!is_copy || templates_open(&all, &c->copy_templates) != HALOTUNE_OK) loaded_free(&c->copy.loaded);
}

/* --- the live line --- */

static void show(void *context, const struct tune_progress *progress) {
  struct tune_command *c = context;
  char best[64] = "";
  if (isfinite(progress->best_ms)) snprintf(best, sizeof best, ", best %.4g ms", progress->best_ms);
  if (isfinite(progress->best_ms) && !isnan(progress->roof_share)) {
    size_t length = strlen(best);
    snprintf(best + length, sizeof best - length, " (%.3f of copy)", progress->roof_share);
  }
  progress_show(&c->progress, "%s: %s, %ld of %ld tried, %ld failed, %.0f/s%s, %.0f s left", text_string(&c->task_name),
                progress->phase, progress->tried, progress->space, progress->failed, progress->variants_per_s, best, progress->left_s);
}

/* --- tasks --- */

static struct task task_of(const struct tune_command *c, const struct planned_stencil *stencil, const struct planned_task *planned) {
  const struct backend_facts *facts = &c->backend.facts;
  struct task task = {.stencil = stencil->loaded.stencil,
                      .analysis = stencil->loaded.analysis,
                      .stencil_text = stencil->text,
                      .dtype = planned->dtype,
                      .grid = planned->grid,
                      .coefficients = planned->coefficients,
                      .limits = facts->device.limits,
                      .arch = facts->arch,
                      .sm_count = facts->device.sm_count};
  return task;
}

static halotune_status tune_one(struct tune_command *c, struct tuned *row) {
  char arch[16];
  struct task task = task_of(c, row->task->stencil, row->task), copy;
  snprintf(arch, sizeof arch, "sm_%d", c->backend.facts.device.capability);
  task.arch_name = arch;
  bool has_copy = c->copy.loaded.stencil != NULL;
  if (has_copy) {
    copy = task_of(c, &c->copy, row->task);
    copy.arch_name = arch;
    copy.coefficients = NULL;
    copy.grid = (struct grid){{(long)(task_bytes(&task) / 2 / (long long)dtype_bytes(task.dtype)), 1, 1}};
  }
  c->task_name.length = 0;
  planned_task_text(row->task, &c->task_name);
  struct tune_templates templates = {c->templates.list, c->templates.count}, copy_templates = {c->copy_templates.list, c->copy_templates.count};
  halotune_status status =
      tune(&c->tools, &task, &templates, has_copy ? &copy : NULL, &copy_templates, &c->options, &row->result);
  progress_hide(&c->progress);
  row->is_done = true;
  if (status == HALOTUNE_OK) return status;
  snprintf(row->result.reason, sizeof row->result.reason, "%s", fail_text());
  return status;
}

/* What a task cannot do another may: only the store's failures, and a GPU that is gone, end it all. */
static halotune_status tune_all(struct tune_command *c) {
  halotune_status worst = HALOTUNE_OK;
  for (int i = 0; i < c->plan.task_count; i++) {
    if (stop || clock_ms() >= c->options.deadline_ms) break;
    halotune_status status = tune_one(c, &c->rows[i]);
    if (status == HALOTUNE_OK) continue;
    fprintf(stderr, "halotune: %s: %s\n", text_string(&c->task_name), fail_text());
    worst = status;
    if (status == HALOTUNE_DB || status == HALOTUNE_NO_GPU) break;
  }
  return worst;
}

static void print_plan(const struct tune_command *c) {
  double total_s = c->plan.task_count * (c->options.budget_s + SETUP_S);
  fprintf(stderr, "halotune: %d tasks of %g s: about %.0f minutes\n", c->plan.task_count, c->options.budget_s, ceil(total_s / 60));
  for (int i = 0; i < c->plan.task_count; i++) {
    struct text text = {0};
    planned_task_text(&c->plan.tasks[i], &text);
    if (option_value(c->invocation, "dry-run")) printf("%s\n", text_string(&text));
    text_free(&text);
  }
}

static halotune_status print_results(const struct tune_command *c) {
  const struct backend_facts *facts = &c->backend.facts;
  int left = 0;
  for (int i = 0; i < c->plan.task_count; i++) left += !c->rows[i].result.is_complete;
  if (c->json) {
    json_t *list = json_array(), *document = json_object();
    for (int i = 0; i < c->plan.task_count; i++) {
      if (c->rows[i].is_done) json_add(&list, tuned_json(&c->rows[i]));
    }
    json_put(&document, "device", text_json(facts->device.name));
    json_put(&document, "emulated", json_boolean(facts->is_emulation));
    json_put(&document, "database", text_json(store_path(c->tools.store)));
    json_put(&document, "tasks", list);
    return print_json(document);
  }
  printf("%s%s\n", facts->device.name, facts->is_emulation ? " (its times rank nothing: no GPU was used)" : "");
  tune_table_print(c->rows, c->plan.task_count);
  printf("stored in %s\n", store_path(c->tools.store));
  if (left > 0) {
    fprintf(stderr, "halotune: %d of %d tasks did not come to their end; the same command goes on where they stopped\n", left,
            c->plan.task_count);
  }
  return HALOTUNE_OK;
}

static enum exit_code tune_with_tools(struct tune_command *c) {
  char host[256] = "";
  halotune_status status = open_tools(c), printed;
  if (status != HALOTUNE_OK) return report_failure(status);
  gethostname(host, sizeof host - 1);
  c->options.host = host;
  c->options.progress = show;
  c->options.context = c;
  open_copy(c);
  if (c->backend.facts.warnings[0]) fprintf(stderr, "halotune: %s\n", c->backend.facts.warnings);
  if (c->plan.task_count > 1) print_plan(c);
  catch_signals();
  progress_open(&c->progress);
  status = tune_all(c);
  if ((printed = print_results(c)) != HALOTUNE_OK) return report_failure(printed);
  if (status != HALOTUNE_OK) return report_failure(status);
  for (int i = 0; i < c->plan.task_count; i++) {
    if (!c->rows[i].result.has_winner) return HALOTUNE_EXIT_FAILURE;
  }
  return c->plan.code;
}

static enum exit_code run(const struct invocation *invocation) {
  struct tune_command c = {.invocation = invocation, .start_ms = clock_ms()};
  enum exit_code code;
  halotune_status status = read_options(&c);
  if (status != HALOTUNE_OK) return report_failure(status);
  if ((status = tune_plan_open(invocation, &c.plan)) != HALOTUNE_OK) return report_file_failure(status);
  write_command(&c);
  c.rows = calloc((size_t)c.plan.task_count + 1, sizeof *c.rows);
  if (!c.rows) status = fail_memory();
  for (int i = 0; i < c.plan.task_count && c.rows; i++) c.rows[i].task = &c.plan.tasks[i];
  if (status == HALOTUNE_OK) status = templates_open(invocation, &c.templates);
  if (status != HALOTUNE_OK) {
    code = report_file_failure(status);
  } else if (option_value(invocation, "dry-run")) {
    print_plan(&c);
    code = c.plan.code;
  } else {
    code = tune_with_tools(&c);
  }
  store_close(c.tools.store);
  if (c.backend.table) backend_close(&c.backend);
  compiler_close(c.tools.compiler);
  loaded_free(&c.copy.loaded);
  templates_free(&c.templates);
  templates_free(&c.copy_templates);
  tune_plan_free(&c.plan);
  text_free(&c.command);
  text_free(&c.task_name);
  free(c.rows);
  return code;
}

static const struct option_row options[] = {
    {"all", NULL, "every stencil that is found, in all its element types"},
    {"dtype", "TYPE", "f32, f64 or all; the file's first by default"},
    {"grid", "NX,NY,NZ", "points along each axis, or all for every grid of the file; the file's first by default"},
    {"device", "N", "which GPU, from 0; 0 by default"},
    {"backend", "NAME", "cuda; host: emulation, whose times rank nothing; replay:FILE: a recorded run"},
    TEMPLATE_OPTIONS,
    {"strategy", "NAME", "local: near the best; random; exhaustive; local by default"},
    {"budget", "TIME", "for each task, such as 60s (the default) or 5m"},
    {"deadline", "TIME", "for all tasks together; none by default"},
    {"max-variants", "N", "end the search of a task after so many"},
    {"good-enough", "SHARE", "end the search of a task at this share of the driver's copy, such as 0.97"},
    {"launch", "MODE", "stream or graph; by default graph where a launch takes less than 20 us"},
    {"cache", "MODE", "steady, as in a time loop (the default), or cold"},
    {"seed", "N", "of the search, 1 by default"},
    {"workers", "N", "compilers at a time; one for each CPU but one by default"},
    {"fresh", NULL, "measure again what an earlier run measured"},
    {"rematch", NULL, "no search: the winners of earlier runs and the fastest they measured, once more, side by side"},
    {"db", "FILE", "the database; $HALOTUNE_DB, else halotune/halotune.db in $XDG_DATA_HOME by default"},
    {"dry-run", NULL, "print the tasks and how long they take, and do nothing"},
    {"json", NULL, "print a JSON document"},
    {0},
};

const struct command command_tune = {
    "tune", "[STENCIL...]", 0, 64, "search for the fastest kernels on this machine's GPU, and store them", options, run,
};
