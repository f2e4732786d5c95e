/* check.c: one function for each kind of row. check_launch.c looks at launches. */
#include "db/store/check.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/system/clock.h"
#include "base/text/json.h"
#include "base/text/utf8.h"
#include "db/store/check_parts.h"
#include "db/store/launch_text.h"
#include "db/store/query.h"
#include "db/store/sql_parts.h"
#include "db/store/take_rows.h"
#include "stencil/cuda/cuda_tokens.h"
#include "stencil/template/template_read.h"

void check_report(struct check *c, const char *format, ...) {
  char text[FAIL_TEXT_BYTES], printable[FAIL_TEXT_BYTES];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  printable_name(printable, sizeof printable, text);
  c->found++;
  c->problem(c->context, printable);
}

/* Like check_report, for a text that cannot be read. The message ends with the failure and its picture of a line. */
static void report_unreadable(struct check *c, const char *what, const char *name) {
  char words[FAIL_TEXT_BYTES / 4], failure[FAIL_TEXT_BYTES], message[FAIL_TEXT_BYTES * 2];
  printable_name(words, sizeof words, name);
  printable_message(failure, sizeof failure, fail_text());
  snprintf(message, sizeof message, "the %s %s cannot be read: %s", what, words, failure);
  c->found++;
  c->problem(c->context, message);
}

/* The last limit, for work that is not counted in bytes. An ordinary file takes a thirtieth of this time or less, also
 * on a slow machine. */
static halotune_status check_time(const struct check *c) {
  if (clock_thread_ms() < c->until_thread_ms) return HALOTUNE_OK;
  return fail(HALOTUNE_DB,
              "its check takes far longer than that of an ordinary file of this size, so it ends here; ask "
              "for a file without the texts that are longest");
}

halotune_status check_each(struct check *c, const char *sql,
                           halotune_status (*look)(struct check *c, sqlite3_stmt *row)) {
  sqlite3_stmt *query = NULL;
  int code = SQLITE_DONE;
  halotune_status status = query_prepare(c->connection, sql, &query);
  while (status == HALOTUNE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) {
    status = look(c, query);
    if (status == HALOTUNE_OK) status = check_time(c);
  }
  if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(c->connection);
  sqlite3_finalize(query);
  return status;
}

/* An identity is evenly spread: any part of it is a hash. */
static uint64_t fine_hash(const struct identity *identity) {
  uint64_t hash;
  memcpy(&hash, identity->bytes, sizeof hash);
  return hash;
}

static bool was_fine(const struct check *c, const struct identity *values) {
  int number;
  for (struct set_walk at = set_walk(&c->by_fine, fine_hash(values)); set_next(&at, &number);) {
    if (identity_compare(c->fine[number], *values) == 0) return true;
  }
  return false;
}

halotune_status check_once(struct check *c, const char *kind, sqlite3_stmt *row,
                           halotune_status (*look)(struct check *c, sqlite3_stmt *row)) {
  struct identity_maker maker;
  const long before = c->found;
  identity_begin(&maker, kind);
  for (int i = 1; i < sqlite3_column_count(row); i++) {
    const int type = sqlite3_column_type(row, i); /* must be asked before the value is read as a text */
    identity_add(&maker, &type, sizeof type);
    identity_add(&maker, sqlite3_column_blob(row, i), (size_t)sqlite3_column_bytes(row, i));
    c->bytes += sqlite3_column_bytes(row, i);
  }
  if (c->bytes + c->subject.work > c->most_bytes)
    return fail(HALOTUNE_DB,
                "many rows name one long text: the check would read or generate more than %lld MB, which is far "
                "more than the rows of an ordinary file of this size need, so it ends here; 'halotune db forget "
                "--stencil NAME' removes those of one stencil",
                (long long)(c->most_bytes >> 20));
  const struct identity values = identity_end(&maker);
  if (was_fine(c, &values)) return HALOTUNE_OK;
  const halotune_status status = look(c, row);
  if (status != HALOTUNE_OK || c->found > before) return status;
  if (!array_room(c->fine, c->fine_count, c->fine_room)) return fail_memory();
  c->fine[c->fine_count] = values;
  return set_add(&c->by_fine, fine_hash(&values), c->fine_count++) ? HALOTUNE_OK : fail_memory();
}

static halotune_status look_at_integrity(struct check *c, sqlite3_stmt *row) {
  if (strcmp(column_text(row, 0), "ok") != 0) check_report(c, "the file is damaged: %s", column_text(row, 0));
  return HALOTUNE_OK;
}

static halotune_status look_at_reference(struct check *c, sqlite3_stmt *row) {
  check_report(c, "%s %lld refers to a row of %s that does not exist", column_text(row, 0),
               (long long)sqlite3_column_int64(row, 1), column_text(row, 2));
  return HALOTUNE_OK;
}

