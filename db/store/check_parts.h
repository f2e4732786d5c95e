/* check_parts.h: what the files of store_check share. Other files must not include it. */
#ifndef DB_STORE_CHECK_PARTS_H
#define DB_STORE_CHECK_PARTS_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/fail.h"
#include "base/identity/identity.h"
#include "base/memory/set.h"
#include "db/store/regenerate.h"

struct check {
  sqlite3 *connection;
  void (*problem)(void *context, const char *text);
  void *context;
  long found;
  /* Identities of rows that were checked and have no defect. GPUs of one host often have the same winner, which takes
   * milliseconds to generate. */
  struct identity *fine;
  struct set by_fine;
  int fine_count, fine_room;
  sqlite3_stmt *variants;    /* all variants in the order of their templates; at the first one that was not looked at */
  struct subject subject;    /* the texts of the row that was looked at last */
  int64_t most_bytes, bytes; /* how much may be read and generated; how much of rows was read */
  int64_t parsed_bytes;      /* memory of all templates, parsed */
  double until_thread_ms;    /* by clock_thread_ms: the check ends then */
};

/* Look at a row, unless a row with the same values was checked and has no defect. Column 0 is the id, which is not
 * compared. Rows in the order of ORDERED_BESTS share texts, so that each text is read once for many rows.
 * Returns HALOTUNE_DB if more was read than an ordinary file of this size has.
 *   kind  of the look */
halotune_status check_once(struct check *c, const char *kind, sqlite3_stmt *row,
                           halotune_status (*look)(struct check *c, sqlite3_stmt *row));

/* Joins the bests `b` in the order of their templates and texts. Only ids are sorted. SQLite keeps the order of the
 * inner query because that has a `limit`. */
#define ORDERED_BESTS                                                                                       \
  " (select o.id from best o join variant w on w.id = o.variant_id order by w.template_id, o.text_id, o.id" \
  " limit -1) i cross join best b on b.id = i.id "

/* Count a defect, and report it to the caller in one line. */
void check_report(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Find how much a check may read and generate, and when it ends. */
halotune_status check_begin(struct check *c);

/* Free what a check has kept. */
void check_end(struct check *c);

/* Call `look` for each row. A failure of `look` ends the walk. A defect of a row is reported, not returned as a
 * failure. Returns HALOTUNE_DB if the check takes very much longer than an ordinary file needs. */
halotune_status check_each(struct check *c, const char *sql,
                           halotune_status (*look)(struct check *c, sqlite3_stmt *row));

/* Compare the launch of each best with what its template gives for its parameters, its problem and its device. If
 * another Halotune generated the source, only block, grid and shared memory are compared. */
halotune_status check_launches(struct check *c);

#endif
