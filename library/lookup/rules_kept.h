/* rules_kept.h: settled rules that a ctx keeps. A lookup checks several configurations, and mostly the same ones for
 * each grid of a stencil. */
#ifndef LIBRARY_LOOKUP_RULES_KEPT_H
#define LIBRARY_LOOKUP_RULES_KEPT_H

#include <stdatomic.h>

#include "library/lookup/catalog.h"
#include "stencil/template/settled_rules.h"

/* For what a configuration is checked, and what settled rules are about. All bytes are compared. */
struct rules_problem {
  struct device_limits limits;
  const struct parsed_stencil *parsed; /* lives as long as the ctx */
  long dtype;
};
struct rules_key {
  struct rules_problem problem;
  struct identity template_hash;
  struct configuration configuration;
};

/* The rules that were found last for one configuration of one template. The next question is mostly about the same
 * stencil, element type and device, so that this saves a search. Start with {NULL}. */
struct kept_rules;
struct rules_again {
  _Atomic(struct kept_rules *) last;
};

/* Start with {0}, end with rules_kept_free. Entries are only added, and published through atomic pointers: readers need
 * no lock. */
enum { RULES_KEPT_LISTS = 256, RULES_KEPT_MOST = 1024 };
struct rules_kept {
  _Atomic(struct kept_rules *) lists[RULES_KEPT_LISTS];
  struct shared_rules shared;
  int count;
};

/* Find the settled rules.
 *   again  of the key's configuration and template; NULL: there is none
 * Returns NULL if they are not kept. */
struct settled_rules *rules_kept_find(struct rules_kept *kept, const struct rules_key *key, struct rules_again *again);

/* Find the settled rules where they were found last. Returns NULL if those were about another problem. */
struct settled_rules *rules_kept_again(const struct rules_again *again, const struct rules_problem *problem);

/* Keep the settled rules of the bound configuration, unless they are kept already, or RULES_KEPT_MOST others are. If
 * memory is out, nothing is kept: it only saves time. One thread at a time may add rules. */
void rules_kept_add(struct rules_kept *kept, const struct rules_key *key, const struct bindings *bindings);

void rules_kept_free(struct rules_kept *kept);

#endif
