/* emulation_sm_90_test.c: tensor maps, clusters and overlapping launches in the emulation. Right kernels pass in every
 * order, and defects are named. Each kernel has these parameters:
 *   u    a field of 16 rows of 16 numbers, 0, 1, 2, ...
 *   v    a field of the same shape, poisoned; the kernel computes it
 *   in   a tensor map of u with boxes of 8x4 elements; in three dimensions planes of 16x4 and boxes of 8x2x2
 *   out  a tensor map of v */
#include "tests/unit/emulate/emulation_build.h"

enum { ROW = 16, POINTS = ROW * ROW, ROW_BYTES = ROW * 4, ORDERS = 6 };

#define KERNEL                                                                                                                  \
  "extern \"C\" __global__ void __launch_bounds__(256) kernel(const float *u, float *v, const __grid_constant__ TensorMap in, " \
  "const __grid_constant__ TensorMap out) {\n"                                                                                  \
  "  const int i = blockIdx.x*blockDim.x + threadIdx.x; (void)i;\n"                                                             \
  "  float *s = SHARED_MEMORY(float);\n"                                                                                        \
  "  unsigned long long *barrier = reinterpret_cast<unsigned long long *>(s + 64); (void)barrier;\n"                            \
  "  const bool is_first = threadIdx.x == 0; (void)is_first;\n"

/* Make a barrier for one arrival. */
#define INIT "  if (is_first) {\n    barrier_init(barrier, 1);\n    barrier_init_done();\n  }\n  __syncthreads();\n"

struct row {
  const char *name;
  enum emulation_outcome_kind want;
  const char *text; /* must occur in the message */
  unsigned block, grid, cluster;
  int rank;
  bool overlaps;
  const char *source;
};