/* Columns: kind and name of an object. Triggers and views are code that nobody asked for. */
static halotune_status look_at_object(struct check *c, sqlite3_stmt *row) {
  check_report(c, "%s '%s' does not belong in this database", column_text(row, 0), column_text(row, 1));
  return HALOTUNE_OK;
}

/* Columns: table, id, what is wrong with the row. */
static halotune_status look_at_defect(struct check *c, sqlite3_stmt *row) {
  check_report(c, "%s %lld: %s", column_text(row, 0), (long long)sqlite3_column_int64(row, 1), column_text(row, 2));
  return HALOTUNE_OK;
}

/* Rows with ids that SQLite gives to no row by itself. Readers take the id 0 for "no row". */
static const char bad_ids_sql[] =
    "select what, id, 'its id is not positive' from (select 'origin' as what, id from origin union all select 'device', id"
    " from device union all select 'stencil', id from stencil union all select 'stencil_text', id from stencil_text union all"
    " select 'template', id from template union all select 'problem', id from problem union all select 'variant', id from"
    " variant union all select 'run', id from run union all select 'measurement', id from measurement union all"
    " select 'best', id from best union all select 'prediction', id from prediction) where id < 1";

static halotune_status check_file(struct check *c) {
  halotune_status status = check_each(c, "pragma integrity_check", look_at_integrity);
  if (status == HALOTUNE_OK) status = check_each(c, "pragma foreign_key_check", look_at_reference);
  if (status == HALOTUNE_OK) status = check_each(c, bad_ids_sql, look_at_defect);
  if (status != HALOTUNE_OK) return status;
  return check_each(
      c,
      "select type, name from sqlite_master where type in ('trigger', 'view') or (type = 'table' and name not in"
      " ('origin', 'device', 'stencil', 'stencil_text', 'template', 'problem', 'variant', 'run', 'measurement', 'finalist', 'best', 'prediction')"
      " and name not like 'sqlite\\_%' escape '\\')",
      look_at_object);
}

/* No file of a stencil or a template may be longer than MAX_STENCIL_BYTES. A longer text in a database ends the check,
 * because looks at each row that names it would take too long. */
static halotune_status check_length(sqlite3_stmt *row, int column, const char *what) {
  if (sqlite3_column_bytes(row, column) <= MAX_STENCIL_BYTES) return HALOTUNE_OK;
  char name[FAIL_TEXT_BYTES / 4];
  printable_name(name, sizeof name, column_text(row, 0));
  return fail(HALOTUNE_DB, "a text of %s %s has %d bytes; at most %d are allowed", what, name,
              sqlite3_column_bytes(row, column), MAX_STENCIL_BYTES);
}

/* Columns: name, hash, text, hash of the text. */
static halotune_status look_at_stencil(struct check *c, sqlite3_stmt *row) {
  const char *name = column_text(row, 0), *text = column_text(row, 2);
  struct source source = source_of(name, text, strlen(text));
  struct stencil *stencil = NULL;
  struct analysis *analysis = NULL;
  char hex[IDENTITY_HEX_BYTES];
  identity_hex(stencil_text_identity(text), hex);
  if (strcmp(hex, column_text(row, 3)) != 0) check_report(c, "a text of stencil %s does not match its own hash", name);
  halotune_status status = check_length(row, 2, "stencil");
  if (status == HALOTUNE_OK) status = stencil_parse(&source, &stencil);
  if (status == HALOTUNE_OK) status = analysis_make(stencil, &analysis);
  if (row_is_refused(status)) {
    report_unreadable(c, "stencil", name);
    status = HALOTUNE_OK;
  } else if (status == HALOTUNE_OK) {
    identity_hex(analysis->hash, hex);
    if (strcmp(hex, column_text(row, 1)) != 0) check_report(c, "the text of stencil %s does not match its hash", name);
    if (strcmp(stencil->name, name) != 0)
      check_report(c, "the stencil %s is named %s in its text", name, stencil->name);
  }
  analysis_free(analysis);
  stencil_free(stencil);
  return status;
}

/* Go to the next variant. Behind the last one `variants` is NULL. */
static halotune_status next_variant(struct check *c) {
  const int code = sqlite3_step(c->variants);
  if (code == SQLITE_ROW) return HALOTUNE_OK;
  const halotune_status status = code == SQLITE_DONE ? HALOTUNE_OK : query_fail(c->connection);
  sqlite3_finalize(c->variants);
  c->variants = NULL;
  return status;
}

/* Check that a variant's parameters are the text that a tune stores for them. The same variant in other words would be
 * another one, and verdicts about one would not hold for the other. */
static halotune_status check_parameters(const struct template *template, const char *parameters) {
  struct text canonical = {0};
  halotune_status status = configuration_reword(template, parameters, &canonical);
  if (status == HALOTUNE_OK && strcmp(parameters, text_string(&canonical)) != 0)
    status = fail(HALOTUNE_PARSE, "template %s: the parameters are not in the form in which they are stored",
                  template->name);
  text_free(&canonical);
  return status;
}

