/* tune.c: `halotune tune STENCIL...`: search for the fastest variants, and store them. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/parallel.h"
#include "gpu/workers/compile_pool.h"
#include "tuner/cli/options/command_line.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/output/progress.h"
#include "tuner/cli/tune/tune_backend.h"
#include "tuner/cli/tune/tune_devices.h"
#include "tuner/cli/tune/tune_options.h"
#include "tuner/cli/tune/tune_results.h"
#include "tuner/cli/tune/tune_tools.h"

enum {
  SETUP_S = 8
}; /* of a task on a GPU: its worker, the reference, the roof's variants; 1 to 11 s were seen on an H200 */

struct tune_command {
  const struct invocation *invocation;
  struct tune_plan plan;
  struct templates templates, copy_templates; /* copy_templates: all that can be found, whatever --template says */
  struct tune_set set;
  struct planned_stencil copy; /* of the roof; nothing where there is no such file */
  struct tune_tools tools;
  struct hint_stores hints;
  struct tune_backend which;
  int workers, compile_timeout_ms; /* of compilers */
  struct backend_handle backend;
  struct tune_options options;
  struct tuned *rows;
  struct progress progress;
  struct text command, task_name;
  char host[256];
  double start_ms;
  bool json;
};

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

/* For the store; and, without what would begin anew, to go on with. */
static halotune_status write_command(const struct invocation *invocation, const char *const *without,
                                     struct text *out) {
  struct command_words words;
  halotune_status status = command_words_make(invocation, without, 0, &words);
  if (status != HALOTUNE_OK) return status;
  command_words_text(&words, out);
  command_words_free(&words);
  return HALOTUNE_OK;
}

/* All cores but one by default, which is left to the process that launches. */
static halotune_status read_workers(const struct invocation *invocation, int *out) {
  long workers = 0;
  const int cores = parallel_threads(0);
  halotune_status status = option_whole(invocation, "workers", 1, 256, cores > 1 ? cores - 1 : 1, &workers);
  *out = (int)workers;
  return status;
}

/* What comes of a recording is no news: it goes nowhere, unless the user says where, and never into the recording
 * itself. */
static halotune_status open_store(struct tune_command *c) {
  const char *path = option_value(c->invocation, "db"), *recording = c->which.recording;
  if (recording && !path) return store_open_memory(&c->tools.store);
  if (recording && file_is_same(path, recording))
    return fail(HALOTUNE_ARGUMENT, "--db %s is the recording itself, which a replay must not change", path);
  return store_open(path, STORE_WRITE, &c->tools.store);
}

