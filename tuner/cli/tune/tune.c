/* tune.c: `halotune tune STENCIL...`: searches for the fastest variants, and stores them. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/parallel.h"
#include "base/system/trace.h"
#include "db/store/store.h"
#include "gpu/workers/compile_pool.h"
#include "tuner/cli/options/command_words.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/output/stop_signals.h"
#include "tuner/cli/output/variant_text.h"
#include "tuner/cli/tune/steps_search.h"
#include "tuner/cli/tune/tune_devices.h"
#include "tuner/cli/tune/tune_json.h"
#include "tuner/cli/tune/tune_ranks.h"
#include "tuner/cli/tune/tune_share.h"
#include "tuner/cli/tune/tune_site.h"
#include "tuner/cli/tune/tune_team.h"
#include "tuner/cli/tune/tune_text.h"
#include "tuner/cli/tune/tuning_lock.h"

/* The contents of the command line. */
struct tune_command {
  const struct invocation *invocation;
  struct plan_file site; /* with --plan --resume */
  struct task_list plan;
  struct templates templates;
  struct tune_set set;
  struct tune_backend which;
  int workers, compile_timeout_ms; /* number of compilers, and the limit of a compile */
  struct tune_options options;
  struct text words; /* the command itself, which is stored with its results */
  char host[256];
  double start_ms;
  struct launcher launcher;
};

/* Append the command as the user may type it again, without some of its options. */
static halotune_status words_add(const struct invocation *invocation, const char *const *without, struct text *out) {
  struct command_words words;
  halotune_status status = command_words_make(invocation, without, 0, &words);
  if (status != HALOTUNE_OK) return status;
  command_words_text(&words, out);
  command_words_free(&words);
  return HALOTUNE_OK;
}

/* Read the number of compilers. By default one core is left to the process that launches. */
static halotune_status workers_read(const struct invocation *invocation, int *out) {
  long workers = 0;
  const int cores = parallel_threads(0);
  halotune_status status = option_whole(invocation, "workers", 1, 256, cores > 1 ? cores - 1 : 1, &workers);
  *out = (int)workers;
  return status;
}

/* Print the command that continues tasks that were cut short. It leaves out --fresh, which would start again. If the
 * database failed, results may be lost. */
static void rest_print(const struct tune_command *c, const struct tuned_list *list, halotune_status tuned) {
  static const char *const without[] = {"fresh", NULL};
  struct text words = {0};
  int left = 0;
  for (int i = 0; i < list->count; i++) {
    const struct tuned *row = &list->rows[i];
    left += !row->result.is_complete && !row->is_refused && !row->result.is_exhausted && !row->is_optional;
  }
  if (left == 0 || c->which.recording) return;
  if (words_add(c->invocation, without, &words) == HALOTUNE_OK) {
    fprintf(stderr, "halotune: %d of %d task%s did not finish;%s to go on:\n  %s\n", left, c->plan.task_count,
            PLURAL(c->plan.task_count), tuned == HALOTUNE_DB ? "" : " all measurements are kept;", text_string(&words));
  }
  text_free(&words);
}

static halotune_status results_print(const struct tune_command *c, const struct tune_setup *setup,
                                     const struct tuned_list *list) {
  const struct backend_facts *facts = &setup->backend.facts;
  if (option_given(c->invocation, "json")) {
    json_t *document = tune_json(setup, list->rows, list->count);
    return print_json(c->which.is_every_device ? tune_json_devices(document) : document);
  }
  printf("%s%s%s\n", facts->device.name,
         facts->is_emulation ? " (its times do not rank variants: no GPU was used)" : "",
         facts->is_recording ? " (a recording)" : "");
  tune_table_print(list->rows, list->count, &c->set);
  if (!c->which.recording || option_given(c->invocation, "db"))
    printf("stored in %s\n", store_path(setup->tools.store));
  return HALOTUNE_OK;
}

/* Remove the finished tasks of a plan. Remove all tasks on a GPU whose model the plan does not name.
 *   is_over  receives whether nothing is left to do */