/* Look at the variants of a template. Templates come in the order of their ids, and so do their variants: no index
 * finds those of one template. */
static halotune_status check_variants(struct check *c, int64_t template_id, const struct template *template) {
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK && c->variants && sqlite3_column_int64(c->variants, 0) <= template_id) {
    if (sqlite3_column_int64(c->variants, 0) == template_id)
      status = check_parameters(template, column_text(c->variants, 2));
    if (row_is_refused(status)) {
      check_report(c, "variant %lld: %s", (long long)sqlite3_column_int64(c->variants, 1), fail_text());
      status = HALOTUNE_OK;
    }
    if (status == HALOTUNE_OK) status = next_variant(c);
  }
  return status;
}

/* Whether a stored hash is the name of a template. common.yml may have changed since the template was stored. So the
 * hash of that part comes from the row. */
static bool is_named(const struct template *template, const char *hash, const char *common_hash) {
  struct identity common;
  char hex[IDENTITY_HEX_BYTES];
  if (!identity_read(common_hash, &common)) return false;
  identity_hex(template_identity(template->own_hash, common), hex);
  return strcmp(hex, hash) == 0;
}

/* Lookups keep what they parse of templates. Definitions are copied into formulas, so a short text can take 4 MB. The
 * templates of this Halotune take 5 MB. */
static halotune_status count_parsed(struct check *c, const struct template *template) {
  const int64_t most_bytes = 512 << 20;
  c->parsed_bytes += (int64_t)sizeof *template + template->exprs.capacity * (int64_t)sizeof(struct expr);
  if (c->parsed_bytes <= most_bytes) return HALOTUNE_OK;
  return fail(HALOTUNE_DB, "its templates would take more than %lld MiB of memory when they are parsed",
              (long long)(most_bytes >> 20));
}

static bool is_ascii(const char *text) {
  while (*text && (unsigned char)*text < 0x80) text++;
  return *text == '\0';
}

/* Whether a text in an export is another one. An export writes only UTF-8.
 *   replaced  receives the text there, for the caller to free with json_decref; NULL if it is the same */
static halotune_status replace_in_export(const char *text, json_t **replaced) {
  *replaced = NULL;
  if (is_ascii(text)) return HALOTUNE_OK;
  json_t *json = text_json(text);
  if (!json) return fail_memory();
  if (strcmp(json_string_value(json), text) != 0) *replaced = json_incref(json);
  json_decref(json);
  return HALOTUNE_OK;
}

/* Report a template of which an export makes another one. */
static halotune_status check_export(struct check *c, const struct source *yaml, sqlite3_stmt *row) {
  struct template *template = NULL;
  json_t *replaced;
  halotune_status status = replace_in_export(column_text(row, 3), &replaced);
  if (status != HALOTUNE_OK || !replaced) return status;
  status = template_parse(yaml, json_string_value(replaced), &template);
  json_decref(replaced);
  if (row_is_refused(status) ||
      (status == HALOTUNE_OK && !is_named(template, column_text(row, 1), column_text(row, 5)))) {
    check_report(c, "template %s: its source is not UTF-8 outside comments", column_text(row, 0));
    status = HALOTUNE_OK;
  }
  template_free(template);
  return status;
}

/* Columns: name, yaml, cuda. A template that cannot be parsed takes no memory. */
static halotune_status look_at_size(struct check *c, sqlite3_stmt *row) {
  const char *yaml = column_text(row, 1);
  const struct source source = source_of(column_text(row, 0), yaml, strlen(yaml));
  struct template *template = NULL;
  halotune_status status = template_parse(&source, column_text(row, 2), &template);
  if (row_is_refused(status)) return HALOTUNE_OK;
  if (status == HALOTUNE_OK) status = count_parsed(c, template);
  template_free(template);
  return status;
}

halotune_status store_check_size(struct store *store) {
  struct check c = {.connection = store_connection(store)};
  const halotune_status status = check_begin(&c);
  return status == HALOTUNE_OK ? check_each(&c, "select name, yaml, cuda from template", look_at_size) : status;
}

/* Columns: name, hash, yaml, cuda, id, common_hash. */
static halotune_status look_at_template(struct check *c, sqlite3_stmt *row) {
  const char *name = column_text(row, 0), *yaml = column_text(row, 2);
  struct source source = source_of(name, yaml, strlen(yaml));
  struct template *template = NULL;
  halotune_status status = check_length(row, 2, "template");
  if (status == HALOTUNE_OK) status = check_length(row, 3, "template");
  if (status == HALOTUNE_OK) status = template_parse(&source, column_text(row, 3), &template);
  if (row_is_refused(status)) {
    report_unreadable(c, "template", name);
    return HALOTUNE_OK;
  }
  if (status != HALOTUNE_OK) return status;
  if (!is_named(template, column_text(row, 1), column_text(row, 5)))
    check_report(c, "the texts of template %s do not match its hash", name);
  if (strcmp(template->name, name) != 0)
    check_report(c, "the template %s is named %s in its text", name, template->name);
  status = count_parsed(c, template);
  if (status == HALOTUNE_OK) status = check_export(c, &source, row);
  if (status == HALOTUNE_OK) status = check_variants(c, sqlite3_column_int64(row, 4), template);
  template_free(template);
  return status;
}

