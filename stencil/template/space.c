/* space.c: combines the results of walks through the parts of a space, and finds the configuration nearest to
 * another. */
#include "stencil/template/space.h"

#include <stdio.h>

#include "base/fail.h"
#include "stencil/template/walk.h"

static long capped_count(double count) { return count < (double)SPACE_MOST ? (long)count : SPACE_MOST; }

/* The product of all factors but one. */
static double product_without(const double factors[], int count, int without) {
  double product = 1;
  for (int i = 0; i < count; i++) {
    if (i != without) product *= factors[i];
  }
  return product;
}

/* Compute what a walk through all parameters at once would have counted. Such a walk reaches a parameter once for each
 * kept choice of the parameters before it, and these are a choice in each part. */
static void combine_counts(const struct walk *w, const struct walk_parts *parts, const struct walk_tally *tally,
                           struct space_counts *counts) {
  int parameter_count = w->bindings->template->parameter_count;
  double kept[MAX_PARAMETERS]; /* choices of each part that are kept up to the current parameter */
  for (int i = 0; i < parts->count; i++) kept[i] = 1;
  for (int i = 0; i < parameter_count; i++) {
    double others = product_without(kept, parts->count, parts->of[i]);
    for (int k = w->rules_begin[i]; k < w->rules_begin[i + 1]; k++) {
      counts->removed[w->rules[k]] = (double)tally->failed[w->rules[k]] * others * w->below[i + 1];
    }
    kept[parts->of[i]] = (double)tally->passed[i];
  }
  counts->kept = capped_count(product_without(kept, parts->count, -1));
  for (int i = 0; i < parameter_count; i++) {
    double others = product_without(kept, parts->count, parts->of[i]);
    for (int v = 0; v < MAX_VALUES; v++) counts->used[i][v] = capped_count((double)tally->used[i][v] * others);
  }
}

/* A tally takes 64 KB, so a walk that counts nothing has none. */
static void walk_counted(struct walk *w, space_visit *visit, void *context, struct space_counts *counts) {
  struct walk_tally tally = {.passed = {0}};
  struct walk_parts parts = visit ? walk_as_one() : walk_split(w);
  for (int i = 0; i < parts.count; i++) walk_part(w, &parts, i, visit, context, &tally);
  combine_counts(w, &parts, &tally, counts);
  if (!visit) walk_note_sizes(w, &parts, &tally);
}

void space_walk(struct bindings *bindings, const bool fixed[], const struct configuration *from, space_visit *visit,
                void *context, struct space_counts *counts) {
  struct walk w = walk_make(bindings, fixed, from);
  const struct rule *refusal = space_refusal(bindings);
  if (counts) *counts = (struct space_counts){.raw = w.below[0]};
  if (refusal) {
    if (counts) counts->removed[refusal - bindings->template->rules] = w.below[0];
    return;
  }
  if (counts) {
    walk_counted(&w, visit, context, counts);
    return;
  }
  struct walk_parts parts = visit ? walk_as_one() : walk_split(&w);
  for (int i = 0; i < parts.count; i++) walk_part(&w, &parts, i, visit, context, NULL);
}

const char *space_count_text(long count, char text[SPACE_COUNT_BYTES]) {
  if (count < SPACE_MOST) snprintf(text, SPACE_COUNT_BYTES, "%ld", count);
  else snprintf(text, SPACE_COUNT_BYTES, "more than 9.0e15"); /* SPACE_MOST */
  return text;
}

halotune_status space_is_walkable(const struct bindings *bindings) {
  if (bindings->limit.end != WALK_ENDLESS) return HALOTUNE_OK;
  return fail(HALOTUNE_PARSE,
              "template %s: the count of its variants stopped after %ld values, because its rules exclude almost all "
              "combinations, or each rule names many parameters; let rules name fewer parameters, or fix some of them",
              bindings->template->name, bindings->limit.most_steps > 0 ? bindings->limit.most_steps : SPACE_MOST_STEPS);
}

const struct rule *space_refusal(const struct bindings *bindings) {
  const struct template *template = bindings->template;
  for (int i = 0; i < template->rule_count; i++) {
    if (template->rules[i].last_parameter < 0 && !bindings_keep(bindings, &template->rules[i]))
      return &template->rules[i];
  }
  return NULL;
}

/* The value to try at a step: first the wanted one, then its neighbours on both sides in turn, with growing
 * distance. */
static int value_at(int wanted, int step) {
  const int away = (step + 1) / 2;
  return step % 2 ? wanted - away : wanted + away;
}

/* Choose this parameter and the later ones so that at most `changes` of them differ from the configuration. The
 * configuration becomes the first choice that the rules keep. */
static bool find_near(const struct walk *w, int parameter, int changes, struct configuration *configuration) {
  if (parameter == w->bindings->template->parameter_count) return true;
  const int wanted = configuration->choice[parameter], first = w->first[parameter], end = w->end[parameter];
  const int steps = changes > 0 ? 2 * (end - first) : 1;
  for (int step = 0; step < steps; step++) {
    const int value = value_at(wanted, step);
    if (value < first || value >= end) continue;
    if (!walk_step(w)) return false;
    bindings_choose(w->bindings, parameter, value);
    if (walk_failed_rule(w, parameter) >= 0 || !find_near(w, parameter + 1, changes - (step > 0), configuration))
      continue;
    configuration->choice[parameter] = (unsigned char)value;
    return true;
  }
  return false;
}

static bool end_walk(void *context, const struct configuration *configuration) {
  (void)configuration;
  *(bool *)context = true;
  return false;
}

/* Whether all parameters that a rule names are fixed. */
static bool names_fixed_only(const struct template *template, const struct rule *rule, const bool fixed[]) {
  uint32_t named = rule_parameters(template, rule);
  for (int i = 0; i < template->parameter_count; i++) {
    if (named >> i & 1 && !(fixed && fixed[i])) return false;
  }
  return true;
}

/* Find a rule that the bound configuration breaks. Prefer one that no other values of the free parameters could
 * satisfy. */
static const struct rule *rule_to_blame(const struct bindings *bindings, const bool fixed[]) {
  const struct template *template = bindings->template;
  for (int i = 0; i < template->rule_count; i++) {
    const struct rule *rule = &template->rules[i];
    if (names_fixed_only(template, rule, fixed) && !bindings_keep(bindings, rule)) return rule;
  }
  return bindings_failed_rule(bindings);
}

/* Whether the rules keep any configuration with the fixed values. */
static bool is_any_kept(struct bindings *bindings, const bool fixed[], const struct configuration *configuration) {
  bool is_any = false;
  space_walk(bindings, fixed, configuration, end_walk, &is_any, NULL);
  return is_any;
}

const struct rule *space_nearest(struct bindings *bindings, const bool fixed[], struct configuration *configuration) {
  bindings_configure(bindings, configuration);
  if (!bindings_failed_rule(bindings)) return NULL;
  if (space_refusal(bindings))
    return rule_to_blame(bindings, fixed); /* a walk does not evaluate rules without parameters */
  struct walk w = walk_make(bindings, fixed, configuration);
  for (int changes = 1; !find_near(&w, 0, changes, configuration); changes++) {
    bool is_over = bindings->limit.end != WALK_WHOLE;
    if (changes == 1 && !is_over) { /* mostly one change is enough: more are tried only if there is anything to find */
      is_over = !is_any_kept(bindings, fixed, configuration);
      if (!is_over) w = walk_make(bindings, fixed, configuration);
    }
    if (!is_over) continue;
    bindings_configure(bindings, configuration);
    return rule_to_blame(bindings, fixed);
  }
  return NULL;
}
