/* accesses.c: `halotune accesses STENCIL`: counts the memory accesses of variants, and prints them beside the rules of
 * thumb of their templates. The CPU executes one block of each variant. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stencil/template/access.h"
#include "tuner/cli/options/pick_variants.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/output/terminal.h"
#include "tuner/cli/output/variant_text.h"
#include "tuner/count/variant_count.h"

enum { SAMPLE = 20 };

/* Evaluate the rules of thumb of a variant's template. */
static halotune_status rule_of(const struct problem *problem, const struct count_job *job, struct access *out) {
  struct bindings bindings;
  halotune_status status = problem_bindings(problem, job->spec.template, &bindings);
  if (status != HALOTUNE_OK) return status;
  bindings_configure(&bindings, &job->spec.configuration);
  *out = access_of(&bindings);
  bindings_free(&bindings);
  return HALOTUNE_OK;
}

enum { FIGURES = 9, FIGURE_COLUMNS = 10 };

/* The number of figures that fit into a line. */
static int figures_shown(void) {
  const int fit = terminal_width() / FIGURE_COLUMNS;
  return fit < FIGURES ? fit : FIGURES;
}

static void print_head(void) {
  static const char *const names[FIGURES] = {"loads", "rule",   "issued",    "sectors", "over-read",
                                             "rule",  "shared", "conflicts", "rule"};
  const int shown = figures_shown();
  for (int i = 0; i < shown; i++) printf("%s%9s", i > 0 ? " " : "", names[i]);
  terminal_last_column(shown * FIGURE_COLUMNS - 1, "variant");
}

static void print_row(const struct count_job *job, const struct access *rule) {
  struct text text = {0};
  const int shown = figures_shown();
  variant_text(job->spec.template, &job->spec.configuration, &text);
  if (job->has_count) {
    const struct count_figures counted = count_figures_of(&job->count);
    const double figures[FIGURES] = {
        counted.loads,   rule->loads_per_point,     counted.issued_loads,   counted.load_sectors, counted.over_read,
        rule->over_read, counted.shared_wavefronts, counted.mean_conflicts, rule->bank_conflicts};
    for (int i = 0; i < shown; i++) {
      if (isnan(figures[i])) printf(" %9s", "-");
      else printf(" %9.4g", figures[i]);
    }
    terminal_last_column(shown * FIGURE_COLUMNS, text_string(&text));
  } else {
    printf("not counted: %s\n  %s\n", text_string(&text), job->reason);
  }
  text_free(&text);
}

static json_t *global_json(const struct emulation_global_counts *counts) {
  json_t *json = json_object();
  json_put(&json, "instructions", json_integer((json_int_t)counts->instructions));
  json_put(&json, "lanes", json_integer((json_int_t)counts->lanes));
  json_put(&json, "bytes", json_integer((json_int_t)counts->bytes));
  json_put(&json, "sectors", json_integer((json_int_t)counts->sectors));
  return json;
}

static json_t *shared_json(const struct emulation_shared_counts *counts) {
  json_t *json = json_object();
  json_put(&json, "instructions", json_integer((json_int_t)counts->instructions));
  json_put(&json, "lanes", json_integer((json_int_t)counts->lanes));
  json_put(&json, "bytes", json_integer((json_int_t)counts->bytes));
  json_put(&json, "wavefronts", json_integer((json_int_t)counts->wavefronts));
  json_put(&json, "fewest_wavefronts", json_integer((json_int_t)counts->fewest_wavefronts));
  return json;
}

/* The distinct places that the block accesses in some buffers.
 *   types  of the elements; NULL: all have the element type of the outputs */
static json_t *touched_json(const struct emulation_touched *touched, int count, const enum input_type *types,
                            uint32_t element_bytes) {
  struct emulation_touched sum = {0};
  uint64_t elements = 0;
  json_t *json = json_object();
  for (int i = 0; i < count; i++) {
    elements += touched[i].words * 4 / (types && types[i] == INPUT_U8 ? 1 : element_bytes);
    sum.sectors += touched[i].sectors;
    sum.lines += touched[i].lines;
  }
  json_put(&json, "elements", json_integer((json_int_t)elements));
  json_put(&json, "sectors", json_integer((json_int_t)sum.sectors));
  json_put(&json, "lines", json_integer((json_int_t)sum.lines));
  return json;
}

static json_t *counts_json(const struct count_job *job) {
  const struct emulation_counts *counts = &job->count.counts;
  const struct stencil *stencil = job->spec.stencil;
  json_t *json = json_object();
  json_put(&json, "points", json_integer((json_int_t)job->count.points));
  json_put(&json, "threads", json_integer((json_int_t)counts->threads));
  json_put(&json, "global_loads", global_json(&counts->global_loads));
  json_put(&json, "global_stores", global_json(&counts->global_stores));
  json_put(&json, "shared_loads", shared_json(&counts->shared_loads));
  json_put(&json, "shared_stores", shared_json(&counts->shared_stores));
  json_put(&json, "async_copies", json_integer((json_int_t)counts->async_copies));
  json_put(&json, "engine_copies", json_integer((json_int_t)counts->engine_copies));
  json_put(&json, "engine_loaded_bytes", json_integer((json_int_t)counts->engine_loaded_bytes));
  json_put(&json, "engine_stored_bytes", json_integer((json_int_t)counts->engine_stored_bytes));
  json_put(&json, "read",
           touched_json(counts->loaded, stencil->input_count, stencil->input_types, job->count.element_bytes));
  json_put(&json, "written",
           touched_json(counts->stored + stencil->input_count, stencil->output_count, NULL, job->count.element_bytes));
  return json;
}

