/* content.h: what a database would bring: the texts that decide what runs, and machine code, each by its identity. */
#ifndef DB_EXCHANGE_CONTENT_H
#define DB_EXCHANGE_CONTENT_H

#include "db/store/store.h"

struct content {
  const char *kind; /* "stencil", "template", "source", "code"; "times": coefficients of predicted times */
  const char *name; /* of the stencil or the template; of a source and a code "STENCIL TEMPLATE"; of times the GPU */
  const char *hash; /* identity, in hexadecimal digits */
  bool is_known;    /* the trusted database has the same */
};

/* Call `tell` for each stencil text, template, source and machine code of `from`, and for each set of coefficients of
 * predicted times, in this order.
 *   to  the trusted database; NULL where there is none yet
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status content_each(struct store *from, struct store *to,
                             void (*tell)(void *context, const struct content *content), void *context);

#endif
