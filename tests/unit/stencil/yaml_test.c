/* yaml_test.c: YAML texts are parsed into trees with places. tests/data/bad has the texts that are refused. */
#include "tests/unit/unit.h"

#include "base/text/text.h"
#include "stencil/file/yaml.h"

/* Append a tree as text: {key: value} and [item, item], quoted texts as 'text', blocks as |text. */
static void add_tree(struct text *out, const struct yaml *node) {
  static const char *const marks[] = {
      [YAML_PLAIN] = "", [YAML_QUOTED] = "'", [YAML_LITERAL] = "|", [YAML_FOLDED] = ">"};
  if (node->kind == YAML_TEXT) {
    text_printf(out, "%s%s", marks[node->style], node->text);
    return;
  }
  text_printf(out, node->kind == YAML_MAP ? "{" : "[");
  for (const struct yaml *item = node->first; item; item = item->next) {
    if (item != node->first) text_printf(out, ", ");
    if (node->kind == YAML_MAP) text_printf(out, "%s: ", item->key);
    add_tree(out, item);
  }
  text_printf(out, node->kind == YAML_MAP ? "}" : "]");
}

static const struct {
  const char *text, *tree;
} tree_rows[] = {
    {"a", "a"},
    {"a: 1", "{a: 1}"},
    {"---\na: 1\n...\n", "{a: 1}"},
    {"a: [1, [2, 3], {b: c}]", "{a: [1, [2, 3], {b: c}]}"},
    {"a:\n  - 1\n  - b: 2\n", "{a: [1, {b: 2}]}"},
    {"a:\nb:\n", "{a: , b: }"},
    {"a: 'x y'\nb: \"z\"\n", "{a: 'x y, b: 'z}"},
    {"a: |\n  x\n   y\n", "{a: |x\n y\n}"},
    {"a: >\n  x\n  y\n", "{a: >x y\n}"},
    {"# c\na: b # d\n", "{a: b}"},
    {"a: b\r\nc: d\r\n", "{a: b, c: d}"},
    {"{}", "{}"},
    {"[]", "[]"},
};

TEST(trees_hold_what_the_text_says) {
  for (size_t i = 0; i < COUNT(tree_rows); i++) {
    struct source source = {"s", tree_rows[i].text, strlen(tree_rows[i].text)};
    struct arena arena = {0};
    struct text got = {0};
    struct yaml *root;
    CHECK_OK(yaml_parse(&source, &arena, &root));
    add_tree(&got, root);
    CHECK_TEXT(tree_rows[i].tree, text_string(&got), "row %zu", i);
    text_free(&got);
    arena_free(&arena);
  }
}

TEST(nodes_and_keys_know_their_places) {
  static const char text[] = "a: 1\n# c\n\xC3\xA9: [2,\n  {c: d}]\n";
  struct source source = {"s", text, strlen(text)};
  struct arena arena = {0};
  struct yaml *root;
  CHECK_OK(yaml_parse(&source, &arena, &root));
  const struct yaml *a = yaml_find(root, "a"), *list = yaml_find(root, "\xC3\xA9");
  CHECK(a && list && !yaml_find(root, "c"), "the fields of the first level");
  CHECK_EQ(2, root->count, "fields");
  CHECK_EQ(2, list->count, "members");
  const struct {
    struct place want, got;
  } rows[] = {
      {{1, 1}, root->place},
      {{1, 1}, a->key_place},
      {{1, 4}, a->place},
      {{3, 1}, list->key_place},
      {{3, 4}, list->place},
      {{3, 5}, list->first->place},
      {{4, 3}, list->first->next->place},
      {{4, 4}, list->first->next->first->key_place},
      {{4, 7}, list->first->next->first->place},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    CHECK_EQ(rows[i].want.line, rows[i].got.line, "row %zu", i);
    CHECK_EQ(rows[i].want.column, rows[i].got.column, "row %zu", i);
  }
  arena_free(&arena);
}

