/* key_file.h: the files that keep Ed25519 keys (signature.h): one line, a word that says what it is and 64
 * hexadecimal digits. */
#ifndef BASE_KEY_FILE_H
#define BASE_KEY_FILE_H

#include "base/identity/signature.h"

/* The file of a public key has the name of the private key's file, and this suffix. */
#define KEY_FILE_PUBLIC_SUFFIX ".pub"

/* Make a pair of keys: the private one in `path`, mode 0600, the public one in `path`.pub, which all may read. Files
 * that exist are never replaced: a lost private key cannot be made again. No function here follows a link of another
 * user in a folder that all may write to.
 *   out  receives the public key
 * Returns HALOTUNE_OK, HALOTUNE_IO or HALOTUNE_MEMORY; then neither file was made. */
halotune_status key_file_make(const char *path, struct public_key *out);

/* Read a private key, for the caller to forget after use (private_key_forget).
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND; HALOTUNE_IO for a file that others can read, or that belongs to another
 * user, with the command that mends it; HALOTUNE_PARSE for a file that keeps no private key; HALOTUNE_MEMORY. */
halotune_status key_file_read(const char *path, struct private_key *out);

/* Read a public key: 64 hexadecimal digits, or the path of a file that keeps one.
 * Returns HALOTUNE_OK, HALOTUNE_NOT_FOUND, HALOTUNE_PARSE, HALOTUNE_IO or HALOTUNE_MEMORY. */
halotune_status public_key_find(const char *digits_or_path, struct public_key *out);

#endif
