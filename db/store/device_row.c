/* device_row.c: reads the columns in the order of SQL_DEVICE_LIMITS. */
#include "db/store/device_row.h"

struct device_limits device_row_limits(sqlite3_stmt *row, int at) {
  return (struct device_limits){.capability = sqlite3_column_int(row, at),
                                .max_threads = sqlite3_column_int(row, at + 1),
                                .max_threads_sm = sqlite3_column_int(row, at + 2),
                                .max_registers = sqlite3_column_int(row, at + 3),
                                .registers_sm = sqlite3_column_int(row, at + 4),
                                .max_shared_bytes = sqlite3_column_int(row, at + 5),
                                .warp_size = sqlite3_column_int(row, at + 6),
                                .multiprocessors = sqlite3_column_int(row, at + 7)};
}
