/* refresh.c: pass 1 reads all variants and decides; pass 2 changes rows (refresh_write.c). */
#include "db/exchange/refresh.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "db/exchange/refresh_write.h"
#include "db/store/launch_text.h"
#include "db/store/query.h"
#include "db/store/refuted.h"
#include "db/store/regenerate.h"

#define AS_TEXT(name, text) text,
const char *const refresh_outcome_texts[REFRESH_OUTCOME_COUNT] = {REFRESH_OUTCOME_LIST(AS_TEXT)};
#undef AS_TEXT

/* Columns: variant, template, hash of the template, hash of the source, launch (NULL for a finalist and a verdict),
 * whether the row is a verdict, SQL_REFRESHED, REGENERATE_COLUMNS. A variant has a row for each problem on which it is
 * a best or a finalist. It also has one for each problem on which it was found to be wrong, because lookups match
 * verdicts by the template. */
static const char subjects_sql[] =
    "select v.id, v.template_id, t.hash, v.source_hash, b.launch, b.is_verdict, " SQL_REFRESHED(
        "v",
        "t") ", " REGENERATE_COLUMNS
             " from (select variant_id, problem_id, text_id, steps, launch, 0 is_verdict from best"
             " union select f.variant_id, r.problem_id, r.text_id, p.steps, null, 0 from finalist f join run r on r.id ="
             " f.run_id join problem p on p.id = r.problem_id where not exists (select 1 from best o where o.variant_id = f.variant_id"
             " and o.problem_id = r.problem_id)"
             " union select w.variant_id, r.problem_id, r.text_id, p.steps, null, 1 from measurement w join run r on r.id ="
             " w.run_id join problem p on p.id = r.problem_id where " SQL_IS_WRONG("w") ") b" REGENERATE_JOINS
                                                                                        "order by t.name, v.id";
enum { VARIANT, TEMPLATE, TEMPLATE_HASH, SOURCE_HASH, LAUNCH, IS_VERDICT, WAS, FIRST_COLUMN, NAME = FIRST_COLUMN + 2 };

struct decisions {
  struct found_templates found;
  struct refresh_change *changes;
  int *at; /* for each change, the place of the installed template in the list */
  int count, room, at_room;
  struct subject subject;
};

static void decisions_free(struct decisions *d) {
  subject_free(&d->subject);
  for (int i = 0; i < d->count; i++) free(d->changes[i].parameters), free(d->changes[i].was);
  found_templates_free(&d->found);
  free(d->changes);
  free(d->at);
}

/* Whether two launches are the same. Each launch has exactly one text, so the texts are compared. */
static halotune_status compare_launches(const struct launch *a, const struct launch *b, bool *is_same) {
  struct text texts[2] = {{0}, {0}};
  launch_write(a, &texts[0]);
  launch_write(b, &texts[1]);
  const bool ok = text_ok(&texts[0]) && text_ok(&texts[1]);
  *is_same = ok && strcmp(text_string(&texts[0]), text_string(&texts[1])) == 0;
  for (int i = 0; i < 2; i++) text_free(&texts[i]);
  return ok ? HALOTUNE_OK : fail_memory();
}

/* The launch with which the row was measured: that of the best, or the one that the row's own template gives. */
static halotune_status measured_launch(sqlite3_stmt *row, struct subject *subject, struct launch *out) {
  struct generated made;
  char hex[IDENTITY_HEX_BYTES];
  if (sqlite3_column_type(row, LAUNCH) != SQLITE_NULL) return launch_read(column_text(row, LAUNCH), out);
  halotune_status status = regenerate(row, FIRST_COLUMN, subject, NULL, &made);
  if (status != HALOTUNE_OK) return status;
  identity_hex(made.hash, hex);
  *out = made.launch;
  generated_free(&made);
  return strcmp(hex, column_text(row, SOURCE_HASH)) == 0
             ? HALOTUNE_OK
             : fail(HALOTUNE_ARGUMENT, "this Halotune generates other code with the stored template");
}

/* Compare what the installed template generates with what is stored. */
static halotune_status compare_generated(sqlite3_stmt *row, struct subject *subject, const struct generated *made,
                                         enum refresh_outcome *out) {
  struct launch launch;
  char hex[IDENTITY_HEX_BYTES];
  bool is_same = false;
  identity_hex(made->hash, hex);
  *out = REFRESH_OTHER_CODE;
  if (strcmp(hex, column_text(row, SOURCE_HASH)) != 0) return HALOTUNE_OK;
  halotune_status status = measured_launch(row, subject, &launch);
  /* If nobody knows whether a wrong variant would now have another launch, it stays known to be wrong. */
  *out = sqlite3_column_int(row, IS_VERDICT) ? REFRESH_SAME : REFRESH_UNKNOWN_LAUNCH;
  if (status != HALOTUNE_OK) return row_is_refused(status) ? HALOTUNE_OK : status;
  status = compare_launches(&made->launch, &launch, &is_same);
  *out = is_same ? REFRESH_SAME : REFRESH_OTHER_LAUNCH;
  return status;
}

