/* candidates.h: the rows that may answer a problem without a row of its own, ranked by predicted time: rows of other
 * grids, of other GPUs, of the other element type and of other stencils. Lookups, searches and `query --why` use this
 * ranking. */
#ifndef LIBRARY_LOOKUP_CANDIDATES_H
#define LIBRARY_LOOKUP_CANDIDATES_H

#include "library/lookup/priced_family.h"
#include "library/lookup/question.h"

/* A row that may answer the question. */
struct candidate {
  const struct served *row;
  const struct priced_shape *shape;
  halotune_match match; /* how well an answer with this row would match */
  float rank;           /* see struct candidates */
  int family, priced;   /* its family among those of the candidates, and its place there */
};

/* A configuration of a family that was dropped. */
struct dropped {
  int family, shape;
};

/* All candidates of a question. */
struct candidates {
  const struct question *question;
  struct predict_work work;      /* of the question */
  struct rule_verdicts verdicts; /* on the question */
  struct asked_family *families; /* those whose rows are candidates */
  int family_count;
  struct asked_place *places; /* for each model of GPU with such a family */
  int place_count;
  struct asked_family *next;    /* the family with the least bound; NULL: the rows of all are ranked */
  struct asked_family **ranked; /* families whose rows are ranked */
  int ranked_count;
  struct dropped *dropped;
  int dropped_count;
  /* For each row of ranked families a logarithm of milliseconds, with a penalty for the error; infinite: the row is no
   * candidate, or was taken. Behind the last row of a family are infinite ones, so that it fills whole vectors. */
  float *ranks;
  /* For the first row of each configuration: whether its rows have their ranks. Else they have bounds, and no rank is
   * lower than its bound. The ranks are computed when no lower rank and no lower bound is left. */
  bool *is_exact;
  int rank_count, rank_room;
  bool is_hopeful;       /* see candidates_find */
  bool has_own;          /* rows of CANDIDATES_OWN are candidates */
  float limit;           /* see candidates_find */
  const struct kin *kin; /* of the question's stencil; NULL: only own rows are compared */
};

/* Which rows are compared. */
enum candidates_range {
  CANDIDATES_OWN,   /* of the question's stencil in both element types, on GPUs with the architecture of its device */
  CANDIDATES_OTHER, /* of other architectures, and of other stencils with as many dimensions */
  CANDIDATES_ALL    /* both */
};

/* Whether rows of a stencil and a model of GPU are in CANDIDATES_OWN. */
bool candidates_is_own(const struct question *question, int stencil, int model);

/* Find the rows of a range. Those of the question's stencil, element type and architecture are ranked first. The other
 * families have a bound, and their rows are ranked when no better row is left. Rows with another number of time steps
 * are left out. So are rows of an emulation, unless the device is one.
 *   is_hopeful  leave out rows whose configurations are known not to fit; which ones are known depends on the questions
 *               before
 *   limit       leave out rows of this rank or a higher one; infinite: none
 *   out         end it with candidates_free, also after a failure
 * Returns HALOTUNE_OK; HALOTUNE_PARSE or HALOTUNE_MEMORY. */
halotune_status candidates_find(const struct question *question, enum candidates_range range, bool is_hopeful,
                                float limit, struct candidates *out);

/* The number of candidates that are left. */
int candidates_count(struct candidates *candidates);

/* Take the best candidate off the list. Returns false if the list is empty. */
bool candidates_take(struct candidates *candidates, struct candidate *out);

/* Predict the time of a candidate on the problem and GPU of the question. This takes half as long as a check of all
 * rules of a template, so ask only for those that fit. Returns NaN if the GPUs differ and a number of one of them is
 * not known. */
struct prediction candidates_predict(const struct candidates *candidates, const struct candidate *candidate);

/* Take all candidates with this configuration off the list, because it does not fit the question. */
void candidates_drop(struct candidates *candidates, const struct candidate *refused);

void candidates_free(struct candidates *candidates);

/* Predict the time of a row for a question: a row of the same problem has its own time. */
struct prediction candidates_exact(const struct served *row);

#endif