static halotune_status plan_resume(struct tune_command *c, const struct site_run *run, bool *is_over) {
  const char *model = run->facts->device.name, *path = option_value(c->invocation, "plan");
  int done = 0;
  *is_over = !plan_file_has_gpu(&c->site, model);
  if (*is_over) {
    fprintf(stderr, "halotune: %s: the plan has no task for the %s of this host\n", path, model);
    return HALOTUNE_OK;
  }
  halotune_status status = site_keep_missing(run, &c->plan, &done);
  if (status != HALOTUNE_OK) return status;
  fprintf(stderr, "halotune: %s: %d of %d task%s done on the %s, by %s\n", path, done, done + c->plan.task_count,
          done + c->plan.task_count == 1 ? " is" : "s are", model, store_path(run->store));
  *is_over = c->plan.task_count == 0;
  return HALOTUNE_OK;
}

/* The state that the tasks of this process share. */
static struct tune_tasks tasks_of(const struct tune_command *c, struct tune_setup *setup) {
  return (struct tune_tasks){.setup = setup,
                             .plan = &c->plan,
                             .set = &c->set,
                             .options = &c->options,
                             .stop = stop_flag(),
                             .reproducible = option_given(c->invocation, "reproducible"),
                             .explains = option_given(c->invocation, "why")};
}

/* The leader of the team whose members may run tasks alone; NULL for none. Tasks of a recording are shared, because its
 * results may be in memory. Tasks with --why are shared, because the output of several tasks would be mixed. */
static struct leader *leader_of(const struct tune_command *c, const struct tune_team *team) {
  return c->which.recording || option_given(c->invocation, "why") ? NULL : team->leader;
}

/* How many tasks the leader's GPU runs or shares, one after the other. */
static int rounds_of(const struct tune_command *c, const struct tune_setup *setup, const struct tune_team *team) {
  const int count = c->plan.task_count;
  const int gpus = share_able_count(leader_of(c, team), store_path(setup->tools.store), c->host);
  const int side = share_side_count(count, gpus);
  return side / gpus + count - side;
}

/* Tune all tasks, and print the results. */
static enum exit_code tasks_tune(struct tune_command *c, struct tune_setup *setup, struct tune_team *team,
                                 struct tuned_list *list) {
  const struct site_run site = {setup->tools.store, &setup->backend.facts, &c->options,
                                option_given(c->invocation, "reproducible")};
  struct tune_tasks tasks = tasks_of(c, setup);
  tasks.site = c->site.tasks ? &site : NULL;
  if (team->link.size > TEAM_MODEL_MOST && !option_given(c->invocation, "strategy")) {
    tasks.crowd = &strategy_local;
    tasks.crowd_size = team->link.size;
  }
  struct tune_lock lock = {-1};
  bool is_over = false;
  if (setup->backend.facts.warnings[0]) fprintf(stderr, "halotune: %s\n", setup->backend.facts.warnings);
  if (c->site.tasks) {
    const halotune_status resumed = plan_resume(c, &site, &is_over);
    if (resumed != HALOTUNE_OK || is_over)
      return resumed == HALOTUNE_OK ? HALOTUNE_EXIT_SUCCESS : report_failure(resumed);
  }
  if (c->plan.task_count > 1) task_list_print(&c->plan, &c->options, c->start_ms, rounds_of(c, setup, team), stderr);
  stop_signals_catch();
  tuning_lock_take(store_path(setup->tools.store), setup->backend.facts.device.uuid, &lock);
  const halotune_status tuned = tune_tasks_run(&tasks, leader_of(c, team), list),
                        printed = results_print(c, setup, list);
  tune_lock_release(&lock);
  rest_print(c, list, tuned);
  if (printed != HALOTUNE_OK) return report_failure(printed);
  if (tuned != HALOTUNE_OK) return exit_code_of(tuned); /* the message was printed with its task */
  for (int i = 0; i < list->count; i++) {
    if (!list->rows[i].result.winner.exists && !list->rows[i].is_optional) return HALOTUNE_EXIT_FAILURE;
  }
  return c->plan.code != HALOTUNE_EXIT_SUCCESS ? c->plan.code : c->templates.code;
}

