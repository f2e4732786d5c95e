/* rules_kept.c: a hash table of short lists. */
#include "library/lookup/rules_kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/set.h"

struct kept_rules {
  struct settled_rules rules; /* at the front, beside the problem: rules_kept_again() reads only these */
  struct rules_key key;
  uint64_t hash; /* of the key: most others in a list differ in it */
  struct kept_rules *next;
};

static uint64_t key_hash(const struct rules_key *key) {
  return set_hash(&key->configuration, sizeof key->configuration) ^ (uintptr_t)key->problem.parsed ^
         (uint64_t)key->problem.dtype;
}

struct settled_rules *rules_kept_again(const struct rules_again *again, const struct rules_problem *problem) {
  struct kept_rules *last = atomic_load_explicit(&again->last, memory_order_acquire);
  return last && memcmp(&last->key.problem, problem, sizeof *problem) == 0 ? &last->rules : NULL;
}

struct settled_rules *rules_kept_find(struct rules_kept *kept, const struct rules_key *key, struct rules_again *again) {
  const uint64_t hash = key_hash(key);
  struct kept_rules *at = atomic_load_explicit(&kept->lists[hash % RULES_KEPT_LISTS], memory_order_acquire);
  while (at && (at->hash != hash || memcmp(&at->key, key, sizeof *key) != 0)) at = at->next;
  if (at && again) atomic_store_explicit(&again->last, at, memory_order_release);
  return at ? &at->rules : NULL;
}

static void kept_free(struct kept_rules *rules) {
  settled_rules_free(&rules->rules);
  free(rules);
}

void rules_kept_add(struct rules_kept *kept, const struct rules_key *key, const struct bindings *bindings) {
  struct fail_kept before;
  if (kept->count >= RULES_KEPT_MOST || rules_kept_find(kept, key, NULL)) return;
  struct kept_rules *added = calloc(1, sizeof *added);
  if (!added) return;
  added->hash = key_hash(key);
  added->key = *key;
  fail_keep(&before);
  if (settled_rules_make(bindings, &kept->shared, &added->rules) != HALOTUNE_OK || added->rules.is_unsettled) {
    fail_put_back(&before);
    kept_free(added);
    return;
  }
  _Atomic(struct kept_rules *) *list = &kept->lists[added->hash % RULES_KEPT_LISTS];
  added->next = atomic_load_explicit(list, memory_order_relaxed);
  atomic_store_explicit(list, added, memory_order_release);
  kept->count++;
}

void rules_kept_free(struct rules_kept *kept) {
  for (int i = 0; i < RULES_KEPT_LISTS; i++) {
    struct kept_rules *next;
    for (struct kept_rules *at = atomic_load(&kept->lists[i]); at; at = next) {
      next = at->next;
      kept_free(at);
    }
  }
  shared_rules_free(&kept->shared);
}
