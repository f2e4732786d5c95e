/* content.h: what an import of a database would bring: the texts that decide what runs, machine code, which of both
 * answers for which problem, and what does not answer any more. Each has an identity. */
#ifndef DB_EXCHANGE_CONTENT_H
#define DB_EXCHANGE_CONTENT_H

#include "db/store/store.h"

enum { CONTENT_KINDS = 10 };

struct content {
  int number; /* number of the kind, from 0 */
  const char
      *kind; /* "device", "stencil", "template", "source"; "code": machine code of a source; "winner": what runs for a
                       problem; "finalist": what may run for other grids; "wrong": a variant that is called wrong on a
                       problem; "right": one that is called right, and that the trusted database knows to be wrong;
                       "times": coefficients of predicted times */
  const char *
      name; /* name and uuid of the device; name of the stencil or template; "STENCIL TEMPLATE" for a source or a code, with type and grid for
                       a winner, a finalist, and a wrong or right variant; the GPU for times */
  const char *hash; /* identity, in hexadecimal digits */
  bool is_known;    /* the trusted database has the same */
};

/* The word for `count` contents of a kind: "source", "sources", "sets of times". */
const char *content_word(int kind, long count);

/* What a trusted database has, by kind and identity. */
struct content_known;

/* Read what a trusted database has. The time grows with this database, not with the one that is compared with it.
 *   to   the trusted database; NULL where there is none yet
 *   out  receives it; the caller ends it with content_known_free; NULL on failure
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status content_known_read(struct store *to, struct content_known **out);

/*   known  may be NULL */
void content_known_free(struct content_known *known);

/* Call `tell` for each device, stencil text, template, source, machine code, winner, finalist and wrong variant of
 * `from`, for each variant that `from` calls right and the trusted database knows to be wrong, and for each set of
 * coefficients of predicted times, in this order.
 *   known  what the trusted database has
 *   giver  who gives `from`, as SQL_GIVER says (refuted.h): a kind of origin, a blank and the key of a signer
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status content_each(struct store *from, const struct content_known *known, const char *giver,
                             void (*tell)(void *context, const struct content *content), void *context);

#endif
