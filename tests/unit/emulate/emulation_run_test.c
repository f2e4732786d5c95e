/* emulation_run_test.c: kernels without defects compute the right numbers in every order of threads and blocks, with
 * and without sanitizers. */
#include "tests/unit/emulate/emulation_kernel.h"

static double plus_one(int i) { return i + 1; }
static double reversed_in_64(int i) { return i - 2 * (i % 64) + 63; }
static double sum_in_warp(int i) { return (2 * i - i % 32) * (i % 32 + 1) / 2.0; }
static double sum_to_here(int i) { return i * (i + 1) / 2.0; }
static double left_and_right(int i) { return i % 32 == 0 || i % 32 == 31 ? i : 2 * i; }
static double neighbours_in_image(int i) {
  int x = i % IMAGE_WIDTH, y = i / IMAGE_WIDTH;
  return (x > 0 ? i - 1 : 0) + (y < POINTS / IMAGE_WIDTH - 1 ? i + IMAGE_WIDTH : 0);
}
static double votes(int i) { return i < 32 ? 5.0 : 8 + 2.0; }
static double tripled(int i) { return 3.0 * i; }
static double block_reversed(int i) { return POINTS - 1 - i; }
static double odd_or_even(int i) { return i % 2; }

static const struct {
  const char *name;
  double (*want)(int i);
  unsigned block;
  size_t shared_bytes;
  const char *source;
} rows[] = {
    {"vector add", plus_one, 64, 0, HEAD "  if (i < n) v[i] = u[i] + 1;\n}\n"},
    {"partial warps", plus_one, 16, 0, HEAD "  v[i] = __shfl_xor_sync(0xffffffffu, u[i ^ 1], 1) + 1;\n}\n"},
    {"reversal in shared memory", reversed_in_64, 64, 64 * sizeof(float),
     HEAD "  float *s = SHARED_MEMORY(float);\n"
          "  s[threadIdx.x] = u[i];\n"
          "  __syncthreads();\n"
          "  v[i] = s[63 - threadIdx.x];\n}\n"},
    {"many barriers", plus_one, 128, 256 * sizeof(float),
     HEAD "  float *s = SHARED_MEMORY(float);\n"
          "  int t = threadIdx.x;\n"
          "  s[t] = u[i];\n"
          "  for (int k = 0; k < 128; k++) {\n"
          "    __syncthreads();\n"
          "    s[(k + 1)%2*128 + (t + 1)%128] = s[k%2*128 + t];\n"
          "  }\n"
          "  __syncthreads();\n"
          "  v[i] = s[t] + 1;\n}\n"},
    {"prefix sum by shuffles", sum_in_warp, 64, 0,
     HEAD "  float sum = u[i];\n"
          "#pragma unroll\n"
          "  for (int d = 1; d < 32; d *= 2) {\n"
          "    const float other = __shfl_up_sync(0xffffffffu, sum, d);\n"
          "    if (i%32 >= d) sum += other;\n"
          "  }\n"
          "  v[i] = sum;\n}\n"},
    {"shuffles of other types", left_and_right, 32, 0,
     HEAD "  const double left = __shfl_up_sync(0xffffffffu, (double)u[i], 1u);\n"
          "  const int right = __shfl_down_sync(0xffffffffu, (int)u[i], 1u);\n"
          "  const unsigned first = __shfl_sync(0xffffffffu, (unsigned)i, 0, 16);\n"
          "  if ((int)first != i/16*16) return;\n"
          "  v[i] = i%32 == 0 || i%32 == 31 ? u[i] : left + right;\n}\n"},
    {"half warps apart", plus_one, 64, 0,
     HEAD "  const unsigned mask = i%32 < 16 ? 0x0000ffffu : 0xffff0000u;\n"
          "  float sum = u[i];\n"
          "  if (i%32 < 16) sum = __shfl_xor_sync(mask, __shfl_xor_sync(mask, sum, 1), 1);\n"
          "  else sum = __shfl_xor_sync(mask, __shfl_xor_sync(mask, sum, 3), 3);\n"
          "  __syncwarp();\n"
          "  v[i] = sum + 1;\n}\n"},
    {"votes", votes, 256, 0,
     HEAD "  const unsigned lanes = __ballot_sync(0xffffffffu, i%32 == 3 || i >= 32);\n"
          "  const int any = __any_sync(0xffffffffu, i == 31), all = __all_sync(0xffffffffu, i >= 32);\n"
          "  v[i] = (lanes == 8u ? 4 : 0) + any + (lanes == 0xffffffffu ? 8 : 0) + 2*all;\n}\n"},
    {"products of matrices", plus_one, 64, 0,
     HEAD "  const int lane = i%32;\n"
          "  double a[4], b[2], sums[4];\n"
          "  for (int k = 0; k < 4; k++) a[k] = (lane/4 + k%2*8)*10 + lane%4 + k/2*4;\n"
          "  for (int k = 0; k < 2; k++) b[k] = (lane%4 + k*4)*100 + lane/4;\n"
          "  for (int k = 0; k < 4; k++) sums[k] = k;\n"
          "  for (int twice = 0; twice < 2; twice++) multiply_matrices(a, b, sums);\n"
          "  bool right = true;\n"
          "  for (int k = 0; k < 4; k++) {\n"
          "    const int row = lane/4 + k/2*8, column = lane%4*2 + k%2;\n"
          "    double want = k;\n"
          "    for (int n = 0; n < 8; n++) want += 2.0*(row*10 + n)*(n*100 + column);\n"
          "    right = right && sums[k] == want;\n"
          "  }\n"
          "  v[i] = u[i] + right;\n}\n"},
    {"asynchronous copies", reversed_in_64, 64, 128 * sizeof(float),
     HEAD "  float *s = SHARED_MEMORY(float);\n"
          "  if (threadIdx.x < 16) async_copy<16>(s + 4*threadIdx.x, u + blockIdx.x*64 + 4*threadIdx.x);\n"
          "  async_commit();\n"
          "  async_copy_zero<4>(s + 64 + threadIdx.x, u + i, false);\n"
          "  async_commit();\n"
          "  async_wait<1>();\n"
          "  __syncthreads();\n"
          "  float got = s[63 - threadIdx.x];\n"
          "  async_wait<0>();\n"
          "  v[i] = got + s[64 + threadIdx.x];\n}\n"},
    {"bulk copies in two phases of a barrier", reversed_in_64, 64, 64 * sizeof(float) + 8,
     HEAD "  float *s = SHARED_MEMORY(float);\n"
          "  unsigned long long *barrier = reinterpret_cast<unsigned long long *>(s + 64);\n"
          "  if (threadIdx.x == 0) {\n    barrier_init(barrier, 2);\n    barrier_init_done();\n  }\n"
          "  __syncthreads();\n"
          "  for (unsigned phase = 0; phase < 2; phase++) {\n"
          "    if (threadIdx.x == 5) barrier_expect(barrier, 128);\n"
          "    if (threadIdx.x == 9) barrier_expect(barrier, 0);\n"
          "    if (threadIdx.x == 9) bulk_copy(s + 32*phase, u + blockIdx.x*64 + 32*phase, 128, barrier);\n"
          "    barrier_wait(barrier, phase);\n    __syncthreads();\n  }\n"
          "  v[i] = s[63 - threadIdx.x];\n}\n"},
    {"vectors", tripled, 32, 0,
     HEAD "  if (i >= n/4) return;\n"
          "  float a[4], b[2], c[1];\n"
          "  load_vector(u + 4*i, a);\n"
          "  for (float &x : a) x *= 3;\n"
          "  load_vector<2>(u, b);\n"
          "  load_vector(u, c);\n"
          "  const float4 whole = *reinterpret_cast<const float4 *>(u + 4*i);\n"
          "  a[3] += b[0] + c[0] + 3*(whole.w - u[4*i + 3]);\n"
          "  store_vector(v + 4*i, a);\n}\n"},
    {"constants, lambdas, C++17", tripled, 64, 0,
     "struct Coefficients { float c0; static constexpr int three = 3; };\n"
     "__constant__ Coefficients constant_coefficients = {1.5f};\n"
     "template <class F> __device__ __forceinline__ float twice(const F &f) { return f() + f(); }\n" HEAD
     "  if constexpr (Coefficients::three == 3) {\n"
     "    v[i] = twice([&] { return constant_coefficients.c0*__ldg(u + i); });\n"
     "  }\n}\n"},
    {"doubles and functions", tripled, 64, 0,
     HEAD "  const double x = u[i];\n"
          "  const double halves = __hiloint2double(__double2hiint(x), __double2loint(x));\n"
          "  const double one = cos(x)*cos(x) + sin(x)*sin(x);\n"
          "  const float two = sqrtf(4.0f) + fminf(0.0f, fabsf(u[i])) + fmaxf(-1.0f, 0.0f) + expf(0.0f) - 1.0f;\n"
          "  v[i] = rint(fma(halves, (double)two, x*one)) + min(0, (int)i) + max(0.0, -1.0);\n}\n"},
    {"textures", neighbours_in_image, 64, 0,
     HEAD
     "  const int x = i%16, y = i/16;\n"
     "  const float fetched = tex1Dfetch<float>(image, x);\n"
     "  v[i] = tex2D<float>(image, x - 0.5f, y + 0.5f) + tex2D<float>(image, x + 0.5f, y + 1.5f) + fetched - x;\n}\n"},
    {"look-back over blocks by tickets", sum_to_here, 32, 2 * sizeof(unsigned),
     HEAD "  unsigned *shared = SHARED_MEMORY(unsigned);\n"
          "  if (threadIdx.x == 0) {\n"
          "    shared[0] = atomicAdd(words, 1u);\n"
          "  }\n"
          "  __syncthreads();\n"
          "  const unsigned block = shared[0];\n"
          "  float sum = u[block*32 + threadIdx.x];\n"
          "  for (int d = 1; d < 32; d *= 2) {\n"
          "    const float other = __shfl_up_sync(0xffffffffu, sum, d);\n"
          "    if (threadIdx.x >= d) sum += other;\n"
          "  }\n"
          "  if (threadIdx.x == 31) {\n"
          "    unsigned before = 1;\n"
          "    if (block > 0) while ((before = load_acquire(words + block)) == 0) spin_yield();\n"
          "    shared[1] = before - 1;\n"
          "    store_release(words + block + 1, before + (unsigned)sum);\n"
          "  }\n"
          "  __syncthreads();\n"
          "  v[block*32 + threadIdx.x] = sum + shared[1];\n}\n"},
    {"a block waits for later ones", block_reversed, 64, 0,
     HEAD "  if (threadIdx.x == 0) {\n"
          "    atomicAdd(words, 1u);\n"
          "    while (load_acquire(words) < gridDim.x) spin_yield();\n"
          "  }\n"
          "  __syncthreads();\n"
          "  v[i] = u[n - 1 - i];\n}\n"},
    {"threads of a block wait for each other", odd_or_even, 128, sizeof(unsigned) * 2,
     HEAD "  unsigned *s = SHARED_MEMORY(unsigned);\n"
          "  if (threadIdx.x == 0) s[0] = s[1] = 0;\n"
          "  __syncthreads();\n"
          "  while (load_acquire(s) != threadIdx.x) spin_yield();\n"
          "  store_release(s, threadIdx.x + 1);\n"
          "  __syncwarp();\n"
          "  v[i] = i & 1;\n}\n"},
};

