/* space.c: `halotune space STENCIL`: counts or lists the variants of each template. */
#include <stdio.h>
#include <stdlib.h>

#include "base/system/clock.h"
#include "stencil/file/grid_text.h"
#include "tuner/cli/options/problem.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/output/variant_text.h"
#include "tuner/cli/space/space_print.h"

struct report {
  const struct problem *problem;
  bool json;
  json_t *rows; /* rows of the JSON document */
  double raw;   /* combinations of all templates */
  long kept;
  double time_ms;
};

static halotune_status count_template(struct report *report, const struct template *template,
                                      struct bindings *bindings) {
  struct space_counts *counts = malloc(sizeof *counts);
  if (!counts) return fail_memory();
  const struct rule *refusal = space_refusal(bindings);
  double start_ms = clock_ms();
  bindings_remember(bindings);
  space_walk(bindings, NULL, NULL, NULL, NULL, counts);
  double time_ms = clock_ms() - start_ms;
  const halotune_status status = space_is_walkable(bindings);
  if (status != HALOTUNE_OK) {
    free(counts);
    return status;
  }
  report->kept += counts->kept;
  report->raw += counts->raw;
  report->time_ms += time_ms;
  if (report->json) json_add(&report->rows, space_template_json(template, refusal, counts, time_ms));
  else space_print_template(template, refusal, counts);
  free(counts);
  return HALOTUNE_OK;
}

struct listing {
  const struct template *template;
  bool json;
};

/* Print one configuration. Returns false, which ends the walk, if stdout cannot be written. */
static bool list_configuration(void *context, const struct configuration *configuration) {
  const struct listing *listing = context;
  struct text text = {0};
  if (listing->json) {
    json_t *line = json_object();
    json_put(&line, "template", text_json(listing->template->name));
    json_put(&line, "parameters", variant_json(listing->template, configuration));
    (void)json_write(&text, line, JSON_IN_LINE);
    json_decref(line);
  } else {
    variant_text(listing->template, configuration, &text);
  }
  bool is_written = text_ok(&text) && puts(text_string(&text)) != EOF;
  text_free(&text);
  return is_written;
}

static halotune_status walk_template(const struct invocation *invocation, struct report *report,
                                     const struct template *template) {
  struct bindings bindings;
  halotune_status status = problem_bindings(report->problem, template, &bindings);
  if (status != HALOTUNE_OK) return status;
  if (option_value(invocation, "list")) {
    struct listing listing = {template, option_given(invocation, "json")};
    space_walk(&bindings, NULL, NULL, list_configuration, &listing, NULL);
    status = space_is_walkable(&bindings);
  } else {
    status = count_template(report, template, &bindings);
  }
  bindings_free(&bindings);
  return status;
}

static halotune_status print_document(struct report *report) {
  const struct problem *problem = report->problem;
  json_t *json = json_object();
  json_put(&json, "stencil", text_json(problem->loaded.stencil->name));
  json_put(&json, "dtype", text_json(dtype_names[problem->dtype]));
  json_put(&json, "arch", text_json(problem->arch));
  json_put(&json, "grid", grid_json(&problem->grid, MAX_DIMS));
  json_put(&json, "templates", report->rows);
  json_put(&json, "raw", number_json(report->raw));
  json_put(&json, "kept", json_integer(report->kept));
  json_put(&json, "time_s", number_json(report->time_ms * 1e-3));
  report->rows = NULL;
  return print_json(json);
}

static halotune_status summary_print(struct report *report) {
  const struct problem *problem = report->problem;
  struct text grid = {0};
  double time_s = report->time_ms * 1e-3;
  char kept[SPACE_COUNT_BYTES];
  if (report->json) return print_document(report);
  grid_text(&problem->grid, problem->loaded.stencil->dims, &grid);
  printf("%s in %s on %s points for %s: %s variant%s of %.0f combination%s\n", problem->loaded.stencil->name,
         dtype_names[problem->dtype], text_string(&grid), problem->arch, space_count_text(report->kept, kept),
         PLURAL(report->kept), report->raw, PLURAL(report->raw));
  text_free(&grid);
  fprintf(stderr, "%.3f s, %.3g combinations a second\n", time_s, report->raw / (time_s > 0 ? time_s : 1e-9));
  return HALOTUNE_OK;
}

static enum exit_code space_run(const struct invocation *invocation) {
  struct problem problem;
  struct templates templates = {0};
  bool lists = option_given(invocation, "list");
  halotune_status status = problem_open(invocation, &problem);
  if (status != HALOTUNE_OK) return report_file_failure(status);
  problem.most_steps = LAUNCH_MOST_STEPS;
  struct report report = {.problem = &problem};
  report.json = option_given(invocation, "json");
  if (report.json) report.rows = json_array();
  status = templates_open(invocation, &templates);
  for (int i = 0; i < templates.count && status == HALOTUNE_OK; i++) {
    status = walk_template(invocation, &report, templates.list[i]);
  }
  if (status == HALOTUNE_OK && !lists) status = summary_print(&report);
  enum exit_code code = templates.code;
  json_decref(report.rows);
  templates_free(&templates);
  problem_free(&problem);
  return status == HALOTUNE_OK ? code : report_failure(status);
}

static const struct option_row options[] = {
    TEMPLATE_OPTIONS,
    PROBLEM_OPTIONS,
    {"list", NULL, "print the variants, one per line, instead of their numbers"},
    LONG_OPTION,
    {"json", NULL, "print a JSON document; with --list, one per line"},
    {0},
};

const struct command command_space = {
    "space", "STENCIL", 1, 1, "count the variants of each template, and what its rules leave out", options, space_run,
};
