/* drawn_boxes_test.c: which planes and boxes are compared, and how boxes are cut into pieces. */
#include "tests/unit/unit.h"
#include "tuner/verify/box_pieces.h"
#include "tuner/verify/drawn_boxes.h"

static const struct box wholes[] = {
    {{1, 1, 1}, {2499, 2498, 2497}},  {{0, 0, 0}, {40000, 40000, 9}},  {{4, 5, 6}, {37, 70, 81}},
    {{0, 1, 0}, {130000, 129999, 1}}, {{2, 0, 0}, {1000000007, 1, 1}}, {{0, 0, 0}, {3, 2, 1}},
    {{7, 8, 9}, {8, 9, 10}},
};

static bool is_within(const struct box *box, const struct box *whole) {
  bool is_in = box_points(box) > 0;
  for (int axis = 0; axis < MAX_DIMS; axis++)
    is_in = is_in && box->low[axis] >= whole->low[axis] && box->high[axis] <= whole->high[axis];
  return is_in;
}

static bool has_point(const struct box *boxes, int count, const long p[MAX_DIMS]) {
  bool has = false;
  for (int i = 0; i < count; i++) has = has || box_contains(&boxes[i], p[0], p[1], p[2]);
  return has;
}

TEST(faces_and_corners_are_drawn) {
  for (size_t i = 0; i < COUNT(wholes); i++) {
    const struct box *whole = &wholes[i];
    struct box boxes[DRAWN_BOXES_MOST];
    const int count = drawn_boxes(whole, 1, boxes);
    CHECK(count > 0 && count <= DRAWN_BOXES_MOST, "row %zu: %d boxes", i, count);
    for (int b = 0; b < count; b++) CHECK(is_within(&boxes[b], whole), "row %zu: box %d", i, b);
    for (int axis = 0; axis < MAX_DIMS; axis++) {
      for (int side = 0; side < 2; side++) {
        long middle[MAX_DIMS]; /* of a face */
        for (int a = 0; a < MAX_DIMS; a++) middle[a] = (whole->low[a] + whole->high[a]) / 2;
        middle[axis] = side ? whole->high[axis] - 1 : whole->low[axis];
        const bool is_face = whole->high[axis] - whole->low[axis] > 1;
        CHECK(!is_face || has_point(boxes, count, middle), "row %zu: axis %d, side %d", i, axis, side);
      }
    }
    for (int corner = 0; corner < 1 << MAX_DIMS; corner++) {
      long near[MAX_DIMS]; /* two points away from a corner, where no face is */
      for (int a = 0; a < MAX_DIMS; a++) {
        const long extent = whole->high[a] - whole->low[a], away = extent > 5 ? 2 : 0;
        near[a] = corner >> a & 1 ? whole->high[a] - 1 - away : whole->low[a] + away;
      }
      CHECK(has_point(boxes, count, near), "row %zu: corner %d", i, corner);
    }
  }
}

TEST(large_boxes_are_drawn_sparsely) {
  struct box boxes[DRAWN_BOXES_MOST];
  const int count = drawn_boxes(&wholes[0], 1, boxes);
  long points = 0;
  for (int i = 0; i < count; i++) points += box_points(&boxes[i]);
  CHECK(points > 60000000 && points < box_points(&wholes[0]) / 200, "%ld points", points);
}

TEST(a_small_box_is_compared_whole) {
  for (size_t i = 0; i < COUNT(wholes); i++) {
    struct box boxes[DRAWN_BOXES_MOST];
    const int count = drawn_boxes(&wholes[i], 1, boxes);
    const bool is_whole = count == 1 && memcmp(&boxes[0], &wholes[i], sizeof boxes[0]) == 0;
    long points = 0;
    for (int b = 0; b < count; b++) points += box_points(&boxes[b]);
    CHECK_EQ(i >= 5, is_whole, "row %zu", i);
    CHECK(is_whole || points < box_points(&wholes[i]), "row %zu: %ld points", i, points);
  }
}

TEST(the_seed_draws) {
  for (size_t i = 0; i < 5; i++) {
    struct box first[DRAWN_BOXES_MOST], again[DRAWN_BOXES_MOST], other[DRAWN_BOXES_MOST];
    const int count = drawn_boxes(&wholes[i], 1, first);
    CHECK_EQ(count, drawn_boxes(&wholes[i], 1, again), "row %zu", i);
    CHECK_EQ(count, drawn_boxes(&wholes[i], 2, other), "row %zu", i);
    int differing = 0;
    for (int b = 0; b < count; b++) {
      CHECK(memcmp(&first[b], &again[b], sizeof first[b]) == 0, "row %zu: box %d", i, b);
      differing += memcmp(&first[b], &other[b], sizeof first[b]) != 0;
    }
    CHECK(differing >= DRAWN_BOXES / 2, "row %zu: %d boxes differ", i, differing);
  }
}

TEST(pieces_have_each_point_once) {
  static const struct box whole = {{1, 2, 3}, {8, 7, 9}};
  for (long size = 1; size <= 8; size++) {
    const struct box_pieces pieces = {whole, {size, (size + 1) / 2, 9 - size}};
    int times[9][9][9] = {{{0}}};
    for (long i = 0; i < box_pieces_count(&pieces); i++) {
      const struct box piece = box_piece(&pieces, i);
      CHECK(is_within(&piece, &whole), "size %ld, piece %ld", size, i);
      const struct box at = box_piece_at(&pieces, piece.low);
      CHECK(memcmp(&at, &piece, sizeof at) == 0, "size %ld, piece %ld is found by its point", size, i);
      for (long z = piece.low[2]; z < piece.high[2]; z++) {
        for (long y = piece.low[1]; y < piece.high[1]; y++) {
          for (long x = piece.low[0]; x < piece.high[0]; x++) times[z][y][x]++;
        }
      }
    }
    for (long z = 0; z < 9; z++) {
      for (long y = 0; y < 9; y++) {
        for (long x = 0; x < 9; x++)
          CHECK_EQ(box_contains(&whole, x, y, z), times[z][y][x], "size %ld: (%ld, %ld, %ld)", size, x, y, z);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(faces_and_corners_are_drawn),   cmocka_unit_test(large_boxes_are_drawn_sparsely),
      cmocka_unit_test(a_small_box_is_compared_whole), cmocka_unit_test(the_seed_draws),
      cmocka_unit_test(pieces_have_each_point_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
