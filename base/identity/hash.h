/* hash.h: 128-bit hashes of contents (XXH3): for hash tables, names of cache files whose content is compared, and
 * checksums. They detect accidental damage, but not attacks. A content that is believed because of its name has an
 * identity (base/identity/identity.h). */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash {
  uint64_t high, low;
};

enum { HASH_HEX_BYTES = 33 }; /* 32 digits and the NUL */

struct hash hash_bytes(const void *bytes, size_t length);

/* Compare two hashes: negative, zero or positive, like memcmp of their hexadecimal digits. */
int hash_compare(struct hash a, struct hash b);

/* Write the hash as 32 lower-case hexadecimal digits. */
void hash_hex(struct hash hash, char hex[HASH_HEX_BYTES]);

#endif
