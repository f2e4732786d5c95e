/* emulation_count_test.c: counts of memory accesses, for kernels so short that they can be counted by hand. */
#include "tests/unit/emulate/emulation_kernel.h"

/* The counts of one block. Shared memory: {instructions, wavefronts, fewest wavefronts}. Global memory: {instructions,
 * lanes, bytes, sectors}. Touched: {words, sectors, lines} of u and v. */
struct row {
  const char *name;
  unsigned block;
  size_t shared_bytes;
  const char *text;
  uint64_t loads[4], stores[4], shared_loads[3], shared_stores[3], read[3], written[3];
};

/* Launch `grid` blocks on `data`, and count the accesses of block `number`. */
static struct emulation_outcome count_block(struct emulation_batch *batch, int variant, const struct data *data,
                                            const struct row *row, unsigned grid, unsigned number,
                                            struct emulation_counts *counts) {
  const int n = POINTS;
  const struct emulation_argument arguments[] = {
      {.kind = EMULATION_ARGUMENT_BUFFER, .buffer = data->u},
      {.kind = EMULATION_ARGUMENT_BUFFER, .buffer = data->v},
      {.kind = EMULATION_ARGUMENT_BUFFER, .buffer = data->words},
      {.kind = EMULATION_ARGUMENT_TEXTURE,
       .buffer = data->u,
       .texture = {.width = POINTS, .height = 1, .pitch_bytes = POINTS * sizeof(float), .texel_bytes = sizeof(float)}},
      {.kind = EMULATION_ARGUMENT_BYTES, .bytes = &n, .byte_count = sizeof n},
  };
  const struct emulation_launch launch = {.kernel = "kernel",
                                          .grid = {grid, 1, 1},
                                          .block = {row->block, 1, 1},
                                          .shared_bytes = row->shared_bytes,
                                          .arguments = arguments,
                                          .argument_count = COUNT(arguments)};
  const unsigned block[3] = {number, 0, 0};
  struct emulation_outcome outcome;
  emulation_buffer_poison(data->v);
  CHECK_OK(emulation_count(batch, variant, &launch, block, &outcome, counts));
  return outcome;
}

static struct emulation_batch *build_for_counting(const struct row *rows, size_t count) {
  struct emulation_source sources[32];
  const struct emulation_options options = {.folder = test_cache(), .counts = true};
  struct emulation_batch *batch = NULL;
  CHECK(count <= COUNT(sources), "%zu rows", count);
  for (size_t i = 0; i < count; i++) sources[i] = kernel_source(rows[i].name, rows[i].text);
  CHECK_OK(emulation_build(sources, (int)count, &options, &batch));
  return batch;
}

static void check_numbers(const struct row *row, const char *what, const uint64_t *want, const uint64_t *got,
                          size_t count) {
  for (size_t i = 0; i < count; i++) {
    CHECK(want[i] == got[i], "%s: %s, number %zu is %llu, not %llu", row->name, what, i, (unsigned long long)got[i],
          (unsigned long long)want[i]);
  }
}

static void check_global(const struct row *row, const char *what, const uint64_t want[4],
                         const struct emulation_global_counts *c) {
  const uint64_t got[4] = {c->instructions, c->lanes, c->bytes, c->sectors};
  check_numbers(row, what, want, got, 4);
}

static void check_shared(const struct row *row, const char *what, const uint64_t want[3],
                         const struct emulation_shared_counts *c) {
  const uint64_t got[3] = {c->instructions, c->wavefronts, c->fewest_wavefronts};
  check_numbers(row, what, want, got, 3);
}

static void check_touched(const struct row *row, const char *what, const uint64_t want[3],
                          const struct emulation_touched *c) {
  const uint64_t got[3] = {c->words, c->sectors, c->lines};
  check_numbers(row, what, want, got, 3);
}

