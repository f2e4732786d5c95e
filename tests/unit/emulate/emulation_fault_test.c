/* emulation_fault_test.c: a defect of a kernel is named with its place, and does not affect other kernels. */
#include <sys/stat.h>

#include "tests/unit/emulate/emulation_kernel.h"
#include "tuner/emulate/emulation_runner.h"

/* How many of the six orders must show the fault. In the other orders the numbers may be right. */
enum { EVERY_ORDER, SOME_ORDER };

#define SHARED_TILE 64, 64 * sizeof(float)

static const struct {
  const char *name;
  enum emulation_outcome_kind want;
  const char *text; /* must occur in the message */
  int orders;
  unsigned block;
  size_t shared_bytes;
  const char *source;
} rows[] = {
    {"a barrier is missing", EMULATION_UNWRITTEN_SHARED, "shared memory that was read before it was written",
     SOME_ORDER, SHARED_TILE,
     HEAD "  float *s = SHARED_MEMORY(float);\n"
          "  s[threadIdx.x] = u[i];\n"
          "  v[i] = threadIdx.x > 0 ? s[threadIdx.x - 1] : 0;\n}\n"},
    {"a barrier is missing, doubles", EMULATION_UNWRITTEN_SHARED, "shared memory", SOME_ORDER, 64, 64 * sizeof(double),
     HEAD "  double *s = SHARED_MEMORY(double);\n"
          "  s[threadIdx.x] = u[i];\n"
          "  v[i] = 0;\n"
          "  if (i < 100) reinterpret_cast<double *>(v)[i] = threadIdx.x > 1 ? 1.0 - s[threadIdx.x - 1] : 0;\n}\n"},
    {"shared memory that nobody writes", EMULATION_UNWRITTEN_SHARED, "element 0", EVERY_ORDER, SHARED_TILE,
     HEAD "  v[i] = 2*SHARED_MEMORY(float)[threadIdx.x] + 1;\n}\n"},
    {"barriers in two branches", EMULATION_DIVERGENT_BARRIER, "this thread comes to the barrier in line", EVERY_ORDER,
     SHARED_TILE,
     HEAD "  if (threadIdx.x < 5)\n"
          "    __syncthreads();\n"
          "  else\n"
          "    __syncthreads();\n"
          "  v[i] = 0;\n}\n"},
    {"a barrier in a loop of different length", EMULATION_MISSED_BARRIER, "barrier in line 3", EVERY_ORDER, SHARED_TILE,
     HEAD "  for (unsigned k = 0; k <= threadIdx.x; k++) __syncthreads();\n"
          "  v[i] = 0;\n}\n"},
    {"threads return before the barrier", EMULATION_MISSED_BARRIER,
     "32 of 64 threads wait at the barrier in line 4; 32 left the kernel before it", EVERY_ORDER, SHARED_TILE,
     HEAD "  if (threadIdx.x >= 32) return;\n"
          "  __syncthreads();\n"
          "  v[i] = 0;\n}\n"},
    {"lanes in different operations", EMULATION_DIVERGENT_BARRIER, "lanes of warp 0 meet in different operations",
     EVERY_ORDER, 32, 0,
     HEAD "  int x = i;\n"
          "  if (i%32 < 8) x = __shfl_sync(0xffffffffu, x, 0);\n"
          "  else x = __shfl_xor_sync(0xffffffffu, x, 1);\n"
          "  v[i] = x;\n}\n"},
    {"a lane waits at the barrier, others for it", EMULATION_DIVERGENT_BARRIER, "waits in line 4 for lanes 0xffffffff",
     EVERY_ORDER, 32, 0,
     HEAD "  if (i%32 == 3) __syncthreads();\n"
          "  v[i] = __any_sync(0xffffffffu, i);\n}\n"},
    {"a mask without the lane", EMULATION_DIVERGENT_BARRIER, "is not in the mask", EVERY_ORDER, 32, 0,
     HEAD "  v[i] = __any_sync(0x0000ffffu, i);\n}\n"},
    {"a shuffle from a lane that takes no part", EMULATION_UNDEFINED, "a lane that takes no part", EVERY_ORDER, 32, 0,
     HEAD "  v[i] = 0;\n"
          "  if (i%32 < 8) v[i] = __shfl_sync(0xffu, u[i], 9);\n}\n"},
    {"a product of matrices without a lane", EMULATION_DIVERGENT_BARRIER,
     "only lanes 0xfffffff7 of warp 0 multiply matrices", EVERY_ORDER, 32, 0,
     HEAD "  double a[4] = {}, b[2] = {}, sums[4] = {};\n"
          "  if (i == 3) return;\n"
          "  multiply_matrices(a, b, sums);\n"
          "  v[i] = sums[0];\n}\n"},
    {"a product of matrices beside a shuffle", EMULATION_DIVERGENT_BARRIER,
     "lanes of warp 0 meet in different operations", EVERY_ORDER, 32, 0,
     HEAD "  double a[4] = {}, b[2] = {}, sums[4] = {};\n"
          "  if (i%32 < 8) sums[0] = __shfl_sync(0xffffffffu, u[i], 0);\n"
          "  else multiply_matrices(a, b, sums);\n"
          "  v[i] = sums[0];\n}\n"},
    {"a copy without a wait", EMULATION_UNWAITED_COPY, "before it was waited for", EVERY_ORDER, SHARED_TILE,
     HEAD "  float *s = SHARED_MEMORY(float);\n"
          "  async_copy<4>(s + threadIdx.x, u + i);\n"
          "  async_commit();\n"
          "  __syncthreads();\n"
          "  v[i] = s[threadIdx.x];\n}\n"},
    {"a wait for a copy that was not committed", EMULATION_UNWAITED_COPY, "element 0", EVERY_ORDER, SHARED_TILE,
     HEAD "  float *s = SHARED_MEMORY(float);\n"
          "  async_copy<4>(s + threadIdx.x, u + i);\n"
          "  async_wait<0>();\n"
          "  v[i] = s[threadIdx.x];\n}\n"},
    {"a wait that leaves a group pending", EMULATION_UNWAITED_COPY, "element 0", EVERY_ORDER, SHARED_TILE,
     HEAD "  float *s = SHARED_MEMORY(float);\n"
          "  async_copy<4>(s + threadIdx.x, u + i);\n"
          "  async_commit();\n"
          "  async_wait<1>();\n"
          "  v[i] = s[threadIdx.x];\n}\n"},
    {"a copy beyond shared memory", EMULATION_OUT_OF_BOUNDS, "to byte 256 of 256 bytes", EVERY_ORDER, SHARED_TILE,
     HEAD "  async_copy<4>(SHARED_MEMORY(float) + threadIdx.x + 1, u + i);\n}\n"},
    {"a misaligned copy", EMULATION_MISALIGNED, "asynchronous copy of 8 bytes in line 3", EVERY_ORDER, SHARED_TILE,
     HEAD "  async_copy<8>(SHARED_MEMORY(float), u + 1);\n}\n"},
    {"a bulk copy without a wait", EMULATION_UNWAITED_COPY, "before it was waited for", EVERY_ORDER, SHARED_TILE,
     HEAD "  float *s = SHARED_MEMORY(float);\n"
          "  unsigned long long *barrier = reinterpret_cast<unsigned long long *>(s + 32);\n"
          "  if (threadIdx.x == 0) {\n    barrier_init(barrier, 1);\n    barrier_expect(barrier, 128);\n"
          "    bulk_copy(s, u, 128, barrier);\n  }\n"
          "  __syncthreads();\n"
          "  v[i] = s[threadIdx.x%32];\n  barrier_wait(barrier, 0);\n}\n"},
    {"a wait for bytes that never come", EMULATION_HUNG, "all threads that can run spin", EVERY_ORDER, SHARED_TILE,
     HEAD "  unsigned long long *barrier = SHARED_MEMORY(unsigned long long);\n"
          "  if (threadIdx.x == 0) {\n    barrier_init(barrier, 1);\n    barrier_expect(barrier, 32);\n"
          "    bulk_copy(barrier + 2, u, 16, barrier);\n  }\n"
          "  __syncthreads();\n"
          "  barrier_wait(barrier, 0);\n  v[i] = 0;\n}\n"},
    {"a bulk copy beyond shared memory", EMULATION_OUT_OF_BOUNDS, "to byte 240 of 256 bytes", EVERY_ORDER, SHARED_TILE,
     HEAD "  bulk_copy(SHARED_MEMORY(float) + 60, u, 32, SHARED_MEMORY(unsigned long long));\n}\n"},
    {"a misaligned bulk copy", EMULATION_MISALIGNED, "bulk copy of 16 bytes in line 3", EVERY_ORDER, SHARED_TILE,
     HEAD "  bulk_copy(SHARED_MEMORY(float), u + 1, 16, SHARED_MEMORY(unsigned long long) + 4);\n}\n"},
    {"one arrival too many", EMULATION_UNDEFINED, "once too often", EVERY_ORDER, SHARED_TILE,
     HEAD
     "  unsigned long long *barrier = SHARED_MEMORY(unsigned long long);\n"
     "  if (threadIdx.x == 0) {\n    barrier_init(barrier, 1);\n    barrier_expect(barrier, 16);\n    barrier_expect(barrier, 16);\n  }\n"
     "  v[i] = 0;\n}\n"},
    {"a write behind a buffer", EMULATION_OUT_OF_BOUNDS,
     "byte 1024 was written, of the 1024 bytes of argument 1's buffer", EVERY_ORDER, 64, 0,
     HEAD "  v[i + 1] = u[i];\n  v[0] = 0;\n}\n"},
    {"a write before a buffer", EMULATION_OUT_OF_BOUNDS, "byte -4 was written", EVERY_ORDER, 64, 0,
     HEAD "  v[i] = v[i - 1] = 0;\n}\n"},
    {"a read behind a buffer", EMULATION_OUT_OF_BOUNDS, "comes from memory outside of a buffer", EVERY_ORDER, 64, 0,
     HEAD "  v[i] = u[i + 1];\n}\n"},
    {"an access far behind a buffer", EMULATION_OUT_OF_BOUNDS, "byte 4000000 of the buffer of argument 1", EVERY_ORDER,
     64, 0, HEAD "  v[1000000] = u[i];\n}\n"},
    {"shared memory overrun", EMULATION_OUT_OF_BOUNDS,
     "byte 256 of shared memory was written, but the block has only 256 bytes", EVERY_ORDER, SHARED_TILE,
     HEAD "  SHARED_MEMORY(float)[threadIdx.x + 1] = u[i];\n  v[i] = 0;\n}\n"},
    {"a misaligned vector", EMULATION_MISALIGNED, "misaligned vector access of 16 bytes", EVERY_ORDER, 64, 0,
     HEAD "  float a[4];\n"
          "  load_vector(u + i + 1, a);\n"
          "  v[i] = a[0];\n}\n"},
    {"a misaligned vector of doubles", EMULATION_MISALIGNED, "misaligned vector access of 32 bytes at", EVERY_ORDER, 1,
     0,
     HEAD "  double a[4];\n"
          "  load_vector(reinterpret_cast<const double *>(u) + 1, a);\n"
          "  v[i] = a[0];\n}\n"},
    {"a null pointer", EMULATION_CRASHED, "Segmentation fault at address (nil)", EVERY_ORDER, 64, 0,
     HEAD "  float *volatile p = nullptr;\n"
          "  v[i] = *p;\n}\n"},
    {"a division by zero", EMULATION_CRASHED, "Floating point exception", EVERY_ORDER, 64, 0,
     HEAD "  volatile int zero = 0;\n"
          "  v[i] = n/zero;\n}\n"},
    {"endless recursion", EMULATION_CRASHED, "more than 64 KiB of stack", EVERY_ORDER, 64, 0,
     "static __noinline__ int deep(volatile int *p) { volatile int x[64]; x[*p] = 1; return deep(x) + x[*p]; }\n" HEAD
     "  volatile int zero = 0;\n"
     "  v[i] = deep(&zero);\n}\n"},
    {"an endless loop", EMULATION_HUNG, "still runs after 300 ms of processor time", SOME_ORDER, 64, 0,
     HEAD "  while (*(volatile unsigned *)words == 0) {}\n  v[i] = 0;\n}\n"},
    {"a wait for what never comes", EMULATION_HUNG, "line 3 waits for something that no running block does",
     EVERY_ORDER, 16, 0, HEAD "  while (load_acquire(words) == 0) spin_yield();\n  v[i] = 0;\n}\n"},
    {"a look-back by block number", EMULATION_HUNG, "4 are running, 4 of 8 have begun", SOME_ORDER, 32, 0,
     HEAD "  while (blockIdx.x > 0 && load_acquire(words + blockIdx.x - 1) == 0) spin_yield();\n"
          "  v[i] = 0;\n"
          "  __syncthreads();\n"
          "  if (threadIdx.x == 0) store_release(words + blockIdx.x, 1);\n}\n"},
    {"texels of another size", EMULATION_UNDEFINED, "texels of 8 bytes from a texture of 4", EVERY_ORDER, 64, 0,
     HEAD "  v[i] = tex1Dfetch<int2>(image, 0).x;\n}\n"},
    {"no texture object", EMULATION_UNDEFINED, "which is not a texture object", EVERY_ORDER, 64, 0,
     HEAD "  v[i] = tex1Dfetch<float>(1234, 0);\n}\n"},
};

