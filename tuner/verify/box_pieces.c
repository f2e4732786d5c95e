/* box_pieces.c: numbers the pieces, x fastest. */
#include "tuner/verify/box_pieces.h"

static long count_along(const struct box_pieces *pieces, int axis) {
  const long points = pieces->whole.high[axis] - pieces->whole.low[axis];
  return (points + pieces->size[axis] - 1) / pieces->size[axis];
}

long box_pieces_count(const struct box_pieces *pieces) {
  long count = 1;
  for (int axis = 0; axis < MAX_DIMS; axis++) count *= count_along(pieces, axis);
  return count;
}

/* The piece in this place along each axis. */
static struct box piece_in_place(const struct box_pieces *pieces, const long place[MAX_DIMS]) {
  struct box piece;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    piece.low[axis] = pieces->whole.low[axis] + place[axis] * pieces->size[axis];
    piece.high[axis] = piece.low[axis] + pieces->size[axis];
    if (piece.high[axis] > pieces->whole.high[axis]) piece.high[axis] = pieces->whole.high[axis];
  }
  return piece;
}

struct box box_piece(const struct box_pieces *pieces, long number) {
  long place[MAX_DIMS];
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    place[axis] = number % count_along(pieces, axis);
    number /= count_along(pieces, axis);
  }
  return piece_in_place(pieces, place);
}

struct box box_piece_at(const struct box_pieces *pieces, const long point[MAX_DIMS]) {
  long place[MAX_DIMS];
  for (int axis = 0; axis < MAX_DIMS; axis++)
    place[axis] = (point[axis] - pieces->whole.low[axis]) / pieces->size[axis];
  return piece_in_place(pieces, place);
}
