/* emulation_buffer.c: makes buffers, each a file in memory that a runner also maps, and looks for damage and poison in
 * them. */
#include "tuner/emulate/emulation_buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tuner/emulate/runtime/poison.h"
#include "tuner/emulate/runtime/protocol.h"

struct emulation_buffer {
  unsigned char *file; /* the mapped file */
  size_t file_bytes, bytes;
  int element_bytes, fd;
  bool is_sparse;
};

/* The high half of all poison words; and the bits without the sign. */
enum { POISON_HIGH = EMULATION_POISON_SHARED >> 16, MAGNITUDE = 0x7FFFFFFF };

static unsigned char *canary_behind(const struct emulation_buffer *buffer) {
  return buffer->file + EMULATION_CANARY_BYTES + buffer->bytes;
}

static size_t behind_bytes(const struct emulation_buffer *buffer) {
  return buffer->file_bytes - EMULATION_CANARY_BYTES - buffer->bytes;
}

static void make_canaries(struct emulation_buffer *buffer) {
  poison_fill(buffer->file, EMULATION_CANARY_BYTES, EMULATION_POISON_CANARY);
  poison_fill(canary_behind(buffer), behind_bytes(buffer), EMULATION_POISON_CANARY);
}

static halotune_status create_buffer(size_t bytes, int element_bytes, bool sparse, struct emulation_buffer **out) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  *out = NULL;
  if (element_bytes != 4 && element_bytes != 8) return fail(HALOTUNE_ARGUMENT, "elements of %d bytes", element_bytes);
  struct emulation_buffer *buffer = calloc(1, sizeof *buffer);
  if (!buffer) return fail_memory();
  *buffer = (struct emulation_buffer){
      .file = MAP_FAILED, .bytes = bytes, .element_bytes = element_bytes, .fd = -1, .is_sparse = sparse};
  buffer->file_bytes = (EMULATION_CANARY_BYTES + bytes + EMULATION_CANARY_BYTES + page - 1) / page * page;
  buffer->fd = memfd_create("halotune buffer", MFD_CLOEXEC);
  if (buffer->fd >= 0 && ftruncate(buffer->fd, (off_t)buffer->file_bytes) == 0) {
    buffer->file = mmap(NULL, buffer->file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, buffer->fd, 0);
  }
  if (buffer->file == MAP_FAILED) {
    halotune_status status =
        fail(HALOTUNE_MEMORY, "a buffer of %zu bytes cannot be allocated: %s", bytes, strerror(errno));
    emulation_buffer_free(buffer);
    return status;
  }
  make_canaries(buffer);
  if (!sparse) emulation_buffer_poison(buffer);
  *out = buffer;
  return HALOTUNE_OK;
}

halotune_status emulation_buffer_create(size_t bytes, int element_bytes, struct emulation_buffer **out) {
  return create_buffer(bytes, element_bytes, false, out);
}

halotune_status emulation_buffer_create_sparse(size_t bytes, int element_bytes, struct emulation_buffer **out) {
  return create_buffer(bytes, element_bytes, true, out);
}

bool emulation_buffer_is_sparse(const struct emulation_buffer *buffer) { return buffer->is_sparse; }

void emulation_buffer_free(struct emulation_buffer *buffer) {
  if (!buffer) return;
  if (buffer->file != MAP_FAILED) munmap(buffer->file, buffer->file_bytes);
  if (buffer->fd >= 0) close(buffer->fd);
  free(buffer);
}

void *emulation_buffer_data(const struct emulation_buffer *buffer) { return buffer->file + EMULATION_CANARY_BYTES; }

size_t emulation_buffer_bytes(const struct emulation_buffer *buffer) { return buffer->bytes; }

int emulation_buffer_descriptor(const struct emulation_buffer *buffer) { return buffer->fd; }

size_t emulation_buffer_file_bytes(const struct emulation_buffer *buffer) { return buffer->file_bytes; }

void emulation_buffer_poison(struct emulation_buffer *buffer) {
  poison_fill(emulation_buffer_data(buffer), buffer->bytes, EMULATION_POISON_BUFFER);
}

bool emulation_buffer_check(struct emulation_buffer *buffer, long long *offset) {
  size_t before = poison_find_damage(buffer->file, EMULATION_CANARY_BYTES, EMULATION_POISON_CANARY);
  size_t behind = poison_find_damage(canary_behind(buffer), behind_bytes(buffer), EMULATION_POISON_CANARY);
  if (before == EMULATION_CANARY_BYTES && behind == behind_bytes(buffer)) return true;
  *offset = before < EMULATION_CANARY_BYTES ? (long long)before - EMULATION_CANARY_BYTES
                                            : (long long)(buffer->bytes + behind);
  make_canaries(buffer);
  return false;
}

uint32_t emulation_poison_of(const void *element, int element_bytes) {
  static const uint32_t all[] = {EMULATION_POISON_SHARED, EMULATION_POISON_COPY, EMULATION_POISON_CANARY,
                                 EMULATION_POISON_BUFFER, EMULATION_POISON_LANE};
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

/* Whether any of these words may be poison other than that of a buffer. It has no branches, because it runs over every
 * output of every run. */
static bool may_hold_poison(const uint32_t *words, size_t count) {
  unsigned found = 0;
  for (size_t i = 0; i < count; i++) {
    uint32_t word = words[i] & MAGNITUDE;
    found |= (unsigned)((word >> 16) == POISON_HIGH) & (unsigned)(word != EMULATION_POISON_BUFFER);
  }
  return found;
}

uint32_t emulation_buffer_find_poison(const struct emulation_buffer *buffer, size_t *element) {
  enum { PART_BYTES = 4096 };
  const unsigned char *data = emulation_buffer_data(buffer);
  size_t size = (size_t)buffer->element_bytes, count = buffer->bytes / size, part = PART_BYTES / size;
  for (size_t begin = *element; begin < count; begin += part) {
    size_t end = count - begin < part ? count : begin + part;
    if (!may_hold_poison((const uint32_t *)(const void *)(data + begin * size),
                         (end - begin) * size / sizeof(uint32_t))) {
      continue;
    }
    for (size_t i = begin; i < end; i++) {
      uint32_t word = emulation_poison_of(data + i * size, buffer->element_bytes);
      if (word == 0 || word == EMULATION_POISON_BUFFER) continue;
      *element = i;
      return word;
    }
  }
  return 0;
}
