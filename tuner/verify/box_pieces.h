/* box_pieces.h: cuts a box into pieces of one size, so that what does not fit into memory is done piece by piece. */
#ifndef TUNER_VERIFY_BOX_PIECES_H
#define TUNER_VERIFY_BOX_PIECES_H

#include "tuner/verify/box.h"

struct box_pieces {
  struct box whole;    /* not empty */
  long size[MAX_DIMS]; /* points of a piece along each axis, at least 1; pieces at the high ends may have fewer */
};

long box_pieces_count(const struct box_pieces *pieces);

/* The piece with this number, from 0. */
struct box box_piece(const struct box_pieces *pieces, long number);

/* The piece that has a point, which lies in the box. */
struct box box_piece_at(const struct box_pieces *pieces, const long point[MAX_DIMS]);

#endif
