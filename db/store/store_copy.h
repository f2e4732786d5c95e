/* store_copy.h: reads a database that others may have made, once, for many questions over a long time. */
#ifndef DB_STORE_STORE_COPY_H
#define DB_STORE_STORE_COPY_H

#include "db/store/store.h"

/* Copy the rows of a database into one in memory that has the tables and indexes of this program, without sources,
 * machine code and samples, and close the file. Whoever can change, cut or lock the file then neither delays nor ends
 * what reads the copy.
 *   path  at most 1 GiB; a lock of another program is waited for two seconds
 *   out   receives the store, for the caller to end with store_close; NULL on failure
 * Returns what store_open returns for STORE_READ; HALOTUNE_DB also for a damaged file, for rows that the tables of this
 * program do not take, for texts that are longer than any that Halotune writes, and for more than 4096 templates. */
halotune_status store_open_copy(const char *path, struct store **out);

#endif
