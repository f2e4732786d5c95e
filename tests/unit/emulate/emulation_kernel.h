/* emulation_kernel.h: kernels of a few lines for the tests of the host backend. Each is named `kernel` and has these parameters:
 *   u      POINTS numbers, 0, 1, 2, ...
 *   v      POINTS numbers, poisoned, to be computed
 *   words  WORDS zeros
 *   image  a texture object: u as rows of IMAGE_WIDTH, 0 outside
 *   n      POINTS */
#ifndef EMULATE_HOST_KERNEL_H
#define EMULATE_HOST_KERNEL_H

#include "tests/unit/emulate/emulation_build.h"

enum { POINTS = 256, WORDS = 64, IMAGE_WIDTH = 16, ORDERS = 6 };

#define HEAD                                                                                                        \
  "extern \"C\" __global__ void __launch_bounds__(256) kernel(const float *__restrict__ u, float *__restrict__ v, " \
  "unsigned *words, const cudaTextureObject_t image, const int n) {\n"                                              \
  "  const int i = blockIdx.x*blockDim.x + threadIdx.x; (void)i;\n"

static struct host_source kernel_source(const char *name, const char *text) {
  static const char *const names[] = {"kernel"};
  return (struct host_source){.name = name, .text = text, .kernels = names, .kernel_count = 1};
}

struct data {
  struct host_buffer *u, *v, *words;
};

static struct data make_data(void) {
  struct data data;
  CHECK_OK(host_buffer_create(POINTS * sizeof(float), sizeof(float), &data.u));
  CHECK_OK(host_buffer_create(POINTS * sizeof(float), sizeof(float), &data.v));
  CHECK_OK(host_buffer_create(WORDS * sizeof(unsigned), sizeof(unsigned), &data.words));
  for (int i = 0; i < POINTS; i++) ((float *)host_buffer_data(data.u))[i] = (float)i;
  return data;
}

static void free_data(struct data *data) {
  host_buffer_free(data->u);
  host_buffer_free(data->v);
  host_buffer_free(data->words);
}

/* One launch of blocks of `block` threads over all points, or of `grid` blocks if that is positive.
 *   order  0 to ORDERS-1: ascending, descending and random threads, each with ascending and descending blocks */
static struct host_outcome run_kernel(struct host_batch *batch, int variant, const struct data *data, unsigned block,
                                      unsigned grid, size_t shared_bytes, int order) {
  const int n = POINTS;
  const struct host_argument arguments[] = {
      {.kind = HOST_ARGUMENT_BUFFER, .buffer = data->u},
      {.kind = HOST_ARGUMENT_BUFFER, .buffer = data->v},
      {.kind = HOST_ARGUMENT_BUFFER, .buffer = data->words},
      {.kind = HOST_ARGUMENT_TEXTURE,
       .buffer = data->u,
       .texture = {.width = IMAGE_WIDTH,
                   .height = POINTS / IMAGE_WIDTH,
                   .pitch_bytes = IMAGE_WIDTH * sizeof(float),
                   .texel_bytes = sizeof(float),
                   .zero_outside = 1}},
      {.kind = HOST_ARGUMENT_BYTES, .bytes = &n, .byte_count = sizeof n},
  };
  const struct host_launch launch = {.kernel = "kernel",
                                     .grid = {grid > 0 ? grid : POINTS / block, 1, 1},
                                     .block = {block, 1, 1},
                                     .shared_bytes = shared_bytes,
                                     .arguments = arguments,
                                     .argument_count = COUNT(arguments),
                                     .threads = (enum host_order)(order % 3),
                                     .blocks = (enum host_order)(order / 3),
                                     .seed = 7,
                                     .timeout_ms = 300};
  struct host_outcome outcome;
  host_buffer_poison(data->v);
  memset(host_buffer_data(data->words), 0, WORDS * sizeof(unsigned));
  CHECK_OK(host_run(batch, variant, &launch, &outcome));
  return outcome;
}

#endif
