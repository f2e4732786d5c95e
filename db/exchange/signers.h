/* signers.h: the signers that the user has named. Their signed documents are trusted. The file trusted-signers of the
 * user's data folder (base/files/user_folder.h) has a line "NAME KEY" for each.
 *
 * Whoever can write this file decides what is trusted. It is refused if it or its folder belongs to another user, or if
 * others can write to it. */
#ifndef DB_EXCHANGE_SIGNERS_H
#define DB_EXCHANGE_SIGNERS_H

#include "base/identity/signature.h"

enum { SIGNER_NAME_BYTES = 65 };

struct signer {
  char name[SIGNER_NAME_BYTES]; /* letters, digits, and ._@- behind the first character */
  struct public_key key;
};

/* Start with {0}, end with signers_free. */
struct signers {
  struct signer *list;
  int count, room;
};

/* Read all signers, in the order of the file. Without a file there are none.
 * Returns HALOTUNE_OK; HALOTUNE_IO for a file or folder that others can write, or that cannot be read; HALOTUNE_PARSE
 * with the number of the line that cannot be read; HALOTUNE_MEMORY. */
halotune_status signers_read(struct signers *out);

/* The signer with this key; NULL if the user has not named it. */
const struct signer *signers_find(const struct signers *signers, const struct public_key *key);

/* Add a signer. A name has only one key, and a key has only one name.
 * Returns HALOTUNE_OK, also if exactly this signer is there already; HALOTUNE_ARGUMENT for a bad name, or one that is
 * taken; HALOTUNE_NOT_FOUND if there is no folder for the user's data; the errors of signers_read; HALOTUNE_IO. */
halotune_status signers_add(const char *name, const struct public_key *key);

/* Remove a signer. Rows of its documents stay in the databases.
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND if there is no such name; the errors of signers_read; HALOTUNE_IO. */
halotune_status signers_remove(const char *name);

void signers_free(struct signers *signers);

#endif
