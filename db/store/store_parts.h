/* store_parts.h: what the files of the store share. Other files must not include it. */
#ifndef DB_STORE_STORE_PARTS_H
#define DB_STORE_STORE_PARTS_H

#include "db/store/guard.h"
#include "db/store/held_folder.h"
#include "db/store/query.h"
#include "db/store/sql_parts.h"
#include "db/store/store.h"

/* The statements; their SQL stands in store_sql.c. */
enum store_query {
  ADD_ORIGIN,
  FIND_ORIGIN,
  FIND_DEVICE,
  ADD_DEVICE,
  PART_DEVICE,
  FIND_OTHER_DEVICE,
  OWN_DEVICE,
  FIND_STENCIL,
  ADD_STENCIL,
  FIND_TEXT,
  ADD_TEXT,
  FIND_TEMPLATE,
  ADD_TEMPLATE,
  OWN_TEMPLATE,
  REWORD_VARIANT,
  FIND_PROBLEM,
  ADD_PROBLEM,
  FIND_VARIANT,
  ADD_VARIANT,
  BEGIN_RUN,
  FIND_RUN_KEY,
  FIND_OPEN_RUN,
  FIND_OWN_RUN,
  END_RUN,
  PUT_MEASUREMENT,
  REPEAT_MEASUREMENT,
  CHANGE_MEASUREMENT,
  MARK_MEASUREMENT,
  FIND_MEASUREMENT,
  PUT_FINALIST,
  FIND_SERVED,
  ADD_BEST,
  ASK_ANY_WRONG,
  CHOOSE_BEST,
  CHOOSE_NOT_WRONG,
  FIND_CURRENT,
  RETIRE_CURRENT,
  MAKE_CURRENT,
  CARRY_CODE,
  ADOPT_MEASUREMENTS,
  ADOPT_RUNS,
  STORE_QUERY_COUNT
};

/* A run that this store began. Another process may remove its row, and the id then belongs to another run. */
struct begun_run {
  int64_t id;
  char *key; /* what tells it from all other runs: the value of SQL_RUN_KEY */
};

extern const char *const store_sql[STORE_QUERY_COUNT];
extern const char choose_best_sql[], choose_not_wrong_sql[], carry_code_sql[]; /* current_best.c has these */

struct store {
  sqlite3 *connection;
  char *path;
  struct held_file file; /* open as long as the connection, which opens files beside it */
  char who[256];         /* the origin of new results: user@host; empty until it is needed */
  enum store_mode mode;
  struct guard guard;     /* limits of a connection that reads */
  struct query_wait wait; /* of store_wait_until */
  int version;            /* version of the file */
  bool is_in_burst;
  bool has_noted_locks;                     /* of `file` (base/files/locked_files.h) */
  sqlite3_stmt *queries[STORE_QUERY_COUNT]; /* prepared when first asked for */
  struct begun_run *begun;
  int begun_count, begun_room;
  /* The last row that was read points to these. */
  char *reason;
  float *samples;
};

/* A statement with nothing bound, to be bound and run. Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status store_bind(struct store *store, enum store_query query, struct binder *out);

/* Begin a transaction that writes; ended with store_end. Within a burst, both leave its transaction as it is. */
halotune_status store_begin(struct store *store);

/* Commit if the status is HALOTUNE_OK, else roll back. Returns the status, or that of the commit. */
halotune_status store_end(struct store *store, halotune_status status);

/* Find or add the variant's row within the present transaction. */
halotune_status store_variant(struct store *store, const struct variant_key *key, int64_t *id);

/* Refuse results for a run that has ended or was removed, within the present transaction. */
halotune_status store_require_open(struct store *store, int64_t run);

/* End a run.
 *   was_open  receives whether it had not ended yet; a run that has ended does not change */
halotune_status store_run_close(struct store *store, int64_t run, const struct run_end *end, bool *was_open);

/* How the reason of a lost run begins (lost_member_run.h). */
#define LOST_RUN_REASON "lost: "

/* Whether a run `r` is lost, and this user's. */
#define SQL_IS_LOST "r.state = 'partial' and r.reason like '" LOST_RUN_REASON "%' and " SQL_IS_OWN("r")

/* Change a timing to what is stored: the interval of a single sample is that sample. */
struct timing timing_to_store(const struct timing *timing);

#endif
