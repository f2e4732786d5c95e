/* migrate_6.c: all tables are copied, so that a column that is added to a later version needs no line here. */
#include "db/store/migrate_6.h"

#include "base/array.h"
#include "db/store/query.h"
#include "db/store/schema.h"

/* In an order in which each refers to those before it. */
static const char *const tables[] = {"origin",  "device", "stencil",     "stencil_text", "template", "problem",
                                     "variant", "run",    "measurement", "finalist",     "best"};

halotune_status migrate_6(sqlite3 *connection) {
  halotune_status status = query_script(connection, schema_sql);
  for (size_t i = 0; i < COUNT(tables) && status == HALOTUNE_OK; i++)
    status = migrate_copy_rows(connection, tables[i], NULL, NULL);
  if (status != HALOTUNE_OK) return status;
  return query_script(connection,
                      "drop table old_best; drop table old_finalist; drop table old_measurement; drop table old_run;"
                      " drop table old_variant; drop table old_problem; drop table old_template;"
                      " drop table old_stencil_text; drop table old_stencil; drop table old_device;"
                      " drop table old_origin");
}
