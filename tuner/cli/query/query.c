/* query.c: `halotune query STENCIL`: prints the library's answer as text, JSON, CUDA source or a C header. */
#include <stdio.h>
#include <string.h>

#include "db/store/launch_text.h"
#include "stencil/cuda/pragma_numbers.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/output/variant_text.h"
#include "tuner/cli/query/query_header.h"
#include "tuner/cli/query/query_print.h"
#include "tuner/cli/query/query_untrusted.h"
#include "tuner/cli/query/query_why.h"

static halotune_status source_put(const struct invocation *invocation, const struct query *query) {
  struct built built;
  halotune_status status = kernel_source(&query->question, &query->answer, query->coefficients, &built);
  if (status != HALOTUNE_OK) return status;
  status = pragma_numbers(built.source);
  if (status == HALOTUNE_OK)
    status = output_text(option_value(invocation, "output"), OUTPUT_FOR_ALL, built.source, strlen(built.source));
  built_free(&built);
  return status;
}

/* Write the header of the winner. A header cannot make texture objects, so a winner that reads through them is replaced
 * by the best variant that does not. */
static halotune_status header_put(const struct invocation *invocation, const struct query *query) {
  struct answer answer = query->answer;
  struct question question = query->question;
  struct built built = {.steps = 1};
  struct text text = {0}, parameters = {0};
  const struct template *template;
  bool fits = false;
  int alignment = 1;
  question_demand(&question, (struct demands){.no_textures = true});
  halotune_status status = context_template(query->ctx, answer.template_at, &template);
  if (status == HALOTUNE_OK) status = question_check(&question, template, &answer.configuration, &fits);
  if (status == HALOTUNE_OK && !fits) {
    fprintf(stderr, "halotune: the winner needs texture objects; the header has the best variant that needs none\n");
    status = choose(&question, &answer);
    if (status == HALOTUNE_OK) status = context_template(query->ctx, answer.template_at, &template);
  }
  if (status == HALOTUNE_OK) status = kernel_build(&question, &answer, query->coefficients, &built);
  if (status == HALOTUNE_OK) {
    status = question_alignment(&question, template, &answer.configuration, &alignment);
  }
  if (status == HALOTUNE_OK) {
    configuration_write(template, &answer.configuration, &parameters);
    struct query_choice chosen = {template->name, text_string(&parameters)};
    query_header(query, &built, fits ? NULL : &chosen, alignment, &text);
    status = text_ok(&text)
                 ? output_text(option_value(invocation, "output"), OUTPUT_FOR_ALL, text_string(&text), text.length)
                 : fail_memory();
  }
  text_free(&parameters);
  text_free(&text);
  built_free(&built);
  return status;
}

static enum exit_code query_run(const struct invocation *invocation) {
  static const char *const forms[] = {"json", "source", "header"};
  struct query query;
  int given = 0;
  for (int i = 0; i < 3; i++) given += option_value(invocation, forms[i]) != NULL;
  if (given > 1) return report_failure(fail(HALOTUNE_ARGUMENT, "query takes one of --json, --source and --header"));
  if (given > 0 && option_given(invocation, "why"))
    return report_failure(fail(HALOTUNE_ARGUMENT, "--why cannot be used with --json, --source or --header"));
  if (given > 0 && option_given(invocation, "long"))
    return report_failure(fail(HALOTUNE_ARGUMENT, "--long cannot be used with --json, --source or --header"));
  if (option_value(invocation, "output") && !option_value(invocation, "source") &&
      !option_value(invocation, "header")) {
    return report_failure(fail(HALOTUNE_ARGUMENT, "--output can only be used with --source or --header"));
  }
  halotune_status status = query_open(invocation, &query);
  if (status == HALOTUNE_OK) {
    if (option_value(invocation, "json")) status = query_print_json(&query);
    else if (option_value(invocation, "source")) status = source_put(invocation, &query);
    else if (option_value(invocation, "header")) status = header_put(invocation, &query);
    else status = query_print_text(&query);
    if (status == HALOTUNE_OK && option_given(invocation, "why")) status = query_print_why(&query);
  }
  enum exit_code code = status == HALOTUNE_OK ? HALOTUNE_EXIT_SUCCESS : report_failure(status);
  if (query.is_untuned) query_tell_untrusted(&query);
  query_free(&query);
  return code;
}

static const struct option_row options[] = {
    {"dtype", "TYPE", "f32 or f64; f32 by default, where the stencil has it"},
    {"grid", "NX,NY,NZ", "points along each axis; the stencil's first grid by default"},
    {"device", "NAME", "number, name or uuid of a GPU, or an architecture such as sm_90; GPU 0 by default"},
    {"launch", "MODE", "stream or graph; where both were measured, by default the one that you measured, then stream"},
    {"cache", "MODE", "steady or cold; steady by default, where both were measured"},
    {"steps", "N",
     "the most time steps that a launch may advance, or any; 1 by default. The launch with the least time a step wins"},
    {"reproducible", NULL, "only variants that all give the same bits"},
    {"db", "FILE", "the database; by default yours, then the one that was installed"},
    {"json", NULL, "print a JSON document"},
    {"why", NULL, "also print the candidates, their predicted times, and why they lost"},
    LONG_OPTION,
    {"source", NULL, "print the CUDA source"},
    {"header", NULL, "print a C header with the compiled kernel, and functions that load and launch it"},
    {"output", "FILE", "output file of the source or header; standard output by default"},
    {0},
};

const struct command command_query = {
    "query", "STENCIL", 1, 1, "print the best known configuration, its source, or a header with its kernel",
    options, query_run,
};
