/* settled_rules.c: settles each rule, and drops those that always keep the configuration. */
#include "stencil/template/settled_rules.h"

#include <math.h>
#include <stdlib.h>

#include "stencil/expression/settle.h"

enum { MOST_NODES = 256 };

static bool is_kept(double value) { return isfinite(value) && value != 0; }

void shared_rules_free(struct shared_rules *shared) {
  for (int i = 0; i < shared->count; i++) exprs_free(&shared->rules[i]);
  shared->count = 0;
}

/* Find the place of a rule in the list, and add it if it is not there. The list then owns its nodes. Returns -1 if the
 * list is full. */
static int share_rule(struct shared_rules *shared, struct exprs *rule) {
  for (int i = 0; i < shared->count; i++) {
    if (exprs_are_equal(&shared->rules[i], rule)) return i;
  }
  if (shared->count == SHARED_RULES_MOST) return -1;
  shared->rules[shared->count] = *rule;
  *rule = (struct exprs){0};
  return shared->count++;
}

static halotune_status settle_rule(const struct bindings *bindings, const struct rule *rule,
                                   const bool varies[FACT_COUNT], struct shared_rules *shared,
                                   struct settled_rules *out) {
  struct exprs settled = {0};
  struct formula formula;
  halotune_status status = formula_settle(&bindings->template->exprs, rule->keep, bindings->variables, varies,
                                          FACT_COUNT, &settled, &formula);
  if (status != HALOTUNE_OK) goto done;
  const struct expr *root = &settled.nodes[formula.root];
  if (root->kind == EXPR_NUMBER) {
    if (!is_kept(root->number)) out->is_refused = true;
    goto done;
  }
  const int at = settled.count <= MOST_NODES ? share_rule(shared, &settled) : -1;
  if (at < 0) out->is_unsettled = true;
  else out->rules[out->count++] = (unsigned short)at;
done:
  exprs_free(&settled);
  return status;
}

halotune_status settled_rules_make(const struct bindings *bindings, struct shared_rules *shared,
                                   struct settled_rules *out) {
  const struct template *template = bindings->template;
  bool varies[FACT_COUNT];
  for (int i = 0; i < FACT_COUNT; i++) varies[i] = fact_varies((enum fact)i);
  out->rules = calloc((size_t) template->rule_count + 1, sizeof *out->rules);
  halotune_status status = out->rules ? HALOTUNE_OK : fail_memory();
  for (int i = 0; i < template->rule_count && status == HALOTUNE_OK && !out->is_refused && !out->is_unsettled; i++)
    status = settle_rule(bindings, &template->rules[i], varies, shared, out);
  return status;
}

void settled_rules_free(struct settled_rules *rules) {
  free(rules->rules);
  *rules = (struct settled_rules){0};
}

static bool is_broken(int rule, struct rule_verdicts *verdicts) {
  enum { BITS = 64 };
  const uint64_t bit = UINT64_C(1) << rule % BITS;
  uint64_t *computed = &verdicts->computed[rule / BITS], *broken = &verdicts->broken[rule / BITS];
  if (!(*computed & bit)) {
    double scratch[MOST_NODES];
    const struct exprs *exprs = &verdicts->shared->rules[rule];
    const struct formula formula = {0, exprs->count - 1};
    if (!is_kept(formula_value_in(exprs, formula, NULL, verdicts->facts, scratch))) *broken |= bit;
    *computed |= bit;
  }
  return *broken & bit;
}

bool settled_rules_break_again(const struct settled_rules *rules, struct rule_verdicts *verdicts) {
  const int weakest = atomic_load_explicit(&rules->weakest, memory_order_relaxed);
  return rules->is_refused || (weakest > 0 && is_broken(weakest - 1, verdicts));
}

bool settled_rules_keep(struct settled_rules *rules, struct rule_verdicts *verdicts) {
  if (settled_rules_break_again(rules, verdicts)) return false;
  for (int i = 0; i < rules->count; i++) {
    if (!is_broken(rules->rules[i], verdicts)) continue;
    atomic_store_explicit(&rules->weakest, rules->rules[i] + 1, memory_order_relaxed);
    return false;
  }
  return true;
}
