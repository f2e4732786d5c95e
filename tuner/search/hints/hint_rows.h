/* hint_rows.h: the winners that a database knows, and how near their problems are to the target. */
#ifndef SEARCH_HINTS_HINT_ROWS_H
#define SEARCH_HINTS_HINT_ROWS_H

#include "base/memory/arena.h"
#include "db/store/store.h"
#include "tuner/search/variants/task.h"

/* The problem that is tuned. */
struct hint_target {
  const struct task *task;
  const struct device_facts *device;
  bool is_emulation;
  enum launch_mode launch;
  enum cache_mode cache;
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
  struct arena arena;
};

enum { HINTS_OF_A_PROBLEM = 3 };

/* Add a database's winners for the target's stencil and for stencils of its shape. Of each problem the current winner
 * and the newest ones before it count, HINTS_OF_A_PROBLEM in all, of any version of a template. Winners of an
 * emulation count for an emulation only, because its times do not tell which variant is fast.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status hint_rows_read(struct hint_rows *rows, struct store *store, const struct hint_target *target);

/* Sort: the nearest first; among equally near ones the newest, then the one that was read first. */
void hint_rows_sort(struct hint_rows *rows);

/* Read a stencil's text in a database, and what follows from it. Both results are NULL if this version cannot read the
 * text. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status hint_stencil_read(const char *name, const char *text, struct stencil **stencil,
                                  struct analysis **analysis);

/* How much a stencil differs from the task's: 0 for the same; INFINITY if its variants tell nothing of the task's. */
double hint_stencil_distance(const struct task *task, const struct stencil *other, const struct analysis *analysis);

void hint_rows_free(struct hint_rows *rows);

#endif