static void check_rows(bool sanitize) {
  struct emulation_source sources[COUNT(rows)];
  struct data data = make_data();
  for (size_t row = 0; row < COUNT(rows); row++) sources[row] = kernel_source(rows[row].name, rows[row].source);
  struct emulation_batch *batch = build_kernels(sources, COUNT(rows), sanitize);
  for (size_t row = 0; row < COUNT(rows); row++) {
    const struct emulation_compile *compile = emulation_batch_compile(batch, (int)row);
    CHECK(compile->outcome == COMPILE_OK, "%s: %s", rows[row].name, compile->log);
    for (int order = 0; order < ORDERS; order++) {
      struct emulation_outcome outcome =
          run_kernel(batch, (int)row, &data, rows[row].block, 0, rows[row].shared_bytes, order);
      CHECK(outcome.kind == EMULATION_OK, "%s, order %d: %s: %s", rows[row].name, order,
            emulation_outcome_name(outcome.kind), outcome.text);
      for (int i = 0; i < POINTS; i++) {
        CHECK_NEAR(rows[row].want(i), ((float *)emulation_buffer_data(data.v))[i], 0, "%s, order %d, point %d",
                   rows[row].name, order, i);
      }
    }
    emulation_rest(batch, (int)row);
  }
  emulation_batch_free(batch);
  free_data(&data);
}

