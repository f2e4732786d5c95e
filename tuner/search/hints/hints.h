/* hints.h: the variants that a search tries first: winners that databases know, and defaults of templates. */
#ifndef SEARCH_HINTS_HINTS_H
#define SEARCH_HINTS_HINTS_H

#include "tuner/search/hints/hint_rows.h"
#include "tuner/search/variants/proposals.h"

enum {
  MOST_HINTS = 16,
  MOST_HINTS_OF_OTHERS = 8, /* of these hints, winners of other stencils of the same shape */
};

/* The databases whose winners are read. */
struct hint_sources {
  struct store *own; /* the database that the run is stored in */
  struct store *const *others;
  int other_count;
  struct hint_end end;   /* what was read before it counts */
  struct text *warnings; /* receives a line for each of the others that cannot be read; NULL: nobody wants them */
};

/* What a failed read of a database means for the search. If another one than the run's own cannot be read, what was
 * read of it before counts, and a warning is added.
 *   other  its place among the others; -1 for the run's own
 * Returns `status`, or HALOTUNE_OK. */
halotune_status hint_source_end(const struct hint_sources *sources, int other, halotune_status status);

/* Have the others ask the sources' end while a statement runs, from now on, or no longer. */
void hint_sources_ask(const struct hint_sources *sources, bool asks);

/* Read the winners of these databases, the nearest to the target first.
 *   out  ended with hint_rows_free, also after a failure
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status hints_read(const struct hint_sources *sources, const struct hint_target *target, struct hint_rows *out);

/* Find the variant of today's space that a row stands for. Parameters are matched by name. A parameter that the winner
 * lacks gets its default; one that no longer exists is ignored; one that --set fixes gets its fixed value. If rules
 * exclude the variant, the nearest one that they keep stands for it. Returns false if there is none: a value no longer
 * exists, or the template is not searched. */
bool hints_variant(const struct search_space *space, const struct hint_row *row, struct proposal *out);

/* Like hints_variant, but false if a rule or a fixed value changes a parameter. A measured time belongs to one variant
 * alone. */
bool hints_same(const struct search_space *space, const struct hint_row *row, struct proposal *out);

/* List the variants that are predicted to be fast, then those that winners stand for, the nearest first, none twice. In
 * a replay, variants that were not recorded are left out.
 *   first      the variant that is tried before all others, which is not a hint; NULL for none
 *   predicted  variants that come before those of the winners
 *   out        the hints are added to it
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status hints_find(const struct hint_sources *sources, const struct hint_target *target,
                           const struct search_space *space, const struct proposal *first,
                           const struct proposal_list *predicted, struct proposal_list *out);

/* List the variants that a search tries first: the hints, then the starts of each template and its default, or the
 * variants nearest to them that the rules keep. Each template is then known soon, and a search whose default is slow
 * finds something better early. None is listed twice. In a replay, variants that were not recorded are left out.
 *   hints  of hints_find
 *   first  the variant that is tried before all others, and is not listed; NULL for none
 *   out    the variants are added to it
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status starts_find(const struct search_space *space, const struct proposal_list *hints,
                            const struct proposal *first, struct proposal_list *out);

#endif
