/* source_compare.h: compares the sources of a database with those that this program generates for the same variants. */
#ifndef DB_EXCHANGE_SOURCE_COMPARE_H
#define DB_EXCHANGE_SOURCE_COMPARE_H

#include "db/exchange/find_template.h"
#include "db/store/store.h"

struct compared_source {
  const char *name, *hash; /* "STENCIL TEMPLATE"; identity of the source, in hexadecimal digits */
  bool is_installed; /* the stored template has the identity of the installed one, from which this program generates */
  const char *stored, *generated; /* texts; generated is "" if this program generates nothing for this variant */
  const char *why;                /* why nothing was generated; "" if a source was */
  bool is_same;                   /* both sources have the same meaning */
};

/* Call `tell` for each source of a best, in the order of names and identities, and for each best whose source was left
 * out. A variant for which this program generates the same is told once. The texts are valid during the call. The
 * database's own text of a template generates where the installed one has another identity.
 *   find  finds installed templates
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status sources_compare(struct store *store, find_template *find,
                                void (*tell)(void *context, const struct compared_source *source), void *context);

#endif
