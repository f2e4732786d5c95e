/* signed_document.h: the signature at the end of a document. An unsigned document ends with "}\n". A signed one has
 * this in place of that end, in exactly this form:
 *   ,\n"signer": "KEY", "signature": "SIGNATURE"}\n
 * KEY is the public key in 64 hexadecimal digits, SIGNATURE the Ed25519 signature in 128. What is signed is every byte
 * before it (base/identity/signature.h, kind "document"). */
#ifndef DB_EXCHANGE_SIGNED_DOCUMENT_H
#define DB_EXCHANGE_SIGNED_DOCUMENT_H

#include "base/identity/signature.h"
#include "base/text/text.h"

/* The members of the document that make up the signature. */
#define DOCUMENT_SIGNER "signer"
#define DOCUMENT_SIGNATURE "signature"

struct document_signature {
  struct public_key signer;
  struct signature signature;
  size_t signed_bytes; /* from the start of the document */
};

/* Sign a document that store_export wrote; ask text_ok(document). */
void document_sign(struct text *document, const struct private_key *key);

/* Find the signature of a document of valid JSON.
 * Returns whether the document has one in the form above. Whether the signature is right is another question. */
bool document_signature_find(const char *text, size_t length, struct document_signature *out);

/* Whether the signer signed exactly this document. */
bool document_signature_is_right(const char *text, const struct document_signature *signature);

#endif
