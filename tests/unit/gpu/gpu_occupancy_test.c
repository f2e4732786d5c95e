/* gpu_occupancy_test.c: names of architectures; occupancy compared with worked examples and with NVIDIA's own
 * calculation. */
#include <limits.h>

#include <cuda_occupancy.h>

#include "gpu/architecture/occupancy.h"
#include "gpu/compile/arch_support.h"
#include "tests/unit/unit.h"

TEST(architectures_are_read_by_name) {
  static const struct {
    const char *text;
    halotune_status want;
    struct arch arch;
  } rows[] = {
      {"sm_90", HALOTUNE_OK, {9, 0, 0}},      {"sm_75", HALOTUNE_OK, {7, 5, 0}},
      {"sm_100", HALOTUNE_OK, {10, 0, 0}},    {"sm_121", HALOTUNE_OK, {12, 1, 0}},
      {"sm_90a", HALOTUNE_OK, {9, 0, 'a'}},   {"sm_103f", HALOTUNE_OK, {10, 3, 'f'}},
      {"compute_90", HALOTUNE_ARGUMENT, {0}}, {"sm_9", HALOTUNE_ARGUMENT, {0}},
      {"sm_90b", HALOTUNE_ARGUMENT, {0}},     {"sm_90aa", HALOTUNE_ARGUMENT, {0}},
      {"sm_1000", HALOTUNE_ARGUMENT, {0}},    {"sm_090", HALOTUNE_ARGUMENT, {0}},
      {"sm_", HALOTUNE_ARGUMENT, {0}},        {"s", HALOTUNE_ARGUMENT, {0}},
      {"", HALOTUNE_ARGUMENT, {0}},           {"lto_90", HALOTUNE_ARGUMENT, {0}},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct arch got = {0};
    CHECK_EQ(rows[i].want, arch_parse(rows[i].text, &got), "\"%s\"", rows[i].text);
    CHECK_EQ(rows[i].arch.major, got.major, "\"%s\"", rows[i].text);
    CHECK_EQ(rows[i].arch.minor, got.minor, "\"%s\"", rows[i].text);
    CHECK_EQ(rows[i].arch.feature, got.feature, "\"%s\"", rows[i].text);
  }
  CHECK_TEXT("Hopper", arch_find(9, 0)->generation, "9.0");
  CHECK(!arch_find(3, 5), "3.5 is older than the table");
}

