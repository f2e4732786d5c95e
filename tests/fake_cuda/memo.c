/* memo.c: keeps the results of small launches by content, so that a test with hundreds of runs computes each kernel
 * once. A file holds the pages that the launch changed, in all memory to which the kernel has pointers. Each page has a
 * number and its bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/file.h"
#include "base/files/make.h"
#include "base/files/replace.h"
#include "base/text/text.h"
#include "tests/fake_cuda/fake.h"
#include "tuner/emulate/emulation_files.h"

enum { MOST_BYTES = 64 << 20, MOST_FILE_BYTES = 128 << 20, PAGE_BYTES = 512 };

struct page {
  uint32_t argument, number;
  uint32_t bytes; /* fewer only at the end */
};

/* The first argument with the same memory. */
static int first_of(const struct fake_arguments *arguments, int i) {
  for (int k = 0; k < i && arguments->memory[i]; k++) {
    if (arguments->memory[k] == arguments->memory[i]) return k;
  }
  return i;
}

static bool is_first(const struct fake_arguments *arguments, int i) {
  return arguments->memory[i] && first_of(arguments, i) == i;
}

static size_t total_bytes(const struct fake_arguments *arguments) {
  size_t bytes = 0;
  for (int i = 0; i < arguments->count; i++) {
    if (is_first(arguments, i)) bytes += arguments->memory[i]->bytes;
  }
  return bytes;
}

static char *path_of(struct hash key) {
  char hex[HASH_HEX_BYTES], *path;
  hash_hex(key, hex);
  return asprintf(&path, "%s/%s", getenv("HALOTUNE_FAKE_MEMO"), hex) < 0 ? NULL : path;
}

bool memo_key(const struct fake_launch *launch, const struct fake_arguments *arguments, struct hash *out) {
  struct {
    struct hash emulation, cubin, kernel, all[FAKE_MAX_PARAMETERS];
    size_t places[FAKE_MAX_PARAMETERS];
    struct emulation_wire_tensor tensors[FAKE_MAX_PARAMETERS];
    unsigned grid[3], block[3], cluster[3], shared_bytes, overlaps, cooperative, backwards, which[FAKE_MAX_PARAMETERS];
  } parts;
  static struct hash emulation;
  if (emulation.high == 0) emulation = emulation_files_hash();
  if (!getenv("HALOTUNE_FAKE_MEMO") || total_bytes(arguments) > MOST_BYTES) return false;
  memset(&parts, 0, sizeof parts);
  parts.emulation = emulation;
  parts.cubin = launch->function->module->hash;
  parts.kernel = hash_bytes(launch->function->kernel->name, strlen(launch->function->kernel->name));
  memcpy(parts.grid, launch->grid, sizeof parts.grid);
  memcpy(parts.block, launch->block, sizeof parts.block);
  memcpy(parts.cluster, launch->cluster, sizeof parts.cluster);
  parts.shared_bytes = launch->shared_bytes;
  parts.overlaps = launch->overlaps;
  parts.cooperative = launch->cooperative;
  parts.backwards = fake_number("HALOTUNE_FAKE_BACKWARDS", 0) != 0;
  for (int i = 0; i < arguments->count; i++) {
    const struct emulation_argument *a = &arguments->host[i];
    parts.places[i] = a->offset_bytes;
    parts.tensors[i] = a->tensor;
    parts.which[i] = (unsigned)a->kind * FAKE_MAX_PARAMETERS + (unsigned)first_of(arguments, i);
    if (arguments->memory[i]) parts.all[i] = content_hash(arguments->memory[i]);
    else parts.all[i] = hash_bytes(a->bytes, a->byte_count);
  }
  *out = hash_bytes(&parts, sizeof parts);
  return true;
}

bool memo_get(struct hash key, const struct fake_arguments *arguments) {
  char *path = path_of(key), *bytes = NULL;
  size_t length = 0, at = 0;
  struct page page;
  bool found = path && file_read(path, MOST_FILE_BYTES, &bytes, &length) == HALOTUNE_OK;
  while (found && at + sizeof page <= length) {
    memcpy(&page, bytes + at, sizeof page);
    at += sizeof page;
    memcpy(content_change(arguments->memory[page.argument], (size_t)page.number * PAGE_BYTES, page.bytes), bytes + at,
           page.bytes);
    at += page.bytes;
  }
  free(bytes);
  free(path);
  return found;
}

unsigned char *memo_before(const struct fake_arguments *arguments) {
  unsigned char *before = malloc(total_bytes(arguments) + 1);
  size_t at = 0;
  for (int i = 0; i < arguments->count && before; i++) {
    if (!is_first(arguments, i)) continue;
    memcpy(before + at, emulation_buffer_data(arguments->host[i].buffer), arguments->memory[i]->bytes);
    at += arguments->memory[i]->bytes;
  }
  return before;
}

/* Append the changed pages of one argument's memory. */
static void add_changes(const struct emulation_argument *argument, int number, const unsigned char *before,
                        struct text *out) {
  const unsigned char *data = emulation_buffer_data(argument->buffer);
  size_t bytes = emulation_buffer_bytes(argument->buffer);
  for (size_t at = 0; at < bytes; at += PAGE_BYTES) {
    struct page page = {.argument = (uint32_t)number,
                        .number = (uint32_t)(at / PAGE_BYTES),
                        .bytes = (uint32_t)(bytes - at < PAGE_BYTES ? bytes - at : PAGE_BYTES)};
    if (memcmp(data + at, before + at, page.bytes) == 0) continue;
    text_add(out, (const char *)&page, sizeof page);
    text_add(out, (const char *)data + at, page.bytes);
  }
}

void memo_put(struct hash key, const struct fake_arguments *arguments, const unsigned char *before) {
  char *path = path_of(key);
  struct text changes = {0};
  size_t at = 0;
  for (int i = 0; i < arguments->count && before; i++) {
    if (!is_first(arguments, i)) continue;
    add_changes(&arguments->host[i], i, before + at, &changes);
    at += arguments->memory[i]->bytes;
  }
  bool is_complete = path && before && text_ok(&changes);
  if (is_complete && folder_make(getenv("HALOTUNE_FAKE_MEMO")) == HALOTUNE_OK) {
    file_replace_cached(path, text_string(&changes), changes.length);
  }
  text_free(&changes);
  free(path);
}

static char *source_path_of(struct hash cubin) {
  char *path = path_of(cubin), *source_path = NULL;
  if (path && asprintf(&source_path, "%s.cu", path) < 0) source_path = NULL;
  free(path);
  return source_path;
}

char *memo_source(struct hash cubin) {
  enum { MOST_SOURCE_BYTES = 1 << 22 };
  char *path = getenv("HALOTUNE_FAKE_MEMO") ? source_path_of(cubin) : NULL, *source = NULL;
  size_t length;
  if (path && file_read(path, MOST_SOURCE_BYTES, &source, &length) != HALOTUNE_OK) source = NULL;
  free(path);
  return source;
}

void memo_put_source(struct hash cubin, const char *source) {
  char *path = getenv("HALOTUNE_FAKE_MEMO") ? source_path_of(cubin) : NULL;
  if (path && folder_make(getenv("HALOTUNE_FAKE_MEMO")) == HALOTUNE_OK)
    file_replace_cached(path, source, strlen(source));
  free(path);
}
