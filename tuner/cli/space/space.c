/* space.c: `halotune space STENCIL`: how many variants each template has for a problem, and why not more. */
#include "stencil/template/space.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tuner/cli/output/variant_text.h"

struct report {
  const struct problem *problem;
  bool json;
  json_t *rows; /* of the JSON document */
  double raw;   /* over all templates */
  long kept;
  double time_ms;
};

/* A rule as one line, however the file breaks it. */
static void add_rule(struct text *text, const struct rule *rule) {
  const char *c = rule->text;
  while (*c) {
    if (!isspace((unsigned char)*c)) {
      text_add(text, c++, 1);
      continue;
    }
    while (isspace((unsigned char)*c)) c++;
    if (*c) text_add(text, " ", 1);
  }
}

static void print_parameters(const struct template *template, const struct space_counts *counts) {
  for (int i = 0; i < template->parameter_count; i++) {
    const struct parameter *parameter = &template->parameters[i];
    printf("  %-13s", parameter->name);
    for (int v = 0; v < parameter->value_count; v++) {
      printf("%s %s:", v ? " " : "", parameter->words[v]);
      if (counts->used[i][v] > 0) printf(" %ld", counts->used[i][v]);
      else printf(" none");
    }
    printf("\n");
  }
}

static void print_rules(const struct template *template, const struct space_counts *counts) {
  for (int i = 0; i < template->rule_count; i++) {
    const struct rule *rule = &template->rules[i];
    struct text text = {0};
    if (counts->removed[i] == 0) continue;
    add_rule(&text, rule);
    printf("  %12.0f  %s, unless %s\n", counts->removed[i], rule->otherwise, text_string(&text));
    text_free(&text);
  }
}

static void print_template(const struct template *template, const struct rule *refusal,
                           const struct space_counts *counts) {
  struct text text = {0};
  printf("%s: %s\n", template->name, template->about);
  if (refusal) {
    add_rule(&text, refusal);
    printf("  does not apply: %s, unless %s\n\n", refusal->otherwise, text_string(&text));
    text_free(&text);
    return;
  }
  print_parameters(template, counts);
  printf("  %12.0f  combinations\n", counts->raw);
  print_rules(template, counts);
  printf("  %12ld  kept\n\n", counts->kept);
}

static json_t *parameter_json(const struct parameter *parameter, const long *used) {
  json_t *json = json_object(), *values = json_array();
  for (int v = 0; v < parameter->value_count; v++) {
    json_t *value = json_object();
    json_put(&value, "value", parameter_value_json(parameter, v));
    json_put(&value, "kept", json_integer(used[v]));
    json_add(&values, value);
  }
  json_put(&json, "name", text_json(parameter->name));
  json_put(&json, "about", text_json(parameter->about));
  json_put(&json, "values", values);
  return json;
}

static json_t *rule_json(const struct rule *rule, double removed) {
  json_t *json = json_object();
  struct text text = {0};
  add_rule(&text, rule);
  json_put(&json, "keep", text_json(text_string(&text)));
  json_put(&json, "otherwise", text_json(rule->otherwise));
  json_put(&json, "removed", number_json(removed));
  text_free(&text);
  return json;
}

static json_t *template_json(const struct template *template, const struct rule *refusal,
                             const struct space_counts *counts, double time_ms) {
  json_t *json = json_object(), *parameters = json_array(), *rules = json_array();
  for (int i = 0; i < template->parameter_count; i++) {
    json_add(&parameters, parameter_json(&template->parameters[i], counts->used[i]));
  }
  for (int i = 0; i < template->rule_count; i++) json_add(&rules, rule_json(&template->rules[i], counts->removed[i]));
  json_put(&json, "template", text_json(template->name));
  json_put(&json, "about", text_json(template->about));
  json_put(&json, "applies", json_boolean(!refusal));
  json_put(&json, "reason", refusal ? text_json(refusal->otherwise) : json_null());
  json_put(&json, "raw", number_json(counts->raw));
  json_put(&json, "kept", json_integer(counts->kept));
  json_put(&json, "parameters", parameters);
  json_put(&json, "rules", rules);
  json_put(&json, "time_s", number_json(time_ms * 1e-3));
  json_put(&json, "raw_per_s", number_json(counts->raw / (time_ms * 1e-3)));
  return json;
}

