/* db_brings.h: writes what the trusted files of `db merge` and `import` would add: as a list, or as a line of
 * counts. */
#ifndef CLI_DB_DB_BRINGS_H
#define CLI_DB_DB_BRINGS_H

#include <stdio.h>

#include "db/exchange/content.h"
#include "db/exchange/import.h"

/* The state that all files share. Fill the first three members; begin with brings_begin, end with brings_end. */
struct brings {
  const char *path;            /* path of the user's database */
  bool lists;                  /* whether to list each content; else to count */
  bool compares;               /* whether a list also shows how sources differ from those that this program generates */
  struct content_known *known; /* the contents that the database has */
};

/* Read what the user's database has. Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status brings_begin(struct brings *brings);

/* Write what a file would add: each content by its identity, or one line with the number of each kind. Both name the
 * document's identity, so that a user can see that the file that is taken is the file that was listed.
 *   path    path of the file
 *   signer  the signer whose signature is trusted; "" for none
 *   giver   as for content_each
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. Threads: any number at once, each with its own file. */
halotune_status brings_write(const struct brings *brings, const char *path, const char *signer, const char *giver,
                             const struct imported *file, FILE *out);

void brings_end(struct brings *brings);

#endif