static halotune_status check_templates(struct check *c) {
  halotune_status status = query_prepare(
      c->connection, "select template_id, id, parameters from variant order by template_id", &c->variants);
  if (status == HALOTUNE_OK) status = next_variant(c);
  if (status == HALOTUNE_OK)
    status =
        check_each(c, "select name, hash, yaml, cuda, id, common_hash from template order by id", look_at_template);
  sqlite3_finalize(c->variants);
  c->variants = NULL;
  return status;
}

/* Columns: table, id, text, whether it is free, what mends it. Names of machines, files and people are free: they may
 * have other letters than those of ASCII, and any length. Other names with such letters would look like names of ASCII,
 * and a list of what a file brings copies them into each of its lines. */
static const char words_sql[] =
    "select 'device', id, name, 0, '' from device union all select 'device', id, uuid, 0, '' from device"
    " union all select 'stencil', id, name, 0, '' from stencil union all select 'stencil', id, hash, 0, '' from stencil"
    " union all select 'variant', id, source_hash, 0, '' from variant"
    " union all select 'run', id, host, 1, '' from run"
    " union all select 'run', id, command, 1, '; ''halotune db refresh'' with this database puts ''?'' there' from run"
    " union all select 'run', id, ended, 0, '' from run where ended is not null"
    " union all select 'measurement', id, gpu, 0, '' from measurement where gpu <> ''"
    " union all select 'run', id, driver, 0, '' from run union all select 'run', id, nvrtc, 0, '' from run"
    " union all select 'run', id, version, 0, '' from run union all select 'run', id, strategy, 0, '' from run"
    " union all select 'run', id, started, 0, '' from run union all select 'origin', id, name, 1, '' from origin"
    " union all select 'best', id, date, 0, '' from best union all select 'best', id, driver, 0, '' from best"
    " union all select 'best', id, nvrtc, 0, '' from best union all select 'best', id, arch, 0, '' from best"
    " union all select 'best', id, second_grid, 0, '' from best union all select 'prediction', id, coefficient, 0, '' from prediction";

static halotune_status look_at_words(struct check *c, sqlite3_stmt *row) {
  enum { MOST_BYTES = 256 };
  const char *word = column_text(row, 2);
  const bool is_fine = is_printable_line(word), is_free = sqlite3_column_int(row, 3) != 0;
  if (!is_free && sqlite3_column_bytes(row, 2) > MOST_BYTES) {
    check_report(c, "%s %lld: a name of it has %d bytes; at most %d are allowed", column_text(row, 0),
                 (long long)sqlite3_column_int64(row, 1), sqlite3_column_bytes(row, 2), MOST_BYTES);
  } else if (!is_fine || !(is_free || is_ascii(word))) {
    check_report(c, "%s %lld: '%s' has characters that %s%s", column_text(row, 0),
                 (long long)sqlite3_column_int64(row, 1), word, is_fine ? "are not ASCII" : "cannot be printed",
                 column_text(row, 4));
  }
  return HALOTUNE_OK;
}

/* Columns: id, outcomes. An export writes them as they are. */
static halotune_status look_at_outcomes(struct check *c, sqlite3_stmt *row) {
  const char *text = column_text(row, 1), *key;
  json_t *outcomes, *count;
  const halotune_status status = json_read(text, strlen(text), "outcomes", &outcomes);
  bool is_good = json_is_object(outcomes);
  json_object_foreach(outcomes, key, count) is_good =
      is_good && json_is_integer(count) && json_integer_value(count) >= 0;
  json_decref(outcomes);
  if (!is_good && status != HALOTUNE_MEMORY)
    check_report(c, "run %lld: its outcomes are not counts of variants", (long long)sqlite3_column_int64(row, 0));
  return status == HALOTUNE_MEMORY ? status : HALOTUNE_OK;
}

/* Columns: table, id, date, what is wrong with it. */
static halotune_status look_at_date(struct check *c, sqlite3_stmt *row) {
  check_report(c, "%s %lld: '%s' %s", column_text(row, 0), (long long)sqlite3_column_int64(row, 1), column_text(row, 2),
               column_text(row, 3));
  return HALOTUNE_OK;
}

#define SQL_DATES                                                                                                         \
  "select 'run' as what, id, started as date from run union all select 'run', id, ended from run where ended is not null" \
  " union all select 'best', id, date from best"
/* Find dates that do not have the form 2026-11-21T12:38:50.123Z, with or without milliseconds. Dates are compared as
 * texts, so that a date of another form would seem newer or older than it is. */
