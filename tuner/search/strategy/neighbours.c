/* neighbours.c: changes one or two parameters of a configuration. */
#include "tuner/search/strategy/neighbours.h"

struct walk {
  struct bindings *bindings;
  const bool *fixed;
  const struct configuration *centre;
  void (*visit)(void *context, const struct configuration *neighbour);
  void *context;
};

static bool is_fixed(const struct walk *walk, int parameter) { return walk->fixed && walk->fixed[parameter]; }

static bool is_kept(struct walk *walk, const struct configuration *configuration) {
  bindings_configure(walk->bindings, configuration);
  return bindings_failed_rule(walk->bindings) == NULL;
}

/* One parameter is already changed. Change a second one. */
static void visit_pairs(struct walk *walk, int changed, struct configuration configuration) {
  enum { MOST_PAIRS = 2 };
  const struct template *template = walk->bindings->template;
  int found = 0;
  for (int i = 0; i < template->parameter_count && found < MOST_PAIRS; i++) {
    if (i == changed || is_fixed(walk, i)) continue;
    for (int value = 0; value < template->parameters[i].value_count && found < MOST_PAIRS; value++) {
      if (value == walk->centre->choice[i]) continue;
      configuration.choice[i] = (unsigned char)value;
      if (!is_kept(walk, &configuration)) continue;
      walk->visit(walk->context, &configuration);
      found++;
    }
    configuration.choice[i] = walk->centre->choice[i];
  }
}

void neighbours_visit(struct bindings *bindings, const bool fixed[], const struct configuration *centre,
                      void (*visit)(void *context, const struct configuration *neighbour), void *context) {
  struct walk walk = {.bindings = bindings, .fixed = fixed, .centre = centre, .visit = visit, .context = context};
  const struct template *template = bindings->template;
  for (int i = 0; i < template->parameter_count; i++) {
    if (is_fixed(&walk, i)) continue;
    for (int value = 0; value < template->parameters[i].value_count; value++) {
      struct configuration configuration = *centre;
      if (value == centre->choice[i]) continue;
      configuration.choice[i] = (unsigned char)value;
      if (is_kept(&walk, &configuration)) visit(context, &configuration);
      else visit_pairs(&walk, i, configuration);
    }
  }
}
