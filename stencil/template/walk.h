/* walk.h: walks through values of a template's parameters like an odometer. space.h builds counts, lists and samples on
 * it.
 *
 * Rules tie only few parameters to each other. Parameters that rules tie together, directly or through others, form
 * a part of the space, and the space is the product of its parts. A walk through each part alone takes far fewer
 * steps. */
#ifndef STENCIL_TEMPLATE_WALK_H
#define STENCIL_TEMPLATE_WALK_H

#include "stencil/template/template.h"

struct walk {
  struct bindings *bindings;
  int first[MAX_PARAMETERS], end[MAX_PARAMETERS]; /* the range of values that each parameter takes */
  double below[MAX_PARAMETERS + 1];               /* combinations of the parameters from this one on */
  /* sorted by the parameter that completes them; without rules about facts alone */
  int rules[MAX_RULES];
  int rules_begin[MAX_PARAMETERS + 1]; /* where the rules of each parameter begin in `rules` */
};

/* Which parameters are walked together. */
struct walk_parts {
  int count;
  int of[MAX_PARAMETERS]; /* the part of each parameter */
};

/* The counts of walks. All parts share one tally, because no parameter or rule belongs to two parts. Start with
 * zeros. */
struct walk_tally {
  long passed[MAX_PARAMETERS];           /* how often a parameter had a value that no rule excluded */
  long failed[MAX_RULES];                /* how often a rule excluded a value */
  long used[MAX_PARAMETERS][MAX_VALUES]; /* number of configurations of its part that have each value */
};

/* Start a walk of a template's parameters.
 *   fixed  which parameters keep the value that `from` has; NULL for none */
struct walk walk_make(struct bindings *bindings, const bool fixed[], const struct configuration *from);

/* Put all parameters into one part. */
struct walk_parts walk_as_one(void);

/* Make as many parts as the rules allow. Each parameter belongs to exactly one. */
struct walk_parts walk_split(const struct walk *walk);

/* Walk one part.
 *   visit  called with the part's values and the first value of each other parameter; may be NULL
 *   tally  the counts are added to it; may be NULL */
void walk_part(const struct walk *walk, const struct walk_parts *parts, int part, space_visit *visit, void *context,
               struct walk_tally *tally);

/* Keep the counts of a complete walk of all parts, for walk_sizes. */
void walk_note_sizes(const struct walk *walk, const struct walk_parts *parts, const struct walk_tally *tally);

/* Count the configurations of all parts, or take the kept counts for the same ranges of values.
 *   sizes  receives the number of each part
 * Returns the number of the whole space, at most SPACE_MOST. */
long walk_sizes(const struct walk *walk, const struct walk_parts *parts, long sizes[MAX_PARAMETERS]);

/* Take a step: give a parameter a value. Returns false when the walk has to end. */
bool walk_step(const struct walk *walk);

/* Find the first rule that fails and that the newly chosen parameter completes. Returns its number; -1 for none. */
int walk_failed_rule(const struct walk *walk, int parameter);

/* The parameters that a rule names, one bit each. */
uint32_t rule_parameters(const struct template *template, const struct rule *rule);

#endif
