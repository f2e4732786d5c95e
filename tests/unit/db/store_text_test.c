/* store_text_test.c: values that the database stores as text: launches, parameters, coefficients; numbers and bytes in
 * documents. */
#include <stdlib.h>

#include "db/exchange/base64.h"
#include "db/store/launch_text.h"
#include "stencil/template/template_read.h"
#include "tests/unit/template/templates.h"

static const struct launch plain = {
    .kernel = "star7_zmarch", .block = {32, 8, 1}, .grid = {4, 64, 8}, .index_bytes = 4};
static const struct launch full = {.kernel = "k",
                                   .block = {1, 1, 1},
                                   .grid = {2147483647, 65535, 1},
                                   .shared_bytes = 232448,
                                   .index_bytes = 8,
                                   .literal_extents = true,
                                   .passes_coefficients = true,
                                   .passes_textures = 2};
static const struct launch linear = {
    .kernel = "_k1", .block = {1, 2, 3}, .grid = {1, 1, 1}, .index_bytes = 4, .passes_textures = 1};

static const struct launch hopper = {
    .kernel = "k",
    .block = {32, 8, 1},
    .grid = {4, 2, 1},
    .index_bytes = 4,
    .passes_coefficients = true,
    .input_maps = {.count = 2, .fields = {0, 2}, .box = {40, 12, 1}, .promotion_bytes = 128},
    .output_maps = {.count = 1, .fields = {0}, .box = {32, 8, 256}},
    .cluster = {2, 1, 1},
    .overlaps = true};
static const struct launch stores = {
    .kernel = "k",
    .block = {1, 1, 1},
    .grid = {1, 1, 1},
    .index_bytes = 4,
    .output_maps = {.count = 1, .fields = {1}, .box = {4, 1, 1}, .promotion_bytes = 256},
    .workspace_bytes = 64};
static const struct launch looking_back = {.kernel = "k",
                                           .block = {8, 4, 1},
                                           .grid = {9, 1, 1},
                                           .index_bytes = 4,
                                           .passes_coefficients = true,
                                           .workspace_bytes = 4096};

static const struct launch resident = {.kernel = "k",
                                       .block = {8, 4, 1},
                                       .grid = {1, 9, 1},
                                       .index_bytes = 4,
                                       .steps = 8,
                                       .cooperative = true,
                                       .workspace_bytes = 4096};

static const struct launch fused = {
    .kernel = "k", .block = {1, 1, 1}, .grid = {1, 1, 1}, .index_bytes = 4, .steps = 4, .carried_count = 1};

#define HEAD "{\"kernel\":\"k\",\"block\":[1,1,1],\"grid\":[1,1,1],"

#define PLAIN_ARGUMENTS "\"inputs\",\"outputs\",\"geometry\""
#define TAIL(members, arguments) \
  HEAD "\"shared_bytes\":0,\"index_bytes\":4,\"extents\":\"runtime\"," members ",\"arguments\":[" arguments "]}"
#define MAPS(fields, box, promotion) \
  "\"tensor_inputs\":{\"fields\":" fields ",\"box\":" box ",\"promotion_bytes\":" promotion "}"