/* Where the snippet of the field `f` begins, and its text; NULL if there is no snippet. */
static const struct {
  const char *file;
  int line, column;
  const char *text;
} snippet_rows[] = {
    {"f: u + w", 1, 4, "u + w"},
    {"f: u + w  # no more", 1, 4, "u + w"},
    {"f:\n    u", 2, 5, "u"},
    {"f: 'u'", 1, 5, "u"},
    {"f: \"u\"", 1, 5, "u"},
    {"f: |\n  u\n  w\n", 2, 3, "u\nw\n"},
    {"f: |  # a block\n      u\n       w\n", 2, 7, "u\n w\n"},
    {"f: |\n\n\n  u\n", 2, 3, "\n\nu\n"},
    {"f: |\r\n\r\n  u\r\n  w\r\n", 2, 3, "\nu\nw\n"},
    {"f: |1\n   u\n", 2, 2, "  u\n"},
    {"f: |-\n  u", 2, 3, "u"},
    {"f: |\ng: 1", 1, 4, ""},
    {"g: {\"\xC3\xA9\xE2\x88\x82\": 1}\nf: u", 2, 4, "u"},
    {"{\"\xC3\xA9\xE2\x88\x82\": 1, f: u}", 1, 14, "u"},
    {"f:", 1, 3, ""},
    {"f: u\n  + w", 0, 0, NULL},
    {"f: >\n  u\n", 0, 0, NULL},
    {"f: \"\\x75\"", 0, 0, NULL},
    {"f: 'it''s'", 0, 0, NULL},
};

TEST(snippets_have_the_places_of_the_file) {
  for (size_t i = 0; i < COUNT(snippet_rows); i++) {
    struct source source = {"s", snippet_rows[i].file, strlen(snippet_rows[i].file)};
    struct arena arena = {0};
    struct snippet snippet;
    struct yaml *root;
    CHECK_OK(yaml_parse(&source, &arena, &root));
    halotune_status status = yaml_snippet(&source, yaml_find(root, "f"), &snippet);
    CHECK_EQ(snippet_rows[i].text ? HALOTUNE_OK : HALOTUNE_PARSE, status, "row %zu", i);
    if (snippet_rows[i].text) {
      CHECK_TEXT(snippet_rows[i].text, snippet.text, "row %zu", i);
      CHECK_EQ(strlen(snippet_rows[i].text), snippet.length, "row %zu", i);
      CHECK_EQ(snippet_rows[i].line, snippet.start.line, "row %zu", i);
      CHECK_EQ(snippet_rows[i].column, snippet.start.column, "row %zu", i);
    }
    arena_free(&arena);
  }
}

/* An error in a broken character shows the character's first byte. */
static const struct {
  const char *text;
  struct place place;
  const char *want;
} picture_rows[] = {
    {"ab\ncd", {1, 2}, "s:1:2: m\n  ab\n   ^"},
    {"ab\ncd", {2, 3}, "s:2:3: m\n  cd\n    ^"},
    {"ab\r\ncd", {1, 3}, "s:1:3: m\n  ab\n    ^"},
    {"\t\xC3\xA9!", {1, 3}, "s:1:3: m\n  \t\xC3\xA9!\n  \t ^"},
    {"a\x1B[1mb", {1, 2}, "s:1:2: m\n  a?[1mb\n   ^"},
    {"\xFF\xC0\xAF\xED\xA0\x80z", {1, 1}, "s:1:1: m\n  ??????z\n  ^"},
    {"\xC2\x9Bz", {1, 1}, "s:1:1: m\n  ??z\n  ^"},
    {"a\xE2\x82", {1, 2}, "s:1:2: m\n  a??\n   ^"},
    {"\xF0\x9F\x98\x80z", {1, 2}, "s:1:2: m\n  \xF0\x9F\x98\x80z\n   ^"},
    {"", {1, 1}, "s:1:1: m"},
    {"a\n", {2, 1}, "s:2:1: m"},
};

TEST(errors_show_the_place_and_nothing_that_moves_a_terminal) {
  for (size_t i = 0; i < COUNT(picture_rows); i++) {
    struct source source = {"s", picture_rows[i].text, strlen(picture_rows[i].text)};
    CHECK_EQ(HALOTUNE_PARSE, source_fail(&source, picture_rows[i].place, "m"), "row %zu", i);
    CHECK_TEXT(picture_rows[i].want, fail_text(), "row %zu", i);
  }
  struct source source = {"s", "", 0};
  CHECK_EQ(HALOTUNE_PARSE, source_fail(&source, (struct place){1, 1}, "[%s]", "a\n\x1B\x7F\xC3"), "a message");
  CHECK_TEXT("s:1:1: [a????]", fail_text(), "a message");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(trees_hold_what_the_text_says),
      cmocka_unit_test(nodes_and_keys_know_their_places),
      cmocka_unit_test(snippets_have_the_places_of_the_file),
      cmocka_unit_test(errors_show_the_place_and_nothing_that_moves_a_terminal),
  };
  return cmocka_run_group_tests_name("yaml", tests, NULL, NULL);
}
