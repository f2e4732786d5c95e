/* amounts.h: limits on what readers of a database keep in memory. They keep rows whole, compare some of them in pairs,
 * and parse texts. So their memory does not depend on the size of the file alone. */
#ifndef DB_STORE_AMOUNTS_H
#define DB_STORE_AMOUNTS_H

#include <sqlite3.h>
#include <stddef.h>

#include "base/fail.h"

struct amount {
  const char *what, *value; /* a word for it; SQL that gives a number, or null for 0 */
  long most;
};

/* Refuse a database with more of something than allowed.
 * Returns HALOTUNE_OK; HALOTUNE_DB with what there is too much of, without the name of the file. */
halotune_status amounts_check(sqlite3 *connection, const struct amount *list, size_t count);

/* The same for the bytes in texts of stencils. The message names the stencil with the longest text, and how to do
 * without it. */
halotune_status amounts_check_stencil_texts(sqlite3 *connection, long most_bytes);

#endif