static const char dates_sql[] =
    "select what, id, date, 'is not a date' from (" SQL_DATES ") where date not glob"
    " '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]*Z' or strftime('%s', date) is null"
    " or not is_date(date)";
static const char future_sql[] =
    "select what, id, date, 'lies in the future of this machine''s clock' from (" SQL_DATES ")"
    " where date > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";

/* A table whose values are looked at, and how many columns it has. */
struct values {
  struct check *check;
  const char *table;
  int count;
};

/* Readers see a text with a byte 0 only up to that byte. If it is a key, SQLite takes it for a new row, and readers
 * take it for the row that has the shorter key. JSON has no infinite numbers: a document with one could not be read.
 *   values  rowid, columns */
static halotune_status look_at_row(void *context, sqlite3_value **values) {
  const struct values *looked = context;
  for (int i = 1; i <= looked->count; i++) {
    if (sqlite3_value_type(values[i]) == SQLITE_FLOAT && !isfinite(sqlite3_value_double(values[i]))) {
      check_report(looked->check, "%s %lld: a number is not finite", looked->table,
                   (long long)sqlite3_value_int64(values[0]));
      return HALOTUNE_OK;
    }
    if (sqlite3_value_type(values[i]) != SQLITE_TEXT) continue;
    const unsigned char *text = sqlite3_value_text(values[i]);
    if (!text) return fail_memory();
    if (!memchr(text, '\0', (size_t)sqlite3_value_bytes(values[i]))) continue;
    check_report(looked->check, "%s %lld: a text continues after a byte 0", looked->table,
                 (long long)sqlite3_value_int64(values[0]));
    return HALOTUNE_OK;
  }
  return HALOTUNE_OK;
}

/* Look at the values of the table with this number, from 0, in the order of names.
 *   is_there  receives whether there is one */
static halotune_status check_table_values(struct check *c, int number, bool *is_there) {
  static const char tables_sql[] =
      "select m.name, group_concat(printf('\"%w\"', x.name), ', '), count(*) from sqlite_master m"
      " join pragma_table_info(m.name) x where m.type = 'table' and m.name not like 'sqlite\\_%' escape '\\'"
      " group by m.name order by m.name limit 1 offset ?1";
  struct values looked = {.check = c};
  sqlite3_stmt *query = NULL;
  char *table = NULL, *sql = NULL;
  halotune_status status = query_prepare(c->connection, tables_sql, &query);
  if (status == HALOTUNE_OK) sqlite3_bind_int(query, 1, number);
  const int code = status == HALOTUNE_OK ? sqlite3_step(query) : SQLITE_DONE;
  *is_there = code == SQLITE_ROW;
  if (*is_there) {
    looked.count = sqlite3_column_int(query, 2);
    looked.table = table = sqlite3_mprintf("%s", column_text(query, 0));
    sql = sqlite3_mprintf("select take(rowid, %s) from \"%w\"", column_text(query, 1), column_text(query, 0));
    if (!table || !sql) status = fail_memory();
  } else if (code != SQLITE_DONE) {
    status = query_fail(c->connection);
  }
  sqlite3_finalize(query); /* take_rows defines a function, which is an error while a statement runs */
  if (*is_there && status == HALOTUNE_OK) status = take_rows(c->connection, sql, look_at_row, &looked);
  sqlite3_free(table);
  sqlite3_free(sql);
  return status;
}

static halotune_status check_values(struct check *c) {
  bool is_there = true;
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; is_there && status == HALOTUNE_OK; i++) status = check_table_values(c, i, &is_there);
  return status;
}

_Static_assert(GRID_MOST_AXIS_POINTS == 2147483648 && GRID_MOST_POINTS == 1099511627776,
               "SQL_HAS_GRID has these numbers");
