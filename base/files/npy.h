/* npy.h: files in NumPy's format (.npy), which hold one array: a header, then the elements. numpy.save writes them. */
#ifndef BASE_NPY_H
#define BASE_NPY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"
#include "base/text/text.h"

enum {
  NPY_PREFIX_BYTES = 12, /* npy_header_bytes needs so many bytes of a file */
  NPY_MOST_DIMS = 32,
  NPY_MOST_HEADER_BYTES = 1 << 16,
  NPY_TYPE_BYTES = 16,
};

/* What the header says. */
struct npy {
  char type[NPY_TYPE_BYTES]; /* as NumPy writes it: "<f8"; the first character is the byte order, '|' for bytes */
  bool is_fortran;           /* the first axis varies fastest */
  int dims;                  /* 0 for a single number */
  long long shape[NPY_MOST_DIMS];
  size_t header_bytes; /* where the elements begin */
};

/* Get the length of a header, from the first bytes of its file.
 *   length  NPY_PREFIX_BYTES, or the length of a shorter file
 * Returns HALOTUNE_OK, or HALOTUNE_PARSE for other files and versions; the detail has no file name. */
halotune_status npy_header_bytes(const char *prefix, size_t length, size_t *out);

/* Read a header.
 *   bytes, length  the header, as long as npy_header_bytes says
 * Returns HALOTUNE_OK, or HALOTUNE_PARSE with a detail that has no file name. */
halotune_status npy_parse(const char *bytes, size_t length, struct npy *out);

/* Append a header of version 1.0 for elements in C order, as numpy.save writes it.
 *   type  "<f4" */
void npy_write_header(const char *type, int dims, const long long shape[], struct text *text);

/* Append a shape as Python writes a tuple: "(64, 32)", "(64,)", "()". */
void npy_write_shape(int dims, const long long shape[], struct text *text);

/* An open file. Start with {.fd = -1}; end with npy_close. */
struct npy_file {
  const char *path; /* owned by the caller */
  int fd;
  long long bytes; /* of the whole file */
  struct npy header;
};

/* Open a file and read its header. Only regular files are opened, so the call waits for no pipe.
 *   out  filled on success; after a failure npy_close is harmless
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND; HALOTUNE_IO; HALOTUNE_PARSE for a damaged header. The detail names the
 * file. */
halotune_status npy_open(const char *path, struct npy_file *out);

/* Read elements.
 *   first, bytes  counted in bytes from the first element
 * Returns HALOTUNE_OK, or HALOTUNE_IO if the file is shorter or cannot be read. */
halotune_status npy_read(const struct npy_file *file, long long first, size_t bytes, void *out);

void npy_close(struct npy_file *file);

#endif
