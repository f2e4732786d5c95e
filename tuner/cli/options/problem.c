/* problem.c: reads a stencil and a grid from the command line. */
#include "tuner/cli/options/problem.h"

#include <stdio.h>
#include <stdlib.h>

#include "stencil/template/space.h"
#include "tuner/cli/options/search_path.h"

static halotune_status fail_unknown_arch(const char *name) {
  struct text known = {0};
  for (const struct arch_facts *facts = arch_oldest(); facts <= arch_newest(); facts++) {
    text_printf(&known, "%ssm_%d%d", known.length ? ", " : "", facts->major, facts->minor);
  }
  halotune_status status =
      fail(HALOTUNE_ARGUMENT, "%s is not a known architecture: name one of %s", name, text_string(&known));
  text_free(&known);
  return status;
}

static halotune_status read_arch(const struct invocation *invocation, struct problem *problem) {
  struct arch arch;
  const char *text = option_value(invocation, "arch");
  problem->arch = text ? text : "sm_90";
  halotune_status status = arch_parse(problem->arch, &arch);
  if (status != HALOTUNE_OK) return status;
  problem->arch_facts = arch_find(arch.major, arch.minor);
  if (!problem->arch_facts) return fail_unknown_arch(problem->arch);
  problem->limits = arch_device_limits(problem->arch_facts);
  return HALOTUNE_OK;
}

halotune_status problem_open(const struct invocation *invocation, struct problem *out) {
  *out = (struct problem){
      .dtype = DTYPE_F32, .reproducible = option_given(invocation, "reproducible"), .least_steps = 1, .most_steps = 1};
  halotune_status status = loaded_open(invocation->arguments[0], &out->loaded);
  if (status != HALOTUNE_OK) return status;
  const struct stencil *stencil = out->loaded.stencil;
  if ((status = option_grid(invocation, stencil, &out->grid)) != HALOTUNE_OK) goto done;
  out->domain = domain_dense(stencil, out->loaded.analysis, &out->grid);
  if ((status = option_dtype(invocation, stencil, &out->dtype)) != HALOTUNE_OK) goto done;
  if ((status = read_arch(invocation, out)) != HALOTUNE_OK) goto done;
  out->coefficients = calloc((size_t)stencil->coefficient_count + 1, sizeof *out->coefficients);
  status = out->coefficients ? stencil_coefficients(stencil, &out->grid, out->coefficients) : fail_memory();
done:
  if (status != HALOTUNE_OK) problem_free(out);
  return status;
}

void problem_free(struct problem *problem) {
  free(problem->coefficients);
  loaded_free(&problem->loaded);
  *problem = (struct problem){.dtype = DTYPE_F32};
}

struct variant_spec problem_variant(const struct problem *problem, const struct template *template,
                                    const struct configuration *configuration) {
  const struct loaded *loaded = &problem->loaded;
  return (struct variant_spec){.stencil = loaded->stencil,
                               .analysis = loaded->analysis,
                               .template = template,
                               .configuration = *configuration,
                               .dtype = problem->dtype,
                               .domain = problem->domain,
                               .coefficients = problem->coefficients,
                               .limits = problem->limits,
                               .reproducible = problem->reproducible,
                               .most_steps = problem->most_steps};
}

halotune_status problem_bindings(const struct problem *problem, const struct template *template, struct bindings *out) {
  struct configuration configuration = configuration_default(template);
  struct variant_spec spec = problem_variant(problem, template, &configuration);
  double facts[FACT_COUNT];
  facts_fill(spec.stencil, spec.analysis, spec.dtype, &spec.domain, &spec.limits, spec.reproducible, facts);
  facts_set_steps(spec.stencil, problem->least_steps, spec.most_steps > 1 ? spec.most_steps : 1, facts);
  return bindings_make(template, facts, out);
}