static const struct row rows[] = {
    {"boxes of two dimensions, all of them in the grid", EMULATION_OK, "", 32, 8, 1, 2, false,
     KERNEL INIT
     "  const int x = int(blockIdx.x%2)*8, y = int(blockIdx.x/2)*4;\n"
     "  if (is_first) {\n    tensor_prefetch(&in);\n    barrier_expect(barrier, 128);\n    tensor_copy(s, &in, x, y, barrier);\n  }\n"
     "  barrier_wait(barrier, 0);\n"
     "  v[(y + threadIdx.x/8)*16 + x + threadIdx.x%8] = s[threadIdx.x];\n}\n"},
    {"boxes of three dimensions", EMULATION_OK, "", 32, 8, 1, 3, false,
     KERNEL INIT
     "  const int x = int(blockIdx.x%2)*8, y = int(blockIdx.x/2%2)*2, z = int(blockIdx.x/4)*2;\n"
     "  if (is_first) {\n    barrier_expect(barrier, 128);\n    tensor_copy(s, &in, x, y, z, barrier);\n  }\n"
     "  barrier_wait(barrier, 0);\n"
     "  v[((z + threadIdx.x/16)*4 + y + threadIdx.x/8%2)*16 + x + threadIdx.x%8] = s[threadIdx.x];\n}\n"},
    {"zeros beyond the grid, on all sides", EMULATION_OK, "", 32, 8, 1, 2,
     false, /* a zero is replaced by the number that belongs there */
     KERNEL INIT
     "  const int bx = int(blockIdx.x%2)*8, by = int(blockIdx.x/2)*4;\n"
     "  const int dx = bx == 0 ? -4 : 4, dy = by == 0 ? -1 : 2, px = int(threadIdx.x%8), py = int(threadIdx.x/8);\n"
     "  if (is_first) {\n    barrier_expect(barrier, 128);\n    tensor_copy(s, &in, bx + dx, by + dy, barrier);\n  }\n"
     "  barrier_wait(barrier, 0);\n"
     "  const int x = bx + dx + px, y = by + dy + py, own = (by + py)*16 + bx + px;\n"
     "  const bool inside = x >= 0 && x < 16 && y >= 0 && y < 16;\n"
     "  v[own] = own + (s[threadIdx.x] - (inside ? y*16 + x : 0));\n}\n"},
    {"stores, in groups", EMULATION_OK, "", 32, 8, 1, 2, false,
     KERNEL
     "  const int x = int(blockIdx.x%2)*8, y = int(blockIdx.x/2)*4;\n"
     "  s[threadIdx.x] = u[(y + threadIdx.x/8)*16 + x + threadIdx.x%8];\n"
     "  s[32 + threadIdx.x] = -1;\n"
     "  tensor_fence();\n  __syncthreads();\n"
     "  if (is_first) {\n    tensor_store(&out, x, y, s);\n    tensor_store_commit();\n    tensor_store(&out, x, 16, s + 32);\n"
     "    tensor_store(&out, 16, y, s + 32);\n    tensor_store_commit();\n    tensor_store_wait<1>();\n    s[0] = 7;\n    tensor_store_wait<0>();\n  }\n}\n"},
    {"a box that is not waited for", EMULATION_UNWAITED_COPY, "before it was waited for", 32, 8, 1, 2, false,
     KERNEL INIT "  if (is_first) {\n    barrier_expect(barrier, 128);\n    tensor_copy(s, &in, 0, 0, barrier);\n  }\n"
                 "  __syncthreads();\n  v[i] = s[threadIdx.x];\n  barrier_wait(barrier, 0);\n}\n"},
    {"a box for which the block never waits", EMULATION_UNWAITED_COPY,
     "copies by the engine were not complete when the block ended: 1, the first of 128 bytes in line 13", 32, 8, 1, 2,
     false,
     KERNEL INIT "  if (is_first) {\n    barrier_expect(barrier, 128);\n    tensor_copy(s, &in, 0, 0, barrier);\n  }\n"
                 "  v[i] = u[i];\n}\n"},
    {"fewer bytes than the box has", EMULATION_HUNG, "all threads that can run spin", 32, 8, 1, 2, false,
     KERNEL INIT "  if (is_first) {\n    barrier_expect(barrier, 96);\n    tensor_copy(s, &in, 12, 0, barrier);\n  }\n"
                 "  barrier_wait(barrier, 0);\n  v[i] = u[i];\n}\n"},
    {"a barrier at which each thread of a large block arrives", EMULATION_OK, "", 256, 1, 1, 2, false,
     KERNEL
     "  if (is_first) {\n    barrier_init(barrier, 256);\n    barrier_init_done();\n  }\n  __syncthreads();\n"
     "  for (int phase = 0; phase < 2; phase++) {\n    barrier_expect(barrier, 0);\n    barrier_wait(barrier, phase);\n  }\n"
     "  v[i] = u[i];\n}\n"},
    {"a barrier for no arrival", EMULATION_UNDEFINED, "makes a barrier for 0 arrivals; from 1 to 16384 are possible",
     32, 8, 1, 2, false, KERNEL "  if (is_first) barrier_init(barrier, 0);\n  v[i] = u[i];\n}\n"},
    {"a box that is misaligned", EMULATION_MISALIGNED, "at byte 16 of shared memory, which is not a multiple of 128",
     32, 8, 1, 2, false, KERNEL "  tensor_copy(s + 4, &in, 0, 0, barrier);\n}\n"},
    {"a box behind shared memory", EMULATION_OUT_OF_BOUNDS,
     "a tensor copy of 128 bytes in line 6 at byte 256 of 320 bytes", 32, 8, 1, 2, false,
     KERNEL "  tensor_copy(s + 64, &in, 0, 0, barrier);\n}\n"},
    {"a box that begins between multiples of 16 bytes", EMULATION_MISALIGNED,
     "line 6 copies a box that begins at x = 6", 32, 8, 1, 2, false,
     KERNEL "  tensor_copy(s, &in, 6, 0, barrier);\n}\n"},
    {"one beyond the grid that does", EMULATION_MISALIGNED, "byte -12 of a row, which is not a multiple of 16", 32, 8,
     1, 3, false, KERNEL "  tensor_copy(s, &in, -3, 0, 0, barrier);\n}\n"},
    {"a store that does", EMULATION_MISALIGNED, "byte 4 of a row, which is not a multiple of 16", 32, 8, 1, 2, false,
     KERNEL
     "  s[threadIdx.x] = 0;\n  tensor_fence();\n  __syncthreads();\n  if (is_first) tensor_store(&out, 1, 0, s);\n}\n"},
    {"a store at a negative x", EMULATION_UNDEFINED, "begins at -4, 0, 0; no coordinate of a store may be negative", 32,
     8, 1, 2, false,
     KERNEL
     "  s[threadIdx.x] = 0;\n  tensor_fence();\n  __syncthreads();\n  if (is_first) tensor_store(&out, -4, 0, s);\n}\n"},
    {"at a negative y, wholly beyond the grid", EMULATION_UNDEFINED, "begins at 0, -4, 0;", 32, 8, 1, 2, false,
     KERNEL
     "  s[threadIdx.x] = 0;\n  tensor_fence();\n  __syncthreads();\n  if (is_first) tensor_store(&out, 0, -4, s);\n}\n"},
    {"at a negative z", EMULATION_UNDEFINED, "begins at 0, 0, -1;", 32, 8, 1, 3, false,
     KERNEL
     "  s[threadIdx.x] = 0;\n  tensor_fence();\n  __syncthreads();\n  if (is_first) tensor_store(&out, 0, 0, -1, s);\n}\n"},
    {"the wrong number of dimensions", EMULATION_UNDEFINED, "in 3 dimensions with a tensor map of 2 dimensions", 32, 8,
     1, 2, false, KERNEL "  tensor_copy(s, &in, 0, 0, 0, barrier);\n}\n"},
    {"no tensor map", EMULATION_UNDEFINED, "with something that is not a tensor map", 32, 8, 1, 2, false,
     KERNEL "  TensorMap own = {};\n  tensor_copy(s, &own, 0, 0, barrier);\n}\n"},
    {"a store without a wait", EMULATION_OK, "", 32, 8, 1, 2, false, /* v shows which elements it does not store */
     KERNEL "  s[threadIdx.x] = 0;\n  tensor_fence();\n  __syncthreads();\n"
            "  if (is_first) {\n    tensor_store(&out, 0, 0, s);\n    tensor_store_commit();\n  }\n}\n"},
    {"a store without a fence", EMULATION_UNDEFINED, "no thread called tensor_fence()", 32, 8, 1, 2, false,
     KERNEL "  s[threadIdx.x] = 0;\n  __syncthreads();\n  if (is_first) tensor_store(&out, 0, 0, s);\n}\n"},
    {"shared memory that changes under a store", EMULATION_UNWAITED_COPY, "was written between line 9", 32, 8, 1, 2,
     false,
     KERNEL
     "  s[threadIdx.x] = 0;\n  tensor_fence();\n  __syncthreads();\n"
     "  if (is_first) tensor_store(&out, 0, 0, s);\n  if (is_first) tensor_store_commit();\n"
     "  __syncthreads();\n  s[threadIdx.x] = 1;\n  __syncthreads();\n  if (is_first) tensor_store_wait<0>();\n}\n"},
    {"a cluster whose blocks read each other", EMULATION_OK, "", 32, 8, 4, 2, false,
     KERNEL
     "  s[threadIdx.x] = u[i];\n  cluster_sync();\n"
     "  const unsigned other = (cluster_rank() + 3)%4;\n"
     "  v[(blockIdx.x/4*4 + other)*32 + threadIdx.x] = cluster_map(s, other)[threadIdx.x];\n  cluster_sync();\n}\n"},
    {"a cluster whose blocks signal each other", EMULATION_OK, "", 32, 8, 2, 2, false,
     KERNEL "  if (is_first) {\n    barrier_init(barrier, 2);\n    barrier_init_done();\n  }\n  cluster_sync();\n"
            "  s[threadIdx.x] = u[i];\n  __syncthreads();\n"
            "  if (threadIdx.x < 2) cluster_arrive(barrier, threadIdx.x);\n  cluster_wait(barrier, 0);\n"
            "  const unsigned other = cluster_rank()^1;\n"
            "  v[(blockIdx.x^1)*32 + threadIdx.x] = cluster_map(s, other)[threadIdx.x];\n  cluster_sync();\n}\n"},
    {"threads that left, and a cluster that meets without them", EMULATION_OK, "", 32, 8, 8, 2, false,
     KERNEL "  v[i] = u[i];\n  if (threadIdx.x%3 == 0) return;\n  cluster_sync();\n}\n"},
    {"a cluster that does not meet before it reads", EMULATION_UNWRITTEN_SHARED, "before it was written", 32, 8, 4, 2,
     false,
     KERNEL
     "  s[threadIdx.x] = u[i];\n"
     "  v[i] = cluster_map(s, (cluster_rank() + 1)%4)[threadIdx.x] + cluster_map(s, (cluster_rank() + 3)%4)[threadIdx.x];\n"
     "  cluster_sync();\n}\n"},
    {"a block that leaves before its memory is read", EMULATION_UNDEFINED, "which has left the kernel", 32, 8, 2, 2,
     false,
     KERNEL "  s[threadIdx.x] = u[i];\n  cluster_sync();\n  if (cluster_rank() == 0) return;\n"
            "  for (int k = 0; k < 100; k++) spin_yield();\n  v[i] = *cluster_map(s, 0);\n}\n"},
    {"a block that is not in the cluster", EMULATION_UNDEFINED, "there is no block 2 in a cluster of 2", 32, 8, 2, 2,
     false, KERNEL "  v[i] = *cluster_map(s, 2);\n}\n"},
    {"a pointer that is not of shared memory", EMULATION_OUT_OF_BOUNDS, "maps byte", 32, 8, 2, 2, false,
     KERNEL "  v[i] = *cluster_map(u, 0);\n}\n"},
    {"a cluster of which some wait elsewhere", EMULATION_HUNG,
     "wait at its barrier in line 6, and the others never come", 32, 8, 2, 2, false,
     KERNEL "  if (threadIdx.x%2) cluster_sync();\n  else __syncthreads();\n}\n"},
    {"clusters that the grid has no whole number of", EMULATION_BAD_LAUNCH, "clusters of 3x1x1 blocks", 32, 8, 3, 2,
     false, KERNEL "}\n"},
    {"clusters that are too large", EMULATION_BAD_LAUNCH, "can have at most 8", 16, 16, 16, 2, false, KERNEL "}\n"},
    {"a launch that waits for what precedes it", EMULATION_OK, "", 32, 8, 1, 2, true,
     KERNEL "  launch_dependents();\n  wait_for_previous();\n  v[i] = u[i];\n}\n"},
    {"one that does not", EMULATION_UNDEFINED, "before wait_for_previous()", 32, 8, 1, 2, true,
     KERNEL "  v[i] = u[i];\n}\n"},
    {"one that reads a map's field too early", EMULATION_UNDEFINED, "before wait_for_previous()", 32, 8, 1, 2, true,
     KERNEL INIT "  if (is_first) {\n    barrier_expect(barrier, 128);\n    tensor_copy(s, &in, 0, 0, barrier);\n  }\n"
                 "  barrier_wait(barrier, 0);\n  wait_for_previous();\n  v[i] = u[i];\n}\n"},
};

