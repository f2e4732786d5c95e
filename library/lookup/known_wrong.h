/* known_wrong.h: configurations that a database knows to be wrong. Rows of other databases then do not serve them. */
#ifndef LIBRARY_LOOKUP_KNOWN_WRONG_H
#define LIBRARY_LOOKUP_KNOWN_WRONG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "stencil/file/stencil.h"

/* A configuration that is wrong on a problem, in all modes. Stencil, model and template are places in the catalog. The
 * verdict is about all stencils of one meaning (stencil), and was given under the name of one of them (named). A
 * question is about a row: `named` is its name. */
struct refuted {
  uint32_t n[MAX_DIMS];
  int stencil, named, model, template_at;
  int asked; /* in a question of a lookup: the name that was asked for; -1: no database knows it */
  unsigned char dtype;
  bool is_own;            /* this user gave the verdict; in a question: the row */
  bool is_shipped;        /* in a question: the row comes with Halotune */
  const char *parameters; /* a text of the catalog's `texts`, so that pointers can be compared */
  const char *date;       /* date of the verdict */
  int first, last;        /* the first and the last database with a verdict; in a question: the row's database */
};

/* Start with {0}, end with refuted_free. refuted_finish sorts it. */
struct refuted_list {
  struct refuted *list;
  int count, room;
  char now[32]; /* the date of this machine's clock */
};

/* A date as decisions compare it. Another machine may claim a date in the future: it counts as older than all
 * others. */
const char *date_decides(const char *now, const char *date);

/* Read the clock. Call it before the first verdict is added. */
void refuted_set_now(struct refuted_list *list);

/* Add a verdict. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status refuted_add(struct refuted_list *list, const struct refuted *refuted);

/* Sort the list. Call this after the last refuted_add. */
void refuted_finish(struct refuted_list *list);

/* Whether a lookup knows a configuration to be wrong on a problem. A verdict of this user counts for the name that was
 * asked for, and for a row of its own name. For a row of another name it counts if a document of others brought the
 * row. The question needs no `date`. */
bool refuted_has(const struct refuted_list *list, const struct refuted *question);

/* The number of configurations that are known to be wrong on a problem. As for refuted_has; the question needs no
 * `template_at` and `parameters` either. */
long refuted_count(const struct refuted_list *list, const struct refuted *question);

/* What the verdicts say about a row. */
enum row_state {
  ROW_HOLDS,
  ROW_IS_DISPUTED, /* this user calls it wrong under another name; a row of this user or of Halotune then answers for its
                    * own name alone */
  ROW_IS_WRONG,
};

/* Judge a row by the rule of refuted.h (SQL_IS_AGAINST). A verdict of another database is also against a newer row of
 * others. The question's members are those of the row.
 *   is_any  whether an older verdict is against it, too */
enum row_state refuted_row(const struct refuted_list *list, const struct refuted *question, bool is_any);

void refuted_free(struct refuted_list *list);

#endif
