/* emulation_files.h: the runner's sources and the header for kernels, from tuner/emulate/runtime. They are part of the
 * program, so that it always finds them, and always those of its own version. */
#ifndef EMULATE_EMULATION_FILES_H
#define EMULATE_EMULATION_FILES_H

#include "base/fail.h"
#include "base/identity/hash.h"

/* The hash of all names and contents. */
struct hash emulation_files_hash(void);

/* Write the files that are missing or different below `folder`, as tuner/emulate/runtime/block.c and so on. Returns
 * HALOTUNE_OK, HALOTUNE_IO or HALOTUNE_MEMORY. */
halotune_status emulation_files_write(const char *folder);

#define EMULATION_FILES_HEADER "tuner/emulate/runtime/cuda_and_ptx_on_cpu.h" /* included before each kernel */

/* The runner's sources, relative to the folder; NULL at the end. */
enum { EMULATION_FILES_MOST_SOURCES = 24 };
extern const char *const emulation_files_runner[];

#endif
