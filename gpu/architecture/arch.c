/* arch.c: what one multiprocessor of each architecture holds and computes. What it holds is from NVIDIA's table
 * "technical specifications per compute capability" (CUDA programming guide, 13). tests/unit/gpu/gpu_occupancy_test.c
 * compares blocks, unit and barriers with the toolkit's cuda_occupancy.h. */
#include "gpu/architecture/arch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"

enum { KB = 1024 };

/* The limits that all architectures share, and the six in which they differ. A block may use all of the shared memory
 * except the reserved part. */
#define LIMITS(threads, blocks, shared_kb, reserved, shared_unit, barriers)                                         \
  {                                                                                                                 \
    .warp_size = 32, .max_threads_per_block = 1024, .max_threads_per_sm = (threads), .max_blocks_per_sm = (blocks), \
    .registers_per_sm = 64 * KB, .registers_per_block = 64 * KB, .max_registers_per_thread = 255,                   \
    .register_unit = 256, .sub_partitions = 4, .shared_per_sm_bytes = (shared_kb)*KB,                               \
    .shared_per_block_bytes = (shared_kb)*KB - (reserved), .shared_reserved_bytes = (reserved),                     \
    .shared_unit_bytes = (shared_unit), .max_barriers_per_sm = (barriers),                                          \
  }

/* Results a clock are from NVIDIA's table "throughput of native arithmetic instructions" (CUDA programming guide, 13).
 * 0: the table was not read for this capability. */
/* clang-format off */
static const struct arch_facts table[] = {
    /*                       multiprocessors  threads blocks shared reserved unit barriers   f32 f64  GHz */
    {7, 5, "Turing",         72, LIMITS(1024, 16,  64,    0, 256,  0), { 64,  2}, 2.2},
    {8, 0, "Ampere",        108, LIMITS(2048, 32, 164, 1024, 128,  0), { 64, 32}, 1.5},
    {8, 6, "Ampere",         84, LIMITS(1536, 16, 100, 1024, 128,  0), {128,  2}, 2.2},
    {8, 7, "Ampere",         16, LIMITS(1536, 16, 164, 1024, 128,  0), {128,  2}, 0},
    {8, 8, "Ampere",         32, LIMITS(1536, 16, 100, 1024, 128,  0), {  0,  0}, 0},
    {8, 9, "Ada Lovelace",  142, LIMITS(1536, 24, 100, 1024, 128,  0), {128,  2}, 3.2},
    {9, 0, "Hopper",        132, LIMITS(2048, 32, 228, 1024, 128, 64), {128, 64}, 2.0},
    {10, 0, "Blackwell",    148, LIMITS(2048, 32, 228, 1024, 128, 64), {128, 64}, 2.1},
    {10, 3, "Blackwell",    148, LIMITS(2048, 32, 228, 1024, 128, 64), {128,  2}, 0},
    {11, 0, "Blackwell",     20, LIMITS(1536, 24, 228, 1024, 128, 24), {  0,  0}, 0},
    {12, 0, "Blackwell",    188, LIMITS(1536, 24, 100, 1024, 128, 24), {128,  2}, 3.2},
    {12, 1, "Blackwell",     48, LIMITS(1536, 24, 100, 1024, 128, 24), {128,  2}, 0},
};
/* clang-format on */

/* Whether `text` is sm_, two or three digits, and optionally a feature letter. */
static bool is_real(const char *text) {
  if (strncmp(text, "sm_", 3) != 0) return false;
  size_t digits = strspn(text + 3, "0123456789");
  const char *feature = text + 3 + digits;
  return (digits == 2 || digits == 3) && text[3] != '0' &&
         (strcmp(feature, "") == 0 || strcmp(feature, "a") == 0 || strcmp(feature, "f") == 0);
}

halotune_status arch_parse(const char *text, struct arch *out) {
  if (strncmp(text, "compute_", strlen("compute_")) == 0) {
    return fail(HALOTUNE_ARGUMENT, "\"%s\" is a virtual architecture (PTX); name a real one, such as sm_90", text);
  }
  if (!is_real(text)) return fail(HALOTUNE_ARGUMENT, "\"%s\" is not an architecture such as sm_90 or sm_100a", text);
  char *feature;
  int number = (int)strtol(text + 3, &feature, 10);
  *out = (struct arch){.major = number / 10, .minor = number % 10, .feature = *feature};
  return HALOTUNE_OK;
}

const struct arch_facts *arch_find(int major, int minor) {
  for (size_t i = 0; i < COUNT(table); i++) {
    if (table[i].major == major && table[i].minor == minor) return &table[i];
  }
  return NULL;
}

double arch_peak_gops(int capability, enum dtype dtype) {
  const struct arch_facts *facts = arch_find(capability / 10, capability % 10);
  return facts ? facts->results_per_clock[dtype] * facts->clock_ghz : 0;
}

const struct arch_facts *arch_oldest(void) { return &table[0]; }

const struct arch_facts *arch_newest(void) { return &table[COUNT(table) - 1]; }

struct device_limits arch_device_limits(const struct arch_facts *facts) {
  const struct sm_limits *l = &facts->limits;
  return (struct device_limits){.capability = 10 * facts->major + facts->minor,
                                .max_threads = l->max_threads_per_block,
                                .max_threads_sm = l->max_threads_per_sm,
                                .max_registers = l->max_registers_per_thread,
                                .registers_sm = l->registers_per_sm,
                                .max_shared_bytes = l->shared_per_block_bytes,
                                .warp_size = l->warp_size,
                                .multiprocessors = facts->multiprocessors};
}