/* Decide about one problem of a variant. */
static halotune_status decide_problem(const struct found_template *installed, sqlite3_stmt *row,
                                      struct subject *subject, char **parameters, enum refresh_outcome *out) {
  struct generated made;
  struct identity source;
  struct configuration configuration;
  struct text text = {0};
  *out = installed->is_broken ? REFRESH_BROKEN : REFRESH_NOT_INSTALLED;
  if (!installed->template) return HALOTUNE_OK;
  *out = REFRESH_NO_SOURCE;
  if (!identity_read(column_text(row, SOURCE_HASH), &source)) return HALOTUNE_OK;
  halotune_status status = regenerate_with(row, FIRST_COLUMN, subject, installed->template, &configuration, &made);
  *out = REFRESH_REFUSED;
  if (status != HALOTUNE_OK) return row_is_refused(status) ? HALOTUNE_OK : status;
  status = compare_generated(row, subject, &made, out);
  generated_free(&made);
  if (status != HALOTUNE_OK || *out != REFRESH_SAME || *parameters) return status;
  configuration_write(installed->template, &configuration, &text);
  if (!text_ok(&text)) status = fail_memory();
  else *parameters = text.bytes;
  return status;
}

static halotune_status add_change(struct decisions *d, int64_t variant, int64_t template, const char *was, int place) {
  char *copy;
  if (!array_room(d->changes, d->count, d->room) || !array_room(d->at, d->count, d->at_room) || !(copy = strdup(was)))
    return fail_memory();
  d->at[d->count] = place;
  d->changes[d->count++] = (struct refresh_change){
      .variant = variant, .from = template, .was = copy, .to = d->found.list[place].template, .outcome = REFRESH_SAME};
  return HALOTUNE_OK;
}

/* Decide about a row. The first row of a variant adds a change. If the rows of a variant have several outcomes, the one
 * that is last in the list of outcomes counts. */
static halotune_status look_at_row(void *context, sqlite3_stmt *row) {
  struct decisions *d = context;
  enum refresh_outcome outcome;
  const int64_t variant = sqlite3_column_int64(row, VARIANT);
  int place;
  halotune_status status = found_templates_get(&d->found, column_text(row, NAME), &place);
  if (status != HALOTUNE_OK) return status;
  const struct found_template *installed = &d->found.list[place];
  if (installed->template && strcmp(installed->hash, column_text(row, TEMPLATE_HASH)) == 0) return HALOTUNE_OK;
  if (d->count == 0 || d->changes[d->count - 1].variant != variant)
    status = add_change(d, variant, sqlite3_column_int64(row, TEMPLATE), column_text(row, WAS), place);
  if (status != HALOTUNE_OK) return status;
  struct refresh_change *change = &d->changes[d->count - 1];
  status = decide_problem(installed, row, &d->subject, &change->parameters, &outcome);
  if (status == HALOTUNE_OK && outcome > change->outcome) change->outcome = outcome;
  return status;
}

static const char variants_sql[] = "select v.id, v.template_id, v.parameters, t.name, t.hash, " SQL_REFRESHED(
    "v", "t") " from variant v join template t on t.id = v.template_id"
              " order by t.name, v.id";

/* Decide about a variant of the installed template. Its parameters can stand in the order of an older text with the
 * same meaning. Then the database may have the variant in both orders. */
static halotune_status look_at_order(void *context, sqlite3_stmt *row) {
  struct decisions *d = context;
  struct text text = {0};
  int place;
  halotune_status status = found_templates_get(&d->found, column_text(row, 3), &place);
  const struct found_template *installed = status == HALOTUNE_OK ? &d->found.list[place] : NULL;
  if (!installed || !installed->template || strcmp(installed->hash, column_text(row, 4)) != 0) return status;
  status = configuration_reword(installed->template, column_text(row, 2), &text);
  if (status == HALOTUNE_OK && strcmp(text_string(&text), column_text(row, 2)) != 0) {
    status = add_change(d, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1), column_text(row, 5), place);
    if (status == HALOTUNE_OK) {
      d->changes[d->count - 1].parameters = text.bytes;
      return HALOTUNE_OK;
    }
  }
  text_free(&text);
  return row_is_refused(status) ? HALOTUNE_OK : status; /* `db check` names what no template has */
}

static void tell_all(const struct decisions *d, void (*tell)(void *context, const struct refreshed *refreshed),
                     void *context) {
  for (int i = 0; i < d->found.count; i++) {
    long counts[REFRESH_OUTCOME_COUNT] = {0};
    for (int k = 0; k < d->count; k++) counts[d->changes[k].outcome] += d->at[k] == i;
    for (int outcome = 0; outcome < REFRESH_OUTCOME_COUNT; outcome++) {
      const struct refreshed refreshed = {d->found.list[i].name, (enum refresh_outcome)outcome, counts[outcome]};
      if (counts[outcome] > 0) tell(context, &refreshed);
    }
  }
}

halotune_status store_refresh(struct store *store, find_template *find, is_tuning *asks, bool is_dry,
                              void (*tell)(void *context, const struct refreshed *refreshed), void *context) {
  struct decisions d = {.found.find = find};
  halotune_status status = query_rows(store_connection(store), subjects_sql, look_at_row, &d);
  if (status == HALOTUNE_OK) status = query_rows(store_connection(store), variants_sql, look_at_order, &d);
  for (int i = 0; i < d.count && status == HALOTUNE_OK; i++) {
    if (d.changes[i].outcome == REFRESH_SAME) status = refresh_write(store, &d.changes[i], asks, is_dry);
  }
  if (status == HALOTUNE_OK) tell_all(&d, tell, context);
  decisions_free(&d);
  return status;
}

halotune_status store_refresh_commands(struct store *store, bool is_dry, int64_t *count) {
  sqlite3 *connection = store_connection(store);
  halotune_status status =
      query_number(connection, "select count(*) from run where command <> printable(command)", count);
  if (status != HALOTUNE_OK || is_dry || *count == 0) return status;
  return query_script(connection, "update run set command = printable(command) where command <> printable(command)");
}
