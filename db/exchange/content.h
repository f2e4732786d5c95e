/* content.h: what a database would bring: the texts that decide what runs, and machine code, each by its identity. */
#ifndef DB_EXCHANGE_CONTENT_H
#define DB_EXCHANGE_CONTENT_H

#include "db/store/store.h"

enum { CONTENT_KINDS = 5 };

struct content {
  int number;       /* of its kind, from 0 */
  const char *kind; /* "stencil", "template", "source", "code"; "times": coefficients of predicted times */
  const char *name; /* of the stencil or the template; of a source and a code "STENCIL TEMPLATE"; of times the GPU */
  const char *hash; /* identity, in hexadecimal digits */
  bool is_known;    /* the trusted database has the same */
};

/* What so many contents of a kind are called: "source", "sources", "sets of times". */
const char *content_word(int kind, long count);

/* What a trusted database has, by kind and identity. */
struct content_known;

/* Read what a trusted database has. The time grows with the database, and not with what is compared with it.
 *   to   the trusted database; NULL where there is none yet
 *   out  receives it, the caller's to content_known_free; NULL on failure
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status content_known_read(struct store *to, struct content_known **out);

/*   known  may be NULL */
void content_known_free(struct content_known *known);

/* Call `tell` for each stencil text, template, source and machine code of `from`, and for each set of coefficients of
 * predicted times, in this order.
 *   known  what the trusted database has
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status content_each(struct store *from, const struct content_known *known,
                             void (*tell)(void *context, const struct content *content), void *context);

#endif
