/* data_folders.h: where the stencils, templates and the database that come with Halotune are. */
#ifndef BASE_DATA_FOLDERS_H
#define BASE_DATA_FOLDERS_H

#include <limits.h>
#include <stdbool.h>

/* If this variable of the environment is "installed", ./templates and ./kernels of the working directory are not
 * searched. halotune_tune sets it for the program that it starts. */
#define DATA_FOUND_VARIABLE "HALOTUNE_SEARCH"

enum { DATA_FOLDERS_MOST = 3 };

struct data_folders {
  char list[DATA_FOLDERS_MOST][PATH_MAX];
  int count;
};

/* Find the data folders, in the order in which they are searched:
 *   1. the installation around this program or library, even if it was moved: PREFIX/share/halotune, if the file is in
 *   PREFIX/bin, PREFIX/lib or PREFIX/lib/ARCHITECTURE
 *   2. without an installation, the build tree: ROOT/build for the database, and ROOT for templates and stencils. A
 *   program that links ROOT/build/lib/libhalotune.a knows ROOT wherever it is
 *   3. the PREFIX given at build time, which need not exist
 * A folder to which other users can write is left out, so that there may be none. */
void data_folders_find(struct data_folders *out);

/* Whether nobody but root, this user, and the owner of this program or library can write to a file or folder, or
 * exchange it behind a link (data_file_look). The folders above it are not checked otherwise. Returns false if it is
 * not there. Does not change fail_text(). */
bool data_is_safe(const char *path);

/* Whether a folder is the folder `build` of a checkout: it has this name, and `templates` lies beside it. */
bool data_is_build(const char *folder);

/* Whether a folder is `bin`, `lib` or `lib64` of an installation: `share/halotune` lies beside it, and its data may be
 * used. */
bool data_is_installed(const char *folder);

/* Whether users of a group that is not this user's own can write to a file or folder. data_is_safe allows this, because
 * some systems let a group of administrators write to /usr/local. Returns false if it is not there. */
bool data_is_shared(const char *path);

#endif