/* Serve as a member. The member's process does nothing else. */
static enum exit_code team_serve(const struct tune_command *c, struct tune_team *team) {
  const struct tune_templates templates = {c->set.list, c->set.fixed, c->set.count};
  struct tune_setup setup = {.hint_count = 0};
  const struct tune_tasks tasks = tasks_of(c, &setup);
  struct tune_alone alone = {.invocation = c->invocation,
                             .which = &c->which,
                             .setup = &setup,
                             .tasks = &tasks,
                             .resumes = c->site.tasks != NULL,
                             .lock = {-1}};
  const enum exit_code code =
      tune_team_serve(team, &c->which, c->workers, c->compile_timeout_ms, &templates, c->host, &alone);
  tune_team_close(team, false, code);
  return code;
}

/* Append the meanings of a plan's stencils, with their coefficients. */
static void stencils_add(const struct task_list *plan, struct text *out) {
  char hex[IDENTITY_HEX_BYTES];
  for (int i = 0; i < plan->stencil_count; i++) {
    identity_hex(stencil_text_identity(plan->stencils[i].loaded.text), hex);
    text_printf(out, "%s\n", hex);
  }
}

static enum exit_code setup_tune(struct tune_command *c) {
  struct tune_setup setup = {.hint_count = 0};
  struct tune_team team = {.leader = NULL};
  enum exit_code code;
  struct tuned_list list = {.count = 0};
  const char *trace = option_value(c->invocation, "trace");
  FILE *file = NULL;
  halotune_status status = trace ? output_stream(trace, &file) : HALOTUNE_OK;
  if (file) trace_begin(file, trace);
  const double begin_ms = trace_now_ms();
  bool is_told = false; /* the error was printed, here or by another rank */
  if (status == HALOTUNE_OK && c->launcher.name) {
    struct text stencils = {0};
    stencils_add(&c->plan, &stencils);
    status = tune_ranks_form(c->invocation, &c->launcher, text_string(&c->words), text_string(&stencils), &c->which,
                             &c->workers, &team.link, &is_told);
    text_free(&stencils);
  } else if (status == HALOTUNE_OK) {
    status = tune_team_form(c->invocation, &c->which, &c->workers, &team);
  }
  if (status == HALOTUNE_OK && team.link.rank > 0) return team_serve(c, &team);
  if (status == HALOTUNE_OK) status = tune_setup_tools(&c->which, c->workers, c->compile_timeout_ms, &setup);
  if (status == HALOTUNE_OK) status = tune_setup_databases(c->invocation, &c->which, &c->options, &setup);
  if (status == HALOTUNE_OK)
    status = tune_team_meet(&team, &c->which, c->workers, c->compile_timeout_ms, c->host, &setup);
  trace_end(TRACE_PHASES, "start", begin_ms, NULL, NULL);
  if (status == HALOTUNE_OK) {
    code = tasks_tune(c, &setup, &team, &list);
  } else {
    code = is_told ? exit_code_of(status) : report_failure(status);
    if (status == HALOTUNE_NO_GPU && !c->launcher.name) {
      fprintf(
          stderr,
          "halotune: without a GPU, use --backend host: it emulates one on the CPU, which exercises everything, but its times do not rank variants\n");
    }
  }
  tune_team_close(&team, status != HALOTUNE_OK, code);
  tune_setup_close(&setup);
  if (trace_close() != HALOTUNE_OK) code = report_failure(HALOTUNE_IO);
  free(list.rows);
  return code;
}

static halotune_status command_read(struct tune_command *c) {
  halotune_status status = words_add(c->invocation, NULL, &c->words);
  if (status == HALOTUNE_OK) status = templates_open(c->invocation, &c->templates);
  if (status == HALOTUNE_OK) status = tune_set_open(c->invocation, &c->templates, &c->set);
  gethostname(c->host, sizeof c->host - 1);
  c->options.command = text_string(&c->words);
  c->options.host = c->host;
  c->options.stop = stop_flag();
  return status;
}

