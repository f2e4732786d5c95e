/* pack.h: writes numbers and texts as bytes, for messages between our own processes and for files that stay on this
 * machine. Numbers have the machine's byte order. */
#ifndef BASE_PACK_H
#define BASE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/text.h"

/* Append to `out`. Check text_ok(out) once, at the end. A text may be NULL; it is read back as "". */
void pack_u64(struct text *out, uint64_t number);
void pack_double(struct text *out, double number);
void pack_bytes(struct text *out, const void *bytes, size_t length);
void pack_text(struct text *out, const char *text);

/* Read in the order in which the values were written. Returned texts and bytes point into the packed bytes. A read
 * beyond the end sets `failed`; every later read returns 0, "" or no bytes. */
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
