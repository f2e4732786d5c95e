/* cubin_cache.c: stores compiled sources by the hash of the compiler's input. An entry is one file, FOLDER/KEY.cubin:
 *
 *   head   magic; hash of the rest; hash of the cubin, by which cubin_cache_source finds the source
 *   rest   the input (options, architecture, NVRTC version, hash of the source), the source, the packed struct compiled
 *
 * The input has the hash of the source's meaning, because comments and layout do not change the machine code. The mtime
 * of an entry is the time of its last use. */
#include "gpu/compile/cubin_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/own.h"
#include "base/files/replace.h"
#include "base/system/transfer.h"
#include "stencil/cuda/cuda_tokens.h"

/* Change it when the layout of an entry changes. It is part of the key, so older entries are misses and are trimmed
 * later. */
static const char magic[16] = "halotune cubin2";

struct head {
  char magic[sizeof magic];
  struct hash rest, cubin;
};

enum { MAX_ENTRY_BYTES = 1 << 28, PUTS_A_TRIM = 256 };

halotune_status cubin_cache_open(const char *folder, uint64_t max_bytes, struct cubin_cache *out) {
  *out = (struct cubin_cache){.max_bytes = max_bytes > 0 ? max_bytes : CACHE_FOLDER_MAX_BYTES};
  if (!folder) return cache_folder_default("", &out->folder);
  out->folder = strdup(folder);
  return out->folder ? HALOTUNE_OK : fail_memory();
}

void cubin_cache_close(struct cubin_cache *cache) {
  if (cache->unchecked_puts > 0) cache_folder_trim(cache->folder, cache->max_bytes);
  free(cache->folder);
  *cache = (struct cubin_cache){0};
}

/* Pack the compiler's input, without the name of the source. */
static void pack_input(const struct compile_request *request, const struct nvrtc_facts *nvrtc, struct text *out) {
  pack_text(out, magic);
  pack_u64(out, (uint64_t)nvrtc->major);
  pack_u64(out, (uint64_t)nvrtc->minor);
  pack_text(out, request->arch);
  pack_u64(out, COMPILE_STANDARD_OPTIONS + (uint64_t)request->option_count);
  for (int i = 0; i < COMPILE_STANDARD_OPTIONS; i++) pack_text(out, compile_standard_options[i]);
  for (int i = 0; i < request->option_count; i++) pack_text(out, request->options[i]);
  struct identity meaning;
  if (source_hash(request->source, &meaning) != HALOTUNE_OK) out->out_of_memory = true;
  else pack_bytes(out, (const char *)&meaning, sizeof meaning);
}

/* The path FOLDER/KEY.cubin, from malloc; NULL when memory is out. */
static char *entry_path(const struct cubin_cache *cache, const struct text *input) {
  char hex[HASH_HEX_BYTES], *path;
  hash_hex(hash_bytes(input->bytes, input->length), hex);
  return asprintf(&path, "%s/%s" CACHE_ENTRY_SUFFIX, cache->folder, hex) < 0 ? NULL : path;
}

/* Whether the bytes are a complete entry. If so, `in` begins after the head. */
static bool entry_check(const char *bytes, size_t length, struct unpack *in) {
  struct head head;
  if (length < sizeof head) return false;
  memcpy(&head, bytes, sizeof head);
  *in = (struct unpack){.at = bytes + sizeof head, .left = length - sizeof head};
  return memcmp(head.magic, magic, sizeof magic) == 0 && hash_compare(head.rest, hash_bytes(in->at, in->left)) == 0;
}

/* Read what an entry stores for this input. */
static enum cubin_cache_answer entry_read(const char *path, const char *bytes, size_t length, const struct text *input,
                                          struct compiled *out) {
  struct unpack in;
  size_t input_length;
  if (!entry_check(bytes, length, &in)) {
    fail(HALOTUNE_IO, "%s: a damaged entry of the cubin cache", path);
    return CUBIN_CACHE_DAMAGED;
  }
  const char *stored = unpack_bytes(&in, &input_length);
  if (input_length != input->length || memcmp(stored, input->bytes, input_length) != 0) return CUBIN_CACHE_MISS;
  unpack_text(&in); /* the source */
  return compiled_unpack(&in, out) == HALOTUNE_OK ? CUBIN_CACHE_HIT : CUBIN_CACHE_MISS;
}