static halotune_status open_tools(struct tune_command *c) {
  struct compiler_options options = {.pool = {.workers = c->workers, .timeout_ms = c->compile_timeout_ms}};
  halotune_status status = HALOTUNE_OK;
  if (c->which.kind != TUNE_ON_RECORDING) status = compiler_open(&options, &c->tools.compiler);
  if (status == HALOTUNE_OK) status = tune_backend_open(&c->which, c->tools.compiler, &c->backend);
  c->tools.backend = &c->backend;
  if (status == HALOTUNE_OK) status = open_store(c);
  if (status == HALOTUNE_OK) status = hint_stores_open(c->invocation, &c->hints);
  c->tools.hints = c->hints.list;
  c->tools.hint_count = c->hints.count;
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

static void show(void *context, const struct tune_progress *progress) {
  struct tune_command *c = context;
  struct progress_parts parts = {.count = 0};
  progress_add(&parts, 4, "", "%s", text_string(&c->task_name)); /* the user has typed it */
  progress_add(&parts, 3, ": ", "%s", progress->phase);
  progress_add(&parts, 2, ", ", "%ld of %ld tried", progress->tried, progress->space);
  progress_add(&parts, 6, ", ", "%ld failed", progress->failed);
  progress_add(&parts, 7, ", ", "%.0f/s", progress->variants_per_s);
  if (isfinite(progress->best_ms)) {
    const bool has_share = !isnan(progress->roof_share) && !c->backend.facts.is_emulation;
    progress_add(&parts, 0, ", ", "best %.4g ms", progress->best_ms);
    if (has_share) progress_add(&parts, 5, " (", "%.3f of copy)", progress->roof_share);
  }
  if (isfinite(progress->left_s)) progress_add(&parts, 1, ", ", "%.0f s left", progress->left_s);
  progress_show(&c->progress, &parts);
}

static struct task task_of(const struct tune_command *c, const struct planned_stencil *stencil,
                           const struct planned_task *planned) {
  const struct backend_facts *facts = &c->backend.facts;
  struct task task = {.stencil = stencil->loaded.stencil,
                      .analysis = stencil->loaded.analysis,
                      .stencil_text = stencil->text,
                      .dtype = planned->dtype,
                      .grid = planned->grid,
                      .coefficients = planned->coefficients,
                      .limits = facts->device.limits,
                      .arch = facts->arch,
                      .sm_count = facts->device.sm_count,
                      .reproducible = option_given(c->invocation, "reproducible")};
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
    copy.reproducible = false; /* it adds nothing */
    copy.grid = (struct grid){{(long)(task_bytes(&task) / 2 / (long long)dtype_bytes(task.dtype)), 1, 1}};
  }
  c->task_name.length = 0;
  planned_task_text(row->task, &c->task_name);
  struct tune_templates templates = {c->set.list, c->set.fixed, c->set.count};
  struct tune_templates copy_templates = {c->copy_templates.list, NULL, c->copy_templates.count};
  halotune_status status =
      tune(&c->tools, &task, &templates, has_copy ? &copy : NULL, &copy_templates, &c->options, &row->result);
  progress_hide(&c->progress);
  row->is_done = true;
  row->reproducible = task.reproducible;
  row->is_recorded = c->backend.facts.is_recording;
  row->is_emulated = c->backend.facts.is_emulation;
  row->is_refused = status == HALOTUNE_NOT_FOUND || status == HALOTUNE_ARGUMENT;
  if (status == HALOTUNE_OK) return status;
  snprintf(row->result.reason, sizeof row->result.reason, "%s", fail_text());
  return status;
}

/* What a task cannot do another may: only the store's failures, and a GPU that is gone, end it all. */
static halotune_status tune_all(struct tune_command *c) {
  halotune_status worst = HALOTUNE_OK;
  for (int i = 0; i < c->plan.task_count; i++) {
    if (stop || !tune_has_time(&c->options, clock_ms())) break;
    halotune_status status = tune_one(c, &c->rows[i]);
    if (status == HALOTUNE_OK) continue;
    fprintf(stderr, "halotune: %s: %s\n", text_string(&c->task_name), fail_text());
    worst = status;
    if (status == HALOTUNE_DB || status == HALOTUNE_NO_GPU) break;
  }
  return worst;
}

/* "68 s", or beyond two minutes "44 minutes", rounded up. */
static void add_time(double time_s, struct text *text) {
  const double minute_s = 60;
  const double whole_s = round(time_s); /* nine minutes may come as 540.0000001 s */
  if (whole_s > 2 * minute_s) text_printf(text, "%.0f minutes", ceil(whole_s / minute_s));
  else text_printf(text, "%.0f s", whole_s);
}

/* A search or its finals may end sooner; the set-up takes longer on few cores. */
static void add_plan_time(const struct tune_command *c, struct text *text) {
  const double all_s = c->plan.task_count * (c->options.budget_s + SETUP_S);
  const double deadline_s = (c->options.deadline_ms - c->start_ms) * 1e-3;
  if (!isfinite(all_s)) {
    text_printf(text, "%d task%s without a limit of time", c->plan.task_count, PLURAL(c->plan.task_count));
    return;
  }
  text_printf(text, "%d task%s of %g s, and about %d s of set-up%s: about ", c->plan.task_count,
              PLURAL(c->plan.task_count), c->options.budget_s, SETUP_S, c->plan.task_count == 1 ? "" : " each");
  add_time(all_s, text);
  if (deadline_s >= all_s) return;
  text_printf(text, ", of which --deadline leaves ");
  add_time(deadline_s, text);
}

