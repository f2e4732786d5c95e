/* base64.h: bytes as text (RFC 4648, section 4). */
#ifndef DB_EXCHANGE_BASE64_H
#define DB_EXCHANGE_BASE64_H

#include "base/fail.h"
#include "base/text/text.h"

/* Append the text; ask text_ok(out). */
void base64_write(const void *bytes, size_t length, struct text *out);

/* Append the bytes that a text stands for. Returns false for a text that base64_write does not write. */
bool base64_read(const char *text, struct text *out);

#endif
