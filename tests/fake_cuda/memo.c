/* memo.c: what small launches gave, kept by content, so that a test of hundreds of runs computes each kernel once. A file holds
 * the bytes of all memory that the kernel has pointers to, as they were after it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/replace.h"
#include "tests/fake_cuda/fake.h"

enum { MOST_BYTES = 1 << 20 };

/* The first argument of the same memory. */
static int first_of(const struct host_argument *arguments, int i) {
  for (int k = 0; k < i && arguments[i].kind != HOST_ARGUMENT_BYTES; k++) {
    if (arguments[k].kind != HOST_ARGUMENT_BYTES && arguments[k].buffer == arguments[i].buffer) return k;
  }
  return i;
}

static bool is_first(const struct host_argument *arguments, int i) {
  return arguments[i].kind != HOST_ARGUMENT_BYTES && first_of(arguments, i) == i;
}

static size_t total_bytes(const struct host_argument *arguments, int count) {
  size_t bytes = 0;
  for (int i = 0; i < count; i++) {
    if (is_first(arguments, i)) bytes += host_buffer_bytes(arguments[i].buffer);
  }
  return bytes;
}

static char *path_of(struct hash key) {
  char hex[HASH_HEX_BYTES], *path;
  hash_hex(key, hex);
  return asprintf(&path, "%s/%s", getenv("HALOTUNE_FAKE_MEMO"), hex) < 0 ? NULL : path;
}

bool memo_key(const struct fake_launch *launch, const struct host_argument *arguments, int count, struct hash *out) {
  struct {
    struct hash source, kernel, all[FAKE_MAX_PARAMETERS];
    size_t places[FAKE_MAX_PARAMETERS];
    unsigned grid[3], block[3], shared_bytes, which[FAKE_MAX_PARAMETERS];
  } parts;
  if (!getenv("HALOTUNE_FAKE_MEMO") || total_bytes(arguments, count) > MOST_BYTES) return false;
  memset(&parts, 0, sizeof parts);
  parts.source = launch->function->module->hash;
  parts.kernel = hash_bytes(launch->function->kernel->name, strlen(launch->function->kernel->name));
  memcpy(parts.grid, launch->grid, sizeof parts.grid);
  memcpy(parts.block, launch->block, sizeof parts.block);
  parts.shared_bytes = launch->shared_bytes;
  for (int i = 0; i < count; i++) {
    const struct host_argument *a = &arguments[i];
    parts.places[i] = a->offset_bytes;
    parts.which[i] = (unsigned)a->kind * FAKE_MAX_PARAMETERS + (unsigned)first_of(arguments, i);
    if (a->kind == HOST_ARGUMENT_BYTES) parts.all[i] = hash_bytes(a->bytes, a->byte_count);
    else parts.all[i] = hash_bytes(host_buffer_data(a->buffer), host_buffer_bytes(a->buffer));
  }
  *out = hash_bytes(&parts, sizeof parts);
  return true;
}

bool memo_get(struct hash key, const struct host_argument *arguments, int count) {
  char *path = path_of(key), *bytes = NULL;
  size_t length, at = 0;
  bool found = path && file_read(path, MOST_BYTES, &bytes, &length) == HALOTUNE_OK && length == total_bytes(arguments, count);
  for (int i = 0; i < count && found; i++) {
    if (!is_first(arguments, i)) continue;
    memcpy(host_buffer_data(arguments[i].buffer), bytes + at, host_buffer_bytes(arguments[i].buffer));
    at += host_buffer_bytes(arguments[i].buffer);
  }
  free(bytes);
  free(path);
  return found;
}

void memo_put(struct hash key, const struct host_argument *arguments, int count) {
  char *path = path_of(key), *bytes = malloc(total_bytes(arguments, count) + 1);
  size_t at = 0;
  for (int i = 0; i < count && bytes; i++) {
    if (!is_first(arguments, i)) continue;
    memcpy(bytes + at, host_buffer_data(arguments[i].buffer), host_buffer_bytes(arguments[i].buffer));
    at += host_buffer_bytes(arguments[i].buffer);
  }
  if (path && bytes && folder_make(getenv("HALOTUNE_FAKE_MEMO")) == HALOTUNE_OK) file_replace(path, bytes, at);
  free(bytes);
  free(path);
}
