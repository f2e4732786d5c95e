/* exchange.h: whether another user can exchange what a path names between a check of it and its use. */
#ifndef BASE_EXCHANGE_H
#define BASE_EXCHANGE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/fail.h"

struct place; /* base/files/place.h */
struct place_part;

/* Refuse a path on whose way another user can exchange a part. The way is the one that the kernel goes, with all links
 * followed. Each folder on it must belong to root or this user, because its owner can rename what lies in it; all users
 * may write to it only if it is sticky, and then what is used of it must belong to root or this user. A link of another
 * user is refused anywhere, and any link in a folder to which all users may write. A relative path begins at the
 * working directory, and the folders above that do not count: nobody can exchange it under the program. What the path
 * names is not checked, unless it is a link or lies in a folder of all users.
 * Returns HALOTUNE_OK, also if nothing is there yet; HALOTUNE_IO, whose detail names the folder and what to do;
 * HALOTUNE_MEMORY. */
halotune_status exchange_check(const char *path);

/* Whether a path leads to a folder, of which exchange_check would also refuse what lies in it.
 *   is_there  receives false if nothing is there, and after a failure; nobody can exchange a folder that is there
 * Returns as exchange_check. */
halotune_status exchange_find_folder(const char *path, bool *is_there);

/* Whether the owner of a file or folder is trusted: root, this user, or another one.
 *   also  that other one */
bool exchange_is_trusted(uid_t owner, uid_t also);

/* Check one part of a way as exchange_check does, for callers that walk along a path (place.h).
 *   also  a user who is trusted like root and this user */
halotune_status exchange_check_part(const struct place_part *part, uid_t also);

/* Whether all users may write to a folder, and a file in it belongs to a user other than root and this one. */
bool exchange_is_foreign(const struct stat *folder, const struct stat *entry);

/* Open the folder of what a path names like place_open, for a file that the user has named. Only a link of another user
 * in a folder that all may write to is refused, such as one in /tmp. */
halotune_status exchange_open_place(const char *path, struct place *out);

/* The same for a file that is used where it is, such as a database: a link of the proc file system is replaced by the
 * path that it leads to. If its folder does not exist, that is no failure: see is_missing.
 *   out  for the caller to end with place_close, also after a failure */
halotune_status exchange_find_place(const char *path, struct place *out);

/* Find the path without links of a file that the user has named. The links on the way to it, and the file itself if it
 * is a link, are those that exchange_open_place follows. Whoever opens the outcome without following links opens what
 * was found, also if another user has put a link there in between.
 *   out  from malloc, for the caller to free: an absolute path, also if the file does not exist; `path` as it is if its
 *        folder does not exist; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_IO, whose detail names the link; HALOTUNE_MEMORY. */
halotune_status exchange_real_path(const char *path, char **out);

enum exchange_rule {
  EXCHANGE_LINKS, /* refuse links of users other than root and this one, and links in folders of all users */
  EXCHANGE_WAY,   /* refuse what exchange_check refuses, but not the folder itself */
  EXCHANGE_NAMED, /* refuse what exchange_open_place refuses */
};

/* Open a folder. The descriptor is of the folder that was checked: nobody can exchange it in between.
 *   out  receives the descriptor, close-on-exec, for the caller to close; -1 on failure, and if nothing is there
 * Returns HALOTUNE_OK, also if nothing is there; HALOTUNE_IO, whose detail says what to do; HALOTUNE_MEMORY. */
halotune_status exchange_open_folder(const char *path, enum exchange_rule rule, int *out);

/* The same, but make the folder and all missing folders above it, each with mode 0700. Each is made in an open folder
 * that was checked, and so never behind a link that is refused. Existing folders do not change.
 *   out  -1 on failure only */
halotune_status exchange_make_folder(const char *path, enum exchange_rule rule, int *out);

#endif
