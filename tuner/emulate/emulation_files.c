/* emulation_files.c: the files of tuner/emulate/runtime. The assembler builds them into the program. It looks for them
 * from the folder in which the compiler runs, the root of the tree. */
#include "tuner/emulate/emulation_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/replace.h"
#include "base/text.h"

/* clang-format off */
#define HEADER_LIST(X)              \
  X(block_h, "block.h")             \
  X(calls_h, "calls.h")             \
  X(cluster_h, "cluster.h")         \
  X(copy_h, "copy.h")               \
  X(cuda_on_cpu_h, "cuda_on_cpu.h") \
  X(fiber_h, "fiber.h")             \
  X(kernel_h, "kernel.h")           \
  X(memory_h, "memory.h")           \
  X(order_h, "order.h")             \
  X(outcome_h, "outcome.h")         \
  X(poison_h, "poison.h")           \
  X(protocol_h, "protocol.h")       \
  X(report_h, "report.h")           \
  X(tensor_h, "tensor.h")           \
  X(texture_h, "texture.h")         \
  X(warp_h, "warp.h")               \
  X(watch_h, "watch.h")

#define SOURCE_LIST(X)      \
  X(block_c, "block.c")     \
  X(cluster_c, "cluster.c") \
  X(copy_c, "copy.c")       \
  X(engine_c, "engine.c")   \
  X(fiber_c, "fiber.c")     \
  X(memory_c, "memory.c")   \
  X(order_c, "order.c")     \
  X(report_c, "report.c")   \
  X(runner_c, "runner.c")   \
  X(tensor_c, "tensor.c")   \
  X(texture_c, "texture.c") \
  X(warp_c, "warp.c")       \
  X(watch_c, "watch.c")
/* clang-format on */

#define EMBED(symbol, name)                                                               \
  __asm__(".pushsection .rodata\n"                                                        \
          "emulation_file_" #symbol ": .incbin \"" EMULATION_FILES_FOLDER "/" name "\"\n" \
          "emulation_file_" #symbol "_end: .byte 0\n"                                     \
          ".popsection\n");                                                               \
  extern const char emulation_file_##symbol[] __attribute__((visibility("hidden")));      \
  extern const char emulation_file_##symbol##_end[] __attribute__((visibility("hidden")));
HEADER_LIST(EMBED)
SOURCE_LIST(EMBED)

#define AS_ROW(symbol, name) {EMULATION_FILES_FOLDER "/" name, emulation_file_##symbol, emulation_file_##symbol##_end},
static const struct { const char *path, *bytes, *end; } files[] = {HEADER_LIST(AS_ROW) SOURCE_LIST(AS_ROW)};

#define AS_PATH(symbol, name) EMULATION_FILES_FOLDER "/" name,
const char *const emulation_files_runner[] = {SOURCE_LIST(AS_PATH) NULL};

struct hash emulation_files_hash(void) {
  struct hash hashes[COUNT(files)];
  for (size_t i = 0; i < COUNT(files); i++)
    hashes[i] = hash_bytes(files[i].bytes, (size_t)(files[i].end - files[i].bytes));
  return hash_bytes(hashes, sizeof hashes);
}

static bool is_written(const char *path, const char *bytes, size_t length) {
  char *there;
  size_t there_length;
  if (file_read(path, length, &there, &there_length) != HALOTUNE_OK) return false;
  bool same = there_length == length && memcmp(there, bytes, length) == 0;
  free(there);
  return same;
}

halotune_status emulation_files_write(const char *folder) {
  struct text path = {0};
  text_printf(&path, "%s/%s", folder, EMULATION_FILES_FOLDER);
  halotune_status status = text_ok(&path) ? folder_make(text_string(&path)) : fail_memory();
  text_free(&path);
  for (size_t i = 0; i < COUNT(files) && status == HALOTUNE_OK; i++) {
    text_printf(&path, "%s/%s", folder, files[i].path);
    if (!text_ok(&path)) status = fail_memory();
    else if (!is_written(path.bytes, files[i].bytes, (size_t)(files[i].end - files[i].bytes))) {
      status = file_replace_cached(path.bytes, files[i].bytes, (size_t)(files[i].end - files[i].bytes));
    }
    text_free(&path);
  }
  return status;
}
