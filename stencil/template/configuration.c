/* configuration.c: chooses values for a template's parameters, and evaluates the template's formulas for them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stencil/template/walk.h"

struct configuration configuration_default(const struct template *template) {
  struct configuration configuration = {{0}};
  for (int i = 0; i < template->parameter_count; i++) {
    configuration.choice[i] = (unsigned char)template->parameters[i].default_value;
  }
  return configuration;
}

void configuration_settle(const struct template *template, const double facts[FACT_COUNT],
                          struct configuration *configuration) {
  for (int i = 0; i < template->parameter_count; i++) {
    const struct parameter *parameter = &template->parameters[i];
    if (parameter->needs >= 0 && facts[parameter->needs] == 0)
      configuration->choice[i] = (unsigned char)parameter->default_value;
  }
}

int template_parameter(const struct template *template, const char *name, size_t length) {
  for (int i = 0; i < template->parameter_count; i++) {
    const char *known = template->parameters[i].name;
    if (strlen(known) == length && memcmp(known, name, length) == 0) return i;
  }
  return -1;
}

int parameter_value_at(const struct parameter *parameter, const char *spelled) {
  for (int i = 0; i < parameter->value_count; i++) {
    if (strcmp(spelled, parameter->words[i]) == 0) return i;
  }
  return -1;
}

void template_try_parameters(const struct template *template, struct nearest *nearest) {
  for (int i = 0; i < template->parameter_count; i++) nearest_try(nearest, template->parameters[i].name);
}

halotune_status configuration_set(const struct template *template, const char *assignment,
                                  struct configuration *configuration) {
  size_t length = strcspn(assignment, "=");
  const char *value = assignment[length] ? assignment + length + 1 : "";
  int found = template_parameter(template, assignment, length);
  if (found < 0) {
    struct nearest nearest = nearest_to(assignment, length);
    template_try_parameters(template, &nearest);
    return fail(HALOTUNE_ARGUMENT, "template %s has no parameter '%.*s'%s", template->name, (int)length, assignment,
                nearest.question);
  }
  const struct parameter *parameter = &template->parameters[found];
  const int choice = parameter_value_at(parameter, value);
  if (choice < 0)
    return fail(HALOTUNE_ARGUMENT, "template %s: '%s' is not a value of %s", template->name, value, parameter->name);
  configuration->choice[found] = (unsigned char)choice;
  return HALOTUNE_OK;
}

halotune_status bindings_make(const struct template *template, const double facts[FACT_COUNT], struct bindings *out) {
  *out = (struct bindings){.template = template};
  out->variables = malloc((size_t) template->variable_count * sizeof *out->variables);
  out->scratch = malloc(((size_t) template->exprs.count + 1) * sizeof *out->scratch);
  if (!out->variables || !out->scratch) {
    bindings_free(out);
    return fail_memory();
  }
  memcpy(out->variables, facts, FACT_COUNT * sizeof *facts);
  memcpy(out->variables + FACT_COUNT + template->parameter_count, template->word_values,
         (size_t) template->word_count * sizeof *template->word_values);
  struct configuration configuration = configuration_default(template);
  bindings_configure(out, &configuration);
  return HALOTUNE_OK;
}

/* Make room for the verdicts of a rule, unless there are too many. */
static void remember_rule(const struct template *template, const struct rule *rule, struct rule_memory *out) {
  enum { MOST_VERDICTS = 1 << 20 };
  const uint32_t named = rule_parameters(template, rule);
  uint32_t verdicts = 1;
  for (int i = 0; i < template->parameter_count; i++) {
    if (!(named >> i & 1)) continue;
    out->parameters[out->count] = (unsigned char)i;
    out->strides[out->count++] = verdicts;
    verdicts *= (uint32_t) template->parameters[i].value_count;
    if (verdicts > MOST_VERDICTS) return;
  }
  out->verdicts = calloc(verdicts, sizeof *out->verdicts);
}

void bindings_remember(struct bindings *bindings) {
  const struct template *template = bindings->template;
  if (bindings->memory) return;
  bindings->memory = calloc((size_t) template->rule_count + 1, sizeof *bindings->memory);
  if (!bindings->memory) return;
  for (int i = 0; i < template->rule_count; i++) remember_rule(template, &template->rules[i], &bindings->memory[i]);
}

void bindings_free(struct bindings *bindings) {
  for (int i = 0; bindings->memory && i < bindings->template->rule_count; i++) free(bindings->memory[i].verdicts);
  free(bindings->memory);
  free(bindings->variables);
  free(bindings->scratch);
  *bindings = (struct bindings){0};
}

void bindings_choose(struct bindings *bindings, int parameter, int choice) {
  bindings->choice[parameter] = (unsigned char)choice;
  bindings->variables[FACT_COUNT + parameter] = bindings->template->parameters[parameter].values[choice];
}

void bindings_configure(struct bindings *bindings, const struct configuration *configuration) {
  for (int i = 0; i < bindings->template->parameter_count; i++) bindings_choose(bindings, i, configuration->choice[i]);
}

double bindings_value(const struct bindings *bindings, struct formula formula) {
  return formula_value_in(&bindings->template->exprs, formula, NULL, bindings->variables, bindings->scratch);
}

double bindings_optional(const struct bindings *bindings, const struct optional_formula *formula) {
  return formula->is_given ? bindings_value(bindings, formula->formula) : formula->otherwise;
}

bool bindings_take_maps(const struct bindings *bindings, const struct map_formulas *maps) {
  return maps->is_given && bindings_optional(bindings, &maps->when) != 0;
}

static bool evaluate_rule(const struct bindings *bindings, const struct rule *rule) {
  double value = bindings_value(bindings, rule->keep);
  return isfinite(value) && value != 0;
}

bool bindings_keep(const struct bindings *bindings, const struct rule *rule) {
  enum { UNKNOWN, REMOVES, KEEPS };
  const struct rule_memory *memory = bindings->memory ? &bindings->memory[rule - bindings->template->rules] : NULL;
  uint32_t at = 0;
  if (!memory || !memory->verdicts) return evaluate_rule(bindings, rule);
  for (int i = 0; i < memory->count; i++) at += memory->strides[i] * bindings->choice[memory->parameters[i]];
  unsigned char *verdict = &memory->verdicts[at];
  if (*verdict == UNKNOWN) *verdict = evaluate_rule(bindings, rule) ? KEEPS : REMOVES;
  return *verdict == KEEPS;
}

const struct rule *bindings_failed_rule(const struct bindings *bindings) {
  for (int i = 0; i < bindings->template->rule_count; i++) {
    const struct rule *rule = &bindings->template->rules[i];
    if (!bindings_keep(bindings, rule)) return rule;
  }
  return NULL;
}

halotune_status configuration_steps(const struct template *template, const struct configuration *configuration,
                                    int *steps) {
  static const double no_facts[FACT_COUNT] = {0};
  struct bindings bindings;
  *steps = 1;
  if (!template->steps.is_given) return HALOTUNE_OK;
  halotune_status status = bindings_make(template, no_facts, &bindings);
  if (status != HALOTUNE_OK) return status;
  bindings_configure(&bindings, configuration);
  double value = bindings_value(&bindings, template->steps.formula);
  bindings_free(&bindings);
  if (!(value >= 1 && value <= LAUNCH_MOST_STEPS && value == floor(value))) {
    return fail(HALOTUNE_ARGUMENT, "template %s: steps come to %.10g; they must be a whole number from 1 to %d",
                template->name, value, LAUNCH_MOST_STEPS);
  }
  *steps = (int)value;
  return HALOTUNE_OK;
}
