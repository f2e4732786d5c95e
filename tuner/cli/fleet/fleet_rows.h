/* fleet_rows.h: collects the tasks of each GPU from several databases. */
#ifndef CLI_FLEET_FLEET_ROWS_H
#define CLI_FLEET_FLEET_ROWS_H

#include "base/memory/arena.h"
#include "base/text/text.h"
#include "db/store/task_state.h"

/* The stages of a task. If two databases know a task, the stage that is later in this list counts. */
#define STAGE_LIST(X)                                                                  \
  X(MISSING, "missing", "no run of it")                                                \
  X(FAILED, "failed", "its last run ended early, and none has a winner")               \
  X(PARTIAL, "partial", "its last run ended early, and one has a winner")              \
  X(UNENDED, "begun and not ended", "killed, or running where this host sees no lock") \
  X(DONE, "done", "a run of it is complete")                                           \
  X(RUNNING, "running", "a process of this host holds the lock of database and GPU")
#define STAGE_AS_ENUMERATOR(name, word, what) STAGE_##name,
enum stage { STAGE_LIST(STAGE_AS_ENUMERATOR) STAGE_COUNT };
#undef STAGE_AS_ENUMERATOR
extern const char *const stage_words[STAGE_COUNT];

/* A task on a GPU. The texts of `state` belong to the rows. */
struct fleet_row {
  struct task_state state;
  enum stage stage;
};

/* Start with {0}; end with fleet_rows_free. */
struct fleet_rows {
  struct arena arena;
  struct fleet_row *list; /* grouped by GPU after fleet_rows_end */
  int count, room;
};

/* Add the rows of a database, which is only read.
 * Returns the errors of store_open, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status fleet_rows_add(struct fleet_rows *rows, const char *path);

/* Sort the rows by GPU and task, and leave one for each task of a GPU. */
void fleet_rows_end(struct fleet_rows *rows);
void fleet_rows_free(struct fleet_rows *rows);

/* Whether two rows belong to one model of GPU. */
bool fleet_same_model(const struct task_state *a, const struct task_state *b);

#endif
