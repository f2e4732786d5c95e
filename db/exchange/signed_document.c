/* signed_document.c: the signature has a fixed length and stands at the end, so that no JSON is parsed to find the
 * bytes that were signed. */
#include "db/exchange/signed_document.h"

#include <string.h>

static const char kind[] = "document", before_key[] = ",\n\"" DOCUMENT_SIGNER "\": \"",
                  before_signature[] = "\", \"" DOCUMENT_SIGNATURE "\": \"", after_signature[] = "\"}\n";

enum {
  KEY_AT = sizeof before_key - 1,
  KEY_DIGITS = KEY_HEX_BYTES - 1,
  SIGNATURE_AT = KEY_AT + KEY_DIGITS + sizeof before_signature - 1,
  SIGNATURE_DIGITS = SIGNATURE_HEX_BYTES - 1,
  TAIL_BYTES = SIGNATURE_AT + SIGNATURE_DIGITS + sizeof after_signature - 1,
};

void document_sign(struct text *document, const struct private_key *key) {
  const struct public_key signer = public_key_of(key);
  char key_digits[KEY_HEX_BYTES], signature_digits[SIGNATURE_HEX_BYTES];
  if (!text_ok(document)) return;
  document->length -= strlen("}\n"); /* the end of the document */
  const struct signature signature = signature_make(key, kind, document->bytes, document->length);
  key_hex(signer.bytes, key_digits);
  signature_hex(&signature, signature_digits);
  text_printf(document, "%s%s%s%s%s", before_key, key_digits, before_signature, signature_digits, after_signature);
}

/* With capitals allowed, two different documents could carry the same signature. */
static bool is_lower_case_hex(const char *digits) { return strspn(digits, "0123456789abcdef") == strlen(digits); }

bool document_signature_find(const char *text, size_t length, struct document_signature *out) {
  char tail[TAIL_BYTES + 1], key_digits[KEY_HEX_BYTES], signature_digits[SIGNATURE_HEX_BYTES];
  if (length < TAIL_BYTES) return false;
  memcpy(tail, text + length - TAIL_BYTES, TAIL_BYTES);
  memcpy(key_digits, tail + KEY_AT, KEY_DIGITS);
  memcpy(signature_digits, tail + SIGNATURE_AT, SIGNATURE_DIGITS);
  key_digits[KEY_DIGITS] = signature_digits[SIGNATURE_DIGITS] = '\0';
  out->signed_bytes = length - TAIL_BYTES;
  return memcmp(tail, before_key, KEY_AT) == 0 &&
         memcmp(tail + KEY_AT + KEY_DIGITS, before_signature, sizeof before_signature - 1) == 0 &&
         memcmp(tail + SIGNATURE_AT + SIGNATURE_DIGITS, after_signature, sizeof after_signature - 1) == 0 &&
         is_lower_case_hex(key_digits) && is_lower_case_hex(signature_digits) &&
         key_read(key_digits, out->signer.bytes) && signature_read(signature_digits, &out->signature);
}

bool document_signature_is_right(const char *text, const struct document_signature *signature) {
  return signature_is_right(&signature->signature, &signature->signer, kind, text, signature->signed_bytes);
}