/* Compare the counts in runs and bests with their rows. */
#define SQL_HAS_NO_ORIGIN "coalesce(origin_id in (select id from origin), 0) = 0" /* a file may leave out REFERENCES */
static const char counts_sql[] = "select 'run', r.id, 'its outcomes are not those of its measurements' from run r where " SQL_HAS_OTHER_OUTCOMES(
    "r") " union all select 'run', max(id), 'it is the same run as another one' from run"
         " group by problem_id, started, host, command, seed having count(*) > 1"
         " union all select 'run', id, 'its origin is not there' from run where " SQL_HAS_NO_ORIGIN
         " union all select 'stencil', id, 'its hash is no identity' from stencil where length(hash) <> 64 or hash glob '*[^0-9a-f]*'"
         " union all select 'measurement', m.id, 'its variant is of another stencil than its problem' from measurement m join"
         " variant v on v.id = m.variant_id join run r on r.id = m.run_id join problem p on p.id = r.problem_id where"
         " v.stencil_id <> p.stencil_id union all select 'finalist of run', f.run_id, 'its variant is of another stencil than"
         " its problem' from finalist f join variant v on v.id = f.variant_id join run r on r.id = f.run_id join problem p on"
         " p.id = r.problem_id where v.stencil_id <> p.stencil_id"
         " union all select 'best', id, 'its origin is not there' from best where " SQL_HAS_NO_ORIGIN
         " union all select 'prediction', id, 'its origin is not there' from prediction where " SQL_HAS_NO_ORIGIN
         " union all select 'best', b.id, 'its run measured another problem' from best b join run r on r.id = b.run_id"
         " where r.problem_id <> b.problem_id"
         " union all select 'best', b.id, 'its run was tuned with another text' from best b join run r on r.id = b.run_id"
         " where r.text_id <> b.text_id"
         " union all select 'measurement', id, 'its number of samples is none' from measurement where sample_count not between 0"
         " and 1000000000 union all select 'best', id, 'its number of samples is none' from best where sample_count not between 0"
         " and 1000000000 union all select 'finalist of run', run_id, 'its number of samples is none' from finalist where"
         " sample_count not between 0 and 1000000000"
         " union all select 'device', id, 'a number of it is out of range' from device where capability not between 10 and 9999"
         " or memory_bytes < 0 or min(sm_count, clock_khz, memory_clock_khz, bus_bits, l2_bytes, max_threads, max_threads_sm,"
         " max_registers, registers_sm, max_shared_bytes, warp_size) < 0 or max(sm_count, clock_khz, memory_clock_khz, bus_bits,"
         " l2_bytes, max_threads, max_threads_sm, max_registers, registers_sm, max_shared_bytes, warp_size) > 2147483647"
         " union all select 'device', id, 'its name or uuid has a colon, which ends names in lists' from device where"
         " instr(name || uuid, ':') > 0 union all select 'problem', id, 'its type, launch or cache is none' from problem where dtype not in ('f32', 'f64')"
         " or launch not in ('stream', 'graph') or cache not in ('steady', 'cold')"
         " union all select 'problem', id, 'its grid is none' from problem where not " SQL_HAS_GRID(
             "problem") " union all select 'best', b.id, 'its launch makes other steps than its problem asks for' from best b join problem p on"
                        " p.id = b.problem_id where b.steps <> p.steps or (json_valid(b.launch) and coalesce(b.launch ->> '$.steps', 1) <> p.steps)"
                        " union all select 'best', id, 'its time is not positive, or not within its interval' from best where not"
                        " (0 < low_ms and low_ms <= time_ms and time_ms <= high_ms)"
                        " union all select 'best', id, 'its bytes, share of the roof or occupancy are out of range' from best where"
                        " bytes not between 1 and 1 << 53 or occupancy not between 0 and 1 or coalesce(min(roof_ratio,"
                        " roof_ratio_low, roof_ratio_high) < 0 or max(roof_ratio, roof_ratio_low, roof_ratio_high) > 1e6, 0)"
                        " union all select 'measurement', id, 'its occupancy is out of range' from measurement where occupancy not between 0 and 1"
                        " union all select 'measurement', id, 'its time is out of range' from measurement where median_ms not between 0 and 3e38"
                        " union all select 'variant', id, 'its parameters have more than 4096 bytes' from variant where length(cast(parameters as blob)) > 4096"
                        " union all select 'best', id, 'its energy is not positive' from best where not coalesce(energy_mj, 1) > 0"
                        " union all select 'best', id, 'its energy belongs to no objective' from best where objective is null and energy_mj is not null"
                        " union all select 'best', id, 'its second grid is none' from best where second_grid <> '' and (length(second_grid) > 40"
                        " or second_grid glob '*[^0-9x]*' or 'x' || second_grid glob '*x0*' or 'x' || second_grid || 'x' glob '*xx*'"
                        " or second_grid glob '*x*x*x*')"
                        " union all select 'best', id, 'its objective is ' || objective || ', and its energy is not known' from best where"
                        " objective is not null and energy_mj is null"
                        " union all select 'finalist of run', run_id, 'its energy is not positive, or not within its interval' from finalist where"
                        " not (coalesce(energy_mj, 1) > 0 and coalesce(energy_low_mj <= energy_mj and energy_mj <= energy_high_mj, 1))"
                        " union all select 'finalist of run', run_id, 'its rank is that of another finalist' from finalist"
                        " group by run_id, rank having count(*) > 1"
                        " union all select 'run', id, 'it goes on, and has an end' from run where state = 'running' and ended is not null"
                        " union all select 'finalist of run', f.run_id, 'its run has not ended' from finalist f join run r on r.id = f.run_id"
                        " where r.state = 'running'"
                        " union all select 'run', r.id, 'its text is that of another stencil' from run r join problem p on p.id = r.problem_id"
                        " join stencil_text x on x.id = r.text_id where x.stencil_id <> p.stencil_id"
                        " union all select 'prediction', id, 'its value is not finite' from prediction where not abs(value) < 1e300"
                        " union all select 'device', min(d.id), 'GPUs of its model have more than 4000 coefficients of predicted"
                        " times, of one kind' from prediction c join device d on d.id = c.device_id group by d.name,"
                        " d.capability, d.sm_count, d.is_emulation, " SQL_IS_STATIC_WEIGHT(
                            "c.coefficient") " having count(*) > 4000"
                                             " union all select 'best', b.id, 'its text is that of another stencil' from best b join problem p on p.id ="
                                             " b.problem_id join stencil_text x on x.id = b.text_id where x.stencil_id <> p.stencil_id";

