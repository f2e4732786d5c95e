/* identity.h: names of contents that cannot be forged: 256-bit BLAKE2b hashes from libsodium.
 *
 * Stencils, templates, sources and documents are named by their identities, in databases and elsewhere. An identity is
 * computed from fields. Each field is hashed after its length, so that no text can move from one field to the next.
 * base/identity/hash.h is faster; use it for hash tables and names of cache files, where a wrong name does no harm. */
#ifndef BASE_IDENTITY_H
#define BASE_IDENTITY_H

#include <sodium/crypto_generichash.h>
#include <stdbool.h>
#include <stddef.h>

struct identity {
  unsigned char bytes[32];
};

enum { IDENTITY_HEX_BYTES = 65 }; /* 64 digits and the NUL */

/* An identity to which fields are being added. */
struct identity_maker {
  crypto_generichash_state state;
  size_t waiting_bytes;
  unsigned char waiting[1024]; /* short fields are collected here, because a call of libsodium takes long */
};

/* Begin an identity.
 *   kind  what is named, such as "template"; things of different kinds never have the same identity */
void identity_begin(struct identity_maker *maker, const char *kind);
void identity_add(struct identity_maker *maker, const void *bytes, size_t length);
void identity_add_text(struct identity_maker *maker, const char *text);
void identity_add_identity(struct identity_maker *maker, struct identity part);
struct identity identity_end(struct identity_maker *maker);

/* The identity of a thing with one field. */
struct identity identity_of(const char *kind, const void *bytes, size_t length);

/* Compare two identities: negative, zero or positive, like memcmp of their hexadecimal digits. */
int identity_compare(struct identity a, struct identity b);

/* The same for qsort: each argument points to an identity. */
int identity_compare_items(const void *a, const void *b);

/* Write the identity as 64 lower-case hexadecimal digits. */
void identity_hex(struct identity identity, char hex[IDENTITY_HEX_BYTES]);

/* Read 64 lower-case hexadecimal digits. Returns false for any other text. */
bool identity_read(const char *hex, struct identity *out);

#endif
