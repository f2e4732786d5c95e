/* locked_files.h: databases that this process has open. SQLite has locks of POSIX on a database and on its WAL's index.
 * When a process closes any descriptor of a file, the kernel ends all its locks on the file. A path that the user names
 * can lead to such a file, by a link that another user made. */
#ifndef BASE_LOCKED_FILES_H
#define BASE_LOCKED_FILES_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/fail.h"

/* Note the path of a file that will have locks; the file need not exist yet. Each call of locked_files_add is ended by
 * one of locked_files_remove. All threads may call these functions.
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status locked_files_add(const char *path);
void locked_files_remove(const char *path);

/* Note which file was opened by such a path: later the path may lead to another one. A path that is not in the list has
 * no note.
 * Returns false, and notes nothing, if another file was noted before. */
bool locked_files_note(const char *path, const struct stat *facts);

/* From now on, no child of fork gets the list's lock from another thread. locked_files_add calls this, too. Handlers of
 * fork run in the reverse order: who registers one for a lock that is held while these functions are called, calls this
 * before. */
void locked_files_guard_forks(void);

/* Get what was noted of a path. Returns false if nothing was. */
bool locked_files_noted(const char *path, struct stat *out);

/* Close a descriptor that was read from. If it is of one of these files, it stays open until the process ends. */
void locked_files_close(int fd);

#endif
