/* db_brings.h: what files would bring that `db merge` and `import` trust: a list of it, or a line with counts of it. */
#ifndef CLI_DB_DB_BRINGS_H
#define CLI_DB_DB_BRINGS_H

#include <stdio.h>

#include "db/exchange/content.h"
#include "db/exchange/import.h"

/* What all files have in common. Fill the first three members; begin with brings_begin, end with brings_end. */
struct brings {
  const char *path;            /* of the user's database */
  bool lists;                  /* whether to list each content; else to count */
  bool compares;               /* whether a list also shows how sources differ from those that this program generates */
  struct content_known *known; /* what the database has */
};

/* Read what the user's database has. Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status brings_begin(struct brings *brings);

/* Write what a file would bring, each content by its identity, or one line with the number of each kind. Both name the
 * document's identity, so that a user can see that what is taken is what was listed.
 *   path    of the file
 *   signer  whose signature is trusted; "" for none
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. Threads: any number at once, each with its own file. */
halotune_status brings_write(const struct brings *brings, const char *path, const char *signer,
                             const struct imported *file, FILE *out);

void brings_end(struct brings *brings);

#endif