TEST(a_gpu_that_nothing_compiles_for_is_told_with_what_to_do) {
  static const struct nvrtc_facts today = {.major = 13, .minor = 0, .arch_count = 3, .archs = {75, 90, 121}};
  static const struct nvrtc_facts old = {.major = 12, .minor = 0, .arch_count = 3, .archs = {50, 75, 90}};
  static const struct nvrtc_facts future = {.major = 14, .minor = 2, .arch_count = 2, .archs = {80, 121}};
  static const struct {
    int capability;
    const struct nvrtc_facts *nvrtc;
    halotune_status want;
    const char *words;
  } rows[] = {
      {90, &today, HALOTUNE_OK, ""},
      {90, NULL, HALOTUNE_OK, ""},
      {75, &old, HALOTUNE_OK, ""},
      {30, &today, HALOTUNE_NO_GPU, "knows 7.5 to 12.1: tune on a newer GPU"},
      {70, &today, HALOTUNE_NO_GPU, "CUDA 12 is the last version"},
      {70, &old, HALOTUNE_NO_GPU, "compute capability 7.0"},
      {990, &today, HALOTUNE_NO_GPU, "install a newer Halotune"},
      {120, &old, HALOTUNE_NO_NVRTC, "install a newer CUDA Toolkit"},
      {75, &future, HALOTUNE_NO_NVRTC, "install an older CUDA Toolkit"},
      {86, &today, HALOTUNE_NO_NVRTC, "$HALOTUNE_NVRTC"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct arch_facts *facts;
    CHECK_EQ(rows[i].want, arch_support("GPU X", rows[i].capability, rows[i].nvrtc, &facts), "row %zu", i);
    CHECK_EQ(rows[i].want == HALOTUNE_OK, facts != NULL, "row %zu", i);
    if (rows[i].want == HALOTUNE_OK) continue;
    CHECK(strstr(fail_text(), rows[i].words), "row %zu: %s", i, fail_text());
    CHECK(strstr(fail_text(), "GPU X"), "row %zu: %s", i, fail_text());
  }
}

/* Devices of the texts from which the examples come. Where a text does not give the registers or the shared memory,
 * they have the sizes of the real device. */
static const struct sm_limits kepler_k20 = {.warp_size = 32,
                                            .max_threads_per_block = 1024,
                                            .max_threads_per_sm = 2048,
                                            .max_blocks_per_sm = 16,
                                            .registers_per_sm = 65536,
                                            .registers_per_block = 65536,
                                            .max_registers_per_thread = 255,
                                            .register_unit = 256,
                                            .sub_partitions = 4,
                                            .shared_per_sm_bytes = 49152,
                                            .shared_per_block_bytes = 49152,
                                            .shared_unit_bytes = 256};
static const struct sm_limits eight_blocks_1024 = {.warp_size = 32,
                                                   .max_threads_per_block = 512,
                                                   .max_threads_per_sm = 1024,
                                                   .max_blocks_per_sm = 8,
                                                   .registers_per_sm = 16384,
                                                   .registers_per_block = 16384,
                                                   .max_registers_per_thread = 127,
                                                   .register_unit = 1,
                                                   .sub_partitions = 1,
                                                   .shared_per_sm_bytes = 16384,
                                                   .shared_per_block_bytes = 16384,
                                                   .shared_unit_bytes = 1};
static const struct sm_limits eight_blocks_768 = {.warp_size = 32,
                                                  .max_threads_per_block = 512,
                                                  .max_threads_per_sm = 768,
                                                  .max_blocks_per_sm = 8,
                                                  .registers_per_sm = 8192,
                                                  .registers_per_block = 8192,
                                                  .max_registers_per_thread = 127,
                                                  .register_unit = 1,
                                                  .sub_partitions = 1,
                                                  .shared_per_sm_bytes = 16384,
                                                  .shared_per_block_bytes = 16384,
                                                  .shared_unit_bytes = 1};

enum { T = 1 << OCCUPANCY_THREADS, R = 1 << OCCUPANCY_REGISTERS, S = 1 << OCCUPANCY_SHARED, B = 1 << OCCUPANCY_BLOCKS };

TEST(worked_examples_come_out_as_printed) {
  static const struct {
    const struct sm_limits *limits;
    struct block_needs needs;
    int blocks, threads;
    unsigned limited_by;
    const char *arithmetic;
  } rows[] = {
      {&kepler_k20, {.threads = 32 * 8, .shared_bytes = 9216}, 5, 1280, S, "shared memory: 49152 / (9216) = 5;"},
      {&eight_blocks_1024,
       {.threads = 8 * 8},
       8,
       512,
       B,
       "threads: 1024 / 64 = 16; blocks: 8; limit: blocks, 8 blocks"},
      {&eight_blocks_1024, {.threads = 16 * 16}, 4, 1024, T, "threads: 1024 / 256 = 4;"},
      {&eight_blocks_1024, {.threads = 64 * 64}, 0, 0, T, "threads: 4096 in a block, at most 512 = 0;"},
      {&eight_blocks_768,
       {.threads = 16 * 16, .registers = 10},
       3,
       768,
       T | R,
       "limit: threads and registers, 3 blocks"},
      {&eight_blocks_768,
       {.threads = 16 * 16, .registers = 11},
       2,
       512,
       R,
       "limit: registers, 2 blocks, 512 of 768 threads"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text out = {0};
    struct occupancy got = occupancy_of(rows[i].limits, &rows[i].needs);
    CHECK_EQ(rows[i].blocks, got.blocks, "row %zu", i);
    CHECK_EQ(rows[i].threads, got.threads, "row %zu", i);
    CHECK_EQ(rows[i].limited_by, got.limits, "row %zu", i);
    CHECK_NEAR((double)rows[i].threads / rows[i].limits->max_threads_per_sm, got.fraction, 0, "row %zu", i);
    occupancy_explain(rows[i].limits, &rows[i].needs, &out);
    CHECK(strstr(text_string(&out), rows[i].arithmetic), "row %zu: %s", i, text_string(&out));
    text_free(&out);
  }
}

TEST(the_arithmetic_is_shown) {
  static const struct {
    int major, minor;
    struct block_needs needs;
    const char *want;
  } rows[] = {
      {9,
       0,
       {.threads = 256, .registers = 40, .shared_bytes = 9216, .barriers = 1},
       "threads: 2048 / 256 = 8; registers: 40 x 32 = 1280 a warp, 65536 / 4 / 1280 = 12 warps in each of 4 parts, 48 "
       "/ 8 = "
       "6; shared memory: 233472 / (9216 + 1024) = 22; blocks: 32; barriers: 64 / 1 = 64; limit: registers, 6 blocks, "
       "1536 "
       "of 2048 threads (75 %)"},
      {7,
       5,
       {.threads = 100, .registers = 33},
       "threads: 1024 / 128 (100 in whole warps) = 8; registers: 33 x 32 = 1056, in units of 256: 1280 a warp, 65536 / "
       "4 / "
       "1280 = 12 warps in each of 4 parts, 48 / 4 = 12; blocks: 16; limit: threads, 8 blocks, 800 of 1024 threads "
       "(100 %)"},
      {8,
       6,
       {.threads = 1024, .registers = 100, .shared_bytes = 102400},
       "threads: 1536 / 1024 = 1; registers: 100 x 32 = 3328 a warp, 32 warps = 106496, at most 65536 a block and 255 "
       "a "
       "thread = 0; shared memory: 102400 bytes in a block, at most 101376 = 0; blocks: 16; limit: registers and "
       "shared "
       "memory, 0 blocks, 0 of 1536 threads (0 %)"},
      {12,
       0,
       {.threads = 64, .shared_bytes = 1000},
       "threads: 1536 / 64 = 24; shared memory: 102400 / (1000 + 1024, in units of 128: 2048) = 50; blocks: 24; limit: "
       "threads and blocks, 24 blocks, 1536 of 1536 threads (100 %)"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text out = {0};
    occupancy_explain(&arch_find(rows[i].major, rows[i].minor)->limits, &rows[i].needs, &out);
    CHECK_TEXT(rows[i].want, text_string(&out), "row %zu", i);
    text_free(&out);
  }
}

static const struct {
  int major, minor;
} capabilities[] = {{7, 5}, {8, 0},  {8, 6},  {8, 7},  {8, 8},  {8, 9},
                    {9, 0}, {10, 0}, {10, 3}, {11, 0}, {12, 0}, {12, 1}};

static cudaOccDeviceProp device_of(const struct arch_facts *facts) {
  const struct sm_limits *limits = &facts->limits;
  return (cudaOccDeviceProp){
      .computeMajor = facts->major,
      .computeMinor = facts->minor,
      .maxThreadsPerBlock = limits->max_threads_per_block,
      .maxThreadsPerMultiprocessor = limits->max_threads_per_sm,
      .regsPerBlock = limits->registers_per_block,
      .regsPerMultiprocessor = limits->registers_per_sm,
      .warpSize = limits->warp_size,
      .sharedMemPerBlock = 49152,
      .sharedMemPerMultiprocessor = (size_t)limits->shared_per_sm_bytes,
      .numSms = 1,
      .sharedMemPerBlockOptin = (size_t)limits->shared_per_block_bytes,
      .reservedSharedMemPerBlock = (size_t)limits->shared_reserved_bytes,
  };
}

/* NVIDIA's result for dynamic shared memory, with the opt-in that the block needs. */
static cudaOccResult nvidia_says(const cudaOccDeviceProp *device, const struct block_needs *needs) {
  const cudaOccDeviceState state = {.cacheConfig = CACHE_PREFER_NONE, .carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
  const cudaOccFuncAttributes function = {
      .maxThreadsPerBlock = INT_MAX,
      .numRegs = needs->registers,
      .partitionedGCConfig = PARTITIONED_GC_OFF,
      .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
      .maxDynamicSharedSizeBytes = (size_t)needs->shared_bytes,
      .numBlockBarriers = needs->barriers,
  };
  cudaOccResult result;
  CHECK_EQ(CUDA_OCC_SUCCESS,
           cudaOccMaxActiveBlocksPerMultiprocessor(&result, device, &function, &state, needs->threads,
                                                   (size_t)needs->shared_bytes),
           "%d.%d", device->computeMajor, device->computeMinor);
  return result;
}

static void compare_with_nvidia(const struct arch_facts *facts, const cudaOccDeviceProp *device,
                                const struct block_needs *needs) {
  cudaOccResult want = nvidia_says(device, needs);
  struct occupancy got = occupancy_of(&facts->limits, needs);
  const int limits[OCCUPANCY_RESOURCES] = {want.blockLimitWarps, want.blockLimitRegs, want.blockLimitSharedMem,
                                           want.blockLimitBlocks, want.blockLimitBarriers};
  bool same = got.blocks == want.activeBlocksPerMultiprocessor;
  for (int i = 0; i < OCCUPANCY_RESOURCES; i++) same = same && limits[i] == got.blocks_by[i];
  CHECK(same, "%d.%d, %d threads, %d registers, %d bytes, %d barriers: want %d, got %d", facts->major, facts->minor,
        needs->threads, needs->registers, needs->shared_bytes, needs->barriers, want.activeBlocksPerMultiprocessor,
        got.blocks);
}

TEST(our_arithmetic_is_that_of_cuda_occupancy) {
  for (size_t i = 0; i < COUNT(capabilities); i++) {
    const struct arch_facts *facts = arch_find(capabilities[i].major, capabilities[i].minor);
    CHECK(facts, "%d.%d", capabilities[i].major, capabilities[i].minor);
    const cudaOccDeviceProp device = device_of(facts);
    struct block_needs needs;
    for (needs.threads = 1; needs.threads <= 1056; needs.threads += 31) {
      for (needs.registers = 0; needs.registers <= 255; needs.registers += 5) {
        for (needs.shared_bytes = 0; needs.shared_bytes <= 235000; needs.shared_bytes += 4999) {
          needs.barriers = (needs.threads + needs.registers) % 17;
          compare_with_nvidia(facts, &device, &needs);
        }
      }
    }
    /* Every size around the limits. */
    needs = (struct block_needs){.threads = 128, .registers = 32, .barriers = 1};
    for (int around = -300; around <= 300; around++) {
      const int edges[] = {300, 49152, facts->limits.shared_per_block_bytes, facts->limits.shared_per_sm_bytes / 2};
      for (size_t j = 0; j < COUNT(edges); j++) {
        needs.shared_bytes = edges[j] + around;
        compare_with_nvidia(facts, &device, &needs);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_gpu_that_nothing_compiles_for_is_told_with_what_to_do),
      cmocka_unit_test(architectures_are_read_by_name),
      cmocka_unit_test(worked_examples_come_out_as_printed),
      cmocka_unit_test(the_arithmetic_is_shown),
      cmocka_unit_test(our_arithmetic_is_that_of_cuda_occupancy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
