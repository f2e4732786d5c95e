/* db_look.h: checks the files of `halotune db merge` and `import` before any of them is taken, and decides which are
 * trusted. A file is trusted if the user says so, or if a signer whom the user has named signed it. */
#ifndef CLI_DB_DB_LOOK_H
#define CLI_DB_DB_LOOK_H

#include <limits.h>

#include "base/files/key_file.h"
#include "db/exchange/import.h"
#include "db/exchange/signers.h"
#include "tuner/cli/db/db.h"

/* A file that is imported. */
struct looked {
  const char *path;
  char origin[PATH_MAX]; /* its name alone, in printable characters */
  struct imported in;    /* its store is open while the file is checked; for a pipe it stays open until the end */
  bool is_database;      /* it is the user's database itself, as `db merge *.db` may name it: nothing is done with it */
  bool is_trusted;
  char signer[SIGNER_NAME_BYTES]; /* the user's name of the signer; "" for none */
  char key[KEY_HEX_BYTES];        /* the public key of a signer that is trusted, or "" */
};

/* Whom the user trusts, by the command line and by the file of signers. */
struct trust {
  bool is_given, is_sure, has_key;
  struct public_key key; /* key of --signed-by */
  struct signers signers;
};

/* Read the options about trust. Returns HALOTUNE_OK or the errors of public_key_find. */
halotune_status trust_read(const struct invocation *invocation, struct trust *out);

/* Check all files, decide which are trusted, and then print what the trusted ones would add: as a list if nothing is
 * taken yet. As many files as there are cores, at most LOOK_AT_ONCE, are in memory at a time: the files of a fleet may
 * be larger than the memory. Their texts are kept until all are checked.
 *   path   of the user's database
 *   files  `count` of them, all zero; the caller ends each with looked_close
 * Returns HALOTUNE_OK, or the failure of the first file that has one. */
enum { LOOK_AT_ONCE = 8 };
halotune_status files_look(const struct invocation *invocation, const char *path, struct trust *trust,
                           struct looked *files, int count);

/* The kind of origin that the rows of the files get, as in struct origin. */
const char *file_origin_kind(const struct invocation *invocation);

/* Open a file that was checked. A file from a pipe is still open. Returns as import_open_again. */
halotune_status looked_open(struct looked *file);
void looked_close(struct looked *file);

#endif
