/* split.h: an update taken apart for a march through planes.
 *
 * A form is a sum of weighted taps, such as the laplacian in an update. A plane that comes in adds to a form of each plane that its
 * taps reach, so that no plane has to be kept: only sums, one for each plane that is not complete. What remains of the update
 * reads the forms, and inputs at the point itself. Every update can be taken apart so; where that takes too many forms, it is
 * left whole. */
#ifndef STENCIL_ANALYSIS_SPLIT_H
#define STENCIL_ANALYSIS_SPLIT_H

#include "stencil/file/stencil.h"

enum { MAX_FORMS = 8 };

/* A tap of a form. */
struct form_weight {
  int tap;    /* which of the analysis' */
  int factor; /* a node of the split's expressions */
};

struct form {
  int root; /* the node of the update whose value it is */
  int first_weight, weight_count;
  int first_plane, last_plane; /* of its taps, from the output's plane */
  int kept_until;              /* it is read when this plane has come in: not before last_plane */
};

/* Owns its expressions; analysis_free frees them. */
struct split {
  int form_count; /* 0: the update is left whole */
  struct form forms[MAX_FORMS];
  struct form_weight *weights; /* of one form after the other */
  int weight_count;
  int delay[MAX_FIELDS]; /* of each output: planes that come in after its own, until it is complete */
  bool reads_beside[MAX_FIELDS][MAX_FIELDS]; /* [output][input]: what remains reads this input at the point */
  int partial_sums;                          /* kept for a point from one plane to the next, over all forms */
  struct exprs exprs;                        /* the stencil's nodes, then the factors */
};

/* The form that a node of the update is; -1 for none. */
int split_form(const struct split *split, int node);

#endif