/* Whether an outcome is the expected one, except for the numbers in v. */
static bool is_wanted(size_t row, const struct emulation_outcome *outcome) {
  return outcome->kind == (int)rows[row].want && strstr(outcome->text, rows[row].text);
}

TEST(faults_are_named) {
  struct emulation_source sources[COUNT(rows)];
  struct data data = make_data();
  for (size_t row = 0; row < COUNT(rows); row++) sources[row] = kernel_source(rows[row].name, rows[row].source);
  struct emulation_batch *batch = build_kernels(sources, COUNT(rows), false);
  for (size_t row = 0; row < COUNT(rows); row++) {
    const struct emulation_compile *compile = emulation_batch_compile(batch, (int)row);
    int shown = 0;
    CHECK(compile->outcome == COMPILE_OK, "%s: %s", rows[row].name, compile->log);
    for (int order = 0; order < ORDERS && (shown == 0 || rows[row].want != EMULATION_HUNG); order++) {
      struct emulation_outcome outcome =
          run_kernel(batch, (int)row, &data, rows[row].block, 0, rows[row].shared_bytes, order);
      shown += is_wanted(row, &outcome);
      CHECK(is_wanted(row, &outcome) || (rows[row].orders == SOME_ORDER && outcome.kind == EMULATION_OK),
            "%s, order %d: %s: %s, thread %u of block %u", rows[row].name, order, emulation_outcome_name(outcome.kind),
            outcome.text, outcome.thread[0], outcome.block[0]);
    }
    CHECK(shown > 0, "%s: no order shows it", rows[row].name);
  }
  emulation_batch_free(batch);
  free_data(&data);
}