TEST(a_launch_is_read_as_it_was_written) {
  static const struct {
    const struct launch *launch;
    const char *text;
  } rows[] = {
      {&plain, "{\"kernel\":\"star7_zmarch\",\"block\":[32,8,1],\"grid\":[4,64,8],\"shared_bytes\":0,\"index_bytes\":4,"
               "\"extents\":\"runtime\",\"arguments\":[\"inputs\",\"outputs\",\"geometry\"]}"},
      {&full,
       "{\"kernel\":\"k\",\"block\":[1,1,1],\"grid\":[2147483647,65535,1],\"shared_bytes\":232448,\"index_bytes\":8,"
       "\"extents\":\"literal\",\"arguments\":[\"inputs\",\"outputs\",\"textures2d\",\"geometry\",\"coefficients\"]}"},
      {&linear, "{\"kernel\":\"_k1\",\"block\":[1,2,3],\"grid\":[1,1,1],\"shared_bytes\":0,\"index_bytes\":4,"
                "\"extents\":\"runtime\",\"arguments\":[\"inputs\",\"outputs\",\"textures\",\"geometry\"]}"},
      {&hopper,
       "{\"kernel\":\"k\",\"block\":[32,8,1],\"grid\":[4,2,1],\"shared_bytes\":0,\"index_bytes\":4,\"extents\":\"runtime\","
       "\"tensor_inputs\":{\"fields\":[0,2],\"box\":[40,12,1],\"promotion_bytes\":128},"
       "\"tensor_outputs\":{\"fields\":[0],\"box\":[32,8,256],\"promotion_bytes\":0},\"cluster\":[2,1,1],\"overlap\":true,"
       "\"arguments\":[\"inputs\",\"outputs\",\"tensor_inputs\",\"tensor_outputs\",\"geometry\",\"coefficients\"]}"},
      {&stores,
       "{\"kernel\":\"k\",\"block\":[1,1,1],\"grid\":[1,1,1],\"shared_bytes\":0,\"index_bytes\":4,\"extents\":\"runtime\","
       "\"tensor_outputs\":{\"fields\":[1],\"box\":[4,1,1],\"promotion_bytes\":256},\"workspace_bytes\":64,"
       "\"arguments\":[\"inputs\",\"outputs\",\"tensor_outputs\",\"workspace\",\"geometry\"]}"},
      {&resident,
       "{\"kernel\":\"k\",\"block\":[8,4,1],\"grid\":[1,9,1],\"shared_bytes\":0,\"index_bytes\":4,"
       "\"extents\":\"runtime\",\"cooperative\":true,\"steps\":8,\"workspace_bytes\":4096,\"arguments\":[\"inputs\","
       "\"outputs\",\"workspace\",\"geometry\"]}"},
      {&looking_back,
       "{\"kernel\":\"k\",\"block\":[8,4,1],\"grid\":[9,1,1],\"shared_bytes\":0,\"index_bytes\":4,"
       "\"extents\":\"runtime\",\"workspace_bytes\":4096,\"arguments\":[\"inputs\",\"outputs\",\"workspace\","
       "\"geometry\",\"coefficients\"]}"},
      {&fused, "{\"kernel\":\"k\",\"block\":[1,1,1],\"grid\":[1,1,1],\"shared_bytes\":0,\"index_bytes\":4,"
               "\"extents\":\"runtime\",\"steps\":4,\"carried\":1,\"arguments\":[\"inputs\",\"outputs\",\"carried\","
               "\"geometry\"]}"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text text = {0}, again = {0};
    struct launch launch = {.kernel = ""};
    launch_write(rows[i].launch, &text);
    CHECK_TEXT(rows[i].text, text_string(&text), "row %zu", i);
    CHECK_OK(launch_read(text_string(&text), &launch));
    CHECK(launch.is_stored, "row %zu: nothing says whose launch a text is", i);
    launch_write(&launch, &again);
    CHECK_TEXT(rows[i].text, text_string(&again), "row %zu: read and written", i);
    text_free(&again);
    text_free(&text);
  }
}

TEST(a_launch_that_cannot_be_right_is_refused) {
  static const struct {
    const char *text, *message;
  } rows[] = {
      {"", "launch:1:0: "},
      {"[]", "expected an object"},
      {"{}", "'kernel'"},
      {"{\"kernel\":\"k k\"}", "'kernel'"},
      {"{\"kernel\":\"1k\"}", "'kernel'"},
      {"{\"kernel\":7}", "'kernel'"},
      {"{\"kernel\":\"k\",\"block\":[1,1]}", "'block'"},
      {"{\"kernel\":\"k\",\"block\":[1,1,0]}", "'block'"},
      {"{\"kernel\":\"k\",\"block\":[1,1,1.0]}", "'block'"},
      {"{\"kernel\":\"k\",\"block\":[1,1,1],\"grid\":[1,1,2147483648]}", "'grid'"},
      {HEAD "\"shared_bytes\":-1}", "'shared_bytes'"},
      {HEAD "\"shared_bytes\":0,\"index_bytes\":5}", "'index_bytes'"},
      {HEAD "\"shared_bytes\":0,\"index_bytes\":4,\"extents\":\"other\"}", "'extents'"},
      {HEAD "\"shared_bytes\":0,\"index_bytes\":4,\"extents\":\"runtime\",\"arguments\":[\"inputs\"]}", "'arguments'"},
      {HEAD "\"shared_bytes\":0,\"index_bytes\":4,\"extents\":\"runtime\",\"arguments\":[\"inputs\",\"outputs\","
            "\"tensor\",\"geometry\"]}",
       "'arguments'"},
      {HEAD "\"shared_bytes\":0,\"index_bytes\":4,\"extents\":\"runtime\",\"fibers\":2,"
            "\"arguments\":[\"inputs\",\"outputs\",\"geometry\"]}",
       "does not know 'fibers'"},
      {TAIL("\"cluster\":2", PLAIN_ARGUMENTS), "'cluster' must be three numbers"},
      {TAIL("\"cluster\":[2,0,1]", PLAIN_ARGUMENTS), "'cluster'"},
      {TAIL("\"cluster\":[1024,1,2]", PLAIN_ARGUMENTS), "a 'cluster' has at most 1024 blocks"},
      {TAIL("\"cluster\":[2147483647,2147483647,2147483647]", PLAIN_ARGUMENTS), "a 'cluster' has at most 1024 blocks"},
      {TAIL("\"overlap\":false", PLAIN_ARGUMENTS), "'overlap' can only be true"},
      {TAIL("\"cooperative\":false", PLAIN_ARGUMENTS), "'cooperative' can only be true"},
      {TAIL("\"cooperative\":true,\"overlap\":true", PLAIN_ARGUMENTS),
       "'overlap' and 'cooperative' exclude each other"},
      {TAIL("\"tensor_inputs\":7", PLAIN_ARGUMENTS),
       "'tensor_inputs' must have the members fields, box and promotion_bytes"},
      {TAIL("\"tensor_inputs\":{\"fields\":[0],\"box\":[8,8,1]}", PLAIN_ARGUMENTS),
       "'tensor_inputs' must have the members"},
      {TAIL(MAPS("[]", "[8,8,1]", "0"), PLAIN_ARGUMENTS), "the 'fields' of 'tensor_inputs' must be a list"},
      {TAIL(MAPS("[16]", "[8,8,1]", "0"), PLAIN_ARGUMENTS), "'fields' is not a whole number from 0 to 15"},
      {TAIL(MAPS("[0]", "[8,8]", "0"), PLAIN_ARGUMENTS), "'box' must be three numbers"},
      {TAIL(MAPS("[0]", "[8,8,1]", "512"), PLAIN_ARGUMENTS), "'promotion_bytes'"},
      {TAIL(MAPS("[0]", "[8,8,1]", "0"), PLAIN_ARGUMENTS), "'arguments'"},
      {TAIL(MAPS("[0]", "[8,8,1]", "0"), "\"inputs\",\"outputs\",\"tensor_outputs\",\"geometry\""), "'arguments'"},
      {TAIL("\"overlap\":true", "\"inputs\",\"outputs\",\"tensor_inputs\",\"geometry\""), "'arguments'"},
      {HEAD "\"shared_bytes\":0,\"index_bytes\":4,\"extents\":\"runtime\",\"workspace_bytes\":0,"
            "\"arguments\":[\"inputs\",\"outputs\",\"workspace\",\"geometry\"]}",
       "'workspace_bytes'"},
      {TAIL("\"overlap\":true,\"workspace_bytes\":16", "\"inputs\",\"outputs\",\"workspace\",\"geometry\""),
       "'overlap' and 'workspace_bytes' exclude each other"},
      {HEAD "\"shared_bytes\":0,\"index_bytes\":4,\"extents\":\"runtime\",\"workspace_bytes\":16,"
            "\"arguments\":[\"inputs\",\"outputs\",\"geometry\"]}",
       "'arguments'"},
      {HEAD "\"shared_bytes\":0,\"index_bytes\":4,\"extents\":\"runtime\","
            "\"arguments\":[\"inputs\",\"outputs\",\"workspace\",\"geometry\"]}",
       "'arguments'"},
      {TAIL("\"steps\":1", PLAIN_ARGUMENTS), "'steps' is not a whole number from 2 to 4096"},
      {TAIL("\"steps\":2,\"carried\":1", PLAIN_ARGUMENTS), "'arguments'"},
      {TAIL("\"carried\":1", "\"inputs\",\"outputs\",\"carried\",\"geometry\""),
       "'carried' is only for a launch of several steps"},
      {TAIL("\"steps\":2", "\"inputs\",\"outputs\",\"carried\",\"geometry\""), "'arguments'"},
      {"{\"kernel\":\"k\",\"kernel\":\"l\"}", "duplicate object key"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct launch launch = plain;
    CHECK_EQ(HALOTUNE_PARSE, launch_read(rows[i].text, &launch), "row %zu", i);
    CHECK(strstr(fail_text(), rows[i].message), "row %zu: %s", i, fail_text());
    CHECK_TEXT(plain.kernel, launch.kernel, "row %zu: out is as it was", i);
  }
}

static const char parameters[] =
    "a: {values: [1, 2, 0.5], default: 2, about: x}, mode: {values: [flat, edge], default: flat, about: x}";

TEST(parameters_are_read_as_they_were_written) {
  static const struct {
    const char *text;
    halotune_status want;
    int a, mode;
  } rows[] = {
      {"{\"a\":0.5,\"mode\":\"edge\"}", HALOTUNE_OK, 2, 1},
      {"{\"a\":1.0}", HALOTUNE_OK, 0, 0},
      {"{}", HALOTUNE_OK, 1, 0},
      {"{\"a\":3}", HALOTUNE_PARSE, 0, 0},
      {"{\"a\":\"1\"}", HALOTUNE_PARSE, 0, 0},
      {"{\"mode\":0}", HALOTUNE_PARSE, 0, 0},
      {"{\"b\":1}", HALOTUNE_PARSE, 0, 0},
      {"[]", HALOTUNE_PARSE, 0, 0},
  };
  struct template *template;
  struct text text = {0};
  CHECK_OK(template_of_rules(parameters, "", &template));
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct configuration out;
    CHECK_EQ(rows[i].want, configuration_read(template, rows[i].text, &out), "row %zu: %s", i, fail_text());
    if (rows[i].want != HALOTUNE_OK) continue;
    CHECK_EQ(rows[i].a, out.choice[0], "row %zu", i);
    CHECK_EQ(rows[i].mode, out.choice[1], "row %zu", i);
  }
  struct configuration older;
  CHECK_OK(configuration_read_older(template, "{\"b\":1,\"mode\":\"edge\"}", &older));
  CHECK(older.choice[0] == 1 && older.choice[1] == 1, "a parameter that is no more is passed over");
  CHECK_EQ(HALOTUNE_PARSE, configuration_read_older(template, "{\"a\":3}", &older), "a value is not");
  configuration_write(template, &(struct configuration){{2, 1}}, &text);
  CHECK_TEXT(rows[0].text, text_string(&text), "written");
  text_free(&text);
  template_free(template);
}

/* A template from texts in memory equals the one from files. */
TEST(a_template_is_parsed_from_its_texts) {
  struct template *read, *parsed;
  CHECK_OK(template_read("templates/zmarch.yaml", &read));
  struct source source = source_of("database", read->yaml, strlen(read->yaml));
  CHECK_OK(template_parse(&source, read->cuda, &parsed));
  CHECK_EQ(0, identity_compare(read->hash, parsed->hash), "hash");
  CHECK_EQ(read->parameter_count, parsed->parameter_count, "parameters");
  CHECK_TEXT(read->cuda, parsed->cuda, "cuda");
  template_free(parsed);
  struct source broken = source_of("database", "name: [", 7);
  CHECK_EQ(HALOTUNE_PARSE, template_parse(&broken, read->cuda, &parsed), "broken");
  CHECK(!parsed && strstr(fail_text(), "database:"), "%s", fail_text());
  template_free(read);
}

TEST(coefficients_keep_every_bit) {
  const double values[] = {0.1, -1.0 / 3, 1e-300, 12345678901234567.0, 0};
  double out[5] = {1, 1, 1, 1, 1};
  int count = 0;
  struct text text = {0};
  coefficients_write(values, 5, &text);
  CHECK_OK(coefficients_read(text_string(&text), out, 5, &count));
  CHECK_EQ(5, count, "all of them");
  for (int i = 0; i < 5; i++) CHECK(values[i] == out[i], "%d: %s", i, text_string(&text));
  CHECK_EQ(HALOTUNE_PARSE, coefficients_read(text_string(&text), out, 4, &count), "too many");
  CHECK_EQ(HALOTUNE_PARSE, coefficients_read("[null]", out, 5, &count), "no number");
  text_free(&text);
}

TEST(base64_of_the_standard) {
  static const struct {
    const char *bytes, *text;
  } rows[] = {{"", ""},
              {"f", "Zg=="},
              {"fo", "Zm8="},
              {"foo", "Zm9v"},
              {"foob", "Zm9vYg=="},
              {"fooba", "Zm9vYmE="},
              {"foobar", "Zm9vYmFy"}};
  static const char *const bad[] = {"Z", "Zg=", "Zg==Zg==", "Z===", "Zh==", "Zm9*", "=Zg=", "Zg=a"};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text text = {0}, back = {0};
    base64_write(rows[i].bytes, strlen(rows[i].bytes), &text);
    CHECK_TEXT(rows[i].text, text_string(&text), "row %zu", i);
    CHECK(base64_read(rows[i].text, &back), "row %zu", i);
    CHECK_EQ(strlen(rows[i].bytes), back.length, "row %zu", i);
    CHECK(back.length == 0 || memcmp(rows[i].bytes, back.bytes, back.length) == 0, "row %zu", i);
    text_free(&back);
    text_free(&text);
  }
  for (size_t i = 0; i < COUNT(bad); i++) {
    struct text back = {0};
    CHECK(!base64_read(bad[i], &back), "\"%s\"", bad[i]);
    text_free(&back);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_launch_is_read_as_it_was_written),
      cmocka_unit_test(a_launch_that_cannot_be_right_is_refused),
      cmocka_unit_test(parameters_are_read_as_they_were_written),
      cmocka_unit_test(a_template_is_parsed_from_its_texts),
      cmocka_unit_test(coefficients_keep_every_bit),
      cmocka_unit_test(base64_of_the_standard),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
