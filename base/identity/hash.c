/* hash.c: hashes contents with xxHash. */
#include "base/identity/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

struct hash hash_bytes(const void *bytes, size_t length) {
  XXH128_hash_t digest = XXH3_128bits(bytes, length);
  return (struct hash){.high = digest.high64, .low = digest.low64};
}

int hash_compare(struct hash a, struct hash b) {
  if (a.high != b.high) return a.high < b.high ? -1 : 1;
  return (a.low > b.low) - (a.low < b.low);
}

void hash_hex(struct hash hash, char hex[HASH_HEX_BYTES]) {
  snprintf(hex, HASH_HEX_BYTES, "%016" PRIx64 "%016" PRIx64, hash.high, hash.low);
}
