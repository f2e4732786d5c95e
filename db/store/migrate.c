/* migrate.c: the list of steps, and the loop that takes them. A change of schema.sql adds a row here and a version in
 * schema.h. */
#include "db/store/migrate.h"

#include "base/memory/array.h"
#include "base/text/text.h"
#include "db/store/migrate_5.h"
#include "db/store/migrate_copy.h"
#include "db/store/query.h"
#include "db/store/rename_templates.h"
#include "db/store/schema.h"

/* From version 5 to 6: a problem has a number of time steps. All tables are copied, so that a column that is added to a
 * later version needs no line here. Some files of version 5 already have columns of version 6; these values are
 * kept. */
static halotune_status finish_6(sqlite3 *connection) {
  /* in an order in which each refers to those before it */
  static const char *const tables[] = {"origin",  "device", "stencil",     "stencil_text", "template", "problem",
                                       "variant", "run",    "measurement", "finalist",     "best"};
  halotune_status status = query_script(connection, schema_sql);
  for (size_t i = 0; i < COUNT(tables) && status == HALOTUNE_OK; i++)
    status = migrate_copy_rows(connection, tables[i], NULL, NULL);
  return status == HALOTUNE_OK ? query_script(connection, MIGRATE_DROP_6_SQL) : status;
}

/* Version 1 is the first. A key cannot be changed in place: the step makes the table again, under the name that other
 * tables refer to. The steps from 4 and from 5 make the tables of schema.sql, whatever columns these have. */
const struct migration schema_migrations[] = {
    {1, 2,
     "create table new_problem ("
     "  id         integer primary key,"
     "  device_id  integer not null references device (id),"
     "  stencil_id integer not null references stencil (id),"
     "  dtype      text    not null check (dtype in ('f32', 'f64')),"
     "  nx         integer not null,"
     "  ny         integer not null,"
     "  nz         integer not null,"
     "  launch     text    not null check (launch in ('stream', 'graph')),"
     "  cache      text    not null check (cache in ('steady', 'cold')),"
     "  is_reproducible integer not null default 0 check (is_reproducible in (0, 1)),"
     "  unique (stencil_id, device_id, dtype, nx, ny, nz, launch, cache, is_reproducible)"
     ") strict;"
     " insert into new_problem (id, device_id, stencil_id, dtype, nx, ny, nz, launch, cache)"
     " select id, device_id, stencil_id, dtype, nx, ny, nz, launch, cache from problem;"
     " drop table problem; alter table new_problem rename to problem",
     NULL},
    {2, 3,
     "create index if not exists measurement_wrong on measurement (variant_id) where outcome in ('wrong', 'out_of_bounds');"
     " alter table run add column is_trusted integer not null default 1 check (is_trusted in (0, 1));"
     " update run set is_trusted = 0 where exists (select 1 from best b where b.run_id = run.id and not b.is_trusted)",
     NULL},
    {3, 4, "alter table run add column outcomes text", NULL},
    {4, SCHEMA_VERSION, migrate_5_sql, migrate_5},
    {5, SCHEMA_TABLES_VERSION, MIGRATE_SET_ASIDE_6_SQL, finish_6},
    {6, 7, "alter table measurement add column gpu text", NULL},
    {7, 8, "alter table measurement add column why text", NULL},
    {8, 9,
     "alter table run add column objective text check (objective in ('energy', 'edp'));"
     " alter table run add column power_limit_w real; alter table run add column idle_w real;"
     " alter table finalist add column energy_mj real; alter table finalist add column energy_low_mj real;"
     " alter table finalist add column energy_high_mj real;"
     " alter table best add column objective text check (objective in ('energy', 'edp'));"
     " alter table best add column energy_mj real",
     NULL},
    {SCHEMA_TABLES_VERSION, 10, "select 1", templates_rename},
    {0}};

/* Take the step from version *at, and set *at to the version that it leads to. */
static halotune_status take_step(sqlite3 *connection, const struct migration *steps, int *at) {
  struct text mark = {0};
  for (int i = 0; steps[i].sql; i++) {
    if (steps[i].from != *at) continue;
    text_printf(&mark, "pragma user_version = %d", steps[i].to); /* pragmas take no bound values */
    halotune_status status = text_ok(&mark) ? query_script(connection, steps[i].sql) : fail_memory();
    if (status == HALOTUNE_OK && steps[i].finish) status = steps[i].finish(connection);
    if (status == HALOTUNE_OK) status = query_script(connection, text_string(&mark));
    text_free(&mark);
    *at = steps[i].to;
    return status;
  }
  return fail(HALOTUNE_DB, "this Halotune cannot migrate a database of version %d", *at);
}

halotune_status migrate(sqlite3 *connection, const struct migration *steps, int version) {
  int64_t found = 0;
  halotune_status status = query_script(connection, "pragma foreign_keys = off"); /* no step removes an id */
  if (status == HALOTUNE_OK) status = query_script(connection, "begin immediate");
  if (status != HALOTUNE_OK) return status;
  status = query_number(connection, "pragma user_version", &found);
  for (int at = (int)found; at < version && status == HALOTUNE_OK;) status = take_step(connection, steps, &at);
  status = query_finish(connection, status);
  sqlite3_exec(connection, "pragma foreign_keys = on", NULL, NULL,
               NULL); /* this fails within a transaction only, and there is none */
  return status;
}
