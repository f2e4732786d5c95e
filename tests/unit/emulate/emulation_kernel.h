/* emulation_kernel.h: short kernels for tests of the emulation. Each is named `kernel` and has these parameters:
 *   u      POINTS numbers, 0, 1, 2, ...
 *   v      POINTS numbers, poisoned; the kernel computes them
 *   words  WORDS zeros
 *   image  a texture object: u as rows of IMAGE_WIDTH, 0 outside
 *   n      POINTS */
#ifndef EMULATE_EMULATION_KERNEL_H
#define EMULATE_EMULATION_KERNEL_H

#include "tests/unit/emulate/emulation_build.h"

enum { POINTS = 256, WORDS = 64, IMAGE_WIDTH = 16, ORDERS = 6 };

#define HEAD                                                                                                        \
  "extern \"C\" __global__ void __launch_bounds__(256) kernel(const float *__restrict__ u, float *__restrict__ v, " \
  "unsigned *words, const cudaTextureObject_t image, const int n) {\n"                                              \
  "  const int i = blockIdx.x*blockDim.x + threadIdx.x; (void)i;\n"

static struct emulation_source kernel_source(const char *name, const char *text) {
  static const char *const names[] = {"kernel"};
  return (struct emulation_source){.name = name, .text = text, .kernels = names, .kernel_count = 1};
}

struct data {
  struct emulation_buffer *u, *v, *words;
};

static struct data make_data(void) {
  struct data data;
  CHECK_OK(emulation_buffer_create(POINTS * sizeof(float), sizeof(float), &data.u));
  CHECK_OK(emulation_buffer_create(POINTS * sizeof(float), sizeof(float), &data.v));
  CHECK_OK(emulation_buffer_create(WORDS * sizeof(unsigned), sizeof(unsigned), &data.words));
  for (int i = 0; i < POINTS; i++) ((float *)emulation_buffer_data(data.u))[i] = (float)i;
  return data;
}

static void free_data(struct data *data) {
  emulation_buffer_free(data->u);
  emulation_buffer_free(data->v);
  emulation_buffer_free(data->words);
}

/* Launch blocks of `block` threads over all points, or `grid` blocks if that is positive, in a cooperative launch or an
 * ordinary one.
 *   order  0 to ORDERS-1: ascending, descending and random threads, each with ascending and descending blocks */
static inline struct emulation_outcome run_blocks(struct emulation_batch *batch, int variant, const struct data *data,
                                                  unsigned block, unsigned grid, size_t shared_bytes, int order,
                                                  bool is_cooperative) {
  const int n = POINTS;
  const struct emulation_argument arguments[] = {
      {.kind = EMULATION_ARGUMENT_BUFFER, .buffer = data->u},
      {.kind = EMULATION_ARGUMENT_BUFFER, .buffer = data->v},
      {.kind = EMULATION_ARGUMENT_BUFFER, .buffer = data->words},
      {.kind = EMULATION_ARGUMENT_TEXTURE,
       .buffer = data->u,
       .texture = {.width = IMAGE_WIDTH,
                   .height = POINTS / IMAGE_WIDTH,
                   .pitch_bytes = IMAGE_WIDTH * sizeof(float),
                   .texel_bytes = sizeof(float),
                   .zero_outside = 1}},
      {.kind = EMULATION_ARGUMENT_BYTES, .bytes = &n, .byte_count = sizeof n},
  };
  const struct emulation_launch launch = {.kernel = "kernel",
                                          .grid = {grid > 0 ? grid : POINTS / block, 1, 1},
                                          .block = {block, 1, 1},
                                          .cooperative = is_cooperative,
                                          .shared_bytes = shared_bytes,
                                          .arguments = arguments,
                                          .argument_count = COUNT(arguments),
                                          .threads = (enum emulation_order)(order % 3),
                                          .blocks = (enum emulation_order)(order / 3),
                                          .seed = 7,
                                          .timeout_ms = 300};
  struct emulation_outcome outcome;
  emulation_buffer_poison(data->v);
  memset(emulation_buffer_data(data->words), 0, WORDS * sizeof(unsigned));
  CHECK_OK(emulation_run(batch, variant, &launch, &outcome));
  return outcome;
}

/* The same for an ordinary launch. */
static inline struct emulation_outcome run_kernel(struct emulation_batch *batch, int variant, const struct data *data,
                                                  unsigned block, unsigned grid, size_t shared_bytes, int order) {
  return run_blocks(batch, variant, data, block, grid, shared_bytes, order, false);
}

#endif
