/* gpu_compile_test.c: finding NVRTC, compiling one source, and the compiler's report. */
#include <stdlib.h>

#include "gpu/compile/compile.h"
#include "tests/unit/unit.h"

static struct nvrtc nvrtc;

TEST(an_absent_nvrtc_is_a_status_and_says_what_to_install) {
  struct nvrtc absent;
  setenv("HALOTUNE_NVRTC", "/nonexistent/libnvrtc.so", 1);
  halotune_status status = nvrtc_open(&absent);
  nvrtc_close(&absent);
  unsetenv("HALOTUNE_NVRTC");
  CHECK_EQ(HALOTUNE_NO_NVRTC, status, "it must not fall through to the toolkit's");
  CHECK(strstr(fail_text(), "/nonexistent/libnvrtc.so"), "%s", fail_text());
  CHECK(strstr(fail_text(), "install NVIDIA's CUDA Toolkit"), "%s", fail_text());
}

TEST(another_library_is_not_nvrtc) {
  struct nvrtc wrong;
  setenv("HALOTUNE_NVRTC", "libm.so.6", 1);
  halotune_status status = nvrtc_open(&wrong);
  nvrtc_close(&wrong);
  unsetenv("HALOTUNE_NVRTC");
  CHECK_EQ(HALOTUNE_NO_NVRTC, status, "%s", fail_text());
  CHECK(strstr(fail_text(), "lacks nvrtc"), "%s", fail_text());
}

TEST(nvrtc_knows_its_version_and_architectures) {
  bool has_hopper = false;
  CHECK(nvrtc.facts.major >= 12, "%d.%d", nvrtc.facts.major, nvrtc.facts.minor);
  for (int i = 0; i < nvrtc.facts.arch_count; i++) has_hopper = has_hopper || nvrtc.facts.archs[i] == 90;
  CHECK(has_hopper, "%d architectures", nvrtc.facts.arch_count);
}

/* Each row has a source, the result of compile_source, a text of its log or detail, and the resources of kernel k. -1
 * means any number except 0. */
#define SPILLS                                                                                      \
  "extern \"C\" __global__ void k(float *a, int n) {\n"                                             \
  "  float v[64];\n"                                                                                \
  "  for (int i = 0; i < 64; i++) v[i] = a[i * n + threadIdx.x];\n"                                 \
  "  for (int r = 0; r < n; r++) for (int i = 0; i < 64; i++) v[i] = v[i] * v[(i + 7) % 64] + r;\n" \
  "  for (int i = 0; i < 64; i++) a[i * n + threadIdx.x] = v[i];\n}\n"