/* The fault is invisible in ascending order, which is why other orders exist. */
TEST(a_missing_barrier_is_right_in_ascending_order_only) {
  struct emulation_source source = kernel_source(rows[0].name, rows[0].source);
  struct data data = make_data();
  struct emulation_batch *batch = build_kernels(&source, 1, false);
  for (int order = 0; order < 3; order++) {
    struct emulation_outcome outcome = run_kernel(batch, 0, &data, 64, 0, rows[0].shared_bytes, order);
    CHECK((outcome.kind == EMULATION_OK) == (order == EMULATION_ASCENDING), "order %d: %s", order, outcome.text);
  }
  emulation_batch_free(batch);
  free_data(&data);
}

TEST(a_report_names_block_and_thread) {
  struct emulation_source source =
      kernel_source("place", HEAD "  float *volatile p = nullptr;\n  if (i == 100) v[i] = *p;\n}\n");
  struct data data = make_data();
  struct emulation_batch *batch = build_kernels(&source, 1, false);
  struct emulation_outcome outcome = run_kernel(batch, 0, &data, 32, 0, 0, 0);
  CHECK_EQ(EMULATION_CRASHED, outcome.kind, "%s", outcome.text);
  CHECK_EQ(3, outcome.block[0], "block");
  CHECK_EQ(4, outcome.thread[0], "thread");
  CHECK(outcome.signal > 0, "signal %d", outcome.signal);
  emulation_batch_free(batch);
  free_data(&data);
}

