/* signature_test.c: texts are signed and checked; keys and signatures are written and read. */
#include <limits.h>

#include "base/identity/signature.h"
#include "db/exchange/signed_document.h"
#include "tests/unit/unit.h"

static const char text[] = "one text";
static const struct private_key seeds[] = {{{0}}, {{1}}};

TEST(a_signature_is_of_one_key_one_kind_and_one_text) {
  const struct public_key key = public_key_of(&seeds[0]), other = public_key_of(&seeds[1]);
  struct signature signature = signature_make(&seeds[0], "document", text, sizeof text);
  CHECK(signature_is_right(&signature, &key, "document", text, sizeof text), "as it was signed");
  CHECK(!signature_is_right(&signature, &other, "document", text, sizeof text), "another key");
  CHECK(!signature_is_right(&signature, &key, "documents", text, sizeof text), "another kind");
  CHECK(!signature_is_right(&signature, &key, "document", text, sizeof text - 1), "a shorter text");
  CHECK(!signature_is_right(&signature, &key, "document", "one Text", sizeof text), "another text");
  for (size_t i = 0; i < sizeof signature.bytes; i++) {
    signature.bytes[i] ^= 1U;
    CHECK(!signature_is_right(&signature, &key, "document", text, sizeof text), "byte %zu of the signature", i);
    signature.bytes[i] ^= 1U;
  }
}

TEST(a_signature_has_one_form) {
  /* The order of the group of Ed25519, 2^252 + 27742317777372353535851937790883648493, its lowest byte first. */
  static const unsigned char order[32] = {0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58,       0xd6,
                                          0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, [31] = 0x10};
  const struct public_key key = public_key_of(&seeds[0]);
  struct signature signature = signature_make(&seeds[0], "document", "text", 4);
  CHECK(signature_is_right(&signature, &key, "document", "text", 4), "as it was made");
  for (unsigned i = 0, carry = 0; i < sizeof order; i++, carry >>= CHAR_BIT) {
    carry += signature.bytes[sizeof order + i] + (unsigned)order[i];
    signature.bytes[sizeof order + i] = (unsigned char)carry;
  }
  CHECK(!signature_is_right(&signature, &key, "document", "text", 4), "with the order added");
}

static const struct {
  const char *digits;
  bool is_key;
} keys[] = {
    {"3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29", true},
    {"3B6A27BCCEB6A42D62A3A8D02A6F0D73653215771DE243A63AC048A18B59DA29", true},
    {"3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da2", false},   /* a digit is missing */
    {"3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da299", false}, /* one too many */
    {"3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da2g", false},
    {" 3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da2", false},
    {"", false},
    /* Keys of small order: everybody can sign for them. */
    {"0000000000000000000000000000000000000000000000000000000000000000", false},
    {"0100000000000000000000000000000000000000000000000000000000000000", false},
    {"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", false},
};

TEST(keys_are_read_and_written) {
  for (size_t i = 0; i < COUNT(keys); i++) {
    struct public_key key;
    CHECK_EQ(keys[i].is_key, public_key_read(keys[i].digits, &key), "row %zu: %s", i, keys[i].digits);
  }
  char hex[KEY_HEX_BYTES];
  const struct public_key key = public_key_of(&seeds[0]);
  key_hex(key.bytes, hex);
  CHECK_TEXT(keys[0].digits, hex, "the public key of the seed 0");
}

TEST(a_document_is_signed_at_its_end) {
  struct text document = {0};
  struct document_signature found;
  text_printf(&document, "{\"tables\": {\n}}\n");
  CHECK(!document_signature_find(document.bytes, document.length, &found), "not yet");
  document_sign(&document, &seeds[0]);
  CHECK(document_signature_find(document.bytes, document.length, &found), "%s", document.bytes);
  CHECK(document_signature_is_right(document.bytes, &found), "%s", document.bytes);
  for (size_t i = 0; i < document.length; i++) { /* no byte can change */
    for (int bit = 1; bit < 256; bit *= 2) {
      document.bytes[i] = (char)(unsigned char)((unsigned char)document.bytes[i] ^ bit);
      CHECK(!document_signature_find(document.bytes, document.length, &found) ||
                !document_signature_is_right(document.bytes, &found),
            "byte %zu, bit %d: %s", i, bit, document.bytes);
      document.bytes[i] = (char)(unsigned char)((unsigned char)document.bytes[i] ^ bit);
    }
  }
  for (size_t length = 0; length < document.length; length++)
    CHECK(!document_signature_find(document.bytes, length, &found), "%zu bytes", length);
  text_free(&document);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_signature_is_of_one_key_one_kind_and_one_text),
      cmocka_unit_test(a_signature_has_one_form),
      cmocka_unit_test(keys_are_read_and_written),
      cmocka_unit_test(a_document_is_signed_at_its_end),
  };
  return cmocka_run_group_tests_name("signature", tests, NULL, NULL);
}
