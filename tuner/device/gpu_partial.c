/* gpu_partial.c: allocates places for results, and cuts boxes into pieces with the least part computed twice. */
#include "tuner/device/gpu_partial.h"

static int place_count(const struct gpu_steps *steps) { return steps->count > 1 ? 2 : 1; }

/* The most points that a step computes for a piece of this size. */
static double points_of_piece(const struct gpu_steps *steps, const long size[MAX_DIMS]) {
  double points = 1;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    const long n = steps->grid.n[axis];
    const long extent = size[axis] + (steps->count - 1) * (steps->reach_low[axis] + steps->reach_high[axis]);
    points *= (double)(extent < n ? extent : n);
  }
  return points;
}

struct box_pieces gpu_partial_pieces(const struct gpu_partial *partial, const struct box *box) {
  struct box_pieces pieces = {.whole = *box};
  long *size = pieces.size;
  for (int axis = 0; axis < MAX_DIMS; axis++) size[axis] = box->high[axis] - box->low[axis];
  while (points_of_piece(&partial->steps, size) > (double)partial->capacity) {
    int longest = 0;
    for (int axis = 1; axis < MAX_DIMS; axis++) longest = size[axis] >= size[longest] ? axis : longest;
    if (size[longest] == 1) break; /* gpu_partial_open has seen that a point fits */
    size[longest] = (size[longest] + 1) / 2;
  }
  return pieces;
}

/* How often a step computes a point of a box on average, because pieces need points around them. */
static double repeats_of_pieces(const struct gpu_partial *partial, const struct box *box) {
  const struct box_pieces pieces = gpu_partial_pieces(partial, box);
  return points_of_piece(&partial->steps, pieces.size) * (double)box_pieces_count(&pieces) / (double)box_points(box);
}

static halotune_status allocate_places(struct gpu_partial *partial) {
  halotune_status status = HALOTUNE_OK;
  for (int p = 0; p < place_count(&partial->steps) && status == HALOTUNE_OK; p++)
    status = gpu_place_make(partial->checker->gpu, partial->steps.output_count, partial->capacity, &partial->places[p]);
  return status;
}

halotune_status gpu_partial_open(struct gpu_checker *checker, const struct gpu_steps *steps, const struct box *whole,
                                 size_t most_bytes, struct gpu_partial *out) {
  static const long one[MAX_DIMS] = {1, 1, 1};
  const size_t point_bytes = 2 * sizeof(double) * (size_t)steps->output_count * (size_t)place_count(steps);
  long all[MAX_DIMS];
  *out = (struct gpu_partial){.checker = checker, .steps = *steps};
  for (int axis = 0; axis < MAX_DIMS; axis++) all[axis] = whole->high[axis] - whole->low[axis];
  const double needed = points_of_piece(steps, all);
  out->capacity = (long)(most_bytes / point_bytes);
  if ((double)out->capacity > needed) out->capacity = (long)needed;
  const bool has_room = (double)out->capacity >= points_of_piece(steps, one);
  if (!has_room || repeats_of_pieces(out, whole) > GPU_PARTIAL_MOST_REPEATS)
    return fail(HALOTUNE_MEMORY,
                "%.3g GB of the GPU's memory are too little for parts of the reference: steps before the last would be "
                "computed again too often",
                (double)most_bytes / 1e9);
  return allocate_places(out);
}

void gpu_partial_close(struct gpu_partial *partial) {
  if (!partial->checker) return;
  for (int p = 0; p < 2; p++) gpu_place_free(partial->checker->gpu, &partial->places[p]);
  *partial = (struct gpu_partial){.checker = NULL};
}

static bool is_same_box(const struct box *a, const struct box *b) {
  bool is_same = true;
  for (int axis = 0; axis < MAX_DIMS; axis++)
    is_same = is_same && a->low[axis] == b->low[axis] && a->high[axis] == b->high[axis];
  return is_same;
}

halotune_status gpu_partial_move(struct gpu_partial *partial, const struct box *piece) {
  struct gpu_found found = gpu_found_nothing();
  if (is_same_box(&partial->part, piece)) return HALOTUNE_OK;
  partial->part = (struct box){{0}, {0}};
  halotune_status status = gpu_steps_run(&partial->steps, partial->checker, NULL, partial->places, piece, &found);
  if (status != HALOTUNE_OK) return status;
  if (found.bad > 0) return fail(HALOTUNE_ARGUMENT, "the reference is not finite at some points");
  partial->part = *piece;
  return HALOTUNE_OK;
}

halotune_status gpu_partial_visit(struct gpu_partial *partial, const struct box boxes[], int count,
                                  halotune_status (*visit)(void *context, const struct box *piece), void *context) {
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) {
    const struct box_pieces pieces = gpu_partial_pieces(partial, &boxes[i]);
    const long piece_count = box_pieces_count(&pieces);
    for (long k = 0; k < piece_count && status == HALOTUNE_OK; k++) {
      const struct box piece = box_piece(&pieces, k);
      status = gpu_partial_move(partial, &piece);
      if (status == HALOTUNE_OK && visit) status = visit(context, &piece);
    }
  }
  return status;
}

long gpu_partial_index(const struct gpu_partial *partial, const long point[MAX_DIMS]) {
  const struct box *part = &partial->part;
  const struct grid extents = {
      {part->high[0] - part->low[0], part->high[1] - part->low[1], part->high[2] - part->low[2]}};
  return grid_index(&extents, point[0] - part->low[0], point[1] - part->low[1], point[2] - part->low[2]);
}
