/* generate.c: `halotune generate STENCIL`: prints the CUDA source of one variant. */
#include <stdio.h>
#include <string.h>

#include "stencil/cuda/pragma_numbers.h"
#include "tuner/cli/options/option_set.h"
#include "tuner/cli/options/problem.h"
#include "tuner/cli/output/output.h"

/* Generate the variant of a template that the options name. */
static halotune_status make_variant(const struct invocation *invocation, const struct problem *problem,
                                    const struct template *template, struct generated *out) {
  struct configuration configuration;
  struct bindings bindings = {0};
  halotune_status status = problem_bindings(problem, template, &bindings);
  if (status == HALOTUNE_OK) status = option_configuration(invocation, template, &bindings, &configuration);
  if (status == HALOTUNE_OK) {
    struct variant_spec spec = problem_variant(problem, template, &configuration);
    status = generate(&spec, out);
  }
  bindings_free(&bindings);
  return status;
}

/* The first template is the one that --template names. Without this option it is `direct`, which is easiest to read, or
 * else the first that the problem and --set allow. */
static halotune_status find_variant(const struct invocation *invocation, const struct problem *problem,
                                    const struct templates *templates, struct generated *out) {
  char detail[FAIL_TEXT_BYTES / 2];
  int first = 0;
  if (option_value(invocation, "template")) return make_variant(invocation, problem, templates->list[0], out);
  for (int i = 0; i < templates->count; i++) {
    if (strcmp(templates->list[i]->name, "direct") == 0) first = i;
  }
  halotune_status status = make_variant(invocation, problem, templates->list[first], out);
  snprintf(detail, sizeof detail, "%s", fail_text());
  for (int i = 0; i < templates->count && status == HALOTUNE_ARGUMENT; i++) {
    if (i == first) continue;
    status = make_variant(invocation, problem, templates->list[i], out);
  }
  if (status != HALOTUNE_ARGUMENT) return status;
  (void)fail(HALOTUNE_ARGUMENT, "%s; no other template has such a variant either", detail);
  return HALOTUNE_ARGUMENT;
}

static halotune_status put_variant(const struct invocation *invocation, const struct problem *problem) {
  struct templates templates;
  struct generated generated = {.source = NULL};
  halotune_status status = templates_open(invocation, &templates);
  if (status != HALOTUNE_OK) return status;
  if ((status = find_variant(invocation, problem, &templates, &generated)) == HALOTUNE_OK) {
    source_strip_lines(generated.source);
    status = pragma_numbers(generated.source);
    if (status == HALOTUNE_OK)
      status =
          output_text(option_value(invocation, "output"), OUTPUT_FOR_ALL, generated.source, strlen(generated.source));
    generated_free(&generated);
  }
  templates_free(&templates);
  return status;
}

static halotune_status put_prelude(const struct invocation *invocation, const struct problem *problem) {
  struct text text = {0};
  halotune_status status = generate_prelude(problem->loaded.stencil, problem->loaded.analysis, problem->dtype, &text);
  if (status == HALOTUNE_OK)
    status = output_text(option_value(invocation, "output"), OUTPUT_FOR_ALL, text_string(&text), text.length);
  text_free(&text);
  return status;
}

static enum exit_code generate_run(const struct invocation *invocation) {
  struct problem problem;
  bool prelude = option_given(invocation, "prelude");
  halotune_status status = problem_open(invocation, &problem);
  if (status != HALOTUNE_OK) return report_file_failure(status);
  problem.most_steps = LAUNCH_MOST_STEPS;
  status = prelude ? put_prelude(invocation, &problem) : put_variant(invocation, &problem);
  problem_free(&problem);
  return status == HALOTUNE_OK ? HALOTUNE_EXIT_SUCCESS : report_failure(status);
}

static const struct option_row options[] = {
    TEMPLATE_OPTIONS_NAMED("NAME", "template, by name or path; direct by default, or another one that applies"),
    {"set", "NAME=VALUE,...", "parameters that differ from the template's defaults"},
    PROBLEM_OPTIONS,
    {"prelude", NULL,
     "print only the prelude, the code in front of every template; templates/example.cuh is an example"},
    {"output", "FILE", "output file; standard output by default"},
    {0},
};

const struct command command_generate = {
    "generate", "STENCIL", 1, 1, "print the CUDA source of one variant", options, generate_run,
};
