/* module.c: modules: finds a cubin's source by its hash, and compiles it for the emulation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/architecture/occupancy.h"
#include "gpu/compile/cubin_cache.h"
#include "tests/fake_cuda/fake.h"

enum { MOST_RUNNERS = 8, UNASKED_SHARED_BYTES = 48 * 1024 };

/* Modules whose processes are kept, the last used first. */
static struct fake_module *running[MOST_RUNNERS];

/* Find a source of the cubin by searching the whole cache. Several sources may give one cubin, such as one variant on
 * several grids; any of them will do. */
static CUresult find_source(const void *image, struct fake_module *module) {
  struct cubin_cache cache;
  size_t bytes = cubin_bytes(image);
  if (bytes == 0) return CUDA_ERROR_INVALID_IMAGE;
  module->hash = hash_bytes(image, bytes);
  if ((module->source = memo_source(module->hash))) return CUDA_SUCCESS;
  halotune_status status = cubin_cache_open(NULL, 0, &cache);
  if (status == HALOTUNE_OK) status = cubin_cache_source(&cache, module->hash, &module->source);
  cubin_cache_close(&cache);
  if (status == HALOTUNE_OK) {
    memo_put_source(module->hash, module->source);
    return CUDA_SUCCESS;
  }
  fprintf(stderr, "fake driver: %s\n", fail_text());
  return CUDA_ERROR_INVALID_SOURCE;
}

/* Find a line in the head of the source, such as "// values    block_x=32". */
static int line_of(const char *source, const char *key, const char **line) {
  char begin[32];
  snprintf(begin, sizeof begin, "\n// %-9s ", key);
  const char *found = strstr(source, begin);
  *line = found ? found + strlen(begin) : "";
  return (int)strcspn(*line, "\n");
}

static void log_load(const struct fake_module *module) {
  const char *stencil, *values;
  int stencil_length = line_of(module->source, "stencil", &stencil),
      values_length = line_of(module->source, "values", &values);
  fake_log("loaded %.9g %.*s %.*s", module->factor, stencil_length, stencil, values_length, values);
}

static void warn_nothing(const char *text) { (void)text; }

static void compile_module(struct fake_module *module) {
  const char *names[FAKE_MAX_KERNELS] = {NULL};
  for (int i = 0; i < module->kernel_count; i++) names[i] = module->kernels[i].name;
  struct emulation_source source = {
      .name = names[0], .text = module->source, .kernels = names, .kernel_count = module->kernel_count};
  struct emulation_options options = {.workers = 1, .warn = warn_nothing};
  if (emulation_build(&source, 1, &options, &module->batch) != HALOTUNE_OK) {
    fprintf(stderr, "fake driver: %s\n", fail_text());
  } else if (emulation_batch_compile(module->batch, 0)->outcome != COMPILE_OK) {
    fprintf(stderr, "fake driver: %s does not compile for the CPU:\n%s\n", names[0],
            emulation_batch_compile(module->batch, 0)->log);
    emulation_batch_free(module->batch);
    module->batch = NULL;
  }
}

/* Whether a module has checks of memory. These are compiled at once, because callers wait longer for a module than for
 * a launch. */
static bool is_checker(const struct fake_module *module) {
  for (int i = 0; i < module->kernel_count; i++) {
    if (strncmp(module->kernels[i].name, "check", 5) == 0) return true;
  }
  return false;
}

CUresult fake_module_load(CUmodule *module, const void *image) {
  struct fake_module *new = calloc(1, sizeof *new);
  CUresult result = new ? find_source(image, new) : CUDA_ERROR_OUT_OF_MEMORY;
  if (result == CUDA_SUCCESS && (new->kernel_count = cubin_kernels(image, new->kernels)) == 0)
    result = CUDA_ERROR_INVALID_IMAGE;
  if (result == CUDA_SUCCESS) {
    fake_lock();
    result = fake_begin("cuModuleLoadData", new->source, NULL);
    if (result == CUDA_SUCCESS && !fake_has_context()) result = CUDA_ERROR_INVALID_CONTEXT;
    fake_unlock(NULL);
  }
  if (result != CUDA_SUCCESS) {
    if (new) free(new->source);
    free(new);
    return result;
  }
  new->factor = model_factor(new->hash, new->source);
  log_load(new);
  if (is_checker(new)) compile_module(new);
  *module = (CUmodule)(void *)new;
  return CUDA_SUCCESS;
}

