/* selftest_wrappers.c: makes sources from the wrappers and from wrappers_check.cu, which calls each of them. */
#include "tuner/cli/selftest/selftest_wrappers.h"

#include "stencil/generate/wrappers.h"

__asm__(".pushsection .rodata\n"
        "wrappers_check_cuda: .incbin \"tuner/device/wrappers_check.cu\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char wrappers_check_cuda[] __attribute__((visibility("hidden")));

#define AS_ROW(name, capability, launch) {#name, capability, WRAPPER_##launch},
const struct wrapper_case wrapper_cases[] = {WRAPPER_CASE_LIST(AS_ROW)};
const int wrapper_case_count = sizeof wrapper_cases / sizeof *wrapper_cases;

enum { POINTS = 1 << 16, THREADS = 256, EACH = 4, CHUNK = THREADS * EACH, CLUSTER = 4 };

const struct grid wrapper_grids[2] = {{{256, 256, 1}}, {{64, 32, 32}}};

int wrapper_dims(int number) { return wrapper_cases[number].launch == WRAPPER_MAPS_3D ? 3 : 2; }

/* Boxes of CHUNK elements: whole rows, or a part of several planes. */
static const struct tensor_maps maps_2d = {.count = 1, .box = {256, CHUNK / 256, 1}, .promotion_bytes = 128};
static const struct tensor_maps maps_3d = {.count = 1, .box = {32, 8, CHUNK / 32 / 8}, .promotion_bytes = 256};

static struct launch launch_of(enum wrapper_launch kind, enum dtype dtype) {
  enum { BOXES = 2, BARRIER_BYTES = 16 };
  struct launch launch = {.kernel = "wrappers_check",
                          .block = {THREADS, 1, 1},
                          .grid = {POINTS / CHUNK, 1, 1},
                          .shared_bytes = (long)BOXES * CHUNK * (long)dtype_bytes(dtype) + BARRIER_BYTES,
                          .index_bytes = 8};
  if (kind == WRAPPER_MAPS_2D) launch.input_maps = launch.output_maps = maps_2d;
  if (kind == WRAPPER_MAPS_3D) launch.input_maps = launch.output_maps = maps_3d;
  if (kind == WRAPPER_CLUSTER) launch.cluster[0] = CLUSTER;
  launch.overlaps = kind == WRAPPER_OVERLAP;
  return launch;
}

halotune_status wrapper_generate(int number, enum dtype dtype, struct generated *out) {
  enum wrapper_launch kind = wrapper_cases[number].launch;
  struct text text = {0};
  *out = (struct generated){.source = NULL};
  text_printf(&text, "#define REAL %s\n#define WRAPPER CASE_%s\n", dtype == DTYPE_F32 ? "float" : "double",
              wrapper_cases[number].name);
  if (kind == WRAPPER_MAPS_2D || kind == WRAPPER_MAPS_3D) text_printf(&text, "#define MAPS\n");
  text_printf(&text, "enum {");
  for (int i = 0; i < wrapper_case_count; i++) text_printf(&text, " CASE_%s,", wrapper_cases[i].name);
  text_printf(&text, " CASES };\n%s\n%s\n%s", wrappers_cuda,
              wrapper_cases[number].capability < 90 ? "" : wrappers_sm_90_cuda, wrappers_check_cuda);
  if (!text_ok(&text)) {
    text_free(&text);
    return fail_memory();
  }
  out->source = text.bytes;
  out->hash = identity_of("CUDA", text.bytes, text.length);
  out->launch = launch_of(kind, dtype);
  return HALOTUNE_OK;
}
