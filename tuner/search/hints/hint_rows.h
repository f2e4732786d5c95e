/* hint_rows.h: the winners that a database knows, and how near their problems are to the one that is tuned. */
#ifndef SEARCH_HINTS_HINT_ROWS_H
#define SEARCH_HINTS_HINT_ROWS_H

#include "base/arena.h"
#include "db/store/store.h"
#include "tuner/search/variants/task.h"

/* What is tuned. */
struct hint_target {
  const struct task *task;
  const struct device_facts *device;
  bool is_emulation;
  enum launch_mode launch;
  enum cache_mode cache;
};

/* In what a winner's problem differs, the weightiest first: a difference in one outweighs all in those after it. */
enum hint_distance {
  HINT_STENCIL, /* 0: the same; else of the same shape: 1 and more, by the difference in radius */
  HINT_DEVICE,  /* 0: this model of GPU; 1: this compute capability; 2: its major number; 3: any other */
  HINT_GRID,    /* by how many powers of 2 the axes differ, in all */
  HINT_DTYPE,
  HINT_MODE,    /* launch and cache: in how many of them */
  HINT_HISTORY, /* 0: the current winner; 1, 2 ...: an earlier one, the newest first */
  HINT_DISTANCES,
};

struct hint_row {
  double distance[HINT_DISTANCES];
  const char *template_name, *parameters; /* as the store has them; they and the date lie in the list's arena */
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

/* Add a database's winners for the target's stencil and for those of its shape: of each problem the current one and the
 * newest before it, HINTS_OF_A_PROBLEM in all, whatever version of a template they are of, and trusted or not. Winners
 * of an emulation, whose times rank nothing, count for an emulation only. Returns HALOTUNE_OK, HALOTUNE_DB or
 * HALOTUNE_MEMORY. */
halotune_status hint_rows_read(struct hint_rows *rows, struct store *store, const struct hint_target *target);

/* The nearest first; of equally near ones the newest, then the first that was read. */
void hint_rows_sort(struct hint_rows *rows);

void hint_rows_free(struct hint_rows *rows);

#endif
