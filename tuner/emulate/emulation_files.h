/* emulation_files.h: the sources of the runner and the header for kernels, which lie in folder host/. They are part of the program,
 * so that it finds them wherever it is installed and never meets those of another version. */
#ifndef EMULATE_EMULATION_FILES_H
#define EMULATE_EMULATION_FILES_H

#include "base/fail.h"
#include "base/hash.h"

/* Of all names and contents. */
struct hash emulation_files_hash(void);

/* Write them where they are not yet, or not as they should be, below `folder`, as tuner/emulate/runtime/block.c and so on. Returns HALOTUNE_OK, HALOTUNE_IO
 * or HALOTUNE_MEMORY. */
halotune_status emulation_files_write(const char *folder);

#define EMULATION_FILES_FOLDER "tuner/emulate/runtime"
#define EMULATION_FILES_HEADER EMULATION_FILES_FOLDER "/cuda_on_cpu.h" /* what is included in front of a kernel */

/* The runner's sources, below the folder; NULL at the end. */
extern const char *const emulation_files_runner[];

#endif
