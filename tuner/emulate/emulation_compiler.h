/* emulation_compiler.h: the system's C++ compiler, and how the host backend uses it. */
#ifndef EMULATE_EMULATION_COMPILER_H
#define EMULATE_EMULATION_COMPILER_H

#include <stdbool.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"

struct host_compiler {
  char *path;
  struct hash identity; /* changes when another program is at that path */
  bool sanitize;
};

/* Find it.
 *   name  a name or path; NULL: $HALOTUNE_CXX, else g++, clang++ or c++ on PATH
 *   out   after any outcome ended with host_compiler_close
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND with what to install; HALOTUNE_MEMORY. */
halotune_status host_compiler_open(const char *name, bool sanitize, struct host_compiler *out);

void host_compiler_close(struct host_compiler *compiler);

/* What a compile depends on beside its input and the files of host_files.h. */
enum host_product { HOST_RUNNER, HOST_VARIANT };
struct hash host_compiler_hash(const struct host_compiler *compiler, enum host_product product);

/* Compile the runner, or a variant from its source.
 *   files   the folder that host_files_write filled
 *   source  of a variant
 *   output  the file to write
 *   log     what the compiler says is appended
 *   out     how it ended
 * Returns HALOTUNE_OK if the compiler ran; HALOTUNE_IO or HALOTUNE_MEMORY. Threads: any number at once. */
halotune_status host_compiler_run(const struct host_compiler *compiler, enum host_product product, const char *files,
                                  const struct text *source, const char *output, int timeout_ms, struct text *log,
                                  struct process_result *out);

#endif
