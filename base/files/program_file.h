/* program_file.h: the file from which this code was loaded: the program, or the shared library. */
#ifndef BASE_PROGRAM_FILE_H
#define BASE_PROGRAM_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* Find its path, without symbolic links. Returns false if the system does not tell, and if the file was no longer
 * there when it was looked up first. */
bool program_file_find(char path[PATH_MAX]);

/* Its owner, who decides anyway what this code does; this user if the file is not found. */
uid_t program_file_owner(void);

#endif
