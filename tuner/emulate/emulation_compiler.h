/* emulation_compiler.h: finds the system's C++ compiler, and compiles the runner and the variants with it. */
#ifndef EMULATE_EMULATION_COMPILER_H
#define EMULATE_EMULATION_COMPILER_H

#include <stdbool.h>

#include "base/fail.h"
#include "base/identity/hash.h"
#include "base/system/process.h"
#include "base/text/text.h"

struct emulation_compiler {
  char *path;
  struct hash identity;  /* changes if another program is at that path */
  bool is_gcc;           /* it is g++ */
  bool sanitize, counts; /* counts: variants call the runner before each access */
};

/* Find the compiler.
 *   name  a name or path; NULL: $HALOTUNE_CXX, else g++, clang++ or c++ on PATH
 *   out   end with emulation_compiler_close after any outcome
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND with what to install; HALOTUNE_MEMORY. */
halotune_status emulation_compiler_open(const char *name, bool sanitize, bool counts, struct emulation_compiler *out);

void emulation_compiler_close(struct emulation_compiler *compiler);

/* Hash what a compile depends on besides its input and the files of emulation_files.h: the compiler and its flags. */
enum emulation_product { EMULATION_RUNNER, EMULATION_VARIANT };
struct hash emulation_compiler_hash(const struct emulation_compiler *compiler, enum emulation_product product);

/* Compile the runner, or a variant from its source.
 *   files   the folder that emulation_files_write filled
 *   source  of a variant
 *   output  the file to write
 *   temporary  the folder for the compiler's own files
 *   folder  the descriptor through which these paths lead (own_folder_hold)
 *   ending  the compiler is killed once it has come
 *   log     the compiler's messages are appended
 *   out     how it ended
 * Returns HALOTUNE_OK if the compiler ran; HALOTUNE_IO or HALOTUNE_MEMORY. Threads: any number at once. */
halotune_status emulation_compiler_run(const struct emulation_compiler *compiler, enum emulation_product product,
                                       const char *files, const struct text *source, const char *output,
                                       const char *temporary, int folder, int timeout_ms, const struct ending *ending,
                                       struct text *log, struct process_result *out);

/* Whether the log of a compile that failed has an error at a line of a file: "star7.cu:3:10: error: ". Without one, the
 * source is not to blame: a signal ended a part of the compiler, or memory, file descriptors, processes or disk were
 * short. The command ends with code 1 in both cases. A "fatal error:" does not count, because a full disk is one. */
bool emulation_compiler_blames_source(const char *log);

#endif
