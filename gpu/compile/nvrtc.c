/* nvrtc.c: finds libnvrtc and loads its symbols. compile.c compiles with it. */
#include "gpu/compile/nvrtc.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"

#define INSTALL                                                                                        \
  "install NVIDIA's CUDA Toolkit, version 12 or 13 (NVRTC alone: apt install cuda-nvrtc-13-0, or pip " \
  "install nvidia-cuda-nvrtc), or set HALOTUNE_NVRTC to the path of libnvrtc.so"

enum { OLDEST_MAJOR = 12 };

/* RTLD_NODELETE: never unmap it, because its C++ runtime holds memory that nothing else can free. */
enum { LOADING = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE };

static const char *const file_names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"};

/* Load libnvrtc from a CUDA folder, or from where the loader searches if `cuda_folder` is "". */
static void *load_from(const char *cuda_folder) {
  void *library = NULL;
  for (size_t i = 0; i < COUNT(file_names) && !library; i++) {
    char path[PATH_MAX];
    const char *below = *cuda_folder ? "/lib64/" : "";
    int length = snprintf(path, sizeof path, "%s%s%s", cuda_folder, below, file_names[i]);
    if (length < (int)sizeof path) library = dlopen(path, LOADING);
  }
  return library;
}

static halotune_status load_library(void **library) {
  const char *named = getenv("HALOTUNE_NVRTC");
  if (named && *named) {
    *library = dlopen(named, LOADING);
    if (!*library) return fail(HALOTUNE_NO_NVRTC, "HALOTUNE_NVRTC: %s; %s", dlerror(), INSTALL);
    return HALOTUNE_OK;
  }
  const char *cuda_home = getenv("CUDA_HOME"), *cuda_path = getenv("CUDA_PATH");
  const char *const folders[] = {cuda_home ? cuda_home : "", cuda_path ? cuda_path : "", "/usr/local/cuda"};
  for (size_t i = 0; i < COUNT(folders) && !*library; i++) {
    /* A relative folder lies in the working directory, which may hold files of others. `dirname` of nothing is ".". */
    if (*folders[i] == '/') *library = load_from(folders[i]);
  }
  if (!*library) *library = load_from("");
  if (!*library) {
    return fail(HALOTUNE_NO_NVRTC, "no libnvrtc.so in a CUDA folder or on the loader's path; %s", INSTALL);
  }
  return HALOTUNE_OK;
}

/* The memcpy converts dlsym's object pointer to a function pointer. C has no cast for that. */
#define AS_LOAD(member, symbol, result, params)                                            \
  {                                                                                        \
    void *found = dlsym(nvrtc->library, #symbol);                                          \
    if (!found) return fail(HALOTUNE_NO_NVRTC, "libnvrtc lacks " #symbol "; %s", INSTALL); \
    memcpy(&nvrtc->member, &found, sizeof found);                                          \
  }

static halotune_status load_symbols(struct nvrtc *nvrtc) {
  NVRTC_LIST(AS_LOAD)
  return HALOTUNE_OK;
}

static halotune_status ask_facts(struct nvrtc *nvrtc) {
  struct nvrtc_facts *facts = &nvrtc->facts;
  if (nvrtc->version(&facts->major, &facts->minor) != NVRTC_SUCCESS ||
      nvrtc->arch_count(&facts->arch_count) != NVRTC_SUCCESS || facts->arch_count > NVRTC_MAX_ARCHS ||
      nvrtc->archs(facts->archs) != NVRTC_SUCCESS) {
    return fail(HALOTUNE_NO_NVRTC, "libnvrtc cannot report its version and architectures; %s", INSTALL);
  }
  if (facts->major < OLDEST_MAJOR) {
    return fail(HALOTUNE_NO_NVRTC, "NVRTC %d.%d is too old; %s", facts->major, facts->minor, INSTALL);
  }
  return HALOTUNE_OK;
}

halotune_status nvrtc_open(struct nvrtc *out) {
  *out = (struct nvrtc){0};
  halotune_status status = load_library(&out->library);
  if (status == HALOTUNE_OK) status = load_symbols(out);
  if (status == HALOTUNE_OK) status = ask_facts(out);
  return status;
}

void nvrtc_close(struct nvrtc *nvrtc) {
  if (nvrtc->library) dlclose(nvrtc->library);
  *nvrtc = (struct nvrtc){0};
}
