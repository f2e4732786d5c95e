/* pack.h: numbers and texts in a row of bytes, for messages between our own processes and files on the same machine.
 * Numbers have the machine's byte order. */
#ifndef BASE_PACK_H
#define BASE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* Append to `out`; ask text_ok(out) once, at the end. A text may be NULL, which reads back as "". */
void pack_u64(struct text *out, uint64_t number);
void pack_double(struct text *out, double number);
void pack_bytes(struct text *out, const void *bytes, size_t length);
void pack_text(struct text *out, const char *text);

/* Reads in the order of writing. What is returned points into the bytes that are read. The first read that does not fit
 * what is left sets `failed`, and every read from then on returns 0, "" or no bytes. */
struct unpack {
  const char *at;
  size_t left;
  bool failed;
};

uint64_t unpack_u64(struct unpack *in);
double unpack_double(struct unpack *in);
const char *unpack_bytes(struct unpack *in, size_t *length);
const char *unpack_text(struct unpack *in);

#endif
