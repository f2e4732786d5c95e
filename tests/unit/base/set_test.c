/* set_test.c: hash sets, texts that are stored once, and lists that grow. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/set.h"
#include "base/memory/texts.h"
#include "tests/unit/unit.h"

/* The items of one hash, as "3 7 ". */
static const char *items_of(const struct set *set, uint64_t hash) {
  static char text[256];
  size_t length = 0;
  int number;
  *text = '\0';
  for (struct set_walk at = set_walk(set, hash); set_next(&at, &number);)
    length += (size_t)snprintf(text + length, sizeof text - length, "%d ", number);
  return text;
}

TEST(an_empty_set_finds_nothing) {
  struct set set = {0};
  CHECK_TEXT("", items_of(&set, 0), "hash 0");
  CHECK_TEXT("", items_of(&set, UINT64_MAX), "the largest hash");
  set_free(&set);
}

/* A hash without the seed of this process. No two of the first 20,001 numbers have one tag. */
static uint64_t hash_of_number(int number) { return ((uint64_t)number + 1) * 0x9E3779B97F4A7C15u; }

TEST(a_set_finds_each_item_by_its_hash) {
  enum { ITEMS = 20000 };
  struct set set = {0};
  char want[16];
  for (int i = 0; i < ITEMS; i++) CHECK(set_add(&set, hash_of_number(i), i), "%d", i);
  CHECK_EQ(ITEMS, set.count, "all of them");
  CHECK(2 * set.count <= set.mask + 1, "at most half of the slots are taken");
  for (int i = 0; i < ITEMS; i++) {
    snprintf(want, sizeof want, "%d ", i);
    CHECK_TEXT(want, items_of(&set, hash_of_number(i)), "%d", i);
  }
  CHECK_TEXT("", items_of(&set, hash_of_number(ITEMS)), "an item that was not added");
  set_free(&set);
}

/* The hash leads to the last slots of the table, so chains wrap around its end, before and after it grows. */
TEST(items_of_one_hash_keep_their_order) {
  struct set set = {0};
  for (int i = 0; i < 7; i++) CHECK(set_add(&set, 0xFFFFFFFFu, i), "%d", i);
  CHECK_TEXT("0 1 2 3 4 5 6 ", items_of(&set, 0xFFFFFFFFu), "in a small table");
  for (int i = 7; i < 40; i++) CHECK(set_add(&set, (uint64_t)i % 2 ? 0xFFFFFFFFu : 0xFFFFFFFEu, i), "%d", i);
  CHECK_TEXT("0 1 2 3 4 5 6 7 9 11 13 15 17 19 21 23 25 27 29 31 33 35 37 39 ", items_of(&set, 0xFFFFFFFFu),
             "in a large one");
  CHECK_TEXT("8 10 12 14 16 18 20 22 24 26 28 30 32 34 36 38 ", items_of(&set, 0xFFFFFFFEu), "beside them");
  set_free(&set);
}

/* The chain wraps around the end of the table, also between the change's walk and its slot. */
TEST(an_item_is_changed_in_its_place) {
  struct set set = {0};
  int number;
  for (int i = 0; i < 7; i++) CHECK(set_add(&set, 0xFFFFFFFFu, i), "%d", i);
  for (struct set_walk at = set_walk(&set, 0xFFFFFFFFu); set_next(&at, &number);) set_change(&set, &at, number + 10);
  CHECK_TEXT("10 11 12 13 14 15 16 ", items_of(&set, 0xFFFFFFFFu), "all");
  set_free(&set);
}

/* Two processes draw two seeds. With one seed for all, who makes a file could choose texts that share a chain. */
TEST(each_process_has_hashes_of_its_own) {
  uint64_t hashes[2] = {0};
  CHECK(set_hash("star7", 5) == set_hash("star7x", 5), "one process, the same bytes");
  CHECK(set_hash("star7", 5) != set_hash("star7", 4), "other bytes");
  for (int i = 0; i < 2; i++) {
    FILE *child = popen("exec \"$HALOTUNE_TEST_PROGRAM\" --print-hash", "r");
    char line[32] = "";
    CHECK(child && fgets(line, sizeof line, child), "the program prints a hash");
    CHECK_EQ(0, pclose(child), "it ends well");
    hashes[i] = strtoull(line, NULL, 16);
  }
  CHECK(hashes[0] != hashes[1], "both hashes are %llx", (unsigned long long)hashes[0]);
}