/* On stdout where it is all that was asked for. */
static void print_plan(const struct tune_command *c, FILE *file) {
  struct text time = {0};
  add_plan_time(c, &time);
  fprintf(stderr, "halotune: %s\n", text_string(&time));
  text_free(&time);
  for (int i = 0; i < c->plan.task_count; i++) {
    struct text text = {0};
    planned_task_text(&c->plan.tasks[i], &text);
    fprintf(file, "%s%s\n", file == stderr ? "  " : "", text_string(&text));
    text_free(&text);
  }
}

static halotune_status print_document(const struct tune_command *c) {
  json_t *list = json_array(), *document = json_object();
  for (int i = 0; i < c->plan.task_count; i++) {
    if (c->rows[i].is_done) json_add(&list, tuned_json(&c->rows[i]));
  }
  json_put(&document, "device", text_json(c->backend.facts.device.name));
  json_put(&document, "uuid", text_json(c->backend.facts.device.uuid));
  json_put(&document, "emulated", json_boolean(c->backend.facts.is_emulation));
  json_put(&document, "recorded", json_boolean(c->backend.facts.is_recording));
  json_put(&document, "database", text_json(store_path(c->tools.store)));
  json_put(&document, "tasks", list);
  return print_json(document);
}

/* How to go on with what did not come to its end. */
static void print_rest(const struct tune_command *c) {
  static const char *const without[] = {"fresh", NULL};
  struct text command = {0};
  int left = 0;
  for (int i = 0; i < c->plan.task_count; i++) {
    const struct tuned *row = &c->rows[i];
    left += !row->result.is_complete && !row->is_refused && !row->result.is_exhausted;
  }
  if (left == 0 || c->which.recording) return;
  if (write_command(c->invocation, without, &command) == HALOTUNE_OK) {
    fprintf(stderr, "halotune: %d of %d task%s did not come to %s end; what was measured is kept; to go on:\n  %s\n",
            left, c->plan.task_count, PLURAL(c->plan.task_count), left == 1 ? "its" : "their", text_string(&command));
  }
  text_free(&command);
}

static halotune_status print_results(const struct tune_command *c) {
  const struct backend_facts *facts = &c->backend.facts;
  halotune_status status = HALOTUNE_OK;
  if (c->json) {
    status = print_document(c);
  } else {
    printf("%s%s%s\n", facts->device.name, facts->is_emulation ? " (its times rank nothing: no GPU was used)" : "",
           facts->is_recording ? " (a recording)" : "");
    tune_table_print(c->rows, c->plan.task_count);
    if (!c->which.recording || option_value(c->invocation, "db")) printf("stored in %s\n", store_path(c->tools.store));
  }
  print_rest(c);
  return status;
}

static enum exit_code tune_with_tools(struct tune_command *c) {
  halotune_status status = open_tools(c), printed;
  if (status != HALOTUNE_OK) {
    enum exit_code code = report_failure(status);
    if (status == HALOTUNE_NO_GPU) {
      fprintf(stderr, "halotune: without a GPU, --backend host emulates one on the CPU: it shows that all works, and "
                      "ranks nothing\n");
    }
    return code;
  }
  gethostname(c->host, sizeof c->host - 1);
  c->options.host = c->host;
  c->options.stop = &stop;
  c->options.progress = show;
  c->options.context = c;
  open_copy(c);
  if (c->backend.facts.warnings[0]) fprintf(stderr, "halotune: %s\n", c->backend.facts.warnings);
  if (c->plan.task_count > 1) print_plan(c, stderr);
  catch_signals();
  progress_open(&c->progress);
  status = tune_all(c);
  if ((printed = print_results(c)) != HALOTUNE_OK) return report_failure(printed);
  if (status != HALOTUNE_OK) return exit_code_of(status); /* told with its task */
  for (int i = 0; i < c->plan.task_count; i++) {
    if (!c->rows[i].result.has_winner) return HALOTUNE_EXIT_FAILURE;
  }
  return c->plan.code != HALOTUNE_EXIT_SUCCESS ? c->plan.code : c->templates.code;
}