TEST(kernels_without_faults_are_right_in_every_order) { check_rows(false); }

TEST(sanitizers_find_nothing_in_kernels_without_faults) { check_rows(true); }

/* The order in which tickets continue: each block appends its own ticket to those of the blocks before it. */
TEST(who_took_a_ticket_is_overtaken_but_in_ascending_order) {
  enum { BLOCKS = 8, ASCENDING = 0 };
  struct emulation_source source = kernel_source("tickets", HEAD "  if (threadIdx.x > 0) return;\n"
                                                                 "  const unsigned ticket = atomicAdd(words, 1u);\n"
                                                                 "  words[2 + words[1]++] = ticket;\n}\n");
  struct data data = make_data();
  struct emulation_batch *batch = build_kernels(&source, 1, false);
  for (int order = 0; order < ORDERS; order++) {
    struct emulation_outcome outcome = run_kernel(batch, 0, &data, 32, BLOCKS, 0, order);
    const unsigned *words = emulation_buffer_data(data.words);
    unsigned seen = 0, in_place = 0;
    CHECK(outcome.kind == EMULATION_OK, "order %d: %s", order, outcome.text);
    for (unsigned i = 0; i < BLOCKS; i++) {
      seen |= 1u << words[2 + i];
      in_place += words[2 + i] == i;
    }
    CHECK_EQ((1 << BLOCKS) - 1, seen, "order %d: each ticket", order);
    CHECK(order % 3 == ASCENDING ? in_place == BLOCKS : words[2] > 0 && in_place < BLOCKS / 2,
          "order %d: ticket %u goes first, %u in their places", order, words[2], in_place);
  }
  emulation_batch_free(batch);
  free_data(&data);
}

