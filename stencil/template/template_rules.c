/* template_rules.c: which configurations of a template are kept. */
#include "stencil/template/template_rules.h"

#include <string.h>

#include "base/array.h"

/* The last parameter that a formula names, so that a search can apply the rule as soon as that one is chosen. */
static int last_parameter(const struct template *template, struct formula formula) {
  int last = -1;
  for (int i = formula.first; i <= formula.root; i++) {
    const struct expr *node = &template->exprs.nodes[i];
    int parameter = node->kind == EXPR_VARIABLE ? node->index - FACT_COUNT : -1;
    if (parameter > last && parameter < template->parameter_count) last = parameter;
  }
  return last;
}

halotune_status template_rules_read(struct reader *r) {
  static const char *const keys[] = {"keep", "otherwise"};
  struct template *template = r->template;
  const struct yaml *list;
  halotune_status found = reader_need(r, r->root, "rules", YAML_LIST, &list);
  if (found != HALOTUNE_OK) return found;
  if (list->count >= MAX_RULES) return reader_fail(r, list->place, "at most %d rules", MAX_RULES - 1);
  for (const struct yaml *item = list->first; item; item = item->next) {
    const struct yaml *keep, *otherwise;
    struct rule *rule = &template->rules[template->rule_count++];
    if (item->kind != YAML_MAP) return reader_fail(r, item->place, "expected {keep: ..., otherwise: ...}");
    halotune_status status = reader_check_keys(r, item, keys, COUNT(keys));
    if (status == HALOTUNE_OK) status = reader_need(r, item, "keep", YAML_TEXT, &keep);
    if (status == HALOTUNE_OK) status = reader_need(r, item, "otherwise", YAML_TEXT, &otherwise);
    if (status == HALOTUNE_OK) status = reader_formula(r, keep, &rule->keep);
    if (status != HALOTUNE_OK) return status;
    rule->text = keep->text;
    rule->otherwise = otherwise->text;
    rule->last_parameter = last_parameter(template, rule->keep);
  }
  return HALOTUNE_OK;
}

/* Where bits are to be the same, only templates take part that leave all sums to `update`. The rule follows from the
 * CUDA text, so that none can forget it. */
halotune_status template_rules_add_order(struct template *template) {
  const char *cuda = template->cuda;
  if ((strstr(cuda, "update(") || strstr(cuda, "update_vector(")) && !strstr(cuda, "add_plane(")) return HALOTUNE_OK;
  int fact = exprs_add(&template->exprs, (struct expr){.kind = EXPR_VARIABLE, .index = FACT_reproducible});
  int keep = exprs_add(&template->exprs, (struct expr){.kind = EXPR_NOT, .args = {fact}, .arg_count = 1});
  if (fact < 0 || keep < 0) return fail_memory();
  template->rules[template->rule_count++] = (struct rule){.keep = {.first = fact, .root = keep},
                                                          .text = "reproducible == 0",
                                                          .otherwise = "its sums have an order of their own",
                                                          .last_parameter = -1};
  return HALOTUNE_OK;
}
