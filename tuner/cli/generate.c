/* generate.c: `halotune generate STENCIL`: prints the CUDA source of one variant. */
#include <string.h>

#include "tuner/cli/options/configuration.h"
#include "tuner/cli/options/problem.h"
#include "tuner/cli/output/output.h"

static halotune_status put_variant(const struct invocation *invocation, const struct problem *problem) {
  struct templates templates;
  struct configuration configuration;
  struct bindings bindings = {0};
  struct generated generated;
  halotune_status status = templates_open(invocation, &templates);
  if (status != HALOTUNE_OK) return status;
  status = problem_bindings(problem, templates.list[0], &bindings);
  if (status == HALOTUNE_OK) status = option_configuration(invocation, templates.list[0], &bindings, &configuration);
  if (status == HALOTUNE_OK) {
    struct variant_spec spec = problem_variant(problem, templates.list[0], &configuration);
    if ((status = generate(&spec, &generated)) == HALOTUNE_OK) {
      source_strip_lines(generated.source);
      status = output_text(invocation, OUTPUT_FOR_ALL, generated.source, strlen(generated.source));
      generated_free(&generated);
    }
  }
  bindings_free(&bindings);
  templates_free(&templates);
  return status;
}

static halotune_status put_prelude(const struct invocation *invocation, const struct problem *problem) {
  struct text text = {0};
  halotune_status status = generate_prelude(problem->loaded.stencil, problem->loaded.analysis, problem->dtype, &text);
  if (status == HALOTUNE_OK) status = output_text(invocation, OUTPUT_FOR_ALL, text_string(&text), text.length);
  text_free(&text);
  return status;
}

static enum exit_code generate_run(const struct invocation *invocation) {
  struct problem problem;
  bool prelude = option_given(invocation, "prelude");
  if (!prelude && !option_value(invocation, "template")) {
    return report_failure(fail(HALOTUNE_ARGUMENT, "generate needs --template NAME; see 'halotune list templates'"));
  }
  halotune_status status = problem_open(invocation, &problem);
  if (status != HALOTUNE_OK) return report_file_failure(status);
  problem.most_steps = LAUNCH_MOST_STEPS;
  status = prelude ? put_prelude(invocation, &problem) : put_variant(invocation, &problem);
  problem_free(&problem);
  return status == HALOTUNE_OK ? HALOTUNE_EXIT_SUCCESS : report_failure(status);
}

static const struct option_row options[] = {
    TEMPLATE_OPTIONS,
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
