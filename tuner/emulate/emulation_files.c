/* emulation_files.c: the files of tuner/emulate/runtime, and one that they share with the program. The assembler builds
 * them into the program. It looks for them from the folder in which the compiler runs, the root of the tree. */
#include "tuner/emulate/emulation_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/own.h"
#include "base/files/replace.h"
#include "base/memory/array.h"
#include "base/text/text.h"

/* clang-format off */
#define HEADER_LIST(X)                                            \
  X(banks_h, "stencil/template/banks.h")                          \
  X(block_h, "tuner/emulate/runtime/block.h")                     \
  X(calls_h, "tuner/emulate/runtime/calls.h")                     \
  X(cluster_h, "tuner/emulate/runtime/cluster.h")                 \
  X(cluster_barrier_h, "tuner/emulate/runtime/cluster_barrier.h") \
  X(copy_h, "tuner/emulate/runtime/copy.h")                       \
  X(count_h, "tuner/emulate/runtime/count.h")                     \
  X(counts_h, "tuner/emulate/runtime/counts.h")                   \
  X(cuda_and_ptx_on_cpu_h, "tuner/emulate/runtime/cuda_and_ptx_on_cpu.h")         \
  X(fiber_h, "tuner/emulate/runtime/fiber.h")                     \
  X(indices_h, "tuner/emulate/runtime/indices.h")                 \
  X(memory_h, "tuner/emulate/runtime/memory.h")                   \
  X(outcome_h, "tuner/emulate/runtime/outcome.h")                 \
  X(poison_h, "tuner/emulate/runtime/poison.h")                   \
  X(protocol_h, "tuner/emulate/runtime/protocol.h")               \
  X(report_h, "tuner/emulate/runtime/report.h")                   \
  X(signals_h, "tuner/emulate/runtime/signals.h")                 \
  X(tensor_copy_h, "tuner/emulate/runtime/tensor_copy.h")         \
  X(texture_h, "tuner/emulate/runtime/texture.h")                 \
  X(thread_order_h, "tuner/emulate/runtime/thread_order.h")       \
  X(turn_h, "tuner/emulate/runtime/turn.h")                       \
  X(warp_h, "tuner/emulate/runtime/warp.h")

#define SOURCE_LIST(X)                                            \
  X(async_c, "tuner/emulate/runtime/async.c")                     \
  X(block_c, "tuner/emulate/runtime/block.c")                     \
  X(bulk_copy_c, "tuner/emulate/runtime/bulk_copy.c")             \
  X(cluster_c, "tuner/emulate/runtime/cluster.c")                 \
  X(cluster_barrier_c, "tuner/emulate/runtime/cluster_barrier.c") \
  X(copy_c, "tuner/emulate/runtime/copy.c")                       \
  X(count_c, "tuner/emulate/runtime/count.c")                     \
  X(fiber_c, "tuner/emulate/runtime/fiber.c")                     \
  X(memory_c, "tuner/emulate/runtime/memory.c")                   \
  X(report_c, "tuner/emulate/runtime/report.c")                   \
  X(runner_c, "tuner/emulate/runtime/runner.c")                   \
  X(signals_c, "tuner/emulate/runtime/signals.c")                 \
  X(tensor_copy_c, "tuner/emulate/runtime/tensor_copy.c")         \
  X(texture_c, "tuner/emulate/runtime/texture.c")                 \
  X(thread_order_c, "tuner/emulate/runtime/thread_order.c")       \
  X(warp_c, "tuner/emulate/runtime/warp.c")
/* clang-format on */

#define EMBED(symbol, file)                                                          \
  __asm__(".pushsection .rodata\n"                                                   \
          "emulation_file_" #symbol ": .incbin \"" file "\"\n"                       \
          "emulation_file_" #symbol "_end: .byte 0\n"                                \
          ".popsection\n");                                                          \
  extern const char emulation_file_##symbol[] __attribute__((visibility("hidden"))); \
  extern const char emulation_file_##symbol##_end[] __attribute__((visibility("hidden")));
HEADER_LIST(EMBED)
SOURCE_LIST(EMBED)

#define AS_ROW(symbol, file) {file, emulation_file_##symbol, emulation_file_##symbol##_end},
static const struct { const char *path, *bytes, *end; } files[] = {HEADER_LIST(AS_ROW) SOURCE_LIST(AS_ROW)};

#define AS_PATH(symbol, file) file,
const char *const emulation_files_runner[] = {SOURCE_LIST(AS_PATH) NULL};
_Static_assert(COUNT(emulation_files_runner) - 1 <= (size_t)EMULATION_FILES_MOST_SOURCES,
               "the compiler's command has no room");

struct hash emulation_files_hash(void) {
  struct hash hashes[COUNT(files)];
  for (size_t i = 0; i < COUNT(files); i++)
    hashes[i] = hash_bytes(files[i].bytes, (size_t)(files[i].end - files[i].bytes));
  return hash_bytes(hashes, sizeof hashes);
}

static bool is_written(const char *path, const char *bytes, size_t length) {
  char *there;
  size_t there_length;
  if (own_file_read(path, length, &there, &there_length) != HALOTUNE_OK) return false;
  bool same = there_length == length && memcmp(there, bytes, length) == 0;
  free(there);
  return same;
}

/* Make the folders of a file below `folder`. None of them may be another user's. */
static halotune_status make_folders_of(const char *folder, const char *file) {
  struct text path = {0};
  halotune_status status = HALOTUNE_OK;
  text_printf(&path, "%s", folder);
  for (const char *end = file; status == HALOTUNE_OK; end++) {
    if (!text_ok(&path)) status = fail_memory();
    if (status == HALOTUNE_OK) status = own_folder_make(text_string(&path));
    file = end;
    if (!(end = strchr(file, '/'))) break;
    text_printf(&path, "/%.*s", (int)(end - file), file);
  }
  text_free(&path);
  return status;
}

halotune_status emulation_files_write(const char *folder) {
  struct text path = {0};
  halotune_status status = HALOTUNE_OK;
  for (size_t i = 0; i < COUNT(files) && status == HALOTUNE_OK; i++) {
    if ((status = make_folders_of(folder, files[i].path)) != HALOTUNE_OK) break;
    text_printf(&path, "%s/%s", folder, files[i].path);
    if (!text_ok(&path)) status = fail_memory();
    else if (!is_written(path.bytes, files[i].bytes, (size_t)(files[i].end - files[i].bytes))) {
      status = file_replace_cached(path.bytes, files[i].bytes, (size_t)(files[i].end - files[i].bytes));
    }
    text_free(&path);
  }
  return status;
}
