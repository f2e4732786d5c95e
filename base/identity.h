/* identity.h: names of content that nobody can forge: BLAKE2b of 256 bits, from libsodium.
 *
 * Stencils, templates, sources and documents are named by their identities, in databases and beyond. An identity is
 * over fields, each with its length in front, so that no text can move from one field to the next. Where only speed
 * counts and nothing is believed because of it, such as in hash tables and names of cache files, base/hash.h is the
 * faster one. */
#ifndef BASE_IDENTITY_H
#define BASE_IDENTITY_H

#include <sodium/crypto_generichash.h>
#include <stdbool.h>
#include <stddef.h>

struct identity {
  unsigned char bytes[32];
};

enum { IDENTITY_HEX_BYTES = 65 }; /* 64 digits and the NUL */

/* An identity that is being made of fields. */
struct identity_maker {
  crypto_generichash_state state;
};

/* Begin an identity.
 *   kind  what is named, such as "template": things of two kinds never have one identity */
void identity_begin(struct identity_maker *maker, const char *kind);
void identity_add(struct identity_maker *maker, const void *bytes, size_t length);
void identity_add_text(struct identity_maker *maker, const char *text);
void identity_add_identity(struct identity_maker *maker, struct identity part);
struct identity identity_end(struct identity_maker *maker);

/* The identity of a thing of one field. */
struct identity identity_of(const char *kind, const void *bytes, size_t length);

/* Order of identities: negative, zero, positive, as memcmp of their digits would say. */
int identity_compare(struct identity a, struct identity b);

/* Write the identity as 64 lower-case hexadecimal digits. */
void identity_hex(struct identity identity, char hex[IDENTITY_HEX_BYTES]);

/* Read 64 lower-case hexadecimal digits. False for any other text. */
bool identity_read(const char *hex, struct identity *out);

#endif
