/* rules_kept.h: settled rules that a ctx keeps. A lookup checks several configurations, and mostly the same ones for
 * each grid of a stencil. */
#ifndef LIBRARY_LOOKUP_RULES_KEPT_H
#define LIBRARY_LOOKUP_RULES_KEPT_H

#include <stdatomic.h>

#include "library/lookup/catalog.h"
#include "stencil/template/settled_rules.h"

/* What settled rules are about. All bytes are compared. */
struct rules_key {
  struct configuration configuration; /* first: most keys differ in it */
  struct identity template_hash;
  struct device_limits limits;
  const struct parsed_stencil *parsed; /* lives as long as the ctx */
  long dtype;
};

struct kept_rules;

/* Start with {0}, end with rules_kept_free. Entries are only added, and published through atomic pointers: readers need
 * no lock. */
enum { RULES_KEPT_LISTS = 256, RULES_KEPT_MOST = 1024 };
struct rules_kept {
  _Atomic(struct kept_rules *) lists[RULES_KEPT_LISTS];
  struct shared_rules shared;
  int count;
};

/* Find the settled rules. Returns NULL if they are not kept. */
struct settled_rules *rules_kept_find(struct rules_kept *kept, const struct rules_key *key);

/* Keep the settled rules of the bound configuration, unless they are kept already, or RULES_KEPT_MOST others are. If
 * memory is out, nothing is kept: it only saves time. One thread at a time may add rules. */
void rules_kept_add(struct rules_kept *kept, const struct rules_key *key, const struct bindings *bindings);

void rules_kept_free(struct rules_kept *kept);

#endif
