/* db_info.c: `halotune db info`: prints what a database contains. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory/array.h"
#include "base/text/utf8.h"
#include "db/exchange/table.h"
#include "db/exchange/untrusted_files.h"
#include "db/store/query.h"
#include "db/store/schema.h"
#include "db/store/sql_parts.h"
#include "db/store/store.h"
#include "stencil/file/grid_text.h"
#include "stencil/template/template_read.h"
#include "tuner/cli/db/db.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/output/terminal.h"
#include "tuner/cli/output/variant_text.h"

static const char devices_sql[] =
    "select printable(d.name), printable(d.uuid), d.capability, d.is_emulation, (select count(*) from problem "
    "p where p.device_id = d.id) from device d"
    " order by d.id";

static const char problems_sql[] =
    "select printable(s.name), printable(p.dtype), p.nx, p.ny, p.nz, printable(p.launch), printable(p.cache), printable(d.name),"
    " printable(t.name), v.parameters, b.time_ms, printable(b.date), printable(" SQL_ORIGIN(
        "b.origin_id") "),"
                       " (select count(*) from run r where r.problem_id = p.id), (select count(*) from measurement m join "
                       "run r"
                       " on r.id = m.run_id where r.problem_id = p.id), p.is_reproducible, p.steps, t.id from problem p join stencil s on s.id = p.stencil_id"
                       " join device d on d.id = p.device_id left join best b on b.problem_id = p.id and b.is_current"
                       " left join variant v on v.id = b.variant_id left join template t on t.id = v.template_id"
                       " order by d.name, s.name, p.dtype, p.nx, p.ny, p.nz, p.steps, p.id";

/* A template of the database. NULL: this program cannot read its files. */
struct stored_template {
  int64_t id;
  struct template *template;
};

struct info {
  struct store *store;
  json_t *json; /* NULL: print text */
  long long bytes, counts[TABLE_COUNT];
  struct stored_template *templates; /* those that were asked for */
  int template_count, template_capacity;
};

/* Parse a template of the database. NULL if it cannot be read: all parameters are then printed. */
static struct template *template_load(const struct info *info, int64_t id) {
  static const char sql[] = "select name, yaml, cuda from template where id = ?1";
  struct template *template = NULL;
  sqlite3_stmt *query = NULL;
  if (query_prepare(store_connection(info->store), sql, &query) == HALOTUNE_OK &&
      sqlite3_bind_int64(query, 1, id) == SQLITE_OK && sqlite3_step(query) == SQLITE_ROW) {
    const char *yaml = column_text(query, 1);
    const struct source source = source_of(column_text(query, 0), yaml, strlen(yaml));
    template_parse(&source, column_text(query, 2), &template);
  }
  sqlite3_finalize(query);
  return template;
}

/* Get a template by its id. Each is parsed once. */
static const struct template *find_template(struct info *info, int64_t id) {
  for (int i = 0; i < info->template_count; i++) {
    if (info->templates[i].id == id) return info->templates[i].template;
  }
  if (!array_room(info->templates, info->template_count, info->template_capacity)) return NULL;
  struct stored_template *added = &info->templates[info->template_count++];
  *added = (struct stored_template){id, template_load(info, id)};
  return added->template;
}

static void templates_free(struct info *info) {
  for (int i = 0; i < info->template_count; i++) template_free(info->templates[i].template);
  free(info->templates);
}

static halotune_status rows_count(struct info *info) {
  struct stat facts;
  halotune_status status = HALOTUNE_OK;
  if (stat(store_path(info->store), &facts) == 0) info->bytes = facts.st_size;
  for (int i = 0; i < TABLE_COUNT && status == HALOTUNE_OK; i++) {
    struct text sql = {0};
    int64_t count = 0;
    text_printf(&sql, "select count(1) from %s", table_names[i]); /* count(*) cannot be ended: db/store/guard.h */
    status = text_ok(&sql) ? query_number(store_connection(info->store), text_string(&sql), &count) : fail_memory();
    info->counts[i] = count;
    text_free(&sql);
  }
  return status;
}