static enum exit_code plan_tune(struct tune_command *c) {
  halotune_status status = command_read(c);
  if (status != HALOTUNE_OK)
    return c->launcher.name ? tune_ranks_refuse(&c->launcher, status) : report_file_failure(status);
  if (option_given(c->invocation, "plan") && !c->site.tasks) {
    if (c->launcher.rank > 0) return HALOTUNE_EXIT_SUCCESS; /* rank 0 writes the plan */
    status = site_write(c->invocation, &c->plan);
    return status == HALOTUNE_OK ? c->plan.code : report_failure(status);
  }
  if (!option_given(c->invocation, "dry-run")) return setup_tune(c);
  if (c->launcher.rank > 0) return HALOTUNE_EXIT_SUCCESS; /* rank 0 prints the plan */
  if ((status = tune_backend_check(&c->which)) != HALOTUNE_OK) return report_failure(status);
  task_list_print(&c->plan, &c->options, c->start_ms, c->plan.task_count, stdout);
  return c->plan.code;
}

static enum exit_code tune_run(const struct invocation *invocation) {
  struct tune_command c = {.invocation = invocation, .start_ms = clock_ms()};
  halotune_status status = tune_ranks_find(invocation, &c.launcher);
  if (status != HALOTUNE_OK)
    return launcher_speaks(&c.launcher, status) ? report_failure(status) : exit_code_of(status);
  status = site_options_check(invocation);
  if (status == HALOTUNE_OK) status = tune_options_read(invocation, c.start_ms, &c.options);
  if (status == HALOTUNE_OK) status = tune_backend_read(invocation, &c.which);
  if (status == HALOTUNE_OK) status = workers_read(invocation, &c.workers);
  if (status == HALOTUNE_OK)
    status = option_milliseconds(invocation, "compile-timeout", COMPILE_POOL_TIMEOUT_MS, &c.compile_timeout_ms);
  if (status != HALOTUNE_OK) return tune_ranks_refuse(&c.launcher, status);
  if ((c.which.is_every_device || c.which.process_count > 1) && option_given(invocation, "trace"))
    return report_failure(
        fail(HALOTUNE_ARGUMENT, "--trace takes one GPU, not --device all: each run needs its own file"));
  const bool resumes = option_given(invocation, "resume"), writes = option_given(invocation, "plan") && !resumes;
  if (c.which.is_every_device && !writes && !option_given(invocation, "dry-run")) {
    struct device_teams teams;
    if ((status = device_teams_find(&teams)) != HALOTUNE_OK) return report_failure(status);
    if (teams.count != 1) return tune_devices(invocation, &teams);
    status = tune_backend_use(&c.which, teams.list[0].ordinals, teams.list[0].count);
    if (status != HALOTUNE_OK) return report_failure(status);
  }
  if (resumes) status = plan_file_read(option_value(invocation, "plan"), &c.site);
  if (status == HALOTUNE_OK) status = resumes ? site_tasks_make(&c.site, &c.plan) : task_list_open(invocation, &c.plan);
  enum exit_code code;
  for (int i = 0; i < c.plan.task_count; i++) {
    c.plan.tasks[i].number = i;
    if (option_given(invocation, "budget")) c.plan.tasks[i].budget_s = 0;
  }
  if (status == HALOTUNE_OK) code = plan_tune(&c);
  else code = c.launcher.name ? tune_ranks_refuse(&c.launcher, status) : report_file_failure(status);
  plan_file_free(&c.site);
  tune_set_free(&c.set);
  templates_free(&c.templates);
  task_list_free(&c.plan);
  text_free(&c.words);
  return code;
}

#define AS_WORD(value) #value
#define AS_TEXT(value) AS_WORD(value)