enum cubin_cache_answer cubin_cache_get(struct cubin_cache *cache, const struct compile_request *request,
                                        const struct nvrtc_facts *nvrtc, struct compiled *out) {
  struct text input = {0};
  char *path = NULL, *bytes = NULL;
  size_t length;
  enum cubin_cache_answer answer = CUBIN_CACHE_MISS;
  *out = (struct compiled){0};
  if (!cache->folder || own_folder_check(cache->folder) != HALOTUNE_OK) return answer;
  pack_input(request, nvrtc, &input);
  if (!text_ok(&input) || !(path = entry_path(cache, &input))) goto done;
  if (own_file_read(path, MAX_ENTRY_BYTES, &bytes, &length) != HALOTUNE_OK) goto done;
  answer = entry_read(path, bytes, length, &input, out);
  /* marks the entry as used now */
  if (answer == CUBIN_CACHE_HIT) utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
  if (answer == CUBIN_CACHE_DAMAGED) unlink(path);
done:
  free(bytes);
  free(path);
  text_free(&input);
  return answer;
}

bool cubin_cache_put(struct cubin_cache *cache, const struct compile_request *request, const struct nvrtc_facts *nvrtc,
                     const struct compiled *compiled) {
  struct head head = {.cubin = hash_bytes(compiled->cubin, compiled->cubin_bytes)};
  struct text input = {0}, entry = {0};
  char *path = NULL;
  halotune_status status = HALOTUNE_OK;
  if (!cache->folder) {
    fail(HALOTUNE_NOT_FOUND, "no folder for a cubin cache: neither XDG_CACHE_HOME nor HOME is set");
    return false;
  }
  pack_input(request, nvrtc, &input);
  text_add(&entry, (const char *)&head, sizeof head);
  pack_bytes(&entry, input.bytes, input.length);
  pack_text(&entry, request->source);
  compiled_pack(compiled, &entry);
  if (!text_ok(&input) || !text_ok(&entry) || !(path = entry_path(cache, &input))) {
    status = fail_memory();
    goto done;
  }
  memcpy(head.magic, magic, sizeof magic);
  head.rest = hash_bytes(entry.bytes + sizeof head, entry.length - sizeof head);
  memcpy(entry.bytes, &head, sizeof head);
  if ((status = own_folder_make(cache->folder)) != HALOTUNE_OK) goto done;
  if ((status = file_replace_cached(path, entry.bytes, entry.length)) != HALOTUNE_OK) goto done;
  if (++cache->unchecked_puts >= PUTS_A_TRIM) {
    cache_folder_trim(cache->folder, cache->max_bytes);
    cache->unchecked_puts = 0;
  }
done:
  free(path);
  text_free(&input);
  text_free(&entry);
  return status == HALOTUNE_OK;
}

struct search {
  struct hash cubin;
  char *source; /* NULL until it is found */
};

static bool is_of_cubin(const char *path, struct hash cubin) {
  struct head head;
  int fd = own_file_open(path);
  if (fd < 0) return false;
  bool same = read_all(fd, (char *)&head, sizeof head) && hash_compare(head.cubin, cubin) == 0;
  close(fd);
  return same;
}

static void look_at_entry(void *context, const struct cache_file *file) {
  struct search *search = context;
  char *bytes = NULL;
  struct unpack in;
  size_t length;
  if (search->source || !is_of_cubin(file->path, search->cubin)) return;
  if (own_file_read(file->path, MAX_ENTRY_BYTES, &bytes, &length) == HALOTUNE_OK && entry_check(bytes, length, &in)) {
    unpack_bytes(&in, &length);
    const char *source = unpack_text(&in);
    if (!in.failed) search->source = strdup(source);
  }
  free(bytes);
}

halotune_status cubin_cache_source(const struct cubin_cache *cache, struct hash cubin, char **source) {
  struct search search = {.cubin = cubin};
  char hex[HASH_HEX_BYTES];
  if (!cache->folder || own_folder_check(cache->folder) == HALOTUNE_OK)
    cache_folder_visit(cache->folder, look_at_entry, &search);
  *source = search.source;
  hash_hex(cubin, hex);
  return search.source ? HALOTUNE_OK : fail(HALOTUNE_NOT_FOUND, "the cubin cache has no source of cubin %s", hex);
}
