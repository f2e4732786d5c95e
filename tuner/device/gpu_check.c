/* gpu_check.c: launches the checks, and sums what their blocks found. */
#include "tuner/device/gpu_check.h"

#include <limits.h>
#include <stdlib.h>

#include "base/text/text.h"
#include "stencil/generate/wrappers.h"
#include "tuner/emulate/runtime/outcome.h"

__asm__(".pushsection .rodata\n"
        "gpu_check_cuda: .incbin \"tuner/device/check.cu\"\n"
        ".byte 0\n"
        "gpu_fields_cuda: .incbin \"tuner/device/fields.cu\"\n"
        ".byte 0\n"
        "gpu_parts_cuda: .incbin \"tuner/device/parts.cu\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char gpu_parts_cuda[] __attribute__((visibility("hidden")));
extern const char gpu_fields_cuda[] __attribute__((visibility("hidden")));
extern const char gpu_check_cuda[] __attribute__((visibility("hidden")));

const unsigned gpu_poison_word = EMULATION_POISON_BUFFER;

char *gpu_check_source(void) {
  struct text text = {0};
  text_printf(&text, "%s\n%s\n", wrappers_cuda, gpu_check_cuda);
  text_printf(&text, "enum { MOST_FIELDS = %d, MOST_CONSTANTS = %d, MOST_TAPS = %d, ", MAX_FIELDS, GPU_RECIPE_CONSTANTS,
              GPU_RECIPE_TAPS);
  text_printf(&text, "MOST_INSTRUCTIONS = %d, MOST_RESULTS = %d };\n", GPU_RECIPE_INSTRUCTIONS, GPU_RECIPE_RESULTS);
  text_printf(&text, "%s\n%s", gpu_fields_cuda, gpu_parts_cuda);
  if (text_ok(&text)) return text.bytes;
  text_free(&text);
  return NULL;
}

struct gpu_found gpu_found_nothing(void) {
  return (struct gpu_found){.first_bad = LLONG_MAX, .first_damaged = LLONG_MAX};
}

void gpu_found_add(struct gpu_found *to, const struct gpu_found *from) {
  to->bad += from->bad;
  to->not_finite += from->not_finite;
  to->damaged += from->damaged;
  if (from->first_bad < to->first_bad) to->first_bad = from->first_bad;
  if (from->first_damaged < to->first_damaged) to->first_damaged = from->first_damaged;
  to->sum_of_squares += from->sum_of_squares;
  if (from->max_error > to->max_error) to->max_error = from->max_error;
  if (from->max_units > to->max_units) to->max_units = from->max_units;
}

halotune_status gpu_checker_load(struct gpu *gpu, const void *cubin, CUstream stream, int blocks,
                                 struct gpu_checker *out) {
  *out = (struct gpu_checker){.gpu = gpu, .stream = stream, .blocks = blocks};
  const struct {
    const char *name;
    CUfunction *function;
  } rows[] = {{"check_f32", &out->check[DTYPE_F32]},
              {"check_f64", &out->check[DTYPE_F64]},
              {"check_input", &out->check_input},
              {"check_digest", &out->digest},
              {"fill_f32", &out->fill[DTYPE_F32]},
              {"fill_f64", &out->fill[DTYPE_F64]},
              {"reference_f32", &out->reference[DTYPE_F32]},
              {"reference_f64", &out->reference[DTYPE_F64]},
              {"check_start_f32", &out->check_start[DTYPE_F32]},
              {"check_start_f64", &out->check_start[DTYPE_F64]},
              {"check_part_f32", &out->check_part[DTYPE_F32]},
              {"check_part_f64", &out->check_part[DTYPE_F64]},
              {"empty", &out->empty},
              {"spin", &out->spin}};
  halotune_status status = gpu_did(gpu, gpu->cu->module_load(&out->module, cubin), "cuModuleLoadData");
  for (size_t i = 0; i < sizeof rows / sizeof *rows && status == HALOTUNE_OK; i++) {
    status = gpu_did(gpu, gpu->cu->module_function(rows[i].function, out->module, rows[i].name), "cuModuleGetFunction");
  }
  if (status != HALOTUNE_OK) return status;
  return gpu_did(gpu, gpu->cu->mem_alloc(&out->found, sizeof out->host), "cuMemAlloc");
}

void gpu_checker_free(struct gpu_checker *checker) {
  if (!checker->gpu) return;
  if (checker->found) checker->gpu->cu->mem_free(checker->found);
  if (checker->module) checker->gpu->cu->module_unload(checker->module);
  checker->gpu = NULL;
}

static halotune_status run_check(struct gpu_checker *checker, CUfunction function, void **arguments,
                                 struct gpu_found *out) {
  struct gpu *gpu = checker->gpu;
  unsigned blocks = (unsigned)checker->blocks, shared_bytes = GPU_CHECK_THREADS * sizeof(struct gpu_found);
  *out = gpu_found_nothing();
  halotune_status status = gpu_did(
      gpu,
      gpu->cu->launch(function, blocks, 1, 1, GPU_CHECK_THREADS, 1, 1, shared_bytes, checker->stream, arguments, NULL),
      "launch of a check");
  if (status == HALOTUNE_OK) status = gpu_did(gpu, gpu->cu->stream_synchronize(checker->stream), "check");
  if (status == HALOTUNE_OK) {
    status =
        gpu_did(gpu, gpu->cu->to_host(checker->host, checker->found, blocks * sizeof *checker->host), "cuMemcpyDtoH");
  }
  for (unsigned i = 0; i < blocks && status == HALOTUNE_OK; i++) gpu_found_add(out, &checker->host[i]);
  return status;
}

halotune_status gpu_check(struct gpu_checker *checker, enum dtype dtype, CUdeviceptr memory, CUdeviceptr want,
                          CUdeviceptr magnitudes, const struct gpu_look *look, struct gpu_found *out) {
  struct gpu_look copy = *look;
  void *arguments[] = {&memory, &want, &magnitudes, &copy, &checker->found};
  return run_check(checker, checker->check[dtype], arguments, out);
}

halotune_status gpu_check_input(struct gpu_checker *checker, CUdeviceptr memory, CUdeviceptr pristine,
                                const struct gpu_look *look, struct gpu_found *out) {
  struct gpu_look copy = *look;
  void *arguments[] = {&memory, &pristine, &copy, &checker->found};
  return run_check(checker, checker->check_input, arguments, out);
}

halotune_status gpu_check_start(struct gpu_checker *checker, enum dtype dtype, CUdeviceptr memory, CUdeviceptr recipe,
                                int buffer, const struct gpu_look *look, struct gpu_found *out) {
  struct gpu_look copy = *look;
  void *arguments[] = {&memory, &recipe, &buffer, &copy, &checker->found};
  return run_check(checker, checker->check_start[dtype], arguments, out);
}

/* A box as the kernels have it. */
struct gpu_box {
  long long low[MAX_DIMS], high[MAX_DIMS];
};

static struct gpu_box gpu_box_of(const struct box *box) {
  struct gpu_box out;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    out.low[axis] = box->low[axis];
    out.high[axis] = box->high[axis];
  }
  return out;
}

