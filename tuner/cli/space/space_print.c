/* space_print.c: prints counts of variants by parameter and by rule. */
#include "tuner/cli/space/space_print.h"

#include <ctype.h>
#include <stdio.h>

#include "tuner/cli/output/variant_text.h"

/* Append a rule as one line, without the file's line breaks. */
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
  char count[SPACE_COUNT_BYTES];
  for (int i = 0; i < template->parameter_count; i++) {
    const struct parameter *parameter = &template->parameters[i];
    printf("  %-13s", parameter->name);
    for (int v = 0; v < parameter->value_count; v++) {
      printf("%s %s:", v ? " " : "", parameter->words[v]);
      if (counts->used[i][v] > 0) printf(" %s", space_count_text(counts->used[i][v], count));
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

void space_print_template(const struct template *template, const struct rule *refusal,
                          const struct space_counts *counts) {
  struct text text = {0};
  char kept[SPACE_COUNT_BYTES];
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
  printf("  %12s  kept\n\n", space_count_text(counts->kept, kept));
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

json_t *space_template_json(const struct template *template, const struct rule *refusal,
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
