/* settled_rules.c: settles each rule, and drops those that always keep the configuration. */
#include "stencil/template/settled_rules.h"

#include <math.h>
#include <stdlib.h>

#include "stencil/expression/settle.h"

enum { MOST_NODES = 256 };

static bool is_kept(double value) { return isfinite(value) && value != 0; }

static halotune_status settle_rule(const struct bindings *bindings, const struct rule *rule,
                                   const bool varies[FACT_COUNT], struct settled_rules *out) {
  struct formula *formula = &out->rules[out->count];
  halotune_status status = formula_settle(&bindings->template->exprs, rule->keep, bindings->variables, varies,
                                          FACT_COUNT, &out->exprs, formula);
  if (status != HALOTUNE_OK) return status;
  const struct expr *root = &out->exprs.nodes[formula->root];
  const bool is_decided = root->kind == EXPR_NUMBER;
  if (is_decided && !is_kept(root->number)) out->is_refused = true;
  if (formula->root - formula->first >= MOST_NODES) out->is_long = true;
  if (is_decided) out->exprs.count = formula->first;
  else out->count++;
  return HALOTUNE_OK;
}

halotune_status settled_rules_make(const struct bindings *bindings, struct settled_rules *out) {
  const struct template *template = bindings->template;
  bool varies[FACT_COUNT];
  for (int i = 0; i < FACT_COUNT; i++) varies[i] = fact_varies((enum fact)i);
  out->rules = calloc((size_t) template->rule_count + 1, sizeof *out->rules);
  halotune_status status = out->rules ? HALOTUNE_OK : fail_memory();
  for (int i = 0; i < template->rule_count && status == HALOTUNE_OK && !out->is_refused; i++)
    status = settle_rule(bindings, &template->rules[i], varies, out);
  return status;
}

void settled_rules_free(struct settled_rules *rules) {
  exprs_free(&rules->exprs);
  free(rules->rules);
  *rules = (struct settled_rules){0};
}

static bool keeps(const struct settled_rules *rules, int rule, const double facts[FACT_COUNT]) {
  double scratch[MOST_NODES];
  return is_kept(formula_value_in(&rules->exprs, rules->rules[rule], NULL, facts, scratch));
}

bool settled_rules_break_again(const struct settled_rules *rules, const double facts[FACT_COUNT]) {
  const int weakest = atomic_load_explicit(&rules->weakest, memory_order_relaxed);
  return rules->is_refused || (weakest > 0 && !keeps(rules, weakest - 1, facts));
}

bool settled_rules_keep(struct settled_rules *rules, const double facts[FACT_COUNT]) {
  if (settled_rules_break_again(rules, facts)) return false;
  for (int i = 0; i < rules->count; i++) {
    if (keeps(rules, i, facts)) continue;
    atomic_store_explicit(&rules->weakest, i + 1, memory_order_relaxed);
    return false;
  }
  return true;
}
