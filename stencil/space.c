/* space.c: an odometer over the parameters. The walk keeps one position per parameter; rules are sorted by the parameter that
 * completes them. */
#include "stencil/space.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

struct walk {
  struct bindings *bindings;
  const struct template *template;
  struct configuration configuration;
  int first[MAX_PARAMETERS], end[MAX_PARAMETERS]; /* the values that each parameter takes */
  double below[MAX_PARAMETERS + 1];               /* configurations of the parameters behind this one */
  struct space_counts *counts;
  space_visit *visit;
  void *context;
};

/* The first rule that the parameter just chosen completes and that fails; -1 for none. */
static int failed_rule(const struct bindings *bindings, int parameter) {
  for (int i = 0; i < bindings->template->rule_count; i++) {
    const struct rule *rule = &bindings->template->rules[i];
    if (rule->last_parameter == parameter && !bindings_keep(bindings, rule)) return i;
  }
  return -1;
}

static bool keep(struct walk *w) {
  if (w->counts) {
    w->counts->kept++;
    for (int i = 0; i < w->template->parameter_count; i++) w->counts->used[i][w->configuration.choice[i]]++;
  }
  return !w->visit || w->visit(w->context, &w->configuration);
}

/* Give a parameter its next value that no rule excludes; false where there is none left. */
static bool advance(struct walk *w, int parameter, int *next) {
  for (; *next < w->end[parameter]; (*next)++) {
    bindings_choose(w->bindings, parameter, *next);
    int failed = failed_rule(w->bindings, parameter);
    if (failed < 0) {
      w->configuration.choice[parameter] = (unsigned char)(*next)++;
      return true;
    }
    if (w->counts) w->counts->removed[failed] += w->below[parameter + 1];
  }
  return false;
}

static void run(struct walk *w) {
  int next[MAX_PARAMETERS], parameter = 0, last = w->template->parameter_count - 1;
  if (last < 0) {
    keep(w);
    return;
  }
  next[0] = w->first[0];
  while (parameter >= 0) {
    if (!advance(w, parameter, &next[parameter])) {
      parameter--;
    } else if (parameter < last) {
      parameter++;
      next[parameter] = w->first[parameter];
    } else if (!keep(w)) {
      return;
    }
  }
}

static struct walk walk_of(struct bindings *bindings, const bool fixed[], const struct configuration *from) {
  const struct template *template = bindings->template;
  int count = template->parameter_count;
  struct walk w = {.bindings = bindings, .template = template};
  w.below[count] = 1;
  for (int i = count - 1; i >= 0; i--) {
    bool is_fixed = fixed && fixed[i];
    w.first[i] = is_fixed ? from->choice[i] : 0;
    w.end[i] = is_fixed ? from->choice[i] + 1 : template->parameters[i].value_count;
    w.below[i] = w.below[i + 1] * (w.end[i] - w.first[i]);
  }
  return w;
}

void space_walk(struct bindings *bindings, const bool fixed[], const struct configuration *from, space_visit *visit,
                void *context, struct space_counts *counts) {
  struct walk w = walk_of(bindings, fixed, from);
  w.counts = counts;
  w.visit = visit;
  w.context = context;
  if (counts) *counts = (struct space_counts){.raw = w.below[0]};
  int failed = failed_rule(bindings, -1);
  if (failed < 0) run(&w);
  else if (counts) counts->removed[failed] = w.below[0];
}

const struct rule *space_refusal(const struct bindings *bindings) {
  int failed = failed_rule(bindings, -1);
  return failed < 0 ? NULL : &bindings->template->rules[failed];
}

/* --- the configuration next to another --- */

/* Choose this parameter and those behind it so that at most `changes` of them differ from the walk's configuration. It becomes
 * the first one found. */
