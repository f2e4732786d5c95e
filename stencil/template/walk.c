/* walk.c: walks through values of parameters like an odometer, and splits the space into independent parts. */
#include "stencil/template/walk.h"

#include <string.h>

_Static_assert(MAX_PARAMETERS <= 32, "parameters are bits of a uint32_t");

/* Try at most this many combinations to see whether a rule can fail. A rule that cannot fail but ties parameters
 * together would make the walk longer than these trials. */
enum { MOST_TRIALS = 1024 };

uint32_t rule_parameters(const struct template *template, const struct rule *rule) {
  uint32_t named = 0;
  for (int i = rule->keep.first; i <= rule->keep.root; i++) {
    const struct expr *node = &template->exprs.nodes[i];
    int parameter = node->kind == EXPR_VARIABLE ? node->index - FACT_COUNT : -1;
    if (parameter >= 0 && parameter < template->parameter_count) named |= UINT32_C(1) << parameter;
  }
  return named;
}

static void renew_steps(const struct walk *w) {
  struct walk_limit *limit = &w->bindings->limit;
  limit->steps_left = limit->most_steps > 0 ? limit->most_steps : SPACE_MOST_STEPS;
}

struct walk walk_make(struct bindings *bindings, const bool fixed[], const struct configuration *from) {
  const struct template *template = bindings->template;
  int count = template->parameter_count, next[MAX_PARAMETERS];
  struct walk w = {.bindings = bindings};
  bindings->limit.end = WALK_WHOLE;
  renew_steps(&w);
  w.below[count] = 1;
  for (int i = count - 1; i >= 0; i--) {
    bool is_fixed = fixed && fixed[i];
    w.first[i] = is_fixed ? from->choice[i] : 0;
    w.end[i] = is_fixed ? from->choice[i] + 1 : template->parameters[i].value_count;
    w.below[i] = w.below[i + 1] * (w.end[i] - w.first[i]);
  }
  for (int r = 0; r < template->rule_count; r++) {
    const int last = template->rules[r].last_parameter;
    if (last >= 0) w.rules_begin[last + 1]++;
  }
  for (int i = 0; i < count; i++) next[i] = w.rules_begin[i], w.rules_begin[i + 1] += next[i];
  for (int r = 0; r < template->rule_count; r++) {
    const int last = template->rules[r].last_parameter;
    if (last >= 0) w.rules[next[last]++] = r;
  }
  return w;
}

int walk_failed_rule(const struct walk *w, int parameter) {
  for (int i = w->rules_begin[parameter]; i < w->rules_begin[parameter + 1]; i++) {
    if (!bindings_keep(w->bindings, &w->bindings->template->rules[w->rules[i]])) return w->rules[i];
  }
  return -1;
}

bool walk_step(const struct walk *w) {
  enum { STEPS_A_QUESTION = 1 << 12 };
  struct walk_limit *limit = &w->bindings->limit;
  if (limit->end != WALK_WHOLE) return false;
  if (--limit->steps_left <= 0) limit->end = WALK_ENDLESS;
  else if (limit->steps_left % STEPS_A_QUESTION == 0 && limit->is_over && limit->is_over(limit->context))
    limit->end = WALK_STOPPED;
  return limit->end == WALK_WHOLE;
}

struct walk_parts walk_as_one(void) {
  return (struct walk_parts){.count = 1};
}

/* The parameters that a rule names and that have more than one value. */
static uint32_t free_parameters(const struct walk *w, const struct rule *rule) {
  uint32_t named = rule_parameters(w->bindings->template, rule);
  for (int i = 0; i < w->bindings->template->parameter_count; i++) {
    if (w->end[i] - w->first[i] == 1) named &= ~(UINT32_C(1) << i);
  }
  return named;
}

/* Whether some values of the parameters break a rule; true if there are too many to try. With the facts of a stencil, a
 * grid and a device, many rules never fail. */
static bool can_fail(const struct walk *w, const struct rule *rule, uint32_t named) {
  double combinations = 1;
  for (int i = 0; i < w->bindings->template->parameter_count; i++) {
    if (named >> i & 1) combinations *= w->end[i] - w->first[i];
  }
  if (combinations > MOST_TRIALS) return true;
  for (long trial = 0; trial < (long)combinations; trial++) {
    long rest = trial;
    for (int i = 0; i < w->bindings->template->parameter_count; i++) {
      int values = named >> i & 1 ? w->end[i] - w->first[i] : 1;
      bindings_choose(w->bindings, i, w->first[i] + (int)(rest % values));
      rest /= values;
    }
    if (!bindings_keep(w->bindings, rule)) return true;
  }
  return false;
}