static const char *const max_32_registers[] = {"--maxrregcount=32"};
static const char *const second_arch[] = {"--gpu-architecture=compute_90"};
static const char *const unknown_option[] = {"--no-such-option"};
static const struct {
  const char *source, *arch;
  const char *const *options;
  const char *log, *detail;
  halotune_status want;
  int registers, shared_bytes, stack_bytes, spill_store_bytes, spill_load_bytes;
} rows[] = {
    {"extern \"C\" __global__ void k(float *a) { a[0] = 1; }", "sm_90", NULL, "", "", HALOTUNE_OK, -1, 0, 0, 0, 0},
    {"extern \"C\" __global__ void k(float *a) { __shared__ float s[300]; s[threadIdx.x] = a[threadIdx.x];\n"
     "__syncthreads(); a[threadIdx.x] = s[299 - threadIdx.x]; }",
     "sm_80", NULL, "", "", HALOTUNE_OK, -1, 1200, 0, 0, 0},
    {SPILLS, "sm_90", max_32_registers, "", "", HALOTUNE_OK, 32, 0, -1, -1, -1},
    {"extern \"C\" __global__ void k(float *a, int n) { float v[100];\n"
     "for (int i = 0; i < 100; i++) v[i] = a[i]; a[0] = v[n]; }",
     "sm_100", NULL, "", "", HALOTUNE_OK, -1, 0, 400, 0, 0},
    {"__global__ void k(float *a) {\n  int error = 1;\n  a[0] = missing;\n}\n", "sm_90", NULL, "int error = 1;",
     "test.cu(3): error: identifier \"missing\" is undefined", HALOTUNE_COMPILE, 0, 0, 0, 0, 0},
    {"__global__ void k(float *a) {\n  a[0] = missing;\n}\n", "sm_90", NULL, "  a[0] = missing;",
     "test.cu(2): error: identifier \"missing\" is undefined", HALOTUNE_COMPILE, 0, 0, 0, 0, 0},
    {"extern \"C\" __global__ void k(float *a) { asm volatile(\"garbage;\"); }", "sm_90", NULL, "garbage",
     "Not a name of any known instruction", HALOTUNE_COMPILE, 0, 0, 0, 0, 0},
    {"extern \"C\" __global__ void k(float *a) { __shared__ float s[20000]; s[threadIdx.x] = a[1];\n"
     "__syncthreads(); a[0] = s[5]; }",
     "sm_90", NULL, "", "k takes 80000 bytes of static shared memory, at most 49152", HALOTUNE_COMPILE, -1, 80000, 0, 0,
     0},
    {"__constant__ float c[20000]; extern \"C\" __global__ void k(float *a) { a[0] = c[threadIdx.x]; }", "sm_90", NULL,
     "", "NVRTC_ERROR_COMPILATION", HALOTUNE_COMPILE, -1, 0, 0, 0, 0},
    {"void __device__ f(float *); extern \"C\" __global__ void k(float *a) { f(a); }", "sm_90", NULL, "",
     "Unresolved extern", HALOTUNE_COMPILE, 0, 0, 0, 0, 0},
    {"#include \"/etc/hostname\"\n", "sm_90", NULL, "", "a source includes nothing", HALOTUNE_COMPILE, 0, 0, 0, 0, 0},
    {"#if __has_include(\"/\")\n#endif\n", "sm_90", NULL, "", "a source asks for no file", HALOTUNE_COMPILE, 0, 0, 0, 0,
     0},
    {"#define JOIN(a, b) a##b\n#if JOIN(__has_, include)(\"/\")\n#endif\n", "sm_90", NULL, "",
     "a source asks for no file", HALOTUNE_COMPILE, 0, 0, 0, 0, 0},
    {"extern \"C\" __global__ void k(int *a) { a[0] = __LINE__; }", "sm_90", NULL, "", "no place and no time",
     HALOTUNE_COMPILE, 0, 0, 0, 0, 0},
    {"extern \"C\" __global__ void k(int *a) { assert(a[0]); }", "sm_90", NULL, "", "without assert", HALOTUNE_COMPILE,
     0, 0, 0, 0, 0},
    {"extern \"C\" __global__ void k(float *a) { static_assert(1, \"\"); a[0] = 1; }", "sm_90", NULL, "", "",
     HALOTUNE_OK, -1, 0, 0, 0, 0},
    {"#in\\\nclude \"/dev/null\"\n", "sm_90", NULL, "", "directive", HALOTUNE_COMPILE, 0, 0, 0, 0, 0},
    {"#in\\\r\r\nclude \"/dev/null\"\n", "sm_90", NULL, "", "directive", HALOTUNE_COMPILE, 0, 0, 0, 0, 0},
    {"#if 0\n#include \"/etc/hostname\"\n#endif\nextern \"C\" __global__ void k(float *a) { a[0] = 1; }", "sm_90", NULL,
     "", "", HALOTUNE_OK, -1, 0, 0, 0, 0},
    {"", "compute_90", NULL, "", "is a virtual architecture (PTX)", HALOTUNE_ARGUMENT, 0, 0, 0, 0, 0},
    {"__global__ void k() {}", "sm_90", second_arch, "", "an option must not name the architecture", HALOTUNE_ARGUMENT,
     0, 0, 0, 0, 0},
    {"__global__ void k() {}", "sm_90", unknown_option, "no-such-option", "no-such-option", HALOTUNE_COMPILE, 0, 0, 0,
     0, 0},
};