halotune_status gpu_check_part(struct gpu_checker *checker, enum dtype dtype, CUdeviceptr data, CUdeviceptr want,
                               CUdeviceptr magnitudes, const struct gpu_look *look, const struct box *part,
                               struct gpu_found *out) {
  struct gpu_look copy = *look;
  struct gpu_box where = gpu_box_of(part);
  void *arguments[] = {&data, &want, &magnitudes, &copy, &where, &checker->found};
  return run_check(checker, checker->check_part[dtype], arguments, out);
}

halotune_status gpu_check_digest(struct gpu_checker *checker, CUdeviceptr field, long long count, uint64_t *out) {
  struct gpu_found found;
  void *arguments[] = {&field, &count, &checker->found};
  halotune_status status = run_check(checker, checker->digest, arguments, &found);
  *out = (uint64_t)found.bad;
  return status;
}

halotune_status gpu_fill(struct gpu_checker *checker, enum dtype dtype, CUdeviceptr to, CUdeviceptr recipe,
                         int buffer) {
  struct gpu *gpu = checker->gpu;
  void *arguments[] = {&to, &recipe, &buffer};
  return gpu_did(gpu,
                 gpu->cu->launch(checker->fill[dtype], (unsigned)checker->blocks, 1, 1, GPU_CHECK_THREADS, 1, 1, 0,
                                 checker->stream, arguments, NULL),
                 "launch of a fill");
}

halotune_status gpu_reference(struct gpu_checker *checker, enum dtype dtype, CUdeviceptr recipe,
                              const struct gpu_reference_inputs *inputs, const struct gpu_reference_parts *parts,
                              int output, CUdeviceptr want, CUdeviceptr magnitudes, struct gpu_found *out) {
  enum { KINDS = 3, REST = 6 };
  struct {
    struct gpu_box points, from, to;
  } window = {gpu_box_of(&parts->points), gpu_box_of(&parts->from), gpu_box_of(&parts->to)};
  struct gpu_reference_inputs copy = *inputs;
  CUdeviceptr *const kinds[KINDS] = {copy.starts, copy.values, copy.magnitudes};
  void *arguments[KINDS * GPU_RECIPE_INPUTS + REST] = {&recipe};
  int count = 1;
  for (int k = 0; k < KINDS; k++) {
    for (int i = 0; i < GPU_RECIPE_INPUTS; i++) arguments[count++] = &kinds[k][i];
  }
  arguments[count++] = &window;
  arguments[count++] = &output;
  arguments[count++] = &want;
  arguments[count++] = &magnitudes;
  arguments[count] = &checker->found;
  return run_check(checker, checker->reference[dtype], arguments, out);
}

CUresult gpu_launch_empty(const struct gpu_checker *checker) {
  return checker->gpu->cu->launch(checker->empty, 1, 1, 1, 1, 1, 1, 0, checker->stream, NULL, NULL);
}

CUresult gpu_launch_spin(const struct gpu_checker *checker, int blocks, unsigned rounds) {
  CUdeviceptr out = checker->found;
  void *arguments[] = {&rounds, &out};
  return checker->gpu->cu->launch(checker->spin, (unsigned)blocks, 1, 1, GPU_CHECK_THREADS, 1, 1, 0, checker->stream,
                                  arguments, NULL);
}