/* Whether all samples are times that an exact float has. A replay draws its results from them. */
static bool samples_are_times(const char *samples, long long count) {
  static const float most_ms = 3e38F; /* so that no median of some is infinite */
  for (long long i = 0; i < count; i++) {
    float sample; /* the address may be unaligned */
    memcpy(&sample, samples + i * (long long)sizeof sample, sizeof sample);
    if (!(sample >= FLT_MIN && sample <= most_ms)) return false; /* nor NaN */
  }
  return true;
}

/* Columns: what, id, outcome, sample_count, samples. */
static halotune_status look_at_samples(struct check *c, sqlite3_stmt *row) {
  enum outcome outcome;
  const char *what = column_text(row, 0), *samples = sqlite3_column_blob(row, 4);
  const long long id = sqlite3_column_int64(row, 1), count = sqlite3_column_int64(row, 3),
                  bytes = sqlite3_column_bytes(row, 4);
  if (!outcome_find(column_text(row, 2), &outcome))
    check_report(c, "%s %lld: '%s' is not an outcome", what, id, column_text(row, 2));
  if (bytes == 0) return HALOTUNE_OK; /* an export may leave them out */
  if (!samples) return fail_memory();
  if (count != bytes / (long long)sizeof(float) || bytes % (long long)sizeof(float) != 0)
    check_report(c, "%s %lld: it does not hold %lld samples", what, id, count);
  else if (!samples_are_times(samples, count)) check_report(c, "%s %lld: a sample is not a time", what, id);
  return HALOTUNE_OK;
}

/* Whether a stored source has the identity of its variant. */
static halotune_status check_source(const char *source, const char *hash, bool *is_right) {
  char hex[IDENTITY_HEX_BYTES];
  struct identity meaning;
  halotune_status status = source_hash(source, &meaning);
  if (status != HALOTUNE_OK) return status;
  identity_hex(meaning, hex);
  *is_right = strcmp(hex, hash) == 0;
  return HALOTUNE_OK;
}

/* Whether the coefficients of a best are those that its text has on its grid.
 *   row  see look_at_best */
static halotune_status check_coefficients(struct check *c, sqlite3_stmt *row) {
  double stored[MAX_COEFFICIENTS], own[MAX_COEFFICIENTS];
  const long long id = sqlite3_column_int64(row, 0);
  struct grid grid = {{sqlite3_column_int64(row, 7), sqlite3_column_int64(row, 8), sqlite3_column_int64(row, 9)}};
  int count = 0;
  halotune_status status = coefficients_read(column_text(row, 4), stored, MAX_COEFFICIENTS, &count);
  if (status == HALOTUNE_OK) status = subject_stencil(&c->subject, c->connection, sqlite3_column_int64(row, 6));
  if (status == HALOTUNE_OK) status = stencil_coefficients(c->subject.stencil, &grid, own);
  if (status == HALOTUNE_OK) {
    bool is_same = count == c->subject.stencil->coefficient_count;
    for (int i = 0; i < count && is_same; i++) is_same = stored[i] == own[i];
    if (!is_same) check_report(c, "best %lld: its coefficients are not those of its stencil's text", id);
  } else if (row_is_refused(status)) {
    check_report(c, "best %lld: %s", id, fail_text());
    status = HALOTUNE_OK;
  }
  return status;
}

/* Compare the source of a best with the hash of its variant and with its launch. An export may leave out a source
 * without machine code: its stencil and its template generate it.
 *   row  see look_at_values
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
static halotune_status look_at_source(struct check *c, sqlite3_stmt *row) {
  const long long id = sqlite3_column_int64(row, 0);
  const char *source = column_text(row, 1);
  struct launch launch;
  bool is_right = false;
  const halotune_status launch_status = launch_read(column_text(row, 3), &launch);
  if (launch_status != HALOTUNE_OK) check_report(c, "best %lld: %s", id, fail_text());
  if (launch_status == HALOTUNE_MEMORY) return launch_status;
  if (!*source) {
    if (sqlite3_column_int64(row, 10) > 0) check_report(c, "best %lld: it has machine code without its source", id);
    return HALOTUNE_OK;
  }
  json_t *replaced = NULL;
  halotune_status hash_status = check_source(source, column_text(row, 2), &is_right);
  if (hash_status == HALOTUNE_OK && !is_right)
    check_report(c, "best %lld: its source does not match the hash of its variant", id);
  else if (hash_status == HALOTUNE_OK) hash_status = replace_in_export(source, &replaced);
  if (replaced) {
    hash_status = check_source(json_string_value(replaced), column_text(row, 2), &is_right);
    if (hash_status == HALOTUNE_OK && !is_right)
      check_report(c, "best %lld: its source is not UTF-8 outside comments", id);
    json_decref(replaced);
  }
  if (launch_status == HALOTUNE_OK && !strstr(source, launch.kernel))
    check_report(c, "best %lld: its source has no kernel %s", id, launch.kernel);
  return hash_status;
}

/* Columns: id, source, source_hash of its variant, launch, coefficients, whether variant and problem are of
 * one stencil, the id of the stencil's text, nx, ny, nz, bytes of machine code. */
