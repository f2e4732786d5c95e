/* filesystem.c: the numbers by which Linux names its filesystems. */
#include "db/store/filesystem.h"

#include <sys/statfs.h>

#include "base/array.h"

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
    0x6B414653, /* the same, another number of it */
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
