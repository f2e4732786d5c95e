/* drawn_boxes.c: chooses planes, then corners, then boxes in between. */
#include "tuner/verify/drawn_boxes.h"

#include "base/numbers/random.h"

struct drawing {
  const struct box *whole;
  uint64_t seed, index; /* index: of the next random number */
  struct box *boxes;
  int count;
};

static long extent_of(const struct box *box, int axis) { return box->high[axis] - box->low[axis]; }

/* Draw a number from 0 to `most`. */
static long draw_up_to(struct drawing *drawing, long most) {
  return (long)(random_bits(drawing->seed, drawing->index++) % ((uint64_t)most + 1));
}

static void add_plane(struct drawing *drawing, int axis, long at) {
  struct box *plane = &drawing->boxes[drawing->count++];
  *plane = *drawing->whole;
  plane->low[axis] = at;
  plane->high[axis] = at + 1;
}

static void add_planes(struct drawing *drawing) {
  const struct box *whole = drawing->whole;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    const long last = extent_of(whole, axis) - 1;
    if (last == 0) continue;
    add_plane(drawing, axis, whole->low[axis]);
    add_plane(drawing, axis, whole->high[axis] - 1);
    add_plane(drawing, axis, whole->low[axis] + draw_up_to(drawing, last));
  }
}

/* Choose the extents of small boxes: at most an eighth of the whole, unless that is short. Rows are the longest,
 * because neighbours in x are read together. */
static void size_boxes(const struct box *whole, long size[MAX_DIMS]) {
  enum { SHORT = 8, PARTS = 8 };
  static const long sizes[MAX_DIMS + 1][MAX_DIMS] = {{1}, {1 << 18}, {512, 512}, {256, 32, 32}};
  int axes = 0, used = 0;
  for (int axis = 0; axis < MAX_DIMS; axis++) axes += extent_of(whole, axis) > 1;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    const long extent = extent_of(whole, axis), wanted = extent > 1 ? sizes[axes][used++] : 1;
    const long part = extent / PARTS > SHORT ? extent / PARTS : SHORT;
    size[axis] = wanted < part ? wanted : part;
    if (size[axis] > extent) size[axis] = extent;
  }
}

/* Add a box whose distance from the low ends is given. */
static void add_box(struct drawing *drawing, const long size[MAX_DIMS], const long distance[MAX_DIMS]) {
  struct box *box = &drawing->boxes[drawing->count++];
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    box->low[axis] = drawing->whole->low[axis] + distance[axis];
    box->high[axis] = box->low[axis] + size[axis];
  }
}

int drawn_boxes(const struct box *whole, uint64_t seed, struct box out[DRAWN_BOXES_MOST]) {
  struct drawing drawing = {.whole = whole, .seed = seed, .boxes = out};
  long size[MAX_DIMS], most[MAX_DIMS], distance[MAX_DIMS];
  add_planes(&drawing);
  size_boxes(whole, size);
  for (int axis = 0; axis < MAX_DIMS; axis++) most[axis] = extent_of(whole, axis) - size[axis];
  for (int corner = 0; corner < 1 << MAX_DIMS; corner++) {
    bool is_new = true; /* along an axis that the box fills, both corners are one */
    for (int axis = 0; axis < MAX_DIMS; axis++) {
      const bool is_high = corner >> axis & 1;
      distance[axis] = is_high ? most[axis] : 0;
      is_new = is_new && !(is_high && most[axis] == 0);
    }
    if (is_new) add_box(&drawing, size, distance);
  }
  for (int i = 0; i < DRAWN_BOXES; i++) {
    for (int axis = 0; axis < MAX_DIMS; axis++) distance[axis] = draw_up_to(&drawing, most[axis]);
    add_box(&drawing, size, distance);
  }
  long points = 0;
  for (int i = 0; i < drawing.count; i++) points += box_points(&out[i]);
  if (points < box_points(whole)) return drawing.count;
  out[0] = *whole;
  return 1;
}
