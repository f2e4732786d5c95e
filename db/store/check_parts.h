/* check_parts.h: what the files of store_check share. Other files must not include it. */
#ifndef DB_STORE_CHECK_PARTS_H
#define DB_STORE_CHECK_PARTS_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/fail.h"
#include "base/identity/identity.h"
#include "base/memory/set.h"
#include "stencil/generate/generate.h"

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
  sqlite3_stmt *variants; /* all variants in the order of their templates; at the first one that was not looked at */
  int64_t bytes_left;     /* how much of rows may still be read: a short file can have many rows of one long text */
};

/* Look at a row, unless a row with the same values was checked and has no defect. Column 0 is the id, which is not
 * compared. Returns HALOTUNE_DB if the rows so far are far longer than the size of the file explains.
 *   kind  of the look */
halotune_status check_once(struct check *c, const char *kind, sqlite3_stmt *row,
                           halotune_status (*look)(struct check *c, sqlite3_stmt *row));

/* Count a defect, and report it to the caller in one line. */
void check_report(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Call `look` for each row. A failure of `look` ends the walk. A defect of a row is reported, not returned as a
 * failure. */
halotune_status check_each(struct check *c, const char *sql,
                           halotune_status (*look)(struct check *c, sqlite3_stmt *row));

/* Whether a status says that the content of a row is bad, and not that the check itself failed. */
bool check_is_bad(halotune_status status);

/* Compare the launch of each best with what its template gives for its parameters, its problem and its device. Of a
 * source that another Halotune generated, only block, grid and shared memory are compared. */
halotune_status check_launches(struct check *c);

#endif
