/* tune_lock.c: locks are files beside the cache of compiled kernels. */
#include "library/tune/tune_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/own.h"
#include "base/identity/hash.h"
#include "base/system/clock.h"
#include "gpu/compile/cache_folder.h"

enum { LOOK_TICK_MS = 10, LOOK_TICKS = 100 };

/* Refuse a file of another user, whose folder has taken the place of the one that was checked. */
static halotune_status check_owner(const char *path, int *descriptor) {
  struct stat facts;
  if (fstat(*descriptor, &facts) == 0 && facts.st_uid == geteuid()) return HALOTUNE_OK;
  close(*descriptor);
  *descriptor = -1;
  return fail(HALOTUNE_IO, "%s: it is not a file of this user; halotune_tune needs it as a lock", path);
}

/* Open the file of a key, which processes lock.
 *   flags       0, or O_CREAT to make the file and its folder
 *   path        receives the file's path, the caller's to free
 *   descriptor  -1 where there is no cache folder
 * Returns HALOTUNE_OK, HALOTUNE_IO or HALOTUNE_MEMORY. */
static halotune_status lock_open(const char *key, int flags, char **path, int *descriptor) {
  char *folder = NULL, hex[HASH_HEX_BYTES];
  *path = NULL;
  *descriptor = -1;
  halotune_status status = cache_folder_default("/tune", &folder);
  if (status != HALOTUNE_OK || !folder) return status;
  hash_hex(hash_bytes(key, strlen(key)), hex);
  if (asprintf(path, "%s/%s.lock", folder, hex) < 0) *path = NULL;
  /* In a folder of others, another user could hold the lock for ever. */
  status = *path ? cache_folder_secure(flags != 0) : fail_memory();
  if (status == HALOTUNE_OK) status = flags ? own_folder_make(folder) : own_folder_check(folder);
  if (status == HALOTUNE_OK) *descriptor = open(*path, O_RDWR | flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (status == HALOTUNE_OK && *descriptor < 0)
    status = fail(HALOTUNE_IO, "%s: %s; halotune_tune needs it as a lock", *path, strerror(errno));
  else if (status == HALOTUNE_OK) status = check_owner(*path, descriptor);
  free(folder);
  return status;
}

halotune_status tune_lock_take(const char *key, double wait_ms, struct tune_listener *listener, struct tune_lock *out,
                               bool *waited) {
  const double ms_per_s = 1e3, until_ms = clock_ms() + wait_ms;
  char *path;
  *waited = false;
  halotune_status status = lock_open(key, O_CREAT, &path, &out->descriptor);
  while (status == HALOTUNE_OK && out->descriptor >= 0 && flock(out->descriptor, LOCK_EX | LOCK_NB) != 0) {
    *waited = true;
    if (errno != EWOULDBLOCK && errno != EINTR) status = fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
    else if (tune_listener_cancels(listener, "another process tunes this problem"))
      status = fail(HALOTUNE_CANCELLED, "halotune_tune: cancelled while another process tuned this problem");
    else if (clock_ms() >= until_ms)
      status =
          fail(HALOTUNE_IO, "halotune_tune: another process tunes this problem, and has not ended in %g s; try again",
               wait_ms / ms_per_s);
    else poll(NULL, 0, TUNE_TICK_MS);
  }
  if (status != HALOTUNE_OK) tune_lock_release(out);
  free(path);
  return status;
}

static bool is_kept_out(int descriptor, int kind) {
  return flock(descriptor, kind | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

bool tune_lock_try(const char *key, bool is_shared, struct tune_lock *out) {
  char *path;
  bool is_held = false;
  if (lock_open(key, O_CREAT, &path, &out->descriptor) == HALOTUNE_OK && out->descriptor >= 0) {
    is_held = is_kept_out(out->descriptor, is_shared ? LOCK_SH : LOCK_EX);
    /* tune_lock_is_held takes the lock exclusively for a moment. */
    for (int i = 0; is_shared && is_held && i < LOOK_TICKS; i++) {
      poll(NULL, 0, LOOK_TICK_MS);
      is_held = is_kept_out(out->descriptor, LOCK_SH);
    }
  }
  if (is_held) tune_lock_release(out);
  free(path);
  return !is_held;
}

bool tune_lock_is_held(const char *key) {
  struct tune_lock lock = {-1};
  char *path;
  bool is_held = false;
  if (lock_open(key, 0, &path, &lock.descriptor) == HALOTUNE_OK && lock.descriptor >= 0)
    is_held = is_kept_out(lock.descriptor, LOCK_EX);
  tune_lock_release(&lock);
  free(path);
  return is_held;
}

void tune_lock_release(struct tune_lock *lock) {
  if (lock->descriptor >= 0) {
    flock(lock->descriptor, LOCK_UN); /* close alone would keep the lock while a forked child has the descriptor */
    close(lock->descriptor);          /* the file stays for the next process */
  }
  lock->descriptor = -1;
}