static halotune_status count_template(struct report *report, const struct template *template,
                                      struct bindings *bindings) {
  struct space_counts *counts = malloc(sizeof *counts);
  if (!counts) return fail_memory();
  const struct rule *refusal = space_refusal(bindings);
  double start_ms = clock_ms();
  space_walk(bindings, NULL, NULL, NULL, NULL, counts);
  double time_ms = clock_ms() - start_ms;
  report->kept += counts->kept;
  report->raw += counts->raw;
  report->time_ms += time_ms;
  if (report->json) json_add(&report->rows, template_json(template, refusal, counts, time_ms));
  else print_template(template, refusal, counts);
  free(counts);
  return HALOTUNE_OK;
}

struct listing {
  const struct template *template;
  bool json;
};

/* One configuration, a line. Nothing is kept; the walk ends where nobody reads on. */
static bool list_configuration(void *context, const struct configuration *configuration) {
  const struct listing *listing = context;
  if (listing->json) {
    json_t *line = json_object();
    json_put(&line, "template", text_json(listing->template->name));
    json_put(&line, "parameters", variant_json(listing->template, configuration));
    bool is_written =
        line && json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15)) == 0 && putchar('\n') != EOF;
    json_decref(line);
    return is_written;
  }
  struct text text = {0};
  variant_text(listing->template, configuration, &text);
  bool is_written = puts(text_string(&text)) != EOF;
  text_free(&text);
  return is_written;
}

static halotune_status walk_template(const struct invocation *invocation, struct report *report,
                                     const struct template *template) {
  struct bindings bindings;
  halotune_status status = variant_bindings(report->problem, template, &bindings);
  if (status != HALOTUNE_OK) return status;
  if (option_value(invocation, "list")) {
    struct listing listing = {template, option_given(invocation, "json")};
    space_walk(&bindings, NULL, NULL, list_configuration, &listing, NULL);
  } else {
    status = count_template(report, template, &bindings);
  }
  bindings_free(&bindings);
  return status;
}

static halotune_status print_document(struct report *report) {
  const struct problem *problem = report->problem;
  json_t *json = json_object(), *grid = json_array();
  for (int axis = 0; axis < MAX_DIMS; axis++) json_add(&grid, json_integer(problem->grid.n[axis]));
  json_put(&json, "stencil", text_json(problem->loaded.stencil->name));
  json_put(&json, "dtype", text_json(dtype_names[problem->dtype]));
  json_put(&json, "arch", text_json(problem->arch));
  json_put(&json, "grid", grid);
  json_put(&json, "templates", report->rows);
  json_put(&json, "raw", number_json(report->raw));
  json_put(&json, "kept", json_integer(report->kept));
  json_put(&json, "time_s", number_json(report->time_ms * 1e-3));
  report->rows = NULL;
  return print_json(json);
}

static halotune_status finish(struct report *report) {
  const struct problem *problem = report->problem;
  const long *n = problem->grid.n;
  double time_s = report->time_ms * 1e-3;
  if (report->json) return print_document(report);
  printf("%s in %s on %ldx%ldx%ld points for %s: %ld variant%s of %.0f combination%s\n", problem->loaded.stencil->name,
         dtype_names[problem->dtype], n[0], n[1], n[2], problem->arch, report->kept, PLURAL(report->kept), report->raw,
         PLURAL(report->raw));
  fprintf(stderr, "%.3f s, %.3g combinations a second\n", time_s, report->raw / (time_s > 0 ? time_s : 1e-9));
  return HALOTUNE_OK;
}

static enum exit_code run(const struct invocation *invocation) {
  struct problem problem;
  struct templates templates = {0};
  bool lists = option_given(invocation, "list");
  halotune_status status = problem_open(invocation, &problem);
  if (status != HALOTUNE_OK) return report_file_failure(status);
  struct report report = {.problem = &problem};
  report.json = option_given(invocation, "json");
  if (report.json) report.rows = json_array();
  status = templates_open(invocation, &templates);
  for (int i = 0; i < templates.count && status == HALOTUNE_OK; i++) {
    status = walk_template(invocation, &report, templates.list[i]);
  }
  if (status == HALOTUNE_OK && !lists) status = finish(&report);
  enum exit_code code = templates.code;
  json_decref(report.rows);
  templates_free(&templates);
  problem_free(&problem);
  return status == HALOTUNE_OK ? code : report_failure(status);
}

static const struct option_row options[] = {
    TEMPLATE_OPTIONS,
    PROBLEM_OPTIONS,
    {"list", NULL, "print the variants, one a line, in place of their numbers"},
    {"json", NULL, "print a JSON document; with --list, one a line"},
    {0},
};

const struct command command_space = {
    "space", "STENCIL", 1, 1, "count the variants of each template, and what its rules leave out", options, run,
};