static json_t *device_json(sqlite3_stmt *row) {
  json_t *json = json_object();
  json_put(&json, "name", text_json(column_text(row, 0)));
  json_put(&json, "uuid", text_json(column_text(row, 1)));
  json_put(&json, "capability", json_integer(sqlite3_column_int(row, 2)));
  json_put(&json, "is_emulation", json_boolean(sqlite3_column_int(row, 3)));
  json_put(&json, "problems", json_integer(sqlite3_column_int64(row, 4)));
  return json;
}

static void print_device(struct info *info, sqlite3_stmt *row) {
  (void)info;
  int problems = sqlite3_column_int(row, 4);
  printf("device %s, %s, sm_%d%s: %d problem%s\n", column_text(row, 0), column_text(row, 1), sqlite3_column_int(row, 2),
         sqlite3_column_int(row, 3) ? ", an emulation" : "", problems, PLURAL(problems));
}

static json_t *best_json(sqlite3_stmt *row) {
  json_t *json = json_object();
  json_put(&json, "template", text_json(column_text(row, 8)));
  json_put(&json, "parameters", json_of_text(column_text(row, 9)));
  json_put(&json, "time_ms", number_json(sqlite3_column_double(row, 10)));
  json_put(&json, "date", text_json(column_text(row, 11)));
  json_put(&json, "origin", text_json(column_text(row, 12)));
  return json;
}

static struct grid grid_of(sqlite3_stmt *row) {
  return (struct grid){
      {(long)sqlite3_column_int64(row, 2), (long)sqlite3_column_int64(row, 3), (long)sqlite3_column_int64(row, 4)}};
}

static json_t *problem_json(sqlite3_stmt *row) {
  json_t *json = json_object();
  const struct grid grid = grid_of(row);
  json_put(&json, "stencil", text_json(column_text(row, 0)));
  json_put(&json, "dtype", text_json(column_text(row, 1)));
  json_put(&json, "grid", grid_json(&grid, MAX_DIMS));
  json_put(&json, "launch", text_json(column_text(row, 5)));
  json_put(&json, "cache", text_json(column_text(row, 6)));
  json_put(&json, "reproducible", json_boolean(sqlite3_column_int(row, 15)));
  json_put(&json, "steps", json_integer(sqlite3_column_int(row, 16)));
  json_put(&json, "device", text_json(column_text(row, 7)));
  json_put(&json, "runs", json_integer(sqlite3_column_int64(row, 13)));
  json_put(&json, "measurements", json_integer(sqlite3_column_int64(row, 14)));
  json_put(&json, "best", sqlite3_column_type(row, 10) == SQLITE_NULL ? json_null() : best_json(row));
  return json;
}

/* Print the template and the parameters of a best. */
static void print_variant(struct info *info, sqlite3_stmt *row) {
  struct text parameters = {0};
  const struct template *template = terminal_is_brief() ? find_template(info, sqlite3_column_int64(row, 17)) : NULL;
  parameters_text_brief(template, column_text(row, 9), &parameters);
  printf("%s%s", column_text(row, 8), text_string(&parameters));
  text_free(&parameters);
}

static void print_problem(struct info *info, sqlite3_stmt *row) {
  int runs = sqlite3_column_int(row, 13), measurements = sqlite3_column_int(row, 14);
  const int steps = sqlite3_column_int(row, 16);
  bool has_best = sqlite3_column_type(row, 10) != SQLITE_NULL;
  const struct grid problem_grid = grid_of(row);
  struct text grid = {0};
  grid_text(&problem_grid, grid_dims(&problem_grid), &grid);
  printf("%s %s %s, ", column_text(row, 0), column_text(row, 1), text_string(&grid));
  if (steps > 1) printf("%d steps, ", steps);
  printf("%s, %s%s, on %s: ", column_text(row, 5), column_text(row, 6),
         sqlite3_column_int(row, 15) ? ", reproducible" : "", column_text(row, 7));
  text_free(&grid);
  if (runs == 0 && has_best) printf("only the winner; the number of variants that were tried is not recorded\n");
  else printf("%d run%s, %d measurement%s\n", runs, PLURAL(runs), measurements, PLURAL(measurements));
  if (!has_best) return;
  printf("  best: %.6g ms", sqlite3_column_double(row, 10));
  if (steps > 1) printf(" for a launch of %d steps, %.6g ms a step", steps, sqlite3_column_double(row, 10) / steps);
  printf(", ");
  print_variant(info, row);
  printf(", %s, %s\n", column_text(row, 11), column_text(row, 12));
}

