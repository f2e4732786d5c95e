/* own.h: files and folders whose content is believed because this user alone can write them: caches, and lists and keys
 * of signers. */
#ifndef BASE_OWN_H
#define BASE_OWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/fail.h"

/* A kind of file or folder, and the words of messages about one that is refused: "this WHAT belongs to user 7 ...;
 * FOREIGN_REMEDY", "others can OTHERS_CAN this WHAT, ...; run: chmod CHMOD PATH, and MORE". */
struct own_kind {
  const char *what;           /* "cache" */
  const char *foreign_remedy; /* where another user owns it */
  mode_t rights;              /* the bits of the mode that group and others may not have */
  const char *others_can;     /* what these bits allow: "write to" */
  const char *chmod;          /* the arguments that take the bits away: "go-w" */
  const char *more;           /* NULL, or what to do besides */
};

/* Refuse a file or folder that belongs to another user, or that others have rights on.
 *   facts  from fstat, so that nobody can exchange the file between this check and its use
 * Returns HALOTUNE_OK; or HALOTUNE_IO, whose detail has the command that mends it. */
halotune_status own_check(const struct stat *facts, const char *path, const struct own_kind *kind);

/* Look at the folder in which a path lies. Returns false if nothing is there, or when memory is out. */
bool own_folder_of(const char *path, struct stat *facts);

/* Refuse a folder that belongs to another user, that others can write, or that another user can exchange
 * (exchange_check).
 * Returns HALOTUNE_OK: it is there, and nobody can exchange it; HALOTUNE_NOT_FOUND without a detail: nothing is there.
 *         Then the caller must not use the path, because another user may put a link there; HALOTUNE_IO, whose detail
 *         has the command that mends it; HALOTUNE_MEMORY. */
halotune_status own_folder_check(const char *path);

/* The same, and keep the folder open: another user may put another folder at its path later.
 *   fd       receives a descriptor of 10 or higher of the folder that was checked, close-on-exec, for the caller to
 *            close; -1 unless HALOTUNE_OK is returned
 *   through  receives from malloc a path that leads to this very folder as long as the descriptor is open, also in
 *            programs that get the descriptor under its number (held_path.h); where the system has no such paths, a
 *            copy of `path`; NULL unless HALOTUNE_OK is returned */
halotune_status own_folder_hold(const char *path, int *fd, char **through);

/* Make a folder and all missing folders above it like exchange_make_folder, and check it. */
halotune_status own_folder_make(const char *path);

/* Open a file of this user for reading. The call follows no link and waits for no pipe.
 * Returns the descriptor, close-on-exec; -1 with fail_text() if nothing is there, if it is not a regular file, if it
 * belongs to another user, or if others can write it. */
int own_file_open(const char *path);

/* Like file_read, for a file that own_file_open accepts. Returns HALOTUNE_IO for every other file. */
halotune_status own_file_read(const char *path, size_t max_bytes, char **bytes, size_t *length);

#endif
