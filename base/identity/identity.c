/* identity.c: hashes fields with libsodium's BLAKE2b, each after its length. */
#include "base/identity/identity.h"

#include <stdint.h>
#include <string.h>

void identity_begin(struct identity_maker *maker, const char *kind) {
  crypto_generichash_init(&maker->state, NULL, 0, sizeof((struct identity *)0)->bytes);
  maker->waiting_bytes = 0;
  identity_add_text(maker, kind);
}

static void hash_waiting(struct identity_maker *maker) {
  crypto_generichash_update(&maker->state, maker->waiting, maker->waiting_bytes);
  maker->waiting_bytes = 0;
}

static void hash_bytes(struct identity_maker *maker, const void *bytes, size_t length) {
  if (length > sizeof maker->waiting - maker->waiting_bytes) hash_waiting(maker);
  if (length > sizeof maker->waiting) {
    crypto_generichash_update(&maker->state, bytes, length);
    return;
  }
  if (length > 0) memcpy(maker->waiting + maker->waiting_bytes, bytes, length);
  maker->waiting_bytes += length;
}

void identity_add(struct identity_maker *maker, const void *bytes, size_t length) {
  unsigned char size[8];
  for (int i = 0; i < 8; i++) size[i] = (unsigned char)((uint64_t)length >> (8 * i));
  hash_bytes(maker, size, sizeof size);
  hash_bytes(maker, bytes, length);
}

void identity_add_text(struct identity_maker *maker, const char *text) { identity_add(maker, text, strlen(text)); }

void identity_add_identity(struct identity_maker *maker, struct identity part) {
  identity_add(maker, part.bytes, sizeof part.bytes);
}

struct identity identity_end(struct identity_maker *maker) {
  struct identity identity;
  hash_waiting(maker);
  crypto_generichash_final(&maker->state, identity.bytes, sizeof identity.bytes);
  return identity;
}

struct identity identity_of(const char *kind, const void *bytes, size_t length) {
  struct identity_maker maker;
  identity_begin(&maker, kind);
  identity_add(&maker, bytes, length);
  return identity_end(&maker);
}

int identity_compare(struct identity a, struct identity b) { return memcmp(a.bytes, b.bytes, sizeof a.bytes); }

int identity_compare_items(const void *a, const void *b) {
  return identity_compare(*(const struct identity *)a, *(const struct identity *)b);
}

static const char digits[] = "0123456789abcdef";

void identity_hex(struct identity identity, char hex[IDENTITY_HEX_BYTES]) {
  for (size_t i = 0; i < sizeof identity.bytes; i++) {
    hex[2 * i] = digits[identity.bytes[i] >> 4];
    hex[2 * i + 1] = digits[identity.bytes[i] & 15];
  }
  hex[IDENTITY_HEX_BYTES - 1] = '\0';
}

bool identity_read(const char *hex, struct identity *out) {
  if (strlen(hex) != IDENTITY_HEX_BYTES - 1) return false;
  memset(out, 0, sizeof *out);
  for (int i = 0; i < IDENTITY_HEX_BYTES - 1; i++) {
    const char *digit = strchr(digits, hex[i]);
    if (!digit) return false;
    out->bytes[i / 2] = (unsigned char)(out->bytes[i / 2] << 4 | (digit - digits));
  }
  return true;
}
