/* json_test.c: JSON documents are built, printed and read. */
#include "base/text/json.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

TEST(numbers_are_as_short_as_they_can_be) {
  static const struct {
    double number;
    const char *text;
  } rows[] = {{0.1, "0.1"},   {2, "2"}, {-1.0 / 3, "-0.3333333333333333"}, {NAN, "null"}, {INFINITY, "null"},
              {-0.0, "-0.0"}, {0, "0"}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text text = {0};
    json_write_number(&text, rows[i].number);
    CHECK_TEXT(rows[i].text, text_string(&text), "row %zu", i);
    text_free(&text);
  }
}

TEST(numbers_that_were_read_are_written_with_the_same_text) {
  static const double rows[] = {0.1, 2, -1.0 / 3, 0, -0.0, 1e-8, 1e15, 123456789012345680, 1e17, 1e22, 5e-324, 1.7e308};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text text = {0}, again = {0};
    json_t *list = json_array(), *read = NULL;
    json_add(&list, number_json(rows[i]));
    CHECK(json_write(&text, list, JSON_IN_LINE), "row %zu", i);
    CHECK_OK(json_read(text_string(&text), text.length, "numbers", &read));
    CHECK(json_write(&again, read, JSON_IN_LINE), "row %zu", i);
    CHECK_TEXT(text_string(&text), text_string(&again), "row %zu", i);
    CHECK(rows[i] == json_number_value(json_array_get(read, 0)), "row %zu", i);
    json_decref(read);
    json_decref(list);
    text_free(&again);
    text_free(&text);
  }
}

TEST(floats_need_no_more_digits_than_they_have) {
  static const struct {
    float number;
    const char *text;
  } rows[] = {{0.1f, "0.1"}, {0.3241f, "0.3241"}, {3.0f, "3"}, {(float)NAN, "null"}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text text = {0};
    json_write_float(&text, rows[i].number);
    CHECK_TEXT(rows[i].text, text_string(&text), "row %zu", i);
    text_free(&text);
  }
}

TEST(memory_is_counted_by_values_and_not_within_strings) {
  static const struct {
    const char *text;
    size_t least, most;
  } rows[] = {
      {"", 0, 0},
      {"[]", 100, 200},
      {"[{},{},{}]", 800, 1200},
      {"{\"a\": 1}", 300, 500},
      {"\"{{{{[[[[,,,,::::\"", 10, 30},
      {"[\"\\\"{{{{[[[[\", \"\\\\\"]", 150, 300},
      {"\"{{{{", 4, 10},
      {"\"\\", 2, 10},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    const size_t bytes = json_memory_bytes(rows[i].text, strlen(rows[i].text));
    CHECK(bytes >= rows[i].least && bytes <= rows[i].most, "row %zu: %zu bytes", i, bytes);
  }
}

