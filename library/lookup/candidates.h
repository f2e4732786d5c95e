/* candidates.h: the rows that may answer a problem without a row of its own, ranked by predicted time: rows of other
 * grids, of other GPUs, of the other element type and of other stencils. Lookups, searches and `query --why` use this
 * ranking. */
#ifndef LIBRARY_LOOKUP_CANDIDATES_H
#define LIBRARY_LOOKUP_CANDIDATES_H

#include "base/memory/arena.h"
#include "library/lookup/priced_family.h"
#include "library/lookup/question.h"

/* A row that may answer the question. */
struct candidate {
  const struct served *row;
  const struct priced_shape *shape;
  halotune_match match; /* how well an answer with this row would match */
  float rank;           /* see struct asked_family */
  const struct asked_family *family;
  int priced; /* its place in the family */
};

/* All candidates of a question. */
struct candidates {
  const struct question *question;
  struct predict_work work;      /* of the question */
  struct rules_problem problem;  /* for which configurations are checked */
  struct rule_verdicts verdicts; /* on the question */
  struct arena arena;
  struct asked_place *places;            /* for each model of GPU with a family that was asked */
  struct asked_family *first, *last;     /* families whose rows are candidates */
  struct asked_family *next;             /* the family with the least bound; NULL: the rows of all are ranked */
  struct asked_family *ranked, **unused; /* families whose rows are ranked, and where the next one is put */
  int ranked_count;
  struct dropped *dropped;
  bool is_hopeful;       /* see candidates_begin */
  float limit;           /* see candidates_add_others */
  const struct kin *kin; /* of the question's stencil; NULL: only own rows are compared */
};

/* Whether rows of a stencil and a model of GPU are own rows of a question: of its stencil, on GPUs with the
 * architecture of its device. */
bool candidates_is_own(const struct question *question, int stencil, int model);

/* Begin without candidates. `question` must live as long as they are used, and not change. End it with
 * candidates_free. The struct points to itself, so it must not be copied.
 *   is_hopeful  leave out rows of the stencil whose configurations are known not to fit; which ones are known depends
 *               on the questions before */
void candidates_begin(const struct question *question, bool is_hopeful, struct candidates *out);

/* Add the own rows of the question, in both element types. Those of its element type are ranked first. The other
 * families have a bound, and their rows are ranked when no better row is left. Rows with another number of time steps
 * are left out. So are rows of an emulation, unless the device is one, and rows of another model of GPU where this
 * model has as many of the element type.
 * Returns HALOTUNE_OK; HALOTUNE_PARSE or HALOTUNE_MEMORY. */
halotune_status candidates_add_own(struct candidates *candidates);

/* Add the rows that candidates_add_own leaves out: of other models of GPU, and of other stencils with as many
 * dimensions. With a finite `most_error`, those of another model are left out where this model has as many rows of
 * their stencil and type.
 *   limit       leave out rows of this rank or a higher one, also own ones; infinite: none
 *   most_error  leave out rows that are not surer than this, because of their stencil, type or GPU; infinite: none
 * Returns HALOTUNE_OK; HALOTUNE_PARSE or HALOTUNE_MEMORY. */
halotune_status candidates_add_others(struct candidates *candidates, float limit, float most_error);

/* Add own rows and others without a limit. Returns HALOTUNE_OK; HALOTUNE_PARSE or HALOTUNE_MEMORY. */
halotune_status candidates_add_all(struct candidates *candidates);

/* Put back all own rows that were taken, dropped, or left out because their configurations do not fit. Rows of others
 * must not have been added. */
void candidates_restart(struct candidates *candidates);

/* The number of candidates that are left. */
int candidates_count(struct candidates *candidates);

/* Take the best candidate off the list. Returns false if the list is empty. */
bool candidates_take(struct candidates *candidates, struct candidate *out);

/* Predict the time of a candidate on the problem and GPU of the question. This takes half as long as a check of all
 * rules of a template, so ask only for those that fit. Returns NaN if the GPUs differ and a number of one of them is
 * not known. */
struct prediction candidates_predict(const struct candidates *candidates, const struct candidate *candidate);

/* Where the rules of a candidate's configuration are remembered; NULL for a row of another stencil. */
struct rules_again *candidates_rules_again(const struct candidates *candidates, const struct candidate *candidate);

/* Take all candidates with this configuration off the list, because it does not fit the question.
 *   is_whole  all candidates with its template
 * Of other stencils' rows, only such rows are taken off, and of own ones only own ones. Returns HALOTUNE_OK or
 * HALOTUNE_MEMORY. */
halotune_status candidates_drop(struct candidates *candidates, const struct candidate *refused, bool is_whole);

void candidates_free(struct candidates *candidates);

/* Predict the time of a row for a question: a row of the same problem has its own time. */
static inline struct prediction candidates_exact(const struct served *row) {
  const double intervals_half_widths = 1.96; /* standard deviations from the median to the end of a 95 % interval */
  return (struct prediction){row->time_ms, (row->high_ms - row->low_ms) / (2 * intervals_half_widths) / row->time_ms};
}

#endif