static void check_rows(const struct row *rows, size_t count) {
  struct emulation_batch *batch = build_for_counting(rows, count);
  struct data data = make_data();
  for (size_t i = 0; i < count; i++) {
    const struct row *row = &rows[i];
    struct emulation_counts counts;
    const struct emulation_compile *compile = emulation_batch_compile(batch, (int)i);
    CHECK(compile->outcome == COMPILE_OK, "%s: %s", row->name, compile->log);
    struct emulation_outcome outcome = count_block(batch, (int)i, &data, row, 2, 0, &counts);
    CHECK(outcome.kind == EMULATION_OK, "%s: %s", row->name, outcome.text);
    check_global(row, "loads", row->loads, &counts.global_loads);
    check_global(row, "stores", row->stores, &counts.global_stores);
    check_shared(row, "loads of shared memory", row->shared_loads, &counts.shared_loads);
    check_shared(row, "stores to shared memory", row->shared_stores, &counts.shared_stores);
    check_touched(row, "what is read of u", row->read, &counts.loaded[0]);
    check_touched(row, "what is written of v", row->written, &counts.stored[1]);
    emulation_rest(batch, (int)i);
  }
  free_data(&data);
  emulation_batch_free(batch);
}

TEST(global_memory_is_counted_in_instructions_of_warps) {
  static const struct row rows[] = {
      {"coalesced",
       64,
       0,
       HEAD "v[i] = u[i]; }",
       {2, 64, 256, 8},
       {2, 64, 256, 8},
       .read = {64, 8, 2},
       .written = {64, 8, 2}},
      {"stride of 2",
       64,
       0,
       HEAD "v[i] = u[2*i]; }",
       {2, 64, 256, 16},
       {2, 64, 256, 8},
       .read = {64, 16, 4},
       .written = {64, 8, 2}},
      {"stride of 8",
       32,
       0,
       HEAD "v[i] = u[8*i]; }",
       {1, 32, 128, 32},
       {1, 32, 128, 4},
       .read = {32, 32, 8},
       .written = {32, 4, 1}},
      {"broadcast",
       64,
       0,
       HEAD "v[i] = u[5]; }",
       {2, 64, 256, 2},
       {2, 64, 256, 8},
       .read = {1, 1, 1},
       .written = {64, 8, 2}},
      /* 128 bytes from byte 4 on are in five sectors and two lines */
      {"one element aside",
       32,
       0,
       HEAD "v[i] = u[i + 1]; }",
       {1, 32, 128, 5},
       {1, 32, 128, 4},
       .read = {32, 5, 2},
       .written = {32, 4, 1}},
      /* two neighbours are two instructions and 33 elements */
      {"two taps",
       32,
       0,
       HEAD "v[i] = u[i] + u[i + 1]; }",
       {2, 64, 256, 9},
       {1, 32, 128, 4},
       .read = {33, 5, 2},
       .written = {32, 4, 1}},
      {"a warp of six threads",
       38,
       0,
       HEAD "v[i] = u[i]; }",
       {2, 38, 152, 5},
       {2, 38, 152, 5},
       .read = {38, 5, 2},
       .written = {38, 5, 2}},
      {"every second lane",
       64,
       0,
       HEAD "if (i%2) v[i] = u[i]; }",
       {2, 32, 128, 8},
       {2, 32, 128, 8},
       .read = {32, 8, 2},
       .written = {32, 8, 2}},
      {"one warp alone",
       64,
       0,
       HEAD "if (i < 32) v[i] = u[i]; }",
       {1, 32, 128, 4},
       {1, 32, 128, 4},
       .read = {32, 4, 1},
       .written = {32, 4, 1}},
      {"vectors of 8 bytes",
       32,
       0,
       HEAD "float a[2]; load_vector(u + 2*i, a); store_vector(v + 2*i, a); }",
       {1, 32, 256, 8},
       {1, 32, 256, 8},
       .read = {64, 8, 2},
       .written = {64, 8, 2}},
      {"vectors of 16 bytes",
       32,
       0,
       HEAD "float a[4]; load_vector(u + 4*i, a); store_vector(v + 4*i, a); }",
       {1, 32, 512, 16},
       {1, 32, 512, 16},
       .read = {128, 16, 4},
       .written = {128, 16, 4}},
      {"vectors of 32 bytes go in two",
       16,
       0,
       HEAD "double a[4]; load_vector((const double *)u + 4*i, a); store_vector((double *)v + 4*i, a); }",
       {2, 32, 512, 32},
       {2, 32, 512, 32},
       .read = {128, 16, 4},
       .written = {128, 16, 4}},
      {"a struct of 16 bytes",
       32,
       0,
       HEAD "((float4 *)v)[i] = ((const float4 *)u)[i]; }",
       {1, 32, 512, 16},
       {1, 32, 512, 16},
       .read = {128, 16, 4},
       .written = {128, 16, 4}},
      {"the read-only path",
       32,
       0,
       HEAD "v[i] = __ldg(u + i); }",
       {1, 32, 128, 4},
       {1, 32, 128, 4},
       .read = {32, 4, 1},
       .written = {32, 4, 1}},
      {"a texture",
       32,
       0,
       HEAD "v[i] = tex1Dfetch<float>(image, i); }",
       {1, 32, 128, 4},
       {1, 32, 128, 4},
       .read = {32, 4, 1},
       .written = {32, 4, 1}},
      {"a prefetch is none",
       32,
       0,
       HEAD "prefetch_l2(u + i + 32); v[i] = u[i]; }",
       {1, 32, 128, 4},
       {1, 32, 128, 4},
       .read = {32, 4, 1},
       .written = {32, 4, 1}},
      /* a value that a compiler keeps in a register is loaded once: the loop is unrolled, and two of its iterations
       * read u[i + 1] */
      {"equal loads",
       32,
       0,
       HEAD "float s = 0;\n#pragma unroll\nfor (int k = 0; k < 2; k++) s += u[i + k] * u[i + k + 1]; v[i] = s; }",
       {3, 96, 384, 14},
       {1, 32, 128, 4},
       .read = {34, 5, 2},
       .written = {32, 4, 1}},
      /* a lane has its own number of iterations: lane 0 has one, lane 31 four */
      {"turns of a loop",
       32,
       0,
       HEAD "float s = 0;\n#pragma unroll 1\nfor (int k = 0; k <= i/8; k++) s += u[32*k + i]; v[i] = s; }",
       {4, 32 + 24 + 16 + 8, 320, 4 + 3 + 2 + 1},
       {1, 32, 128, 4},
       .read = {80, 10, 4},
       .written = {32, 4, 1}},
  };
  check_rows(rows, COUNT(rows));
}

