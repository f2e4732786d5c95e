/* device_row.h: the limits of a GPU, as statements select them and their rows have them. */
#ifndef DB_STORE_DEVICE_ROW_H
#define DB_STORE_DEVICE_ROW_H

#include "db/store/query.h"
#include "stencil/template/facts.h"

/* The columns that device_row_limits reads.
 *   device  the name of the table in the statement */
#define SQL_DEVICE_LIMITS(device)                                                                            \
  device ".capability, " device ".max_threads, " device ".max_threads_sm, " device ".max_registers, " device \
         ".registers_sm, " device ".max_shared_bytes, " device ".warp_size, " device ".sm_count"
enum { DEVICE_LIMIT_COLUMNS = 8 };

/* Read them.
 *   at  place of the first one */
struct device_limits device_row_limits(sqlite3_stmt *row, int at);

#endif