TEST(a_reserved_set_does_not_move) {
  struct set set = {0};
  CHECK(set_reserve(&set, 1000), "room");
  const struct set_slot *slots = set.slots;
  for (int i = 0; i < 1000; i++) CHECK(set_add(&set, (uint64_t)i, i), "%d", i);
  CHECK(set.slots == slots, "no slot moved");
  CHECK(!set_reserve(&set, SIZE_MAX / 64), "more than there is memory for");
  CHECK_TEXT("5 ", items_of(&set, 5), "the set is as it was");
  set_free(&set);
}

TEST(a_list_grows) {
  long *list = NULL;
  int count = 0, capacity = 0, moves = 0;
  for (; count < 1000; count++) {
    const long *before = list;
    CHECK(array_room(list, count, capacity), "%d", count);
    CHECK(count < capacity, "%d has room", count);
    moves += list != before;
    list[count] = 3L * count;
  }
  for (int i = 0; i < count; i++) CHECK_EQ(3L * i, list[i], "%d", i);
  CHECK(moves <= 8, "%d moves for a thousand elements", moves);
  int full = INT32_MAX;
  CHECK(!array_room(list, full, full), "more than an int counts");
  CHECK_EQ(INT32_MAX, full, "the capacity is as it was");
  free(list);
}

TEST(a_list_gets_the_room_that_is_asked_for) {
  int capacity = 0;
  long *list = array_reserve(NULL, 3, &capacity, sizeof *list), *same;
  CHECK(list && capacity == 3, "%d", capacity);
  for (int i = 0; i < 3; i++) list[i] = i;
  same = array_reserve(list, 2, &capacity, sizeof *list);
  CHECK(same == list && capacity == 3, "there is room already, for %d", capacity);
  list = array_reserve(list, 100, &capacity, sizeof *list);
  CHECK(list && capacity == 100, "%d", capacity);
  for (int i = 0; i < 3; i++) CHECK_EQ(i, list[i], "%d", i);
  free(list);
}

TEST(texts_are_kept_once) {
  struct texts texts = {0};
  char word[16];
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 1000; i++) {
      int length = snprintf(word, sizeof word, "word%d", i);
      CHECK_EQ(i, texts_add(&texts, word, (size_t)length), "word %d in round %d", i, round);
    }
  }
  CHECK_EQ(1000, texts.count, "count");
  CHECK_EQ(1, texts_add(&texts, "word12", 5), "the first five bytes alone");
  CHECK_EQ(1000, texts_add(&texts, "", 0), "an empty one");
  CHECK_TEXT("word999", texts.list[999], "the last");
  CHECK_EQ(999, texts_find(&texts, "word999", 7), "one that is kept");
  CHECK_EQ(-1, texts_find(&texts, "word999", 3), "one that is not");
  CHECK(texts_keep(&texts, "word7") == texts.list[7], "the copy");
  texts_free(&texts);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "--print-hash") == 0)
    return printf("%llx\n", (unsigned long long)set_hash("star7", 5)) < 0;
  setenv("HALOTUNE_TEST_PROGRAM", argv[0], 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_empty_set_finds_nothing),
      cmocka_unit_test(a_set_finds_each_item_by_its_hash),
      cmocka_unit_test(items_of_one_hash_keep_their_order),
      cmocka_unit_test(an_item_is_changed_in_its_place),
      cmocka_unit_test(each_process_has_hashes_of_its_own),
      cmocka_unit_test(a_reserved_set_does_not_move),
      cmocka_unit_test(a_list_grows),
      cmocka_unit_test(a_list_gets_the_room_that_is_asked_for),
      cmocka_unit_test(texts_are_kept_once),
  };
  return cmocka_run_group_tests_name("set", tests, NULL, NULL);
}
