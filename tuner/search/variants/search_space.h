/* search_space.h: the variants that a search chooses from. A proposal is one of them: template and configuration. */
#ifndef SEARCH_VARIANTS_SEARCH_SPACE_H
#define SEARCH_VARIANTS_SEARCH_SPACE_H

#include <string.h>

#include "library/predict/static_cost.h"
#include "stencil/template/space.h"

struct proposal {
  int template_index; /* index of the template in the search space */
  struct configuration configuration;
  long ticket; /* the number that a crew gave the variant; 0: none. It is not part of the variant */
};

/* Parameters of one template that keep their values. */
struct fixed_parameters {
  bool is_fixed[MAX_PARAMETERS];
  struct configuration values;
};

/* What is known of a variant from other problems. */
struct known_variant {
  struct proposal proposal;
  double log_time; /* logarithm of its time over that of the best variant there; INFINITY: it failed there */
  int source;      /* index in known_variants.sources */
};

/* Start with {0}. */
struct known_variants {
  const struct known_variant *list; /* no variant is in it twice */
  long count;
  const char *const *sources; /* where the times come from, in words */
};

/* Is called for each proposed variant.
 *   why  the reason in words; "" if there is none */
typedef void proposal_told(void *context, const struct template *template, const struct configuration *configuration,
                           const char *why);

/* The spaces of all templates that apply to a problem. */
struct search_space {
  struct template *const *templates;
  struct bindings *bindings;            /* one for each template, with the problem's facts */
  const struct fixed_parameters *fixed; /* one for each template; NULL: nothing is fixed */
  int count;
  const struct proposal *only; /* the space is this list of variants; NULL: all variants that the rules keep */
  long only_count;
  const struct proposal *hints; /* variants to try first (hints.h), in this order, none twice; NULL for none */
  long hint_count;
  long known_hints; /* so many of them, at the beginning, are from databases; the others are starts of templates */
  struct known_variants known;          /* what measurements of other problems say; the strategy may learn from it */
  const struct static_weights *weights; /* of static costs; NULL: the built-in ones */
  bool has_steps;                       /* a launch makes several time steps */
};

/* Which parameters of a template are fixed, and their values, as space_walk takes them. NULL if nothing is fixed. */
static inline const bool *space_fixed(const struct search_space *space, int index) {
  return space->fixed ? space->fixed[index].is_fixed : NULL;
}
static inline const struct configuration *space_values(const struct search_space *space, int index) {
  return space->fixed ? &space->fixed[index].values : NULL;
}

/* Why a hint is tried, in words. */
static inline const char *space_hint_why(const struct search_space *space, long hint) {
  return hint < space->known_hints ? "hint" : "its template starts there";
}

/* Whether a template estimates the work of its variants. Such templates are made for launches of several steps. For
 * single steps they have won none of the starter database's 1,394 problems, and take long to compile: they count as
 * others there. */
static inline bool space_estimates_work(const struct search_space *space, int index) {
  return space->has_steps && space->templates[index]->access.work.is_given;
}

/* How many of its starts a template has: none where it is made for launches of several steps, and there are none. */
static inline int space_starts(const struct search_space *space, int index) {
  const struct template *template = space->templates[index];
  return template->access.work.is_given && !space->has_steps ? 0 : template->start_count;
}

/* Whether two proposals are the same variant. */
static inline bool proposal_equals(const struct search_space *space, const struct proposal *a,
                                   const struct proposal *b) {
  if (a->template_index != b->template_index) return false;
  const size_t count = (size_t)space->templates[a->template_index]->parameter_count;
  return memcmp(a->configuration.choice, b->configuration.choice, count) == 0;
}

#endif