static halotune_status look_at_values(struct check *c, sqlite3_stmt *row) {
  const long long id = sqlite3_column_int64(row, 0);
  const halotune_status source_status = look_at_source(c, row);
  const halotune_status coefficient_status = check_coefficients(c, row);
  if (!sqlite3_column_int(row, 5))
    check_report(c, "best %lld: its variant and its problem have different stencils", id);
  return source_status != HALOTUNE_OK ? source_status : coefficient_status;
}

static halotune_status look_at_best(struct check *c, sqlite3_stmt *row) {
  return check_once(c, "best", row, look_at_values);
}

halotune_status store_check_future(struct store *store, void (*problem)(void *context, const char *text), void *context,
                                   long *found) {
  struct check c = {.connection = store_connection(store), .problem = problem, .context = context};
  halotune_status status = check_begin(&c);
  if (status == HALOTUNE_OK) status = check_each(&c, future_sql, look_at_date);
  *found = c.found;
  return status;
}

/* A row of a winner without its source takes some 2 KB. The rows of one template and one stencil read their texts once.
 * Each row generates its source again, from a template of some 40 KB. So an honest file reads and generates some 20
 * times its own size. That takes less than a second for each MB. */
halotune_status check_begin(struct check *c) {
  const int64_t bytes_always = 64 << 20, bytes_a_byte = 64;
  const double ms_always = 120e3, ms_a_byte = 30e3 / (1 << 20);
  int64_t pages = 0, bytes = 0;
  halotune_status status = query_number(c->connection, "pragma page_count", &pages);
  if (status == HALOTUNE_OK) status = query_number(c->connection, "pragma page_size", &bytes);
  c->most_bytes = bytes_always + bytes_a_byte * pages * bytes;
  c->until_thread_ms = clock_thread_ms() + ms_always + ms_a_byte * (double)(pages * bytes);
  return status;
}

void check_end(struct check *c) {
  subject_free(&c->subject);
  set_free(&c->by_fine);
  free(c->fine);
}

halotune_status store_check(struct store *store, void (*problem)(void *context, const char *text), void *context,
                            long *found) {
  static const struct {
    const char *sql;
    halotune_status (*look)(struct check *c, sqlite3_stmt *row);
  } looks[] = {
      {"select s.name, s.hash, x.text, x.hash from stencil s join stencil_text x on x.stencil_id = s.id",
       look_at_stencil},
      {words_sql, look_at_words},
      {"select id, outcomes from run where outcomes is not null", look_at_outcomes},
      {dates_sql, look_at_date},
      {counts_sql, look_at_defect},
      {"select 'measurement', id, outcome, sample_count, samples from measurement"
       " union all select 'finalist of run', run_id, 'measured', sample_count, samples from finalist",
       look_at_samples},
      {"select b.id, b.source, v.source_hash, b.launch, b.coefficients, v.stencil_id = p.stencil_id,"
       " b.text_id, p.nx, p.ny, p.nz, length(b.cubin) from" ORDERED_BESTS
       " join variant v on v.id = b.variant_id join problem p on p.id = b.problem_id",
       look_at_best},
  };
  struct check c = {.connection = store_connection(store), .problem = problem, .context = context};
  halotune_status status = check_begin(&c);
  if (status == HALOTUNE_OK) status = check_file(&c);
  /* The rows of a damaged file mean nothing, and reading them fails. */
  bool is_whole = c.found == 0;
  if (status == HALOTUNE_OK && is_whole) status = check_templates(&c);
  for (size_t i = 0; i < COUNT(looks) && status == HALOTUNE_OK && is_whole; i++) {
    status = check_each(&c, looks[i].sql, looks[i].look);
  }
  if (status == HALOTUNE_OK && is_whole) status = check_values(&c);
  if (status == HALOTUNE_OK && is_whole) status = check_launches(&c);
  check_end(&c);
  *found = c.found;
  return status;
}

static void keep_first(void *context, const char *text) {
  struct text *first = context;
  if (first->length == 0) text_printf(first, "%s", text);
}

halotune_status store_check_first(struct store *store, struct text *first, long *found) {
  return store_check(store, keep_first, first, found);
}
