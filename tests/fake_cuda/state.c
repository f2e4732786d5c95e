/* state.c: the state that processes share, the lock, and the log. */
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fake_cuda/fake.h"

CUresult fake_sticky = CUDA_SUCCESS;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void fake_lock(void) { pthread_mutex_lock(&lock); }

void fake_unlock(const bool *locked) {
  (void)locked;
  pthread_mutex_unlock(&lock);
}

/* Map the file, which is all zeros if it is new. A file that cannot be mapped is an error of the test. */
static struct fake_state *map_file(const char *path) {
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  void *mapped = MAP_FAILED;
  if (fd >= 0 && ftruncate(fd, sizeof(struct fake_state)) == 0) {
    mapped = mmap(NULL, sizeof(struct fake_state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  if (mapped == MAP_FAILED) {
    perror(path);
    abort();
  }
  close(fd);
  return mapped;
}

struct fake_state *fake_state(void) {
  static struct fake_state own, *state;
  if (state) return state;
  const char *path = getenv("HALOTUNE_FAKE_STATE");
  state = path ? map_file(path) : &own;
  return state;
}

long long fake_number(const char *name, long long otherwise) {
  const char *text = getenv(name);
  return text && *text ? strtoll(text, NULL, 10) : otherwise;
}

void fake_log(const char *format, ...) {
  const char *path = getenv("HALOTUNE_FAKE_LOG");
  char line[512];
  va_list arguments;
  if (!path) return;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line - 1, format, arguments);
  va_end(arguments);
  if (length < 0 || length >= (int)sizeof line - 1) return;
  line[length++] = '\n';
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0 || write(fd, line, (size_t)length) != length) perror(path);
  if (fd >= 0) close(fd);
}
