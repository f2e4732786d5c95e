/* kernel_pack.c: halotune_pack and halotune_unpack. Their kernels (copy_box.cu) are compiled and loaded at the first
 * call for a halotune_kernel. */
#include "library/kernel/kernel_pack.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library/kernel/kernel_set.h"

__asm__(".pushsection .rodata\n"
        "copy_box_cuda: .incbin \"library/kernel/copy_box.cu\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char copy_box_cuda[] __attribute__((visibility("hidden")));

enum direction { PACK, UNPACK, DIRECTION_COUNT };
enum { SIZE_COUNT = 3, THREADS = 256 };
static const int element_sizes[SIZE_COUNT] = {1, 4, 8};

struct copier {
  CUmodule module;
  CUfunction functions[DIRECTION_COUNT][SIZE_COUNT];
};

/* The argument of the kernels: struct Box of copy_box.cu. */
struct copied_box {
  long long first, strides[MAX_DIMS];
  unsigned nx, ny, count;
};

static const char *const call_names[DIRECTION_COUNT] = {"halotune_pack", "halotune_unpack"};

static halotune_status load_copier(const halotune_kernel *kernel, const void *cubin, struct copier *out) {
  static const char *const names[DIRECTION_COUNT] = {"pack", "unpack"};
  halotune_status status = cu_check(kernel->cu, kernel->cu->module_load(&out->module, cubin), "cuModuleLoadData");
  for (int i = 0; i < DIRECTION_COUNT * SIZE_COUNT && status == HALOTUNE_OK; i++) {
    char name[16];
    snprintf(name, sizeof name, "%s_%d", names[i / SIZE_COUNT], element_sizes[i % SIZE_COUNT]);
    status = cu_check(kernel->cu,
                      kernel->cu->module_function(&out->functions[i / SIZE_COUNT][i % SIZE_COUNT], out->module, name),
                      "cuModuleGetFunction");
  }
  return status;
}

/* Make the copier. The caller holds the kernel's lock. */
static halotune_status make_copier(halotune_kernel *kernel, struct copier **out) {
  struct compiled compiled = {.cubin = NULL};
  struct copier *copier = calloc(1, sizeof *copier);
  const char *origin;
  if (!copier) return fail_memory();
  halotune_status status = kernel_compile(kernel->ctx, kernel->question.device->capability, copy_box_cuda,
                                          "copy_box.cu", &compiled, &origin);
  if (status == HALOTUNE_OK) status = load_copier(kernel, compiled.cubin, copier);
  compiled_free(&compiled);
  if (status == HALOTUNE_OK) return *out = copier, HALOTUNE_OK;
  if (copier->module) kernel->cu->module_unload(copier->module);
  free(copier);
  return status;
}

static halotune_status find_copier(halotune_kernel *kernel, struct copier **out) {
  halotune_status status = HALOTUNE_OK;
  *out = atomic_load_explicit(&kernel->copier, memory_order_acquire);
  if (*out) return HALOTUNE_OK;
  pthread_mutex_lock(&kernel->lock);
  *out = atomic_load(&kernel->copier); /* another thread may have made the copier meanwhile */
  if (!*out && (status = make_copier(kernel, out)) == HALOTUNE_OK)
    atomic_store_explicit(&kernel->copier, *out, memory_order_release);
  pthread_mutex_unlock(&kernel->lock);
  return status;
}

void kernel_pack_free(halotune_kernel *kernel) {
  struct copier *copier = atomic_load(&kernel->copier);
  if (copier) kernel->cu->module_unload(copier->module);
  free(copier);
}

static halotune_status check_box(const halotune_kernel *kernel, const halotune_box *box, const char *call) {
  const struct grid *grid = &kernel->question.domain.grid;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (box->low[axis] < 0 || box->low[axis] > box->high[axis] || box->high[axis] > grid->n[axis])
      return fail(HALOTUNE_ARGUMENT, "%s: the box goes from %lld to %lld in %c; the grid goes from 0 to %ld", call,
                  box->low[axis], box->high[axis], axis_names[axis], grid->n[axis]);
  }
  return HALOTUNE_OK;
}

/* Fill the kernels' argument for a box of a field. A box without points has the count 0. */
static halotune_status describe_copy(const halotune_field *field, const halotune_box *box, const char *call,
                                     struct copied_box *out) {
  long long points[MAX_DIMS], count = 1;
  *out = (struct copied_box){.first = 0};
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (box->low[axis] == box->high[axis]) return HALOTUNE_OK;
  }
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    const long long extent = box->high[axis] - box->low[axis];
    points[axis] = field->strides[axis] > 0 ? extent : extent > 0;
    out->strides[axis] = field->strides[axis];
    out->first += box->low[axis] * field->strides[axis];
    if (points[axis] > INT_MAX || (count *= points[axis]) > INT_MAX)
      return fail(HALOTUNE_ARGUMENT, "%s: the box has more than %d points", call, INT_MAX);
  }
  out->nx = (unsigned)points[0], out->ny = (unsigned)points[1], out->count = (unsigned)count;
  return HALOTUNE_OK;
}

static halotune_status copy_box(halotune_kernel *kernel, CUstream stream, int field, const halotune_box *box,
                                const void *from, void *to, enum direction direction) {
  const char *call = call_names[direction];
  halotune_field facts;
  struct copied_box copied = {.count = 0};
  struct copier *copier = NULL;
  int size = 0;
  if (!kernel || !box || !from || !to) return fail(HALOTUNE_ARGUMENT, "%s: an argument is NULL", call);
  halotune_status status = forked_check(kernel->ctx->generation);
  if (status == HALOTUNE_OK) status = halotune_kernel_field(kernel, field, &facts);
  if (status == HALOTUNE_OK) status = check_box(kernel, box, call);
  if (status == HALOTUNE_OK) status = describe_copy(&facts, box, call, &copied);
  if (status != HALOTUNE_OK || copied.count == 0) return status;
  const uintptr_t misaligned = ((uintptr_t)from | (uintptr_t)to) % (uintptr_t)facts.element_bytes;
  if (misaligned)
    return fail(HALOTUNE_ARGUMENT, "%s: a pointer is not a multiple of %d bytes, the size of an element", call,
                facts.element_bytes);
  if ((status = find_copier(kernel, &copier)) != HALOTUNE_OK) return status;
  while (size < SIZE_COUNT - 1 && element_sizes[size] != facts.element_bytes) size++;
  CUdeviceptr source = (CUdeviceptr)(uintptr_t)from, target = (CUdeviceptr)(uintptr_t)to;
  void *arguments[] = {&source, &target, &copied};
  return cu_check(kernel->cu,
                  kernel->cu->launch(copier->functions[direction][size], (copied.count + THREADS - 1) / THREADS, 1, 1,
                                     THREADS, 1, 1, 0, stream, arguments, NULL),
                  call);
}

halotune_status halotune_pack(halotune_kernel *kernel, struct CUstream_st *stream, int field, const halotune_box *box,
                              const void *from, void *to) {
  return copy_box(kernel, stream, field, box, from, to, PACK);
}

halotune_status halotune_unpack(halotune_kernel *kernel, struct CUstream_st *stream, int field, const halotune_box *box,
                                const void *from, void *to) {
  return copy_box(kernel, stream, field, box, from, to, UNPACK);
}
