/* check_module.h: what tests of sessions need: a folder for caches, a compiler, and check.cu compiled for sm_90. */
#ifndef DEVICE_CHECK_MODULE_H
#define DEVICE_CHECK_MODULE_H

#include "tests/unit/fake_cuda.h"
#include "tests/unit/host_cache.h"
#include "tests/unit/measure/backend.h"
#include "tuner/device/gpu_session.h"
#include "tuner/measure/backends/backend_cuda_judge.h"

static char folder[64];
static struct compiler *compiler;
static struct compiled checks;

static inline int setup(void **state) {
  char *source = gpu_check_source();
  const struct compile_request request = {.source = source, .name = "check.cu", .arch = "sm_90"};
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/halotune-session-XXXXXX");
  if (!mkdtemp(folder) || !host_cache_use(folder)) return -1;
  setenv("XDG_CACHE_HOME", folder, 1);
  setenv("HALOTUNE_FAKE_SMS", "1", 1);
  halotune_status status = compiler_open(&(struct compiler_options){.pool = {.workers = 1}}, &compiler);
  if (status == HALOTUNE_OK) status = compiler_compile(compiler, &request, &checks);
  free(source);
  return status == HALOTUNE_OK ? 0 : -1;
}

static inline int teardown(void **state) {
  char command[128];
  (void)state;
  compiled_free(&checks);
  compiler_close(compiler);
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command); // NOLINT(cert-env33-c): the folder is our own
}

#endif