static struct emulation_argument map_of(struct emulation_buffer *buffer, int rank) {
  const struct emulation_wire_tensor flat = {.extents = {ROW, ROW, 1},
                                             .row_bytes = ROW_BYTES,
                                             .plane_bytes = POINTS * sizeof(float),
                                             .box = {8, 4, 1},
                                             .rank = 2,
                                             .element_bytes = sizeof(float)};
  const struct emulation_wire_tensor solid = {.extents = {ROW, 4, 4},
                                              .row_bytes = ROW_BYTES,
                                              .plane_bytes = (uint64_t)4 * ROW_BYTES,
                                              .box = {8, 2, 2},
                                              .rank = 3,
                                              .element_bytes = sizeof(float)};
  return (struct emulation_argument){
      .kind = EMULATION_ARGUMENT_TENSOR, .buffer = buffer, .tensor = rank == 3 ? solid : flat};
}

static struct emulation_outcome run_row(struct emulation_batch *batch, size_t number, struct emulation_buffer *u,
                                        struct emulation_buffer *v, int order) {
  const struct row *row = &rows[number];
  const struct emulation_argument arguments[] = {{.kind = EMULATION_ARGUMENT_BUFFER, .buffer = u},
                                                 {.kind = EMULATION_ARGUMENT_BUFFER, .buffer = v},
                                                 map_of(u, row->rank),
                                                 map_of(v, row->rank)};
  const struct emulation_launch launch = {.kernel = "kernel",
                                          .grid = {row->grid, 1, 1},
                                          .block = {row->block, 1, 1},
                                          .cluster = {row->cluster, 0, 0},
                                          .overlaps = row->overlaps,
                                          .shared_bytes = 320,
                                          .arguments = arguments,
                                          .argument_count = COUNT(arguments),
                                          .threads = (enum emulation_order)(order % 3),
                                          .blocks = (enum emulation_order)(order / 3),
                                          .seed = 5,
                                          .timeout_ms = 3000};
  struct emulation_outcome outcome;
  emulation_buffer_poison(v);
  CHECK_OK(emulation_run(batch, (int)number, &launch, &outcome));
  return outcome;
}

