/* cache_folder_trim.c: removes the oldest entries of a cache folder that has become too large. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/files/own.h"
#include "base/memory/array.h"
#include "gpu/compile/cache_folder.h"

static const int64_t second_ns = 1000000000, hour_ns = 3600000000000;

struct old_file {
  char *path;
  uint64_t bytes;
  int64_t used_ns;
};

struct listing {
  struct old_file *files;
  int count, capacity;
  uint64_t bytes;
  int64_t now_ns;
};

/* If memory runs out, the list stays short, and a later trim removes the rest. */
static void list_file(void *context, const struct cache_file *file) {
  struct listing *listing = context;
  if (file->is_leftover) {
    if (listing->now_ns - file->used_ns > hour_ns) unlink(file->path);
    return;
  }
  listing->bytes += file->bytes;
  struct old_file *files = array_grow(listing->files, listing->count, &listing->capacity, sizeof *files);
  if (!files) return;
  listing->files = files;
  struct old_file *last = &files[listing->count];
  *last = (struct old_file){.bytes = file->bytes, .used_ns = file->used_ns};
  last->path = strdup(file->path);
  if (last->path) listing->count++;
}

static int compare_age(const void *a, const void *b) {
  const struct old_file *left = a, *right = b;
  return (left->used_ns > right->used_ns) - (left->used_ns < right->used_ns);
}

void cache_folder_trim(const char *folder, uint64_t max_bytes) {
  struct fail_kept detail;
  char *through;
  int fd;
  fail_keep(&detail);
  const halotune_status status = own_folder_hold(folder, &fd, &through);
  fail_put_back(&detail);
  if (status != HALOTUNE_OK) return;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  struct listing listing = {.now_ns = (int64_t)now.tv_sec * second_ns + now.tv_nsec};
  cache_folder_visit(through, list_file, &listing);
  if (listing.bytes > max_bytes) {
    qsort(listing.files, (size_t)listing.count, sizeof *listing.files, compare_age);
    uint64_t aim = max_bytes / 10 * 9;
    for (int i = 0; i < listing.count && listing.bytes > aim; i++) {
      unlink(listing.files[i].path);
      listing.bytes -= listing.files[i].bytes;
    }
  }
  for (int i = 0; i < listing.count; i++) free(listing.files[i].path);
  free(listing.files);
  free(through);
  close(fd);
}