static void check_number(size_t row, const char *what, int want, int got) {
  CHECK(want < 0 ? got > 0 : got == want, "row %zu: %s: want %d, got %d", row, what, want, got);
}

TEST(a_source_becomes_a_cubin_and_a_report_or_an_error_with_its_line) {
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct compiled got;
    struct compile_request request = {rows[i].source, "test.cu", rows[i].arch, rows[i].options,
                                      rows[i].options ? 1 : 0};
    CHECK_EQ(rows[i].want, compile_source(&nvrtc, &request, &got), "row %zu: %s", i, fail_text());
    CHECK(strstr(got.log, rows[i].log), "row %zu: %s", i, got.log);
    if (rows[i].want != HALOTUNE_OK) CHECK(strstr(fail_text(), rows[i].detail), "row %zu: %s", i, fail_text());
    CHECK_EQ(rows[i].want == HALOTUNE_OK, got.cubin_bytes > 4 && memcmp(got.cubin, "\177ELF", 4) == 0, "row %zu", i);
    const struct kernel_resources *k = resource_report_find(&got.report, "k");
    const struct kernel_resources none = {0};
    if (!k) k = &none;
    check_number(i, "registers", rows[i].registers, k->registers);
    check_number(i, "shared", rows[i].shared_bytes, k->shared_bytes);
    check_number(i, "stack", rows[i].stack_bytes, k->stack_bytes);
    check_number(i, "spill stores", rows[i].spill_store_bytes, k->spill_store_bytes);
    check_number(i, "spill loads", rows[i].spill_load_bytes, k->spill_load_bytes);
    compiled_free(&got);
  }
}

/* What NVRTC leaves out to be quick changes no machine code. A source that needs it is compiled in full. */
TEST(a_quick_compile_gives_the_same_machine_code) {
  static const struct {
    const char *source;
    bool is_same;
  } quick_rows[] = {
      {"extern \"C\" __global__ void k(float4 *a, int n) {\n"
       "  a[threadIdx.x] = make_float4(__shfl_xor_sync(~0u, a[n].x, 1), fmaf(a[n].y, 2, 1), rsqrtf(a[n].z), 0);\n"
       "  atomicAdd(&a[0].x, 1); __syncthreads(); __threadfence();\n}\n",
       true},
      {"extern \"C\" __global__ void k(float *a, cudaTextureObject_t t) { a[0] = tex1Dfetch<float>(t, 1); }", true},
      {"typedef unsigned long long texture;\n" /* as cudaTextureObject_t is */
       "extern \"C\" __global__ void k(float *a, texture t) { a[0] = tex1Dfetch<float>(t, 1); }",
       true},
      {"extern \"C\" __global__ void k(float *a) {\n#ifdef __CUDACC_RTC_MINIMAL__\n  a[0] = 1;\n#endif\n}\n", false},
  };
  struct nvrtc older = nvrtc;
  older.facts.major = 12;
  older.facts.minor = 3; /* knows no --minimal */
  for (size_t i = 0; i < COUNT(quick_rows); i++) {
    const struct compile_request request = {.source = quick_rows[i].source, .name = "test.cu", .arch = "sm_90"};
    struct compiled quick, full;
    CHECK_OK(compile_source(&nvrtc, &request, &quick));
    struct compile_request in_full = request;
    static const char *const no_cache[] = {"--no-cache"}; /* version 13 needs it, version 12.3 does not */
    in_full.options = no_cache;
    in_full.option_count = 1;
    CHECK_OK(compile_source(&older, &in_full, &full));
    const bool is_same =
        quick.cubin_bytes == full.cubin_bytes && memcmp(quick.cubin, full.cubin, full.cubin_bytes) == 0;
    CHECK_EQ(quick_rows[i].is_same, is_same, "row %zu", i);
    CHECK_TEXT(full.report.kernels[0].name, quick.report.kernels[0].name, "row %zu", i);
    compiled_free(&quick);
    compiled_free(&full);
  }
}