static void forget_runner(const struct fake_module *module) {
  for (int i = 0; i < MOST_RUNNERS; i++) {
    if (running[i] == module) running[i] = NULL;
  }
}

CUresult fake_module_unload(CUmodule handle) {
  ENTER("cuModuleUnload");
  struct fake_module *module = (struct fake_module *)(void *)handle;
  if (!module) return CUDA_ERROR_INVALID_HANDLE;
  forget_runner(module);
  emulation_batch_free(module->batch);
  free(module->source);
  free(module);
  return CUDA_SUCCESS;
}

CUresult fake_module_function(CUfunction *function, CUmodule handle, const char *name) {
  struct fake_module *module = (struct fake_module *)(void *)handle;
  ENTER_ABOUT("cuModuleGetFunction", module ? module->source : NULL, NULL);
  if (!module) return CUDA_ERROR_INVALID_HANDLE;
  for (int i = 0; i < module->kernel_count; i++) {
    if (strcmp(module->kernels[i].name, name) != 0) continue;
    struct fake_function *found = &module->functions[i];
    if (!found->module) {
      *found = (struct fake_function){
          .module = module, .kernel = &module->kernels[i], .max_shared_bytes = UNASKED_SHARED_BYTES};
    }
    *function = (CUfunction)(void *)found;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

CUresult fake_function_attribute(int *value, CUfunction_attribute attribute, CUfunction handle) {
  const struct fake_function *function = (const struct fake_function *)(const void *)handle;
  ENTER_ABOUT("cuFuncGetAttribute", function->module->source, NULL);
  switch ((int)attribute) {
  case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = function->kernel->registers; break;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = function->kernel->static_shared_bytes; break;
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = function->kernel->max_threads; break;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = function->max_shared_bytes; break;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = 0; break;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = fake_capability(); break;
  default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult fake_function_set(CUfunction handle, CUfunction_attribute attribute, int value) {
  struct fake_function *function = (struct fake_function *)(void *)handle;
  ENTER_ABOUT("cuFuncSetAttribute", function->module->source, NULL);
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) return CUDA_SUCCESS;
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0) return CUDA_ERROR_INVALID_VALUE;
  if (value + function->kernel->static_shared_bytes > fake_limits()->shared_per_block_bytes)
    return CUDA_ERROR_INVALID_VALUE;
  function->max_shared_bytes = value;
  return CUDA_SUCCESS;
}

CUresult fake_function_parameter(CUfunction handle, size_t number, size_t *offset, size_t *bytes) {
  const struct fake_function *function = (const struct fake_function *)(const void *)handle;
  ENTER_ABOUT("cuFuncGetParamInfo", function->module->source, NULL);
  if (number >= (size_t)function->kernel->parameter_count) return CUDA_ERROR_INVALID_VALUE;
  *offset = 0; /* nobody asks for it */
  *bytes = function->kernel->parameter_bytes[number];
  return CUDA_SUCCESS;
}

CUresult fake_occupancy_blocks(int *blocks, CUfunction handle, int threads, size_t shared_bytes) {
  const struct fake_function *function = (const struct fake_function *)(const void *)handle;
  ENTER_ABOUT("cuOccupancyMaxActiveBlocksPerMultiprocessor", function->module->source, NULL);
  if (threads < 1) return CUDA_ERROR_INVALID_VALUE;
  struct block_needs needs = {.threads = threads,
                              .registers = function->kernel->registers,
                              .shared_bytes = function->kernel->static_shared_bytes + (int)shared_bytes};
  *blocks = occupancy_of(fake_limits(), &needs).blocks;
  return CUDA_SUCCESS;
}

struct emulation_batch *fake_module_batch(struct fake_module *module) {
  if (!module->batch) compile_module(module);
  if (!module->batch || running[0] == module) return module->batch;
  forget_runner(module);
  struct fake_module *oldest = running[MOST_RUNNERS - 1];
  if (oldest && oldest->batch) emulation_rest(oldest->batch, 0);
  memmove(running + 1, running, (MOST_RUNNERS - 1) * sizeof *running);
  running[0] = module;
  return module->batch;
}
