/* signature.c: calls libsodium. What is signed is an identity, so that a document of any length is read once. */
#include "base/identity/signature.h"

#include <sodium/core.h>
#include <sodium/crypto_core_ed25519.h>
#include <sodium/crypto_sign.h>
#include <sodium/randombytes.h>
#include <sodium/utils.h>
#include <string.h>

#include "base/identity/identity.h"

_Static_assert(sizeof(struct public_key) == crypto_sign_PUBLICKEYBYTES, "libsodium's public keys");
_Static_assert(sizeof(struct private_key) == crypto_sign_SEEDBYTES, "libsodium's seeds");
_Static_assert(sizeof(struct signature) == crypto_sign_BYTES, "libsodium's signatures");

/* libsodium wants this before its first use; later calls cost nothing. Threads: any number at once. */
static bool is_ready(void) { return sodium_init() >= 0; }

halotune_status private_key_make(struct private_key *out) {
  if (!is_ready()) return fail(HALOTUNE_IO, "libsodium cannot be used: this machine gives no random numbers");
  randombytes_buf(out->seed, sizeof out->seed);
  return HALOTUNE_OK;
}

struct public_key public_key_of(const struct private_key *key) {
  struct public_key public;
  unsigned char secret[crypto_sign_SECRETKEYBYTES];
  (void)is_ready(); /* nothing here is random */
  crypto_sign_seed_keypair(public.bytes, secret, key->seed);
  sodium_memzero(secret, sizeof secret);
  return public;
}

void private_key_forget(struct private_key *key) { sodium_memzero(key, sizeof *key); }

static struct identity message_of(const char *kind, const void *bytes, size_t length) {
  struct identity_maker maker;
  identity_begin(&maker, "signed");
  identity_add_text(&maker, kind);
  identity_add(&maker, bytes, length);
  return identity_end(&maker);
}

struct signature signature_make(const struct private_key *key, const char *kind, const void *bytes, size_t length) {
  struct signature signature;
  struct public_key public;
  unsigned char secret[crypto_sign_SECRETKEYBYTES];
  const struct identity message = message_of(kind, bytes, length);
  (void)is_ready(); /* nothing here is random */
  crypto_sign_seed_keypair(public.bytes, secret, key->seed);
  crypto_sign_detached(signature.bytes, NULL, message.bytes, sizeof message.bytes, secret);
  sodium_memzero(secret, sizeof secret);
  return signature;
}

bool signature_is_right(const struct signature *signature, const struct public_key *key, const char *kind,
                        const void *bytes, size_t length) {
  const struct identity message = message_of(kind, bytes, length);
  return is_ready() &&
         crypto_sign_verify_detached(signature->bytes, message.bytes, sizeof message.bytes, key->bytes) == 0;
}

void key_hex(const unsigned char bytes[32], char hex[KEY_HEX_BYTES]) { sodium_bin2hex(hex, KEY_HEX_BYTES, bytes, 32); }

void signature_hex(const struct signature *signature, char hex[SIGNATURE_HEX_BYTES]) {
  sodium_bin2hex(hex, SIGNATURE_HEX_BYTES, signature->bytes, sizeof signature->bytes);
}

/* Read a text of exactly 2 * `count` digits. */
static bool read_hex(const char *hex, unsigned char *bytes, size_t count) {
  size_t length = 0;
  return strlen(hex) == 2 * count && sodium_hex2bin(bytes, count, hex, 2 * count, NULL, &length, NULL) == 0 &&
         length == count;
}

bool key_read(const char *hex, unsigned char bytes[32]) { return read_hex(hex, bytes, 32); }

bool public_key_read(const char *hex, struct public_key *out) {
  return is_ready() && key_read(hex, out->bytes) && crypto_core_ed25519_is_valid_point(out->bytes) == 1;
}

bool signature_read(const char *hex, struct signature *out) { return read_hex(hex, out->bytes, sizeof out->bytes); }