static halotune_status prepare(struct tune_command *c) {
  const struct invocation *invocation = c->invocation;
  halotune_status status = write_command(invocation, NULL, &c->command);
  c->options.command = text_string(&c->command);
  c->json = option_given(invocation, "json");
  c->rows = calloc((size_t)c->plan.task_count + 1, sizeof *c->rows);
  if (!c->rows) return fail_memory();
  for (int i = 0; i < c->plan.task_count; i++) c->rows[i].task = &c->plan.tasks[i];
  if (status == HALOTUNE_OK) status = templates_open(invocation, &c->templates);
  return status == HALOTUNE_OK ? tune_set_open(invocation, &c->templates, &c->set) : status;
}

static enum exit_code tune_here(struct tune_command *c) {
  halotune_status status = prepare(c);
  if (status != HALOTUNE_OK) return report_file_failure(status);
  if (!option_value(c->invocation, "dry-run")) return tune_with_tools(c);
  if ((status = tune_backend_check(&c->which)) != HALOTUNE_OK) return report_failure(status);
  print_plan(c, stdout);
  return c->plan.code;
}

static enum exit_code run(const struct invocation *invocation) {
  struct tune_command c = {.invocation = invocation, .start_ms = clock_ms()};
  halotune_status status = tune_options_read(invocation, c.start_ms, &c.options);
  if (status == HALOTUNE_OK) status = tune_backend_read(invocation, &c.which);
  if (status == HALOTUNE_OK) status = read_workers(invocation, &c.workers);
  if (status == HALOTUNE_OK)
    status = option_milliseconds(invocation, "compile-timeout", COMPILE_POOL_TIMEOUT_MS, &c.compile_timeout_ms);
  if (status != HALOTUNE_OK) return report_failure(status);
  if (c.which.is_every_device && !option_value(invocation, "dry-run")) return tune_devices(invocation);
  if ((status = tune_plan_open(invocation, &c.plan)) != HALOTUNE_OK) return report_file_failure(status);
  enum exit_code code = tune_here(&c);
  hint_stores_close(&c.hints);
  store_close(c.tools.store);
  if (c.backend.table) backend_close(&c.backend);
  compiler_close(c.tools.compiler);
  loaded_free(&c.copy.loaded);
  tune_set_free(&c.set);
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
    {"device", "N", "which GPU, from 0, or all; 0 by default"},
    {"backend", "NAME", "cuda; host: emulation, whose times rank nothing; replay:FILE: a recorded run"},
    TEMPLATE_OPTIONS,
    {"set", "NAME=VALUE,...", "fix parameters: only variants with these values are tried"},
    {"strategy", "NAME", "local: near the best; random; exhaustive; local by default"},
    {"budget", "TIME",
     "for each task, such as 60s (the default) or 5m; none: no limit of time, as with --max-variants 200"},
    {"deadline", "TIME", "for all tasks together; none by default"},
    {"max-variants", "N", "end the search of a task after so many"},
    {"good-enough", "SHARE", "end the search of a task at this share of the driver's copy, such as 0.97"},
    {"launch", "MODE", "stream or graph; by default graph where a launch takes less than 20 us"},
    {"cache", "MODE", "steady, as in a time loop (the default), or cold"},
    {"reproducible", NULL, "only variants whose results are the same, bit for bit; a winner of its own is stored"},
    {"seed", "N", "of the search, 1 by default"},
    {"workers", "N", "compilers at a time; one for each CPU but one by default"},
    {"compile-timeout", "TIME",
     "of one variant's compile, 30s by default; one that takes longer is stored as compile_timeout"},
    {"hang-timeout", "TIME",
     "of one run of a variant, 5s by default; one that takes longer (and 20 times the best) is stored as hung"},
    {"fresh", NULL, "measure again what an earlier run measured"},
    {"hints", "FILE", "begin with the winners of this database, too"},
    {"no-hints", NULL, "begin blind: try no winners of databases first"},
    {"rematch", NULL, "no search: the winners of earlier runs and the fastest they measured, once more, side by side"},
    {"db", "FILE", "the database; $HALOTUNE_DB, else halotune/halotune.db in $XDG_DATA_HOME by default"},
    {"dry-run", NULL, "print the tasks and about how long they take, and do nothing"},
    {"json", NULL, "print a JSON document"},
    {0},
};

const struct command command_tune = {
    "tune", "[STENCIL...]", 0, 64, "search for the fastest kernels on this machine's GPU, and store them", options, run,
};
