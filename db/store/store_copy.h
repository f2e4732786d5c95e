/* store_copy.h: reads a database that others may have made, once, for many questions over a long time. */
#ifndef DB_STORE_STORE_COPY_H
#define DB_STORE_STORE_COPY_H

#include "db/store/store.h"

/* Copy the rows of a database into one in memory that has the tables and indexes of this program, without sources,
 * machine code and samples, and close the file. Whoever can change, cut or lock the file then neither delays nor ends
 * what reads the copy. The file's own templates are not copied either, because reading and evaluating them can take any
 * time: variants of a template whose name the caller knows become variants of the caller's template, and a template of
 * another name has no text.
 *   path       at most 1 GiB; a lock of another program is waited for two seconds
 *   templates  those of the caller, each with a name of its own
 *   is_over    asked often with `context` during the copy: whether to read no further
 *   out        receives the store, for the caller to end with store_close; NULL on failure
 * Returns what store_open returns for STORE_READ; HALOTUNE_CANCELLED if `is_over` said so; HALOTUNE_DB also for a
 * damaged file, for a file of another user who has it open, for rows that the tables of this program do not take, and
 * for texts that are longer, or tables that have more rows, than Halotune writes. */
halotune_status store_open_copy(const char *path, struct template *const *templates, int count,
                                bool (*is_over)(const void *context), const void *context, struct store **out);

/* Whether store_open_copy opened it. */
bool store_is_copy(const struct store *store);

#endif