/* A right kernel has copied u. */
static bool is_copied(const struct emulation_buffer *v) {
  for (int i = 0; i < POINTS; i++) {
    if (((const float *)emulation_buffer_data(v))[i] != (float)i) return false;
  }
  return true;
}

static void check_all(bool sanitize) {
  static const char *const names[] = {"kernel"};
  struct emulation_source sources[COUNT(rows)];
  struct emulation_buffer *u, *v;
  CHECK_OK(emulation_buffer_create(POINTS * sizeof(float), sizeof(float), &u));
  CHECK_OK(emulation_buffer_create(POINTS * sizeof(float), sizeof(float), &v));
  for (int i = 0; i < POINTS; i++) ((float *)emulation_buffer_data(u))[i] = (float)i;
  for (size_t i = 0; i < COUNT(rows); i++)
    sources[i] = (struct emulation_source){rows[i].name, rows[i].source, names, 1};
  struct emulation_batch *batch = build_kernels(sources, COUNT(rows), sanitize);
  for (size_t i = 0; i < COUNT(rows); i++) {
    if (sanitize && rows[i].want != EMULATION_OK) continue;
    const struct emulation_compile *compile = emulation_batch_compile(batch, (int)i);
    CHECK(compile->outcome == COMPILE_OK, "%s: %s", rows[i].name, compile->log);
    for (int order = 0; order < (rows[i].want == EMULATION_HUNG ? 1 : ORDERS); order++) {
      struct emulation_outcome outcome = run_row(batch, i, u, v, order);
      CHECK_EQ(rows[i].want, outcome.kind, "%s, order %d: %s", rows[i].name, order, outcome.text);
      CHECK(strstr(outcome.text, rows[i].text), "%s, order %d: %s", rows[i].name, order, outcome.text);
      bool writes_all = rows[i].want == EMULATION_OK && strcmp(rows[i].name, "a store without a wait") != 0;
      if (rows[i].want == EMULATION_OK) CHECK_EQ(writes_all, is_copied(v), "%s, order %d", rows[i].name, order);
    }
    emulation_rest(batch, (int)i);
  }
  emulation_batch_free(batch);
  emulation_buffer_free(u);
  emulation_buffer_free(v);
}

TEST(what_is_right_passes_and_what_is_wrong_is_named) { check_all(false); }

TEST(what_is_right_passes_under_sanitizers) { check_all(true); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_right_passes_and_what_is_wrong_is_named),
      cmocka_unit_test(what_is_right_passes_under_sanitizers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