static bool find_near(struct walk *w, int parameter, int changes) {
  if (parameter == w->template->parameter_count) return true;
  int wanted = w->configuration.choice[parameter];
  for (int value = w->first[parameter]; value < w->end[parameter]; value++) {
    int left = changes - (value != wanted);
    if (left < 0) continue;
    bindings_choose(w->bindings, parameter, value);
    if (failed_rule(w->bindings, parameter) >= 0 || !find_near(w, parameter + 1, left)) continue;
    w->configuration.choice[parameter] = (unsigned char)value;
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
  for (int i = rule->keep.first; i <= rule->keep.root; i++) {
    const struct expr *node = &template->exprs.nodes[i];
    int parameter = node->kind == EXPR_VARIABLE ? node->index - FACT_COUNT : -1;
    if (parameter >= 0 && parameter < template->parameter_count && !(fixed && fixed[parameter])) return false;
  }
  return true;
}

/* A rule that the bound configuration fails: rather one that no other values of free parameters could mend. */
static const struct rule *rule_to_blame(const struct bindings *bindings, const bool fixed[]) {
  const struct template *template = bindings->template;
  for (int i = 0; i < template->rule_count; i++) {
    const struct rule *rule = &template->rules[i];
    if (names_fixed_only(template, rule, fixed) && !bindings_keep(bindings, rule)) return rule;
  }
  return bindings_failed_rule(bindings);
}

const struct rule *space_nearest(struct bindings *bindings, const bool fixed[], struct configuration *configuration) {
  bool is_any = false;
  bindings_configure(bindings, configuration);
  const struct rule *blamed = rule_to_blame(bindings, fixed);
  if (!blamed) return NULL;
  space_walk(bindings, fixed, configuration, end_walk, &is_any, NULL);
  if (!is_any) return blamed;
  struct walk w = walk_of(bindings, fixed, configuration);
  w.configuration = *configuration;
  for (int changes = 1; !find_near(&w, 0, changes);) changes++;
  *configuration = w.configuration;
  return NULL;
}

/* --- a sample: reservoir sampling (J. S. Vitter, Random sampling with a reservoir, 1985, algorithm R) --- */

struct drawn {
  struct configuration configuration;
  long position; /* in the space */
};

struct reservoir {
  struct drawn *list;
  long wanted, capacity, count, seen;
  uint64_t seed, numbers; /* drawn from it */
  bool out_of_memory;
};

static bool draw(void *context, const struct configuration *configuration) {
  struct reservoir *r = context;
  long position = r->seen++, place = r->count;
  if (r->count == r->wanted) {
    place = (long)(random_bits(r->seed, r->numbers++) % (uint64_t)r->seen); /* 2^64 is so large that the remainder is as good as even */
    if (place >= r->wanted) return true;
  } else if (r->count == r->capacity) {
    long capacity = r->capacity ? 2 * r->capacity : 64;
    struct drawn *list = realloc(r->list, (size_t)capacity * sizeof *list);
    if (!list) {
      r->out_of_memory = true;
      return false;
    }
    r->list = list;
    r->capacity = capacity;
  }
  if (place == r->count) r->count++;
  r->list[place] = (struct drawn){*configuration, position};
  return true;
}

static int compare_positions(const void *left, const void *right) {
  long a = ((const struct drawn *)left)->position, b = ((const struct drawn *)right)->position;
  return (a > b) - (a < b);
}

halotune_status space_sample(struct bindings *bindings, const bool fixed[], const struct configuration *from, long wanted,
                             uint64_t seed, struct configuration **out, long *count) {
  struct reservoir r = {.wanted = wanted, .seed = seed};
  *out = NULL;
  *count = 0;
  if (wanted > 0) space_walk(bindings, fixed, from, draw, &r, NULL);
  if (!r.out_of_memory && r.count > 0) *out = malloc((size_t)r.count * sizeof **out);
  if (r.out_of_memory || (r.count > 0 && !*out)) {
    free(r.list);
    return fail_memory();
  }
  if (r.count > 0) qsort(r.list, (size_t)r.count, sizeof *r.list, compare_positions);
  for (long i = 0; i < r.count; i++) (*out)[i] = r.list[i].configuration;
  *count = r.count;
  free(r.list);
  return HALOTUNE_OK;
}