/* Each block waits for all others, of which an ordinary launch runs only some at a time. */
TEST(all_blocks_of_a_cooperative_launch_run) {
  enum { BLOCKS = POINTS / 32 };
  struct emulation_source source =
      kernel_source("meeting", HEAD "  if (threadIdx.x == 0) {\n"
                                    "    atomicAdd(words, 1u);\n"
                                    "    while (load_acquire(words) < gridDim.x) spin_yield();\n"
                                    "  }\n"
                                    "  __syncthreads();\n"
                                    "  v[i] = u[n - 1 - i];\n}\n");
  struct data data = make_data();
  struct emulation_batch *batch = build_kernels(&source, 1, false);
  for (int is_cooperative = 0; is_cooperative < 2; is_cooperative++) {
    struct emulation_outcome outcome = run_blocks(batch, 0, &data, 32, BLOCKS, 0, 0, is_cooperative != 0);
    CHECK_EQ(is_cooperative ? EMULATION_OK : EMULATION_HUNG, outcome.kind, "%s", outcome.text);
  }
  CHECK_NEAR(block_reversed(0), ((float *)emulation_buffer_data(data.v))[0], 0, "the first point");
  emulation_batch_free(batch);
  free_data(&data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_without_faults_are_right_in_every_order),
      cmocka_unit_test(sanitizers_find_nothing_in_kernels_without_faults),
      cmocka_unit_test(all_blocks_of_a_cooperative_launch_run),
      cmocka_unit_test(who_took_a_ticket_is_overtaken_but_in_ascending_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