static json_t *figures_json(const struct count_figures *figures) {
  json_t *json = json_object();
  json_put(&json, "loads_per_point", number_json(figures->loads));
  json_put(&json, "stores_per_point", number_json(figures->stores));
  json_put(&json, "issued_loads_per_point", number_json(figures->issued_loads));
  json_put(&json, "load_sectors_per_point", number_json(figures->load_sectors));
  json_put(&json, "over_read", number_json(figures->over_read));
  json_put(&json, "shared_wavefronts_per_point", number_json(figures->shared_wavefronts));
  json_put(&json, "bank_conflicts", number_json(figures->mean_conflicts));
  json_put(&json, "worst_bank_conflicts", number_json(figures->worst_conflicts));
  json_put(&json, "engine_bytes_per_point", number_json(figures->engine_bytes));
  return json;
}

static json_t *rule_json(const struct access *rule) {
  json_t *json = json_object();
  json_put(&json, "loads_per_point", number_json(rule->loads_per_point));
  json_put(&json, "over_read", number_json(rule->over_read));
  json_put(&json, "computing_share", number_json(rule->computing_share));
  json_put(&json, "bank_conflicts", number_json(rule->bank_conflicts));
  return json;
}

static json_t *row_json(const struct count_job *job, const struct access *rule) {
  json_t *json = json_object();
  json_put(&json, "template", text_json(job->spec.template->name));
  json_put(&json, "parameters", variant_json(job->spec.template, &job->spec.configuration));
  json_put(&json, "detail", job->has_count ? json_null() : text_json(job->reason));
  json_put(&json, "rule", rule_json(rule));
  if (!job->has_count) return json;
  struct count_figures figures = count_figures_of(&job->count);
  json_put(&json, "counted", figures_json(&figures));
  json_put(&json, "block", counts_json(job));
  return json;
}

/* Print the jobs. *counted receives the number of jobs with a count. */
static halotune_status print_jobs(const struct invocation *invocation, const struct problem *problem,
                                  const struct count_job *jobs, long count, long *counted) {
  json_t *rows = option_given(invocation, "json") ? json_array() : NULL, *json = NULL;
  *counted = 0;
  if (!rows) print_head();
  for (long i = 0; i < count; i++) {
    struct access rule;
    halotune_status status = rule_of(problem, &jobs[i], &rule);
    if (status != HALOTUNE_OK) {
      json_decref(rows);
      return status;
    }
    *counted += jobs[i].has_count;
    if (rows) json_add(&rows, row_json(&jobs[i], &rule));
    else print_row(&jobs[i], &rule);
  }
  if (!rows) return HALOTUNE_OK;
  json = json_object();
  json_put(&json, "stencil", text_json(problem->loaded.stencil->name));
  json_put(&json, "dtype", text_json(dtype_names[problem->dtype]));
  json_put(&json, "variants", rows);
  return print_json(json);
}

static halotune_status count_picked(const struct invocation *invocation, const struct problem *problem,
                                    const struct picked *picked, long *failed) {
  long workers, counted = 0;
  halotune_status status = option_whole(invocation, "workers", 1, 256, 0, &workers);
  if (status != HALOTUNE_OK) return status;
  struct count_job *jobs = calloc((size_t)picked->count + 1, sizeof *jobs);
  if (!jobs) return fail_memory();
  for (long i = 0; i < picked->count; i++) {
    jobs[i].spec = problem_variant(problem, picked->variants[i].template, &picked->variants[i].configuration);
  }
  status = variants_count(jobs, (int)picked->count, &(struct emulation_options){.workers = (int)workers});
  if (status == HALOTUNE_OK) status = print_jobs(invocation, problem, jobs, picked->count, &counted);
  *failed = picked->count - counted;
  free(jobs);
  return status;
}

static enum exit_code accesses_run(const struct invocation *invocation) {
  struct problem problem;
  struct picked picked;
  enum exit_code code = HALOTUNE_EXIT_SUCCESS;
  long failed = 0;
  halotune_status status = problem_open(invocation, &problem);
  if (status != HALOTUNE_OK) return report_file_failure(status);
  problem.most_steps = LAUNCH_MOST_STEPS;
  if ((status = pick_variants(invocation, &problem, SAMPLE, &picked)) == HALOTUNE_OK) {
    status = count_picked(invocation, &problem, &picked, &failed);
    code = picked.templates.code;
    picked_free(&picked);
  }
  problem_free(&problem);
  if (status != HALOTUNE_OK) return report_failure(status);
  return failed > 0 ? HALOTUNE_EXIT_FAILURE : code;
}

static const struct option_row options[] = {
    TEMPLATE_OPTIONS,
    PICK_OPTIONS("20"),
    PROBLEM_OPTIONS,
    {"workers", "N", "compilers and processes at a time; one for each CPU by default"},
    LONG_OPTION,
    {"json", NULL, "print a JSON document"},
    {0},
};

const struct command command_accesses = {
    "accesses", "STENCIL", 1, 1, "run variants on the CPU and count their accesses to memory", options, accesses_run,
};