#define SHARED "float *s = SHARED_MEMORY(float); const int t = threadIdx.x; "
TEST(banks_of_shared_memory_are_counted) {
  enum { KB = 1024 };
  static const struct row rows[] = {
      {"neighbours", 64, KB, HEAD SHARED "s[t] = 1; __syncthreads(); v[i] = s[63 - t]; }", .stores = {2, 64, 256, 8},
       .shared_loads = {2, 2, 2}, .shared_stores = {2, 2, 2}, .written = {64, 8, 2}},
      {"a stride of 2", 32, KB, HEAD SHARED "s[2*t] = 1; __syncwarp(); v[i] = s[2*t]; }", .stores = {1, 32, 128, 4},
       .shared_loads = {1, 2, 1}, .shared_stores = {1, 2, 1}, .written = {32, 4, 1}},
      {"a column of 32", 32, 4UL * KB, HEAD SHARED "s[32*t] = 1; __syncwarp(); v[i] = s[32*(31 - t)]; }",
       .stores = {1, 32, 128, 4}, .shared_loads = {1, 32, 1}, .shared_stores = {1, 32, 1}, .written = {32, 4, 1}},
      {"the same, padded", 32, 5UL * KB, HEAD SHARED "s[33*t] = 1; __syncwarp(); v[i] = s[33*(31 - t)]; }",
       .stores = {1, 32, 128, 4}, .shared_loads = {1, 1, 1}, .shared_stores = {1, 1, 1}, .written = {32, 4, 1}},
      {"one word for all", 32, KB, HEAD SHARED "if (t == 0) s[0] = 1; __syncwarp(); v[i] = s[0]; }",
       .stores = {1, 32, 128, 4}, .shared_loads = {1, 1, 1}, .shared_stores = {1, 1, 1}, .written = {32, 4, 1}},
      {"doubles", 32, KB,
       HEAD
       "double *s = SHARED_MEMORY(double); const int t = threadIdx.x; s[t] = 1; __syncwarp(); v[i] = (float)s[31 - t]; }",
       .stores = {1, 32, 128, 4}, .shared_loads = {1, 2, 2}, .shared_stores = {1, 2, 2}, .written = {32, 4, 1}},
      {"vectors of 16 bytes", 32, KB,
       HEAD SHARED "float a[4] = {1, 2, 3, 4}; store_vector(s + 4*t, a); __syncwarp(); load_vector(s + 4*(31 - t), a); "
                   "v[i] = a[0] + a[1] + a[2] + a[3]; }",
       .stores = {1, 32, 128, 4}, .shared_loads = {1, 4, 4}, .shared_stores = {1, 4, 4}, .written = {32, 4, 1}},
      /* each quarter accesses eight times 16 bytes, 32 apart, two of which are in the same banks */
      {"vectors of 16 bytes, every second", 32, 2UL * KB,
       HEAD SHARED "float a[4] = {1, 2, 3, 4}; store_vector(s + 8*t, a); __syncwarp(); v[i] = s[8*t]; }",
       .stores = {1, 32, 128, 4}, .shared_loads = {1, 8, 1}, .shared_stores = {1, 8, 4}, .written = {32, 4, 1}},
      /* one instruction in each iteration, since the barrier separates them */
      {"turns with a barrier", 32, KB,
       HEAD SHARED "float sum = 0;\n#pragma unroll 1\nfor (int k = 0; k < 3; k++) { s[t] = k; __syncthreads(); "
                   "sum += s[31 - t]; __syncthreads(); } v[i] = sum; }",
       .stores = {1, 32, 128, 4}, .shared_loads = {3, 3, 3}, .shared_stores = {3, 3, 3}, .written = {32, 4, 1}},
      /* the kernel writes only global memory in between, so shared memory need not be read again */
      {"kept beside stores", 32, KB, HEAD SHARED "s[t] = 1; __syncwarp(); v[i] = s[31 - t]; v[i + 32] = 2*s[31 - t]; }",
       .stores = {2, 64, 256, 8}, .shared_loads = {1, 1, 1}, .shared_stores = {1, 1, 1}, .written = {64, 8, 2}},
  };
  check_rows(rows, COUNT(rows));
}

