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

/* Append the name of the stencil in the row to the failure. */
static halotune_status fail_with_stencil(void *context, sqlite3_stmt *row) {
  struct fail_kept kept;
  (void)context;
  fail_keep(&kept);
  return fail(HALOTUNE_DB, "%s; %s has the longest ('halotune db forget --stencil NAME' takes one out of a database)",
              kept.text, column_text(row, 0));
}

halotune_status amounts_check_stencil_texts(sqlite3 *connection, long most_bytes) {
  static const char longest[] = "select printable(s.name) from stencil_text x join stencil s on s.id = x.stencil_id"
                                " order by length(cast(x.text as blob)) desc, s.name limit 1";
  const struct amount amount = {"bytes in texts of stencils",
                                "(select sum(length(cast(text as blob))) from stencil_text)", most_bytes};
  const halotune_status status = amounts_check(connection, &amount, 1);
  if (status == HALOTUNE_DB) (void)query_rows(connection, longest, fail_with_stencil, NULL);
  return status;
}
