/* signature.h: Ed25519 signatures of texts, from libsodium. base/files/key_file.h keeps keys in files. */
#ifndef BASE_SIGNATURE_H
#define BASE_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

/* A public key checks signatures, and may be given to everybody. */
struct public_key {
  unsigned char bytes[32];
};

/* A private key makes signatures. Whoever has it can sign in the owner's name. */
struct private_key {
  unsigned char seed[32]; /* files keep this; the public key is computed from it */
};

struct signature {
  unsigned char bytes[64];
};

/* Their hexadecimal digits and a NUL. */
enum { KEY_HEX_BYTES = 65, SIGNATURE_HEX_BYTES = 129 };

/* Make a private key from the system's random numbers.
 * Returns HALOTUNE_OK, or HALOTUNE_IO if libsodium cannot be used. */
halotune_status private_key_make(struct private_key *out);

/* The public key that belongs to a private key. */
struct public_key public_key_of(const struct private_key *key);

/* Overwrite a private key that is no longer needed. */
void private_key_forget(struct private_key *key);

/* Sign the identity (base/identity/identity.h, of the kind "signed " + kind) of a text.
 *   kind  what is signed, such as "document": a signature of one kind is not valid for another kind */
struct signature signature_make(const struct private_key *key, const char *kind, const void *bytes, size_t length);

/* Whether the owner of `key` signed exactly these bytes as this kind. */
bool signature_is_right(const struct signature *signature, const struct public_key *key, const char *kind,
                        const void *bytes, size_t length);

/* Write keys and signatures as lower-case hexadecimal digits. */
void key_hex(const unsigned char bytes[32], char hex[KEY_HEX_BYTES]);
void signature_hex(const struct signature *signature, char hex[SIGNATURE_HEX_BYTES]);

/* Read as many hexadecimal digits as the functions above write, in upper or lower case. All return false for any other
 * text. public_key_read also returns false for digits that are not a public key, like most misspelt ones. */
bool key_read(const char *hex, unsigned char bytes[32]);
bool public_key_read(const char *hex, struct public_key *out);
bool signature_read(const char *hex, struct signature *out);

#endif
