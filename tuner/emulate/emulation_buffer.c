/* emulation_buffer.c: each buffer is a file in memory, which a runner maps too. */
#include "tuner/emulate/emulation_buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tuner/emulate/runtime/poison.h"
#include "tuner/emulate/runtime/protocol.h"

struct host_buffer {
  unsigned char *file; /* mapped */
  size_t file_bytes, bytes;
  int element_bytes, fd;
  bool is_sparse;
};

/* All poison begins like this; without the sign. */
enum { POISON_HIGH = HOST_POISON_SHARED >> 16, MAGNITUDE = 0x7FFFFFFF };

static unsigned char *canary_behind(const struct host_buffer *buffer) {
  return buffer->file + HOST_CANARY_BYTES + buffer->bytes;
}

static size_t behind_bytes(const struct host_buffer *buffer) {
  return buffer->file_bytes - HOST_CANARY_BYTES - buffer->bytes;
}

static void make_canaries(struct host_buffer *buffer) {
  poison_fill(buffer->file, HOST_CANARY_BYTES, HOST_POISON_CANARY);
  poison_fill(canary_behind(buffer), behind_bytes(buffer), HOST_POISON_CANARY);
}

static halotune_status create(size_t bytes, int element_bytes, bool sparse, struct host_buffer **out) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  *out = NULL;
  if (element_bytes != 4 && element_bytes != 8) return fail(HALOTUNE_ARGUMENT, "elements of %d bytes", element_bytes);
  struct host_buffer *buffer = calloc(1, sizeof *buffer);
  if (!buffer) return fail_memory();
  *buffer = (struct host_buffer){
      .file = MAP_FAILED, .bytes = bytes, .element_bytes = element_bytes, .fd = -1, .is_sparse = sparse};
  buffer->file_bytes = (HOST_CANARY_BYTES + bytes + HOST_CANARY_BYTES + page - 1) / page * page;
  buffer->fd = memfd_create("halotune buffer", MFD_CLOEXEC);
  if (buffer->fd >= 0 && ftruncate(buffer->fd, (off_t)buffer->file_bytes) == 0) {
    buffer->file = mmap(NULL, buffer->file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, buffer->fd, 0);
  }
  if (buffer->file == MAP_FAILED) {
    halotune_status status = fail(HALOTUNE_MEMORY, "no buffer of %zu bytes: %s", bytes, strerror(errno));
    host_buffer_free(buffer);
    return status;
  }
  make_canaries(buffer);
  if (!sparse) host_buffer_poison(buffer);
  *out = buffer;
  return HALOTUNE_OK;
}

halotune_status host_buffer_create(size_t bytes, int element_bytes, struct host_buffer **out) {
  return create(bytes, element_bytes, false, out);
}

halotune_status host_buffer_create_sparse(size_t bytes, int element_bytes, struct host_buffer **out) {
  return create(bytes, element_bytes, true, out);
}

bool host_buffer_is_sparse(const struct host_buffer *buffer) { return buffer->is_sparse; }

void host_buffer_free(struct host_buffer *buffer) {
  if (!buffer) return;
  if (buffer->file != MAP_FAILED) munmap(buffer->file, buffer->file_bytes);
  if (buffer->fd >= 0) close(buffer->fd);
  free(buffer);
}

void *host_buffer_data(const struct host_buffer *buffer) { return buffer->file + HOST_CANARY_BYTES; }

size_t host_buffer_bytes(const struct host_buffer *buffer) { return buffer->bytes; }

int host_buffer_descriptor(const struct host_buffer *buffer) { return buffer->fd; }

size_t host_buffer_file_bytes(const struct host_buffer *buffer) { return buffer->file_bytes; }

void host_buffer_poison(struct host_buffer *buffer) {
  poison_fill(host_buffer_data(buffer), buffer->bytes, HOST_POISON_BUFFER);
}

bool host_buffer_check(struct host_buffer *buffer, long long *offset) {
  size_t before = poison_find_damage(buffer->file, HOST_CANARY_BYTES, HOST_POISON_CANARY);
  size_t behind = poison_find_damage(canary_behind(buffer), behind_bytes(buffer), HOST_POISON_CANARY);
  if (before == HOST_CANARY_BYTES && behind == behind_bytes(buffer)) return true;
  *offset = before < HOST_CANARY_BYTES ? (long long)before - HOST_CANARY_BYTES : (long long)(buffer->bytes + behind);
  make_canaries(buffer);
  return false;
}

uint32_t host_poison_of(const void *element, int element_bytes) {
  static const uint32_t all[] = {HOST_POISON_SHARED, HOST_POISON_COPY, HOST_POISON_CANARY, HOST_POISON_BUFFER,
                                 HOST_POISON_LANE};
  uint32_t high;
  uint64_t both;
  if (element_bytes == 8) {
    memcpy(&both, element, sizeof both);
    high = (uint32_t)(both >> 32) & MAGNITUDE;
    if ((uint32_t)both != high) return 0;
  } else {
    memcpy(&high, element, sizeof high);
    high &= MAGNITUDE;
  }
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (high == all[i]) return high;
  }
  return 0;
}

/* Whether any of some words may be poison other than that of a buffer. No branches: it runs over every output of every run. */
static bool may_hold_poison(const uint32_t *words, size_t count) {
  unsigned found = 0;
  for (size_t i = 0; i < count; i++) {
    uint32_t word = words[i] & MAGNITUDE;
    found |= (unsigned)((word >> 16) == POISON_HIGH) & (unsigned)(word != HOST_POISON_BUFFER);
  }
  return found;
}

uint32_t host_buffer_find_poison(const struct host_buffer *buffer, size_t *element) {
  enum { PART_BYTES = 4096 };
  const unsigned char *data = host_buffer_data(buffer);
  size_t size = (size_t)buffer->element_bytes, count = buffer->bytes / size, part = PART_BYTES / size;
  for (size_t begin = *element; begin < count; begin += part) {
    size_t end = count - begin < part ? count : begin + part;
    if (!may_hold_poison((const uint32_t *)(const void *)(data + begin * size),
                         (end - begin) * size / sizeof(uint32_t))) {
      continue;
    }
    for (size_t i = begin; i < end; i++) {
      uint32_t word = host_poison_of(data + i * size, buffer->element_bytes);
      if (word == 0 || word == HOST_POISON_BUFFER) continue;
      *element = i;
      return word;
    }
  }
  return 0;
}