/* Put these parameters, and all parameters of their parts, into one part. */
static void join_parts(struct walk_parts *parts, uint32_t parameters, int parameter_count) {
  int joined = -1;
  for (int i = 0; i < parameter_count; i++) {
    if (!(parameters >> i & 1)) continue;
    if (joined < 0) joined = parts->of[i];
    for (int k = 0, old = parts->of[i]; k < parameter_count; k++) {
      if (parts->of[k] == old) parts->of[k] = joined;
    }
  }
}

struct walk_parts walk_split(const struct walk *w) {
  int parameter_count = w->bindings->template->parameter_count;
  struct walk_parts parts = {.count = 0};
  int number[MAX_PARAMETERS];
  for (int i = 0; i < parameter_count; i++) parts.of[i] = i;
  for (int i = 0; i < w->rules_begin[parameter_count]; i++) {
    const struct rule *rule = &w->bindings->template->rules[w->rules[i]];
    uint32_t named = free_parameters(w, rule);
    /* A rule is tested in the part of the parameter that completes it, even if that parameter is fixed. */
    if (can_fail(w, rule, named)) join_parts(&parts, named | UINT32_C(1) << rule->last_parameter, parameter_count);
  }
  memset(number, -1, sizeof number);
  for (int i = 0; i < parameter_count; i++) {
    int *known = &number[parts.of[i]];
    if (*known < 0) *known = parts.count++;
    parts.of[i] = *known;
  }
  return parts;
}

/* Give a parameter its next value that no rule excludes. Returns false if there is none left. */
static bool choose_next(const struct walk *w, int parameter, int *next, struct walk_tally *tally) {
  for (; *next < w->end[parameter] && walk_step(w); (*next)++) {
    bindings_choose(w->bindings, parameter, *next);
    int failed = walk_failed_rule(w, parameter);
    if (failed < 0) {
      if (tally) tally->passed[parameter]++;
      return true;
    }
    if (tally) tally->failed[failed]++;
  }
  return false;
}

void walk_part(const struct walk *w, const struct walk_parts *parts, int part, space_visit *visit, void *context,
               struct walk_tally *tally) {
  int parameters[MAX_PARAMETERS], next[MAX_PARAMETERS], count = 0, at = 0;
  struct configuration configuration = {{0}};
  for (int i = 0; i < w->bindings->template->parameter_count; i++) {
    configuration.choice[i] = (unsigned char)w->first[i];
    next[i] = w->first[i];
    if (parts->of[i] == part) parameters[count++] = i;
  }
  bindings_configure(w->bindings, &configuration);
  while (at >= 0 && w->bindings->limit.end == WALK_WHOLE) {
    if (at == count) {
      for (int i = 0; i < count && tally; i++) tally->used[parameters[i]][configuration.choice[parameters[i]]]++;
      if (visit && !visit(context, &configuration)) return;
      if (visit) renew_steps(w);
      at--;
      continue;
    }
    int parameter = parameters[at];
    if (choose_next(w, parameter, &next[parameter], tally)) {
      configuration.choice[parameter] = (unsigned char)next[parameter]++;
      at++;
    } else {
      next[parameter] = w->first[parameter];
      at--;
    }
  }
}

void walk_note_sizes(const struct walk *w, const struct walk_parts *parts, const struct walk_tally *tally) {
  struct part_sizes *counted = &w->bindings->counted;
  counted->is_known = w->bindings->limit.end == WALK_WHOLE;
  memcpy(counted->first, w->first, sizeof counted->first);
  memcpy(counted->end, w->end, sizeof counted->end);
  for (int i = 0; i < w->bindings->template->parameter_count; i++) counted->sizes[parts->of[i]] = tally->passed[i];
}

/* Whether the noted sizes are those of the walk's ranges of values. */
static bool is_counted(const struct walk *w) {
  const struct part_sizes *counted = &w->bindings->counted;
  const size_t bytes = (size_t)w->bindings->template->parameter_count * sizeof *w->first;
  return counted->is_known && memcmp(counted->first, w->first, bytes) == 0 && memcmp(counted->end, w->end, bytes) == 0;
}

long walk_sizes(const struct walk *w, const struct walk_parts *parts, long sizes[MAX_PARAMETERS]) {
  struct walk_tally tally = {.passed = {0}};
  double product = 1;
  if (!is_counted(w)) {
    for (int i = 0; i < parts->count; i++) walk_part(w, parts, i, NULL, NULL, &tally);
    walk_note_sizes(w, parts, &tally);
  }
  memcpy(sizes, w->bindings->counted.sizes, (size_t)parts->count * sizeof *sizes);
  for (int i = 0; i < parts->count; i++) product *= (double)sizes[i];
  return product < (double)SPACE_MOST ? (long)product : SPACE_MOST;
}