static const struct {
  const char *name;
  enum emulation_outcome_kind want;
  const char *text, *source;
} sanitized[] = {
    {"a write behind a buffer", EMULATION_OUT_OF_BOUNDS, "AddressSanitizer: use-after-poison",
     HEAD "  v[i + 1] = u[i];\n}\n"},
    {"a read behind a buffer", EMULATION_OUT_OF_BOUNDS, "AddressSanitizer: use-after-poison",
     HEAD "  v[i] = u[i + 1];\n}\n"},
    {"a read behind shared memory", EMULATION_OUT_OF_BOUNDS, "AddressSanitizer: heap-buffer-overflow",
     HEAD "  __syncthreads();\n  v[i] = SHARED_MEMORY(float)[threadIdx.x + 1];\n}\n"},
    {"an overflow", EMULATION_UNDEFINED, "an overflow:3:15: Signed integer overflow",
     HEAD "  v[i] = i + n*10000000;\n}\n"},
    {"an index of an array", EMULATION_UNDEFINED, "Index 9 out of bounds",
     HEAD "  volatile int k = 9;\n  float a[4] = {};\n  v[i] = a[k];\n}\n"},
    {"a null pointer", EMULATION_UNDEFINED, "Load of null pointer",
     HEAD "  float *volatile p = nullptr;\n  v[i] = *p;\n}\n"},
    {"barriers in two branches", EMULATION_DIVERGENT_BARRIER, "barrier in line",
     HEAD "  if (threadIdx.x < 5)\n    __syncthreads();\n  else\n    __syncthreads();\n}\n"},
};