/* Put each row of a query into a list of the document, or print it. */
static halotune_status rows_show(struct info *info, const char *key, const char *sql,
                                 json_t *(*as_json)(sqlite3_stmt *row),
                                 void (*print)(struct info *info, sqlite3_stmt *row)) {
  sqlite3_stmt *query = NULL;
  sqlite3 *connection = store_connection(info->store);
  json_t *list = info->json ? json_array() : NULL;
  int code = SQLITE_DONE;
  halotune_status status = query_prepare(connection, sql, &query);
  while (status == HALOTUNE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) {
    if (info->json) json_add(&list, as_json(query));
    else print(info, query);
  }
  if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(connection);
  if (info->json) json_put(&info->json, key, list);
  sqlite3_finalize(query);
  return status;
}

static void put_counts(struct info *info) {
  json_t *counts = json_object();
  json_put(&info->json, "path", text_json(store_path(info->store)));
  json_put(&info->json, "version", json_integer(store_version(info->store)));
  json_put(&info->json, "bytes", json_integer(info->bytes));
  for (int i = 0; i < TABLE_COUNT; i++) json_put(&counts, table_names[i], json_integer(info->counts[i]));
  json_put(&info->json, "rows", counts);
}

static void print_counts(const struct info *info) {
  printf("%s: version %d, %lld bytes\nrows:", store_path(info->store), store_version(info->store), info->bytes);
  for (int i = 0; i < TABLE_COUNT; i++) printf("%s %s %lld", i ? "," : "", table_names[i], info->counts[i]);
  printf("\n");
}

/* A file that keeps what was imported without trust. */
static halotune_status show_apart(void *context, const char *file) {
  struct info *info = context;
  char printable[FAIL_TEXT_BYTES];
  printable_name(printable, sizeof printable, file);
  if (info->json) json_array_append_new(json_object_get(info->json, "untrusted"), text_json(file));
  else printf("not trusted: %s\n", printable);
  return HALOTUNE_OK;
}

/* Something that is left out is no failure of the command. */
static halotune_status all_apart_show(struct info *info) {
  const halotune_status status = untrusted_each(store_path(info->store), INFINITY, show_apart, info);
  if (status != HALOTUNE_IO) return status;
  char printable[FAIL_TEXT_BYTES];
  printable_name(printable, sizeof printable, fail_text());
  fprintf(stderr, "halotune: %s\n", printable);
  return HALOTUNE_OK;
}

halotune_status db_info(const struct invocation *invocation) {
  const bool as_json = option_given(invocation, "json");
  struct info info = {.json = as_json ? json_object() : NULL};
  halotune_status status = store_open(option_value(invocation, "db"), STORE_READ_UNTRUSTED, &info.store);
  if (status == HALOTUNE_OK) status = rows_count(&info);
  if (status == HALOTUNE_OK && as_json) put_counts(&info);
  else if (status == HALOTUNE_OK) print_counts(&info);
  if (status == HALOTUNE_OK) status = rows_show(&info, "devices", devices_sql, device_json, print_device);
  if (status == HALOTUNE_OK) status = rows_show(&info, "problems", problems_sql, problem_json, print_problem);
  if (status == HALOTUNE_OK && as_json) json_put(&info.json, "untrusted", json_array());
  if (status == HALOTUNE_OK) status = all_apart_show(&info);
  if (status == HALOTUNE_OK && as_json) status = print_json(json_incref(info.json));
  json_decref(info.json);
  templates_free(&info);
  store_close(info.store);
  return status;
}