static const struct option_row options[] = {
    {"all", NULL, "every stencil that is found, in all its element types"},
    {"dtype", "TYPE", "f32, f64 or all; f32 by default, where the file has it"},
    {"grid", "NX,NY,NZ", "points along each axis, or all for every grid of the file; the file's first by default"},
    {"device", "N", "which GPUs, from 0, such as 0 or 0,1, or all; 0 by default. GPUs of one model share the tasks"},
    {"members", "N", "number of processes that share the tasks; one for each GPU by default; a GPU may have several"},
    {"backend", "NAME",
     "cuda (the default); host: emulation, whose times do not rank variants; replay:FILE: a recorded run"},
    TEMPLATE_OPTIONS,
    {"set", "NAME=VALUE,...", "fix parameters: only variants with these values are tried"},
    {"strategy", "NAME",
     "strategy of the search: model (learns from all results; the default), local (near the best), random or exhaustive"},
    {"budget", "TIME",
     "time for each task, such as 60s (the default) or 5m; none: no time limit, for use with --max-variants"},
    {"deadline", "TIME", "time for all tasks together; no limit by default"},
    {"max-variants", "N", "end the search of a task after this number of variants"},
    {"good-enough", "SHARE",
     "end the search of a task when a variant reaches this share of the rate of the driver's copy, such as 0.97"},
    {"objective", "NAME",
     "value by which the finals rank: time (the default), energy by NVML's counter, or edp, which is energy times time"},
    {"measure", "HOW",
     "short (the default): a variant that is clearly slower than the best gets few samples; full: each variant gets all samples, for a recording"},
    {"in-flight", "N",
     "propose a variant only while fewer than N have no result; by default as many as needed to keep compilers and GPU busy, 32 in a replay"},
    {"launch", "MODE", "stream or graph; by default graph where a launch takes less than 20 us"},
    {"cache", "MODE", "steady, as in a time loop (the default), or cold"},
    {"steps", "N",
     "time steps that a launch makes, such as 4, or 1..4 for a task each; by default the number with the least time a step is searched for; with a budget of less than " AS_TEXT(
         STEPS_LEAST_BUDGET_S) "s, the number that a database knows is taken"},
    {"reproducible", NULL, "only variants that all give the same bits; a winner of its own is stored"},
    {"seed", "N", "random seed of the search; 1 by default"},
    {"workers", "N", "number of compilers that run at a time; one less than there are CPUs by default"},
    {"compile-timeout", "TIME",
     "time for the compile of one variant, 30s by default; a variant that takes longer is stored as compile_timeout"},
    {"hang-timeout", "TIME",
     "time for one run of a variant, 5s by default; a variant that takes longer (and 20 times the best) is stored as hung"},
    {"fresh", NULL, "measure all variants again, also those that earlier runs measured"},
    {"hints", "FILE", "begin with the winners of this database as well"},
    {"no-hints", NULL, "do not begin with the winners of databases"},
    {"rematch", NULL,
     "do not search: measure the winners and the fastest variants of earlier runs once more, side by side"},
    {"plan", "FILE",
     "write these tasks as the plan of a site to a new FILE, and stop; with --resume run the missing tasks of FILE"},
    {"resume", NULL, "with --plan: run the tasks that have no complete run in the database on this model of GPU"},
    {"gpus", "MODEL,...", "with --plan: the models of GPUs that the plan is for; by default every GPU that runs it"},
    {"why", NULL,
     "print on stderr why each variant is proposed: its expected time, how certain this is, and from which results"},
    {"db", "FILE", "the database; $HALOTUNE_DB, else halotune/halotune.db in $XDG_DATA_HOME by default"},
    {"trace", "FILE", "write a timeline of the run, for chrome://tracing or ui.perfetto.dev"},
    {"dry-run", NULL, "print the tasks and the time that they will take, and stop"},
    LONG_OPTION,
    {"json", NULL, "print a JSON document"},
    {0},
};

const struct command command_tune = {
    "tune",  "[STENCIL...]", 0, 64, "search for the fastest kernels on this machine's GPU, and store them",
    options, tune_run,
};
