/* refresh.h: brings the template of stored variants up to date where another version of the template generates the same
 * code. */
#ifndef DB_EXCHANGE_REFRESH_H
#define DB_EXCHANGE_REFRESH_H

#include <stdbool.h>

#include "db/store/store.h"

/* The outcome for a variant whose template is not the installed one, and the words for it. Only SAME is refreshed. */
#define REFRESH_OUTCOME_LIST(X)                                                        \
  X(SAME, "the installed template generates the same code")                            \
  X(OTHER_CODE, "the installed template generates other code")                         \
  X(OTHER_LAUNCH, "the installed template launches the same code otherwise")           \
  X(UNKNOWN_LAUNCH, "a finalist's launch is not stored, and cannot be computed again") \
  X(REFUSED, "the installed template does not allow the configuration")                \
  X(NOT_INSTALLED, "no template of this name is installed")                            \
  X(BROKEN, "the installed template has an error")                                     \
  X(NO_SOURCE, "the source was not kept")                                              \
  X(TWICE, "the same variant has other results with the installed template")           \
  X(CHANGED, "another program changed it meanwhile; refresh once more")
#define REFRESH_AS_ENUMERATOR(name, text) REFRESH_##name,
enum refresh_outcome { REFRESH_OUTCOME_LIST(REFRESH_AS_ENUMERATOR) REFRESH_OUTCOME_COUNT };
#undef REFRESH_AS_ENUMERATOR
extern const char *const refresh_outcome_texts[REFRESH_OUTCOME_COUNT];

/* Find the installed template of a name: NULL in `out` if there is none; else the caller ends it with template_free.
 * Returns HALOTUNE_OK, HALOTUNE_PARSE if it has an error, or HALOTUNE_MEMORY. */
typedef halotune_status refresh_find(const char *name, struct template **out);

/* Variants of one template that met one outcome. */
struct refreshed {
  const char *template_name; /* valid during the call */
  enum refresh_outcome outcome;
  long variants;
};

/* Take each variant of a best, a finalist or a wrong result whose template is not the installed one, and generate it
 * with the installed template. If this gives a source of the same meaning and the same launch on all of its problems,
 * the variant becomes one of the installed template. Dates, times, sources and origins stay.
 *   is_dry  change nothing; a store that is open for reading is enough
 *   tell    called for each template and outcome that there is, in the order of names and outcomes
 * Each variant is one transaction: after a kill, the next call goes on.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status store_refresh(struct store *store, refresh_find *find, bool is_dry,
                              void (*tell)(void *context, const struct refreshed *refreshed), void *context);

#endif
