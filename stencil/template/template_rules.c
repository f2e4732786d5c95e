/* template_rules.c: reads the rules that decide which configurations of a template are kept. */
#include "stencil/template/template_rules.h"

#include <string.h>

#include "base/memory/array.h"
#include "base/text/nearest.h"

/* Find the last parameter that a formula names. A search can test a rule as soon as this parameter has a value. */
static int last_parameter(const struct template *template, struct formula formula) {
  int last = -1;
  for (int i = formula.first; i <= formula.root; i++) {
    const struct expr *node = &template->exprs.nodes[i];
    int parameter = node->kind == EXPR_VARIABLE ? node->index - FACT_COUNT : -1;
    if (parameter > last && parameter < template->parameter_count) last = parameter;
  }
  return last;
}

/* Read {keep: ..., otherwise: ...} from the text of `r`. */
static halotune_status read_rule(struct reader *r, const struct yaml *item, enum rule_origin origin) {
  static const char *const keys[] = {"keep", "otherwise"};
  struct template *template = r->template;
  const struct yaml *keep, *otherwise;
  if (item->kind != YAML_MAP) return reader_fail(r, item->place, "expected {keep: ..., otherwise: ...}");
  if (template->rule_count == MAX_RULES - 1) return reader_fail(r, item->place, "at most %d rules", MAX_RULES - 1);
  struct rule *rule = &template->rules[template->rule_count++];
  halotune_status status = reader_check_keys(r, item, keys, COUNT(keys));
  if (status == HALOTUNE_OK) status = reader_need(r, item, "keep", YAML_TEXT, &keep);
  if (status == HALOTUNE_OK) status = reader_need(r, item, "otherwise", YAML_TEXT, &otherwise);
  if (status == HALOTUNE_OK) status = reader_formula(r, keep, &rule->keep);
  if (status != HALOTUNE_OK) return status;
  rule->text = keep->text;
  rule->otherwise = otherwise->text;
  rule->last_parameter = last_parameter(template, rule->keep);
  rule->origin = origin;
  return HALOTUNE_OK;
}

/* Add the rules of a common parameter. A rule that names a parameter which the template does not have is skipped. */
static halotune_status add_parameter_rules(struct reader *common, const char *parameter) {
  const struct yaml *known = common_find(common, "parameters", parameter);
  const struct yaml *rules = yaml_find(known, "rules");
  halotune_status status = HALOTUNE_OK;
  for (const struct yaml *item = rules ? rules->first : NULL; item && status == HALOTUNE_OK; item = item->next) {
    struct token missing;
    status = common_missing_name(common, yaml_find(item, "keep"), &missing);
    if (status == HALOTUNE_OK && missing.kind == TOKEN_END) status = read_rule(common, item, RULE_COMMON);
  }
  return status;
}

/* Add the common rules that an item of `common` or `rules` names. */
static halotune_status add_named_rules(struct reader *r, struct reader *common, const struct yaml *name) {
  const struct yaml *rules = common_find(common, "rules", name->text);
  halotune_status status = HALOTUNE_OK;
  if (!rules) {
    struct nearest nearest = nearest_to(name->text, name->length);
    for (rules = yaml_find(common->root, "rules")->first; rules; rules = rules->next) nearest_try(&nearest, rules->key);
    return reader_fail(r, name->place, "'%s' is neither the name of common rules nor {keep: ..., otherwise: ...}%s",
                       name->text, nearest.question);
  }
  for (const struct yaml *item = rules->first; item && status == HALOTUNE_OK; item = item->next) {
    struct token missing;
    status = common_missing_name(common, yaml_find(item, "keep"), &missing);
    if (status == HALOTUNE_OK && missing.kind != TOKEN_END) {
      return reader_fail(r, name->place, "the rules '%s' need a parameter '%.*s'", name->text, (int)missing.length,
                         missing.text);
    }
    if (status == HALOTUNE_OK) status = read_rule(common, item, RULE_COMMON);
  }
  return status;
}

/* Whether an item of `common` is the name of rules. */
static bool names_rules(const struct reader *common, const struct yaml *item) {
  return item->kind == YAML_TEXT && common_find(common, "rules", item->text);
}

halotune_status template_rules_read(struct reader *r, struct reader *common) {
  const struct yaml *list, *shared = yaml_find(r->root, "common"), *first = shared ? shared->first : NULL;
  halotune_status status = reader_need(r, r->root, "rules", YAML_LIST, &list);
  if (status != HALOTUNE_OK) return status;
  for (const struct yaml *item = first; item && status == HALOTUNE_OK; item = item->next) {
    if (names_rules(common, item)) status = add_named_rules(r, common, item);
  }
  for (const struct yaml *item = list->first; item && status == HALOTUNE_OK; item = item->next) {
    status = item->kind == YAML_TEXT ? add_named_rules(r, common, item) : read_rule(r, item, RULE_OWN);
  }
  for (const struct yaml *item = first; item && status == HALOTUNE_OK; item = item->next) {
    if (names_rules(common, item)) continue;
    status = add_parameter_rules(common, item->kind == YAML_TEXT ? item->text : item->first->key);
  }
  const struct yaml *always = yaml_find(common->root, "always");
  for (const struct yaml *item = always->first; item && status == HALOTUNE_OK; item = item->next) {
    status = read_rule(common, item, RULE_ALWAYS);
  }
  return status;
}

/* Add the rule for bit-reproducible results. It leaves out a template that forms its sums in an order of its own. */
static halotune_status add_order_rule(struct template *template) {
  int fact = exprs_add(&template->exprs, (struct expr){.kind = EXPR_VARIABLE, .index = FACT_reproducible});
  int keep = exprs_add(&template->exprs, (struct expr){.kind = EXPR_NOT, .args = {fact}, .arg_count = 1});
  if (fact < 0 || keep < 0) return fail_memory();
  template->rules[template->rule_count++] = (struct rule){.keep = {.first = fact, .root = keep},
                                                          .text = "reproducible == 0",
                                                          .otherwise = "its sums have an order of their own",
                                                          .last_parameter = -1,
                                                          .origin = RULE_OWN};
  return HALOTUNE_OK;
}

halotune_status template_sums_read(struct reader *r) {
  const struct yaml *sums = yaml_find(r->root, "sums");
  if (!sums) return add_order_rule(r->template);
  const char *word = sums->kind == YAML_TEXT ? sums->text : "";
  if (strcmp(word, "update") == 0) return HALOTUNE_OK;
  if (strcmp(word, "own_order") == 0) return add_order_rule(r->template);
  return reader_fail(r, sums->place, "expected update (update() forms all sums) or own_order");
}
