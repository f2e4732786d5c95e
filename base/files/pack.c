/* pack.c: writes numbers with a fixed width, and bytes after their length. A text is written as bytes with its NUL. */
#include "base/files/pack.h"

#include <string.h>

void pack_u64(struct text *out, uint64_t number) { text_add(out, (const char *)&number, sizeof number); }

void pack_double(struct text *out, double number) { text_add(out, (const char *)&number, sizeof number); }

void pack_bytes(struct text *out, const void *bytes, size_t length) {
  pack_u64(out, length);
  text_add(out, bytes, length);
}

void pack_text(struct text *out, const char *text) {
  if (!text) text = "";
  pack_bytes(out, text, strlen(text) + 1);
}

/* Take the next `length` bytes. Returns NULL if there are fewer. */
static const char *bytes_take(struct unpack *in, uint64_t length) {
  if (in->failed || length > in->left) {
    in->failed = true;
    return NULL;
  }
  const char *bytes = in->at;
  in->at += length;
  in->left -= length;
  return bytes;
}

uint64_t unpack_u64(struct unpack *in) {
  uint64_t number = 0;
  const char *bytes = bytes_take(in, sizeof number);
  if (bytes) memcpy(&number, bytes, sizeof number);
  return number;
}

double unpack_double(struct unpack *in) {
  double number = 0;
  const char *bytes = bytes_take(in, sizeof number);
  if (bytes) memcpy(&number, bytes, sizeof number);
  return number;
}

const char *unpack_bytes(struct unpack *in, size_t *length) {
  uint64_t wanted = unpack_u64(in);
  const char *bytes = bytes_take(in, wanted);
  *length = bytes ? wanted : 0;
  return bytes ? bytes : "";
}

const char *unpack_text(struct unpack *in) {
  size_t length;
  const char *text = unpack_bytes(in, &length);
  if (length > 0 && text[length - 1] == '\0') return text;
  in->failed = true;
  return "";
}
