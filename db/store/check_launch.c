/* check_launch.c: compares stored launches with those that templates give. */
#include <string.h>

#include "db/store/check.h"
#include "db/store/check_parts.h"
#include "db/store/launch_text.h"
#include "db/store/query.h"
#include "db/store/regenerate.h"

/* Columns: id, source_hash, launch, REGENERATE_COLUMNS. */
static const char launches_sql[] =
    "select b.id, v.source_hash, b.launch, " REGENERATE_COLUMNS " from " ORDERED_BESTS REGENERATE_JOINS;
enum { FIRST_COLUMN = 3 };

/* The launch that a best must have. If this program generates the same source, it is the launch that the template
 * gives. For an older source only the geometry is known, from the template's own formulas. */
static struct launch expected_launch(const struct launch *stored, const struct launch *made, bool is_same_source) {
  struct launch expected = is_same_source ? *made : *stored;
  memcpy(expected.block, made->block, sizeof expected.block);
  memcpy(expected.grid, made->grid, sizeof expected.grid);
  memcpy(expected.cluster, made->cluster, sizeof expected.cluster);
  expected.shared_bytes = made->shared_bytes;
  expected.workspace_bytes = made->workspace_bytes;
  expected.steps = made->steps;
  return expected;
}

/* Compare two launches by their texts. Each launch has exactly one text. */
static halotune_status compare_launches(struct check *c, sqlite3_stmt *row, const struct launch *made,
                                        bool is_same_source) {
  struct launch stored;
  struct text should = {0}, is = {0};
  if (launch_read(column_text(row, 2), &stored) != HALOTUNE_OK) return HALOTUNE_OK; /* look_at_best reports this */
  const struct launch expected = expected_launch(&stored, made, is_same_source);
  launch_write(&expected, &should);
  launch_write(&stored, &is);
  const bool ok = text_ok(&should) && text_ok(&is);
  if (ok && strcmp(text_string(&is), text_string(&should)) != 0)
    check_report(c, "best %lld: its launch is %s, where its template gives %s", (long long)sqlite3_column_int64(row, 0),
                 text_string(&is), text_string(&should));
  text_free(&is);
  text_free(&should);
  return ok ? HALOTUNE_OK : fail_memory();
}

static halotune_status look_at_values(struct check *c, sqlite3_stmt *row) {
  struct generated made;
  char hex[IDENTITY_HEX_BYTES];
  halotune_status status = regenerate(row, FIRST_COLUMN, &c->subject, NULL, &made);
  if (row_is_refused(status)) return HALOTUNE_OK; /* rules of another Halotune's common.yml may have allowed it */
  identity_hex(made.hash, hex);
  if (status == HALOTUNE_OK) status = compare_launches(c, row, &made.launch, strcmp(hex, column_text(row, 1)) == 0);
  generated_free(&made);
  return status;
}

static halotune_status look_at_launch(struct check *c, sqlite3_stmt *row) {
  return check_once(c, "launch", row, look_at_values);
}

halotune_status check_launches(struct check *c) { return check_each(c, launches_sql, look_at_launch); }

/* Columns: those of launches_sql. */
static halotune_status look_at_missing_source(struct check *c, sqlite3_stmt *row) {
  const long long id = sqlite3_column_int64(row, 0);
  struct generated made;
  char hex[IDENTITY_HEX_BYTES];
  const halotune_status status = regenerate(row, FIRST_COLUMN, &c->subject, NULL, &made);
  if (status == HALOTUNE_OK) {
    identity_hex(made.hash, hex);
    if (strcmp(hex, column_text(row, 1)) != 0)
      check_report(c, "best %lld: its source was left out, and this Halotune generates another one", id);
  } else if (row_is_refused(status)) {
    check_report(c, "best %lld: its source was left out, and this Halotune does not generate it: %s", id, fail_text());
  }
  generated_free(&made);
  return row_is_refused(status) ? HALOTUNE_OK : status;
}

static halotune_status look_at_left_out(struct check *c, sqlite3_stmt *row) {
  return check_once(c, "source left out", row, look_at_missing_source);
}

halotune_status store_check_left_out(struct store *store, void (*problem)(void *context, const char *text),
                                     void *context, long *found) {
  static const char left_out_sql[] = "select b.id, v.source_hash, b.launch, " REGENERATE_COLUMNS
                                     " from " REGENERATE_TABLES " where b.source = '' order by b.id";
  struct check c = {.connection = store_connection(store), .problem = problem, .context = context};
  halotune_status status = check_begin(&c);
  if (status == HALOTUNE_OK) status = check_each(&c, left_out_sql, look_at_left_out);
  check_end(&c);
  *found = c.found;
  return status;
}
