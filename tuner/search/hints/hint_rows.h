/* hint_rows.h: the winners that a database knows, and how near their problems are to the target. */
#ifndef SEARCH_HINTS_HINT_ROWS_H
#define SEARCH_HINTS_HINT_ROWS_H

#include <sqlite3.h>

#include "base/memory/texts.h"
#include "db/store/store.h"
#include "tuner/search/variants/task.h"

/* The problem that is tuned. */
struct hint_target {
  const struct task *task;
  const struct device_facts *device;
  bool is_emulation;
  enum launch_mode launch;
  enum cache_mode cache;
  bool is_alone; /* other stencils say nothing of it, and their texts are not read */
};

/* The ways in which a winner's problem differs from the target. A difference outweighs all those after it in this
 * list. */
enum hint_distance {
  HINT_STENCIL, /* 0: the same stencil; else 1 plus the difference in radius to a stencil of the same shape */
  HINT_DEVICE,  /* 0: the same model of GPU; 1: the same compute capability; 2: the same major number; 3: another */
  HINT_STEPS,   /* the difference in powers of 2 of time steps a launch */
  HINT_GRID,    /* the sum over axes of differences in powers of 2 */
  HINT_DTYPE,
  HINT_MODE,    /* how many of launch mode and cache mode differ */
  HINT_HISTORY, /* 0: the current winner; 1, 2 ...: earlier ones, the newest first */
  HINT_DISTANCES,
};

struct hint_row {
  double distance[HINT_DISTANCES];
  const char *template_name, *parameters; /* as the store has them; in the list's arena */
  const char *date;                       /* when it was measured */
  int place;                              /* in the order of reading */
};

/* Start with {0}, end with hint_rows_free. */
struct hint_rows {
  struct hint_row *list;
  int count, capacity;
  struct texts texts; /* names, parameters and dates, each once: many rows can share a long one */
};

/* Ends the reading before all rows are read. */
struct hint_end {
  bool (*is_over)(const void *context); /* NULL: never */
  const void *context;
};

bool hint_is_over(const struct hint_end *end);

enum { HINTS_OF_A_PROBLEM = 3 };

/* Add a database's winners for the target's stencil and for stencils of its shape. Of each problem the current winner
 * and the newest ones before it count, HINTS_OF_A_PROBLEM in all, of any version of a template. Winners of an
 * emulation count for an emulation only, because its times do not tell which variant is fast.
 *   end  asked before each stencil, whose text may be long
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status hint_rows_read(struct hint_rows *rows, struct store *store, const struct hint_target *target,
                               const struct hint_end *end);

/* Sort: the nearest first; among equally near ones the newest, then the one that was read first. */
void hint_rows_sort(struct hint_rows *rows);

/* Prepare the statement for hint_stencil_read, to be ended with sqlite3_finalize. A statement of its own reads a text
 * once for all rows of its stencil. */
halotune_status hint_texts_prepare(struct store *store, sqlite3_stmt **out);

/* Read the text of a stencil in a database, and what follows from it. Both results are NULL if this version cannot read
 * the text, or if the text is longer than a stencil's file may be. Returns HALOTUNE_OK, HALOTUNE_DB or
 * HALOTUNE_MEMORY. */
halotune_status hint_stencil_read(sqlite3_stmt *texts, int64_t stencil_id, struct stencil **stencil,
                                  struct analysis **analysis);

/* How much a stencil differs from the task's: 0 for the same; INFINITY if its variants tell nothing of the task's. */
double hint_stencil_distance(const struct task *task, const struct stencil *other, const struct analysis *analysis);

void hint_rows_free(struct hint_rows *rows);

#endif