TEST(copies_are_counted) {
  enum { KB = 1024 };
  static const struct row rows[] = {
      {"4 bytes",
       32,
       KB,
       HEAD SHARED "async_copy<4>(s + t, u + t); async_commit(); async_wait<0>(); v[i] = s[t]; }",
       {1, 32, 128, 4},
       {1, 32, 128, 4},
       {1, 1, 1},
       {1, 1, 1},
       {32, 4, 1},
       {32, 4, 1}},
      {"16 bytes",
       32,
       KB,
       HEAD SHARED "async_copy<16>(s + 4*t, u + 4*t); async_commit(); async_wait<0>(); v[i] = s[t]; }",
       {1, 32, 512, 16},
       {1, 32, 128, 4},
       {1, 1, 1},
       {1, 4, 4},
       {128, 16, 4},
       {32, 4, 1}},
      /* zeros are not read from memory */
      {"half of them zeros",
       32,
       KB,
       HEAD SHARED "async_copy_zero<4>(s + t, u + t, t < 16); async_commit(); async_wait<0>(); v[i] = s[t]; }",
       {1, 16, 64, 2},
       {1, 32, 128, 4},
       {1, 1, 1},
       {1, 1, 1},
       {16, 2, 1},
       {32, 4, 1}},
      /* no warp moves what the copy engine moves */
      {"the engine's", 32, KB,
       HEAD SHARED "unsigned long long *done = (unsigned long long *)(s + 128); if (t == 0) { barrier_init(done, 1); "
                   "barrier_init_done(); barrier_expect(done, 512); bulk_copy(s, u, 512, done); } __syncthreads(); "
                   "barrier_wait(done, 0); v[i] = s[t]; }",
       .stores = {1, 32, 128, 4}, .shared_loads = {1, 1, 1}, .read = {128, 16, 4}, .written = {32, 4, 1}},
  };
  check_rows(rows, COUNT(rows));
  struct emulation_batch *batch = build_for_counting(rows, COUNT(rows));
  struct data data = make_data();
  struct emulation_counts counts;
  CHECK(count_block(batch, 1, &data, &rows[1], 2, 0, &counts).kind == EMULATION_OK, "16 bytes");
  CHECK(counts.async_copies == 1 && counts.engine_copies == 0, "one of the loads is asynchronous");
  CHECK(count_block(batch, 3, &data, &rows[3], 2, 0, &counts).kind == EMULATION_OK, "the engine's");
  CHECK(counts.engine_copies == 1 && counts.engine_loaded_bytes == 512 && counts.engine_stored_bytes == 0,
        "the engine");
  free_data(&data);
  emulation_batch_free(batch);
}

