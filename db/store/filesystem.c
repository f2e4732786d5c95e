/* filesystem.c: the numbers by which Linux names its filesystems, and a trial of their locks. */
#include "db/store/filesystem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/memory/array.h"

static const unsigned long shared_types[] = {
    0x00006969, /* NFS */
    0x0000517B, /* SMB */
    0xFF534D42, /* CIFS */
    0xFE534D42, /* SMB 2 and 3 */
    0x0BD00BD0, /* Lustre */
    0x47504653, /* GPFS, Storage Scale */
    0x19830326, /* BeeGFS */
    0x00C36400, /* Ceph */
    0xAAD7AAEA, /* PanFS */
    0x20030528, /* OrangeFS, PVFS2 */
    0x5346414F, /* AFS of the kernel */
    0x6B414653, /* AFS of the kernel, by another number */
    0x73757245, /* Coda */
    0x01161970, /* GFS2 */
    0x7461636F, /* OCFS2 */
    0x01021997, /* 9P */
    0x786F4256, /* folders of a VirtualBox host */
    0x65735546, /* FUSE: sshfs, GlusterFS and others */
};

bool filesystem_is_shared(unsigned long type) {
  for (size_t i = 0; i < COUNT(shared_types); i++) {
    if (shared_types[i] == (type & 0xFFFFFFFFUL)) return true;
  }
  return false;
}

bool file_is_shared(const char *path) {
  struct statfs facts;
  return statfs(path, &facts) != 0 || filesystem_is_shared((unsigned long)facts.f_type);
}

static bool lock_all(int fd) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  int failed;
  while ((failed = fcntl(fd, F_OFD_SETLK, &lock)) != 0 && errno == EINTR) {}
  return failed == 0;
}

/* What is wrong with the locks of a file that is open twice; NULL if nothing is wrong. These locks belong to open
 * files, so that one process can try them. SQLite's locks belong to processes, and come from the same file system. */
static const char *locks_flaw(int one, int other) {
  if (!lock_all(one)) return strerror(errno);
  if (lock_all(other)) return "two programs get the same lock";
  return errno == EAGAIN || errno == EACCES ? NULL : strerror(errno);
}

halotune_status file_locks_fail(const char *path, const char *flaw) {
  return fail(HALOTUNE_DB,
              "%s: files cannot be locked on its file system (%s), so that two programs could damage or misread the "
              "database; keep it on a disk of this machine and join databases with 'halotune db merge', or have the "
              "file system mounted with locks (Lustre: -o flock)",
              path, flaw);
}

halotune_status file_locks_check(const char *path) {
  char *trial = NULL;
  if (asprintf(&trial, "%s.locks-XXXXXX", path) < 0) return fail_memory();
  const int one = mkostemp(trial, O_CLOEXEC); /* containers may have equal process numbers */
  const int other = one < 0 ? -1 : open(trial, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  halotune_status status = HALOTUNE_OK;
  if (other < 0) status = fail(HALOTUNE_DB, "%s: %s; check the permissions of its folder", trial, strerror(errno));
  const char *flaw = other < 0 ? NULL : locks_flaw(one, other);
  if (flaw) status = file_locks_fail(path, flaw);
  if (other >= 0) close(other);
  if (one >= 0) {
    close(one);
    unlink(trial);
  }
  free(trial);
  return status;
}
