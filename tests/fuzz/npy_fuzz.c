/* npy_fuzz.c: reads any bytes as the header of a file in NumPy's format. A refusal must have a message that a terminal
 * can show. An accepted header must be written and read again with the same shape. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void die(const char *what) {
  fprintf(stderr, "%s\n%s\n", what, fail_text());
  abort();
}

static void check_refusal(void) {
  if (!*fail_text()) die("an error without words");
  for (const char *at = fail_text(); *at; at++) {
    if ((unsigned char)*at < ' ' || (unsigned char)*at > '~') die("a control character in an error");
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct npy first, again;
  struct text text = {0};
  if (npy_parse((const char *)data, size, &first) != HALOTUNE_OK) {
    check_refusal();
    return 0;
  }
  if (first.header_bytes > size || first.dims < 0 || first.dims > NPY_MOST_DIMS) die("beyond the file");
  npy_write_header(first.type, first.dims, first.shape, &text);
  if (npy_parse(text_string(&text), text.length, &again) != HALOTUNE_OK) die("not read again");
  if (again.dims != first.dims || memcmp(again.shape, first.shape, sizeof first.shape) != 0) die("another shape");
  if (strcmp(again.type, first.type) != 0 || again.is_fortran) die("another type or order");
  text_free(&text);
  return 0;
}
