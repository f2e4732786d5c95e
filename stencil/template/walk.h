/* walk.h: an odometer over parameters of a template, of which space.h's counts, lists and samples are made.
 *
 * No rule ties most parameters to most others. Those that rules tie together, directly or by way of others, are a part
 * of the space; the space is the product of its parts. To walk each part alone takes far fewer steps. */
#ifndef STENCIL_TEMPLATE_WALK_H
#define STENCIL_TEMPLATE_WALK_H

#include "stencil/template/space.h"

struct walk {
  struct bindings *bindings;
  int first[MAX_PARAMETERS], end[MAX_PARAMETERS]; /* the values that each parameter takes */
  double below[MAX_PARAMETERS + 1];               /* combinations of the parameters from this one on */
  int rules[MAX_RULES];                           /* by the parameter that completes them; not those on facts alone */
  int rules_begin[MAX_PARAMETERS + 1];            /* where those of each parameter begin */
};

/* Which parameters are walked together. */
struct walk_parts {
  int count;
  int of[MAX_PARAMETERS]; /* the part of each parameter */
};

/* What walks count; parts share one, as they have neither parameters nor rules in common. Start with zeros. */
struct walk_tally {
  long passed[MAX_PARAMETERS];           /* how often a parameter had a value that no rule excluded */
  long failed[MAX_RULES];                /* how often a rule excluded one */
  long used[MAX_PARAMETERS][MAX_VALUES]; /* in how many configurations of its part each value is */
};

/* Begin with the parameters of a template, and the values of those that `fixed` says, which may be NULL. */
struct walk walk_make(struct bindings *bindings, const bool fixed[], const struct configuration *from);

/* All parameters as one part. */
struct walk_parts walk_as_one(void);

/* As many parts as the rules allow. Each parameter is of one, if only of its own. */
struct walk_parts walk_split(const struct walk *walk);

/* Walk one part.
 *   visit  called with the part's values, and the first of each other parameter; may be NULL
 *   tally  counts on; may be NULL */
void walk_part(const struct walk *walk, const struct walk_parts *parts, int part, space_visit *visit, void *context,
               struct walk_tally *tally);

/* Walk all parts. Sets how many configurations each has, and returns how many the space has; SPACE_MOST where they are
 * more. */
long walk_sizes(const struct walk *walk, const struct walk_parts *parts, long sizes[MAX_PARAMETERS]);

/* The first rule that the parameter just chosen completes and that fails; -1 for none. */
int walk_failed_rule(const struct walk *walk, int parameter);

/* The parameters that a rule names, a bit each. */
uint32_t rule_parameters(const struct template *template, const struct rule *rule);

#endif
