/* amounts.c: asks for one number after another. */
#include "db/store/amounts.h"

#include "db/store/query.h"

halotune_status amounts_check(sqlite3 *connection, const struct amount *list, size_t count) {
  halotune_status status = HALOTUNE_OK;
  for (size_t i = 0; i < count && status == HALOTUNE_OK; i++) {
    int64_t number = 0;
    char *sql = sqlite3_mprintf("select coalesce(%s, 0)", list[i].value);
    status = sql ? query_number(connection, sql, &number) : fail_memory();
    sqlite3_free(sql);
    if (status == HALOTUNE_OK && number > list[i].most)
      status = fail(HALOTUNE_DB, "it has %lld %s; at most %ld are read", (long long)number, list[i].what, list[i].most);
  }
  return status;
}