TEST(rounded_numbers_have_few_digits) {
  static const struct {
    double number;
    int digits;
    const char *want;
  } rows[] = {
      {0.324300006032, 7, "0.3243"},
      {0.3243567891, 7, "0.3243568"},
      {1234567.8, 3, "1230000"},
      {0.00012345678, 3, "0.000123"},
      {-2.71828, 2, "-2.7"},
      {0, 5, "0"},
      {1e300, 4, "1e+300"},
      {NAN, 4, "null"},
      {INFINITY, 4, "null"},
      {99.9999, 3, "100"},
      {1, 1, "1"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text text = {0};
    json_t *json = rounded_json(rows[i].number, rows[i].digits);
    CHECK(json_write(&text, json, JSON_IN_LINE), "row %zu", i);
    CHECK_TEXT(rows[i].want, text_string(&text), "row %zu", i);
    json_decref(json);
    text_free(&text);
  }
  json_t *tiny = rounded_json(4e-320, 4); /* no power of ten scales it to a whole number */
  CHECK(json_real_value(tiny) == 4e-320, "%g", json_real_value(tiny));
  json_decref(tiny);
}

TEST(strings_are_escaped) {
  static const struct {
    const char *string, *text;
  } rows[] = {
      {"a\"b\\c\n\t\x01", "\"a\\\"b\\\\c\\n\\t\\u0001\""},
      {"\xC3\xA4\xE2\x82\xAC", "\"\xC3\xA4\xE2\x82\xAC\""},
      {"x\xFFy", "\"x\xEF\xBF\xBDy\""},
      {"", "\"\""},
      /* hidden characters: the document must not look like another one */
      {"\xE2\x80\xAE\xC3\xA4", "\"\\u202E\\u00E4\""},
      {"a\xF3\xA0\x80\x81\n", "\"a\\uDB40\\uDC01\\n\""},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text text = {0};
    json_write_string(&text, rows[i].string);
    CHECK_TEXT(rows[i].text, text_string(&text), "row %zu", i);
    text_free(&text);
  }
}

TEST(texts_are_compared_as_json_has_them) {
  static const struct {
    const char *a, *b;
    bool is_same;
  } rows[] = {
      {"", "", true},
      {"a", "a", true},
      {"a", "b", false},
      {"a", "ab", false},
      {"ab", "a", false},
      {"x\xFFy", "x\xFEy", true},
      {"x\xFFy", "xy", false},
      {"f\xFCr", "f\xEF\xBF\xBDr", true},
      {"\xC3", "\xC3\xA4", false},
      {"\xC3\xA4", "\xC3\xA4", true},
      {"\xFF\xFF", "\xFF", false},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    CHECK_EQ(rows[i].is_same, text_is_same_in_json(rows[i].a, strlen(rows[i].a), rows[i].b, strlen(rows[i].b)),
             "row %zu", i);
  }
}

TEST(a_document_has_three_layouts) {
  static const char document[] = "{\"a\": [1, [2, null]], \"b\": [{\"c\": []}, {}], \"d\\\"\": \"<\\n\", \"e\": true}";
  static const char *const want[] = {
      [JSON_EACH_ON_A_LINE] = "{\n  \"a\": [\n    1,\n    [\n      2,\n      null\n    ]\n  ],\n  \"b\": [\n    {\n"
                              "      \"c\": []\n    },\n    {}\n  ],\n  \"d\\\"\": \"<\\n\",\n  \"e\": true\n}",
      [JSON_LISTS_IN_LINE] = "{\n  \"a\": [1,[2,null]],\n  \"b\": [\n    {\n      \"c\": []\n    },\n    {}\n  ],\n"
                             "  \"d\\\"\": \"<\\n\",\n  \"e\": true\n}",
      [JSON_IN_LINE] = "{\"a\":[1,[2,null]],\"b\":[{\"c\":[]},{}],\"d\\\"\":\"<\\n\",\"e\":true}",
  };
  json_t *json;
  CHECK_OK(json_read(document, strlen(document), "document", &json));
  for (int layout = 0; layout < (int)COUNT(want); layout++) {
    struct text text = {0};
    CHECK(json_write(&text, json, (enum json_layout)layout), "layout %d", layout);
    CHECK_TEXT(want[layout], text_string(&text), "layout %d", layout);
    CHECK(!json_write(&text, NULL, (enum json_layout)layout), "no document");
    text_free(&text);
  }
  json_decref(json);
}

/* A value without memory is NULL. A container into which it is put becomes NULL, too, and nothing leaks. */
TEST(a_missing_value_spreads) {
  struct text text = {0};
  json_t *list = json_array(), *object = json_object();
  json_add(&list, number_json(1));
  json_add(&list, NULL);
  CHECK(!list, "the list");
  json_add(&list, number_json(2));
  json_put(&object, "list", list);
  CHECK(!object, "the object");
  json_put(&object, "more", text_json("x"));
  CHECK(!json_write(&text, object, JSON_IN_LINE), "the document");
  text_free(&text);
}

TEST(what_cannot_be_read_is_named_with_its_place) {
  static const struct {
    const char *text, *want;
  } rows[] = {
      {"", "name:1:0: "},
      {"{\"a\":1,\n\"a\":2}", "name:2:3: duplicate object key"},
      {"{\"a\":1} x", "name:1:9: "},
      {"[1,]", "name:1:4: "},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    json_t *json;
    CHECK_EQ(HALOTUNE_PARSE, json_read(rows[i].text, strlen(rows[i].text), "name", &json), "row %zu", i);
    CHECK(!json && strncmp(rows[i].want, fail_text(), strlen(rows[i].want)) == 0, "row %zu: %s", i, fail_text());
  }
}

TEST(members_are_read_one_by_one) {
  static const struct {
    const char *text, *want;
    bool is_whole;
  } rows[] = {
      {"{}", "", true},
      {" { } ", "", true},
      {"{\"block_x\":32,\"storage\":\"planes\"}", "block_x=32;storage='planes';", true},
      {" { \"a\" : -1.5e3 , \"b\" : \"\" } ", "a=-1.5e3;b='';", true},
      {"", "", false},
      {"[1]", "", false},
      {"{\"a\":1", "a=1;", false},
      {"{\"a\":1,", "a=1;", false},
      {"{\"a\":1,}", "a=1;", false},
      {"{\"a\" 1}", "", false},
      {"{\"a\":}", "", false},
      {"{\"a\":\"x\\\"y\"}", "", false},
      {"{\"a\":1}x", "a=1;", false},
      {"{\"a\":1 2}", "a=1;", false},
      {"{a:1}", "", false},
      {"{,\"a\":1}", "", false},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text text = {0};
    struct json_member member;
    const char *at = rows[i].text;
    while (json_member_next(&at, &member)) {
      const char *quote = member.is_string ? "'" : "";
      text_printf(&text, "%.*s=%s%.*s%s;", (int)member.name_length, member.name, quote, (int)member.value_length,
                  member.value, quote);
    }
    CHECK_TEXT(rows[i].want, text_string(&text), "row %zu %s", i, rows[i].text);
    CHECK_EQ(rows[i].is_whole, json_members_end(at), "row %zu %s", i, rows[i].text);
    text_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_as_short_as_they_can_be),
      cmocka_unit_test(numbers_that_were_read_are_written_with_the_same_text),
      cmocka_unit_test(floats_need_no_more_digits_than_they_have),
      cmocka_unit_test(memory_is_counted_by_values_and_not_within_strings),
      cmocka_unit_test(rounded_numbers_have_few_digits),
      cmocka_unit_test(strings_are_escaped),
      cmocka_unit_test(texts_are_compared_as_json_has_them),
      cmocka_unit_test(a_document_has_three_layouts),
      cmocka_unit_test(a_missing_value_spreads),
      cmocka_unit_test(what_cannot_be_read_is_named_with_its_place),
      cmocka_unit_test(members_are_read_one_by_one),
  };
  return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