TEST(sanitizers_report_what_they_find) {
  struct emulation_source sources[COUNT(sanitized)];
  struct data data = make_data();
  for (size_t row = 0; row < COUNT(sanitized); row++)
    sources[row] = kernel_source(sanitized[row].name, sanitized[row].source);
  struct emulation_batch *batch = build_kernels(sources, COUNT(sanitized), true);
  for (size_t row = 0; row < COUNT(sanitized); row++) {
    struct emulation_outcome outcome = run_kernel(batch, (int)row, &data, 64, 0, 64 * sizeof(float), 0);
    CHECK_EQ(sanitized[row].want, outcome.kind, "%s: %s", sanitized[row].name, outcome.text);
    CHECK(strstr(outcome.text, sanitized[row].text), "%s: %s", sanitized[row].name, outcome.text);
  }
  emulation_batch_free(batch);
  free_data(&data);
}

/* A program in place of a runner, which keeps its socket or closes it, and never answers. */
TEST(a_runner_that_is_silent_is_killed) {
  static const struct {
    const char *script;
    enum emulation_outcome_kind want;
    const char *text;
  } silent[] = {{"exec sleep 600", EMULATION_HUNG, "the runner does not answer"},
                {"exec 3>&-; exec sleep 600", EMULATION_CRASHED, "Killed"}};
  const struct emulation_request request = {.timeout_ms = 1};
  emulation_runner_grace_ms = 50;
  for (size_t i = 0; i < COUNT(silent); i++) {
    char path[] = "/tmp/halotune-runner-XXXXXX";
    struct emulation_runner runner;
    struct emulation_outcome outcome;
    const int fd = mkstemp(path);
    CHECK(fd >= 0 && dprintf(fd, "#!/bin/sh\n%s\n", silent[i].script) > 0 && fchmod(fd, 0700) == 0 && close(fd) == 0,
          "script");
    CHECK_OK(emulation_runner_start(path, "", -1, &runner));
    CHECK_OK(emulation_runner_ask(&runner, &request, NULL, &outcome, NULL));
    CHECK_EQ(silent[i].want, outcome.kind, "row %zu: %s", i, outcome.text);
    CHECK(strstr(outcome.text, silent[i].text), "row %zu: %s", i, outcome.text);
    CHECK_EQ(0, runner.pid, "row %zu: stopped", i);
    unlink(path);
  }
  emulation_runner_grace_ms = 10000;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(faults_are_named),
      cmocka_unit_test(a_missing_barrier_is_right_in_ascending_order_only),
      cmocka_unit_test(a_report_names_block_and_thread),
      cmocka_unit_test(a_runner_that_is_silent_is_killed),
      cmocka_unit_test(sanitizers_report_what_they_find),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