/* Comments and #line directives do not belong to a source's identity, so they must not decide what NVRTC declares. */
TEST(a_comment_does_not_change_the_machine_code) {
#define KERNEL(value) "extern \"C\" __global__ void k(float *a) { a[0] = " value "; }\n"
#define MINIMAL "#ifdef __CUDACC_RTC_MINIMAL__\n"
  static const char *const sources[][2] = {
      {MINIMAL "#define A 1\n#else\n#define A 2\n#endif\n" KERNEL("A"),
       MINIMAL "#define A 1\n#else\n#define A 2\n#endif\n#line 3 \"cuda\"\n" KERNEL("A /* cuda */")},
      {MINIMAL "#error a\n#endif\n" KERNEL("1"), MINIMAL "#error a // undefined\n#endif\n" KERNEL("1")},
  };
  for (size_t i = 0; i < COUNT(sources); i++) {
    struct compiled got[2];
    halotune_status status[2];
    for (int k = 0; k < 2; k++) {
      const struct compile_request request = {.source = sources[i][k], .name = "test.cu", .arch = "sm_90"};
      status[k] = compile_source(&nvrtc, &request, &got[k]);
    }
    CHECK_EQ(status[0], status[1], "row %zu: %s", i, fail_text());
    CHECK(got[0].cubin_bytes == got[1].cubin_bytes &&
              (!got[0].cubin || memcmp(got[0].cubin, got[1].cubin, got[0].cubin_bytes) == 0),
          "row %zu: other machine code", i);
    for (int k = 0; k < 2; k++) compiled_free(&got[k]);
  }
}

static int refused; /* compiles with an option that an older NVRTC does not know */

static nvrtcResult compile_as_older(nvrtcProgram program, int count, const char *const *options) {
  for (int i = 0; i < count; i++) {
    if (strcmp(options[i], "--minimal") != 0) continue;
    refused++;
    return NVRTC_ERROR_INVALID_OPTION;
  }
  return nvrtc.compile(program, count, options);
}

TEST(an_nvrtc_that_leaves_nothing_out_compiles_in_full) {
  static const struct compile_request request = {
      .source = "extern \"C\" __global__ void k(float *a) { a[0] = 1; }", .name = "test.cu", .arch = "sm_90"};
  struct nvrtc older = nvrtc;
  struct compiled got;
  older.compile = compile_as_older;
  CHECK_EQ(HALOTUNE_OK, compile_source(&older, &request, &got), "%s", fail_text());
  CHECK(got.cubin_bytes > 0 && got.report.count == 1, "no cubin");
  CHECK_EQ(1, refused, "compiles with --minimal");
  compiled_free(&got);
}

