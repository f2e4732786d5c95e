/* memory.c: maps each buffer between two wide gaps of unmapped addresses. */
#include "tuner/emulate/runtime/memory.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tuner/emulate/runtime/calls.h"
#include "tuner/emulate/runtime/report.h"

#ifdef EMULATION_ASAN
#include <sanitizer/asan_interface.h>
#endif

enum { GAP_BYTES = 16 * 1024 * 1024 };

static struct mapping {
  unsigned char *begin; /* including the gaps */
  size_t bytes;         /* including the gaps */
  size_t file_bytes, buffer_bytes;
  unsigned argument;
} mappings[EMULATION_MAX_BUFFERS];
static unsigned mapping_count;
static bool is_hidden;

static unsigned char *file_begin(const struct mapping *mapping) { return mapping->begin + GAP_BYTES; }

/* Tell ASan about the canaries, since it did not allocate them. */
static void hide_canaries(const struct mapping *mapping, bool hide) {
#ifdef EMULATION_ASAN
  unsigned char *file = file_begin(mapping), *behind = file + EMULATION_CANARY_BYTES + mapping->buffer_bytes;
  size_t bytes = mapping->file_bytes - EMULATION_CANARY_BYTES - mapping->buffer_bytes;
  if (hide) {
    ASAN_POISON_MEMORY_REGION(file, EMULATION_CANARY_BYTES);
    ASAN_POISON_MEMORY_REGION(behind, bytes);
  } else {
    ASAN_UNPOISON_MEMORY_REGION(file, mapping->file_bytes);
  }
#else
  (void)mapping, (void)hide;
#endif
}

void memory_map(const struct emulation_request *request, const int *descriptors) {
  for (unsigned i = 0; i < request->buffer_count; i++) {
    struct mapping *mapping = &mappings[i];
    const struct emulation_wire_buffer *buffer = &request->buffers[i];
    *mapping = (struct mapping){
        .file_bytes = buffer->file_bytes, .buffer_bytes = buffer->bytes, .argument = (unsigned)buffer->argument};
    mapping->bytes = mapping->file_bytes + 2 * (size_t)GAP_BYTES;
    mapping->begin = mmap(NULL, mapping->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping->begin == MAP_FAILED ||
        mmap(file_begin(mapping), mapping->file_bytes, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED | (buffer->sparse ? 0 : MAP_POPULATE), descriptors[i], 0) == MAP_FAILED) {
      report_out_of_memory("buffers");
    }
    close(descriptors[i]);
    hide_canaries(mapping, true);
    mapping_count = i + 1;
  }
}

unsigned char *memory_of(unsigned buffer) { return file_begin(&mappings[buffer]) + EMULATION_CANARY_BYTES; }

int memory_find(const void *address, long long *offset) {
  uintptr_t at = (uintptr_t)address;
  for (unsigned i = 0; i < mapping_count; i++) {
    uintptr_t begin = (uintptr_t)mappings[i].begin;
    if (at < begin || at - begin >= mappings[i].bytes) continue;
    *offset = (long long)(at - begin) - GAP_BYTES - EMULATION_CANARY_BYTES;
    return (int)mappings[i].argument;
  }
  return -1;
}

int memory_buffer(const void *address, uint64_t *offset) {
  for (unsigned i = 0; i < mapping_count; i++) {
    uintptr_t from_start = (uintptr_t)address - (uintptr_t)memory_of(i);
    if (from_start >= mappings[i].buffer_bytes) continue;
    *offset = from_start;
    return (int)i;
  }
  return -1;
}

static void set_protection(bool hide) {
  for (unsigned i = 0; i < mapping_count; i++) {
    mprotect(file_begin(&mappings[i]), mappings[i].file_bytes, hide ? PROT_NONE : PROT_READ | PROT_WRITE);
  }
  is_hidden = hide;
}

void memory_hide(void) { set_protection(true); }

void memory_show(void) {
  if (is_hidden) set_protection(false);
}

bool memory_is_hidden(void) { return is_hidden; }

void halotune_wait_for_previous(void) { memory_show(); }

void memory_unmap(void) {
  is_hidden = false;
  for (unsigned i = 0; i < mapping_count; i++) {
    hide_canaries(&mappings[i], false);
    munmap(mappings[i].begin, mappings[i].bytes);
  }
  mapping_count = 0;
}
