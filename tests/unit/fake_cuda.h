/* fake_cuda.h: finds the CUDA driver of tests/fake_cuda, which executes kernels on the CPU. */
#ifndef TESTS_UNIT_FAKE_CUDA_H
#define TESTS_UNIT_FAKE_CUDA_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Make cu_open and nvml_open load the driver that HALOTUNE_LIBCUDA names. If it names none, use build/libfakecuda.so,
 * which is three folders above this program. Returns whether the library exists. */
static inline bool find_fake_cuda(void) {
  char path[PATH_MAX] = "";
  const char *named = getenv("HALOTUNE_LIBCUDA"), *library = named && *named ? named : path;
  if (library == path) {
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 32);
    if (length < 0) return false;
    path[length] = '\0';
    for (int i = 0; i < 4 && strrchr(path, '/'); i++) *strrchr(path, '/') = '\0';
    size_t end = strlen(path);
    snprintf(path + end, sizeof path - end, "/libfakecuda.so");
    setenv("HALOTUNE_LIBCUDA", path, 1);
  }
  if (!getenv("HALOTUNE_LIBNVML")) setenv("HALOTUNE_LIBNVML", library, 1);
  return access(library, R_OK) == 0;
}

#endif