/* What NVRTC 13.0 answered where memory or file descriptors were short, and how it rejects a source. */
static const struct failed_compile {
  nvrtcResult result;
  const char *log, *detail;
  halotune_status want;
} failures[] = {
    {NVRTC_ERROR_BUILTIN_OPERATION_FAILURE, "nvrtc: error: failed to open libnvrtc-builtins.so.13.0.\n",
     "NVRTC did not finish: nvrtc: error: failed to open libnvrtc-builtins.so.13.0.", HALOTUNE_NO_NVRTC},
    {NVRTC_ERROR_INTERNAL_ERROR, "", "NVRTC did not finish: NVRTC_ERROR_INTERNAL_ERROR", HALOTUNE_NO_NVRTC},
    {NVRTC_ERROR_OUT_OF_MEMORY, "", "NVRTC_ERROR_OUT_OF_MEMORY", HALOTUNE_MEMORY},
    {NVRTC_ERROR_COMPILATION, "header.h(5376): catastrophic error: out of memory\n", "out of memory", HALOTUNE_MEMORY},
    {NVRTC_ERROR_COMPILATION, "Catastrophic error: out of memory\n", "out of memory", HALOTUNE_MEMORY},
    {NVRTC_ERROR_COMPILATION, "", "NVRTC did not finish for lack of memory", HALOTUNE_MEMORY},
    {NVRTC_ERROR_COMPILATION, "a.cu(1): warning #177-D: variable \"x\" was declared but never referenced\n",
     "NVRTC did not finish for lack of memory", HALOTUNE_MEMORY},
    {NVRTC_ERROR_COMPILATION, "a.cu(1): catastrophic error: #error directive: b\n", "#error", HALOTUNE_COMPILE},
    {NVRTC_ERROR_COMPILATION, "ptxas fatal   : Unresolved extern function '_Z5otherPf'\n", "extern", HALOTUNE_COMPILE},
    {NVRTC_ERROR_COMPILATION, "a.cu(1): Error: Formal parameter space overflowed\n", "overflowed", HALOTUNE_COMPILE},
    {NVRTC_ERROR_INVALID_OPTION, "nvrtc: error: unrecognized option --x found\n", "--x", HALOTUNE_COMPILE},
};

static const struct failed_compile *failure; /* the answer of the functions below */

static nvrtcResult compile_and_fail(nvrtcProgram program, int count, const char *const *options) {
  (void)program, (void)count, (void)options;
  return failure->result;
}

static nvrtcResult log_size_of_failure(nvrtcProgram program, size_t *bytes) {
  (void)program;
  *bytes = strlen(failure->log) + 1;
  return NVRTC_SUCCESS;
}

static nvrtcResult log_of_failure(nvrtcProgram program, char *log) {
  (void)program;
  memcpy(log, failure->log, strlen(failure->log) + 1);
  return NVRTC_SUCCESS;
}

TEST(a_shortage_does_not_reject_the_source) {
  static const struct compile_request request = {
      .source = "extern \"C\" __global__ void k(float *a) { a[0] = 1; }", .name = "test.cu", .arch = "sm_90"};
  struct nvrtc failing = nvrtc;
  failing.compile = compile_and_fail;
  failing.log_size = log_size_of_failure;
  failing.log = log_of_failure;
  for (size_t i = 0; i < COUNT(failures); i++) {
    struct compiled got;
    failure = &failures[i];
    CHECK_EQ(failure->want, compile_source(&failing, &request, &got), "row %zu: %s", i, fail_text());
    CHECK(strstr(fail_text(), failure->detail), "row %zu: %s", i, fail_text());
    CHECK_TEXT(failure->log, got.log, "row %zu", i);
    compiled_free(&got);
  }
}

/* What CUDA 13.0 printed for two kernels and a function that was not inlined. */
static const char recorded[] =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function '_Z2k2ILi3EEvPf' for 'sm_90'\n"
    "ptxas info    : Function properties for _Z2k2ILi3EEvPf\n"
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 10 registers, used 1 barriers\n"
    "ptxas info    : Compile time = 1.100 ms\n"
    "ptxas info    : Function properties for _Z1fPfi\n"
    "ptxas         .     8 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads\n"
    "ptxas info    : Compiling entry function 'k1' for 'sm_90'\n"
    "ptxas info    : Function properties for k1\n"
    "ptxas         .     184 bytes stack frame, 524 bytes spill stores, 580 bytes spill loads\n"
    "ptxas info    : Used 32 registers, used 4 barriers, 192 bytes cumulative stack size, 1024 bytes smem, 8 bytes "
    "cmem[2]\n";

