/* data_file.h: files that the program finds without the user naming them: templates, stencils, starter.db. They are
 * believed if nobody but root, this user, and the owner of this program or library can have put them there. */
#ifndef BASE_DATA_FILE_H
#define BASE_DATA_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/fail.h"

enum data_flaw {
  DATA_NO_FLAW,
  DATA_MISSING,      /* nothing is there, or what is there cannot be looked at */
  DATA_FOREIGN,      /* it belongs to another user */
  DATA_WRITABLE,     /* all users can write to it */
  DATA_EXCHANGEABLE, /* a link leads to it, and another user can exchange the link, or a part of the way behind it */
};

/* Whether files of this user are believed: root, this user, and the owner of this program or library. */
bool data_owner_is_trusted(uid_t owner);

/* Look at what a path names. From the first link on, the way must be one that exchange_check accepts, but its folders
 * and links may also belong to the owner of this program or library. The caller has checked the folder in which the
 * path begins.
 *   facts  of what the path names, with all links followed; not filled for DATA_MISSING and DATA_EXCHANGEABLE
 * After a flaw, fail_text() says "PATH is not used, because ...". */
enum data_flaw data_file_look(const char *path, struct stat *facts);

/* Like file_read_found, but refuse a file with a flaw. The file that is read is the one that was looked at. */
halotune_status data_file_read(const char *path, size_t max_bytes, char **bytes, size_t *length);

#endif