TEST(one_block_runs_and_is_counted) {
  static const struct row row = {"third of four",
                                 32,
                                 0,
                                 HEAD
                                 "float s = 0; for (int k = 0; k <= (int)blockIdx.x; k++) s += u[i - k]; v[i] = s; }",
                                 {0},
                                 {0},
                                 {0},
                                 {0},
                                 {0},
                                 {0}};
  struct emulation_batch *batch = build_for_counting(&row, 1);
  struct data data = make_data();
  struct emulation_counts counts;
  CHECK(count_block(batch, 0, &data, &row, 4, 2, &counts).kind == EMULATION_OK, "runs");
  const float *v = emulation_buffer_data(data.v);
  for (int i = 0; i < POINTS; i++) {
    bool computed = i >= 64 && i < 96;
    CHECK(computed == (v[i] == 3 * (float)i - 3), "element %d is %g", i, (double)v[i]);
  }
  CHECK_EQ(3, counts.global_loads.instructions, "loads");
  CHECK_EQ(34, counts.loaded[0].words, "elements");
  CHECK_EQ(32, counts.threads, "threads");
  free_data(&data);
  emulation_batch_free(batch);
}

TEST(the_worst_conflict_is_named) {
  static const struct row row = {"two accesses",
                                 32,
                                 4096,
                                 HEAD SHARED "s[t] = 1; __syncwarp(); s[8*t] += 1; __syncwarp(); v[i] = s[t]; }",
                                 {0},
                                 {0},
                                 {0},
                                 {0},
                                 {0},
                                 {0}};
  struct emulation_batch *batch = build_for_counting(&row, 1);
  struct data data = make_data();
  struct emulation_counts counts;
  CHECK(count_block(batch, 0, &data, &row, 2, 0, &counts).kind == EMULATION_OK, "runs");
  CHECK_EQ(8, counts.worst_wavefronts, "of the access with a stride of 8");
  CHECK_EQ(1, counts.worst_fewest, "without conflicts");
  CHECK_EQ(9, counts.shared_loads.wavefronts, "loads: 8 and 1");
  free_data(&data);
  emulation_batch_free(batch);
}

TEST(a_kernel_that_fails_has_an_outcome) {
  static const struct row row = {"beyond", 32, 0, HEAD "v[i + (1 << 20)] = u[i]; }", {0}, {0}, {0}, {0}, {0}, {0}};
  struct emulation_batch *batch = build_for_counting(&row, 1);
  struct data data = make_data();
  struct emulation_counts counts;
  CHECK_EQ(EMULATION_OUT_OF_BOUNDS, count_block(batch, 0, &data, &row, 2, 0, &counts).kind, "outcome");
  free_data(&data);
  emulation_batch_free(batch);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(global_memory_is_counted_in_instructions_of_warps),
      cmocka_unit_test(banks_of_shared_memory_are_counted),
      cmocka_unit_test(copies_are_counted),
      cmocka_unit_test(one_block_runs_and_is_counted),
      cmocka_unit_test(the_worst_conflict_is_named),
      cmocka_unit_test(a_kernel_that_fails_has_an_outcome),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