TEST(a_report_has_every_kernel) {
  struct resource_report report;
  CHECK_OK(ptxas_report_read(recorded, &report));
  CHECK_EQ(2, report.count, "kernels");
  static const struct kernel_resources want[] = {{"_Z2k2ILi3EEvPf", .registers = 10, .barriers = 1},
                                                 {"k1", .registers = 32, .barriers = 4, .shared_bytes = 1024,
                                                  .stack_bytes = 192, .spill_store_bytes = 524,
                                                  .spill_load_bytes = 580}};
  for (int i = 0; i < report.count; i++) {
    const struct kernel_resources *got = &report.kernels[i];
    CHECK_TEXT(want[i].name, got->name, "kernel %d", i);
    CHECK_EQ(want[i].registers, got->registers, "kernel %d", i);
    CHECK_EQ(want[i].barriers, got->barriers, "kernel %d", i);
    CHECK_EQ(want[i].shared_bytes, got->shared_bytes, "kernel %d", i);
    CHECK_EQ(want[i].stack_bytes, got->stack_bytes, "kernel %d", i);
    CHECK_EQ(want[i].spill_store_bytes, got->spill_store_bytes, "kernel %d", i);
    CHECK_EQ(want[i].spill_load_bytes, got->spill_load_bytes, "kernel %d", i);
  }
  resource_report_free(&report);
  CHECK_OK(ptxas_report_read("ptxas info    : Used 3 registers\nptxas", &report));
  CHECK_EQ(0, report.count, "a line without a kernel");
}

TEST(a_compiled_source_survives_packing_and_no_cut_of_it_does) {
  struct compiled got;
  struct kernel_resources kernel = {.name = (char[]){"k"}, .registers = 7, .spill_load_bytes = 12};
  struct compiled made = {
      .cubin = (char[]){"cubin"}, .cubin_bytes = 5, .log = (char[]){"a log"}, .compile_time_ms = 2.5};
  made.report = (struct resource_report){.kernels = &kernel, .count = 1};
  struct text bytes = {0};
  compiled_pack(&made, &bytes);
  struct unpack whole = {.at = bytes.bytes, .left = bytes.length};
  CHECK_OK(compiled_unpack(&whole, &got));
  CHECK_EQ(5, got.cubin_bytes, "cubin");
  CHECK(memcmp("cubin", got.cubin, 5) == 0, "cubin");
  CHECK_TEXT("a log", got.log, "log");
  CHECK_NEAR(2.5, got.compile_time_ms, 0, "time");
  CHECK_EQ(12, resource_report_find(&got.report, "k")->spill_load_bytes, "report");
  compiled_free(&got);
  for (size_t length = 0; length < bytes.length; length++) {
    struct unpack cut = {.at = bytes.bytes, .left = length};
    CHECK_EQ(HALOTUNE_PARSE, compiled_unpack(&cut, &got), "cut to %zu of %zu bytes", length, bytes.length);
  }
  text_free(&bytes);
}

static int open_nvrtc(void **state) {
  (void)state;
  unsetenv("HALOTUNE_NVRTC");
  return nvrtc_open(&nvrtc) == HALOTUNE_OK ? 0 : -1;
}

static int close_nvrtc(void **state) {
  (void)state;
  nvrtc_close(&nvrtc);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_absent_nvrtc_is_a_status_and_says_what_to_install),
      cmocka_unit_test(another_library_is_not_nvrtc),
      cmocka_unit_test(nvrtc_knows_its_version_and_architectures),
      cmocka_unit_test(a_source_becomes_a_cubin_and_a_report_or_an_error_with_its_line),
      cmocka_unit_test(a_quick_compile_gives_the_same_machine_code),
      cmocka_unit_test(a_comment_does_not_change_the_machine_code),
      cmocka_unit_test(an_nvrtc_that_leaves_nothing_out_compiles_in_full),
      cmocka_unit_test(a_shortage_does_not_reject_the_source),
      cmocka_unit_test(a_report_has_every_kernel),
      cmocka_unit_test(a_compiled_source_survives_packing_and_no_cut_of_it_does),
  };
  return cmocka_run_group_tests(tests, open_nvrtc, close_nvrtc);
}
