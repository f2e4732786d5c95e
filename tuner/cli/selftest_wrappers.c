/* selftest_wrappers.c: sources put together from the wrappers and the file that uses each of them. */
#include "tuner/cli/selftest_wrappers.h"

#include "stencil/wrappers.h"

__asm__(".pushsection .rodata\n"
        "wrappers_check_cuda: .incbin \"tuner/backend/gpu/wrappers_check.cu\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char wrappers_check_cuda[] __attribute__((visibility("hidden")));

#define AS_ROW(name, capability) {#name, capability},
const struct wrapper_case wrapper_cases[] = {WRAPPER_CASE_LIST(AS_ROW)};
const int wrapper_case_count = sizeof wrapper_cases / sizeof *wrapper_cases;

halotune_status wrapper_generate(int number, enum dtype dtype, struct generated *out) {
  enum { THREADS = 256, EACH = 4, BARRIER_BYTES = 16 };
  struct text text = {0};
  *out = (struct generated){.source = NULL};
  text_printf(&text, "#define REAL %s\n#define WRAPPER CASE_%s\nenum {", dtype == DTYPE_F32 ? "float" : "double",
              wrapper_cases[number].name);
  for (int i = 0; i < wrapper_case_count; i++) text_printf(&text, " CASE_%s,", wrapper_cases[i].name);
  text_printf(&text, " CASES };\n%s\n%s", wrappers_cuda, wrappers_check_cuda);
  if (!text_ok(&text)) {
    text_free(&text);
    return fail_memory();
  }
  out->source = text.bytes;
  out->hash = hash_bytes(text.bytes, text.length);
  out->launch = (struct launch){.kernel = "wrappers_check",
                                .block = {THREADS, 1, 1},
                                .grid = {WRAPPER_POINTS / (THREADS * EACH), 1, 1},
                                .shared_bytes = (long)THREADS * EACH * (long)dtype_bytes(dtype) + BARRIER_BYTES,
                                .index_bytes = 8};
  return HALOTUNE_OK;
}
