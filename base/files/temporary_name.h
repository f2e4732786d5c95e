/* temporary_name.h: names that nobody can guess, for new files and folders in an open folder. */
#ifndef BASE_TEMPORARY_NAME_H
#define BASE_TEMPORARY_NAME_H

#include <stdbool.h>

enum { TEMPORARY_LETTERS = 6 };

/* Put random letters and digits in place of the last six of a name, such as those of "part-XXXXXX". If something has
 * that name, call it again. Returns false, with errno, if the system gives no random bytes. */
bool temporary_name(char *name);

#endif
