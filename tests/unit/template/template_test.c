/* template_test.c: every field of a template's file, configurations, and the templates in templates/. */
#include "tests/unit/template/templates.h"

#include <dirent.h>

#include "base/files/file.h"
#include "base/system/clock.h"
#include "stencil/file/yaml.h"
#include "stencil/template/access.h"
#include "stencil/template/template_read.h"
#include "tests/unit/locales.h"

static const char full[] = "name: test\n"
                           "about: all fields\n"
                           "parameters:\n"
                           "  block_x: {values: [32, 64], default: 64, about: threads along x}\n"
                           "  storage: {values: [planes, registers], default: planes, about: where planes are}\n"
                           "  halo: {values: [planes, edge], default: edge, about: a word of both}\n"
                           "starts:\n"
                           "  - {block_x: 32, storage: registers}\n"
                           "  - {halo: planes}\n"
                           "rules:\n"
                           "  - {keep: dims == 3, otherwise: not of three dimensions}\n"
                           "  - keep: |\n"
                           "      block_x <= 32 ||\n"
                           "      storage == planes\n"
                           "    otherwise: too many registers\n"
                           "block: [block_x, 2, 1]\n"
                           "grid: [ceil(nx/block_x), ny, nz]\n"
                           "shared_bytes: block_x*element_bytes\n"
                           "workspace_bytes: 16 + nx\n"
                           "access:\n"
                           "  loads_per_point: taps\n"
                           "  over_read: 1 + 2/block_x\n"
                           "  computing_share: 1\n"
                           "  shared: [[1, block_x, 0, 1], [2, 0, 0, 2]]\n"
                           "tensor_inputs:\n"
                           "  box: [block_x + 4, 4, 1]\n"
                           "tensor_outputs:\n"
                           "  when: storage == registers\n"
                           "  box: [block_x, 4, 2]\n"
                           "  promotion_bytes: 2*block_x\n"
                           "cluster: [block_x/32, 1, 1]\n"
                           "overlap: halo == edge\n"
                           "steps: block_x/16\n";

/* The facts of a device and of a small grid. */
static void simple_facts(double facts[FACT_COUNT]) {
  device_facts(facts);
  facts[FACT_dims] = 3;
  facts[FACT_nx] = 100;
  facts[FACT_ny] = 10;
  facts[FACT_nz] = 5;
  facts[FACT_taps] = 7;
  facts[FACT_element_bytes] = 4;
  facts[FACT_iterates] = 1;
  facts[FACT_most_steps] = 8;
}

TEST(every_field_is_read) {
  struct template *t;
  struct bindings bindings;
  double facts[FACT_COUNT];
  simple_facts(facts);
  CHECK_OK(template_of_texts(full, "// update()\n", &t));
  CHECK_TEXT("test", t->name, "name");
  CHECK_TEXT("all fields", t->about, "about");
  CHECK_TEXT("// update()\n", t->cuda, "cuda");
  CHECK_EQ(3, t->parameter_count, "parameters");
  CHECK_TEXT("block_x", t->parameters[0].name, "name");
  CHECK_TEXT("threads along x", t->parameters[0].about, "about");
  CHECK_NEAR(64, t->parameters[0].values[t->parameters[0].default_value], 0, "default");
  CHECK(!t->parameters[0].is_word && t->parameters[1].is_word, "words");
  CHECK_EQ(2, t->parameters[1].value_count, "values");
  CHECK_TEXT("registers", t->parameters[1].words[1], "words");
  CHECK_EQ(3, t->word_count, "`planes` is one word");
  CHECK(t->rule_count > 2, "rules, and those of every template");
  CHECK_TEXT("too many registers", t->rules[1].otherwise, "otherwise");
  CHECK_OK(bindings_make(t, facts, &bindings));
  CHECK_NEAR(64, bindings_value(&bindings, t->block[0]), 0, "block");
  CHECK_NEAR(2, bindings_value(&bindings, t->grid[0]), 0, "grid");
  CHECK_NEAR(5, bindings_value(&bindings, t->grid[2]), 0, "grid");
  CHECK_NEAR(256, bindings_value(&bindings, t->shared_bytes), 0, "shared_bytes");
  CHECK_NEAR(116, bindings_optional(&bindings, &t->workspace_bytes), 0, "workspace_bytes");
  CHECK(t->has_access, "access");
  CHECK_NEAR(7, bindings_value(&bindings, t->access.loads_per_point), 0, "loads_per_point");
  CHECK_EQ(2, t->access.shared_count, "shared");
  CHECK_NEAR(64, bindings_value(&bindings, t->access.shared[0].stride[1]), 0, "stride");
  CHECK_NEAR(2, bindings_value(&bindings, t->access.shared[1].elements), 0, "elements");
  CHECK(bindings_take_maps(&bindings, &t->input_maps), "tensor_inputs");
  CHECK_NEAR(68, bindings_value(&bindings, t->input_maps.box[0]), 0, "box");
  CHECK_NEAR(128, bindings_optional(&bindings, &t->input_maps.promotion_bytes), 0, "promotion_bytes by default");
  CHECK(!bindings_take_maps(&bindings, &t->output_maps), "tensor_outputs, but not in this configuration");
  CHECK_NEAR(2, bindings_value(&bindings, t->output_maps.box[2]), 0, "box");
  CHECK_NEAR(128, bindings_optional(&bindings, &t->output_maps.promotion_bytes), 0, "promotion_bytes");
  CHECK_NEAR(2, bindings_optional(&bindings, &t->cluster[0]), 0, "cluster");
  CHECK_NEAR(1, bindings_optional(&bindings, &t->overlap), 0, "overlap");
  CHECK_NEAR(4, bindings_optional(&bindings, &t->steps), 0, "steps");
  CHECK_EQ(2, t->start_count, "starts");
  CHECK(t->starts[0].choice[0] == 0 && t->starts[0].choice[1] == 1 && t->starts[0].choice[2] == 1, "the first start");
  CHECK(t->starts[1].choice[0] == 1 && t->starts[1].choice[1] == 0 && t->starts[1].choice[2] == 0, "the second start");
  bindings_free(&bindings);
  template_free(t);
}

/* Hash the texts of `full` with one part replaced. */
static void hash_with(const char *part, const char *instead, const char *cuda, struct identity *out) {
  char yaml[2 * sizeof full];
  struct template *t;
  const char *at = strstr(full, part);
  CHECK(at, "no such part: %s", part);
  snprintf(yaml, sizeof yaml, "%.*s%s%s", (int)(at - full), full, instead, at + strlen(part));
  CHECK_OK(template_of_texts(yaml, cuda, &t));
  *out = t->hash;
  template_free(t);
}

TEST(the_hash_is_that_of_the_meaning) {
  static const char cuda[] = "// kernel\nint f(int a) { return a + 1; }\n";
  static const struct {
    const char *part, *instead, *cuda;
    bool is_same;
  } rows[] = {
      {"name: test", "name: test", cuda, true},
      {"name: test", "# a comment\nname:   'test'", cuda, true},
      {"about: all fields", "about: other words", cuda, true},
      {"about: threads along x", "about: other words", cuda, true},
      {"otherwise: too many registers", "otherwise: other words", cuda, true},
      {"values: [32, 64], default: 64, about: threads along x", "default: 64, about: x, values: [ 32,64 ]", cuda, true},
      {"keep: dims == 3", "keep: '(dims)==  3'", cuda, true},
      {"      block_x <= 32 ||\n", "      block_x <= 32\n      ||\n", cuda, true},
      {"  loads_per_point: taps\n", "  loads_per_point: 2*taps\n", cuda, true},
      {"  - {halo: planes}\n", "", cuda, true},
      {"name: test", "name: test", "int f(int a)\n{\n  return a + 1;  // one more\n}\n", true},
      {"name: test", "name: test", "int f(int a) { return a + 2; }\n", false},
      {"name: test", "name: test", "int f(int a) { return a +1; } int b;\n", false},
      {"name: test", "name: test", "int f(int a) { return a +\n#line 3\n1; }\n", false}, /* it cuts a definition */
      {"name: test", "name: tests", cuda, false},
      {"values: [32, 64]", "values: [32, 64, 128]", cuda, false},
      {"values: [32, 64]", "values: [64, 32]", cuda, false},
      {"default: 64", "default: 32", cuda, false},
      {"[planes, registers], default", "[planes, register_file, registers], default", cuda, false},
      {"keep: dims == 3", "keep: dims == 2", cuda, false},
      {"keep: dims == 3", "keep: dims >= 3", cuda, false},
      {"keep: dims == 3", "keep: inputs == 3", cuda, false},
      {"block_x <= 32 ||", "block_x <= 32 &&", cuda, false},
      {"block: [block_x, 2, 1]", "block: [2, block_x, 1]", cuda, false},
      {"grid: [ceil(nx/block_x), ny, nz]", "grid: [floor(nx/block_x), ny, nz]", cuda, false},
      {"shared_bytes: block_x*element_bytes", "shared_bytes: element_bytes*block_x", cuda, false},
      {"workspace_bytes: 16 + nx\n", "", cuda, false},
      {"workspace_bytes: 16 + nx\n", "workspace_bytes: 32 + nx\n", cuda, false},
      {"  promotion_bytes: 2*block_x\n", "", cuda, false},
      {"tensor_inputs:\n  box: [block_x + 4, 4, 1]\n", "", cuda, false},
      {"cluster: [block_x/32, 1, 1]", "cluster: [1, block_x/32, 1]", cuda, false},
      {"overlap: halo == edge", "overlap: halo == planes", cuda, false},
      {"steps: block_x/16", "steps: block_x/32", cuda, false},
      {"steps: block_x/16\n", "", cuda, false},
  };
  struct identity usual, hash;
  hash_with("name: test", "name: test", cuda, &usual);
  for (size_t i = 0; i < COUNT(rows); i++) {
    hash_with(rows[i].part, rows[i].instead, rows[i].cuda, &hash);
    CHECK_EQ(rows[i].is_same, identity_compare(usual, hash) == 0, "row %zu: %s -> %s", i, rows[i].part,
             rows[i].instead);
  }
}

/* A file without `sums` keeps out of reproducible results, whatever its CUDA text calls. */
TEST(a_file_without_sums_has_the_identity_of_sums_in_an_order_of_their_own) {
  static const char *const texts[] = {"void f() { update(); }\n", "void f() { update_vector(); }\n",
                                      "void f() { update(); add_plane(); }\n", "void f() { }\n"};
  for (size_t i = 0; i < COUNT(texts); i++) {
    struct identity without, own_order, update;
    hash_with("name: test", "name: test", texts[i], &without);
    hash_with("name: test", "name: test\nsums: own_order", texts[i], &own_order);
    hash_with("name: test", "name: test\nsums: update", texts[i], &update);
    CHECK(identity_compare(without, own_order) == 0, "%s", texts[i]);
    CHECK(identity_compare(without, update) != 0, "%s", texts[i]);
  }
}

/* What a file takes from common.yml counts as it is written, so that a program with another common.yml can check it. */
TEST(what_a_template_takes_from_the_common_text_is_part_of_its_own_files) {
  static const struct {
    const char *common, *rules;
    bool is_same;
  } rows[] = {
      {"[coefficients, no_scan, one_warp]", "[]", true},
      {"[no_scan, one_warp, coefficients]", "[]", true},
      {"[coefficients, no_scan]", "[]", false},
      {"[coefficients, no_scan, two_warps]", "[]", false},
      {"[coefficients, no_scan]", "[one_warp]", true},
      {"[{coefficients: [literal]}, no_scan, one_warp]", "[]", false},
      {"[{coefficients: {values: [literal], default: literal}}, no_scan, one_warp]", "[]", false},
  };
  struct identity first = {0}, first_old = {0};
  for (size_t i = 0; i < COUNT(rows); i++) {
    char yaml[512];
    struct template *t;
    snprintf(yaml, sizeof yaml,
             "name: t\nabout: x\nparameters: {}\ncommon: %s\nrules: %s\nblock: [32, 1, 1]\ngrid: [nx, 1, 1]\n"
             "shared_bytes: 0\n",
             rows[i].common, rows[i].rules);
    CHECK_OK(template_of_texts(yaml, "", &t));
    if (i == 0) first = t->own_hash, first_old = t->old_own_hash;
    CHECK_EQ(rows[i].is_same, identity_compare(first, t->own_hash) == 0, "row %zu", i);
    CHECK(identity_compare(first_old, t->old_own_hash) == 0, "row %zu: up to version 9 it did not count", i);
    template_free(t);
  }
}

/* A definition has the same hash as its text in place of its name. The order of parameters and rules does not
 * matter. */
TEST(the_hash_is_that_of_rules_written_out) {
  static const char *const same[] = {
      "name: t\nabout: x\nparameters: {a: {values: [1, 2], default: 1, about: x}, b: {values: [3], default: 3, about: x}}\n"
      "rules: [{keep: a + b < 9, otherwise: x}, {keep: low_x > 0, otherwise: x}, {keep: is_scan == 0, otherwise: z}]\n",
      "name: t\nabout: x\nparameters: {b: {values: [3], default: 3, about: x}, a: {values: [1, 2], default: 1, about: x}}\n"
      "define: {sum: a + b, most: 9}\n"
      "rules: [{keep: is_scan == 0, otherwise: y}, {keep: low_x > 0, otherwise: x}, {keep: sum < most, otherwise: x}]\n",
  };
  static const char launch[] = "block: [32, 1, 1]\ngrid: [nx, 1, 1]\nshared_bytes: 0\n";
  struct identity hashes[COUNT(same)];
  for (size_t i = 0; i < COUNT(same); i++) {
    char yaml[1024];
    struct template *t;
    snprintf(yaml, sizeof yaml, "%s%s", same[i], launch);
    CHECK_OK(template_of_texts(yaml, "", &t));
    hashes[i] = t->hash;
    template_free(t);
  }
  CHECK_EQ(0, identity_compare(hashes[0], hashes[1]), "written in two ways");
}

/* Names of rules stand in `common`, and stood in `rules` before. Those of `common` come first. */
TEST(rules_are_named_in_either_list) {
  static const char *const same[] = {
      "common: [no_scan, extents, one_warp]\nrules: [{keep: low_x > 0, otherwise: x}]\n",
      "common: [extents]\nrules: [{keep: low_x > 0, otherwise: x}, no_scan, one_warp]\n",
  };
  struct template *t[COUNT(same)];
  for (size_t i = 0; i < COUNT(same); i++) {
    char yaml[1024];
    snprintf(yaml, sizeof yaml,
             "name: t\nabout: x\nparameters: {a: {values: [1, 2], default: 1, about: x}}\n%sblock: [32, 1, 1]\n"
             "grid: [nx, 1, 1]\nshared_bytes: 0\n",
             same[i]);
    CHECK_OK(template_of_texts(yaml, "", &t[i]));
  }
  CHECK_EQ(0, identity_compare(t[0]->hash, t[1]->hash), "the same template");
  CHECK_EQ(t[1]->rule_count, t[0]->rule_count, "rules");
  CHECK_TEXT("is_scan == 0", t[0]->rules[0].text, "rules by name");
  CHECK_TEXT("low_x > 0", t[0]->rules[2].text, "rules of its own");
  for (size_t i = 0; i < COUNT(same); i++) template_free(t[i]);
}

TEST(configurations_are_set_by_name) {
  struct template *t;
  struct bindings bindings;
  double facts[FACT_COUNT];
  simple_facts(facts);
  CHECK_OK(template_of_texts(full, "", &t));
  CHECK_OK(bindings_make(t, facts, &bindings));
  struct configuration configuration = configuration_default(t);
  CHECK_OK(configuration_set(t, "block_x=32", &configuration));
  CHECK_OK(configuration_set(t, "storage=registers", &configuration));
  bindings_configure(&bindings, &configuration);
  CHECK(!bindings_failed_rule(&bindings), "kept");
  CHECK_OK(configuration_set(t, "block_x=64", &configuration));
  bindings_configure(&bindings, &configuration);
  CHECK(bindings_failed_rule(&bindings) == &t->rules[1], "left out by the second rule");
  bindings.variables[FACT_dims] = 2;
  CHECK(bindings_failed_rule(&bindings) == &t->rules[0], "left out by the first rule");
  static const char *const bad[] = {"block_x=33", "block_x", "block_x=", "block=32", "=32", "", "storage=2"};
  for (size_t i = 0; i < COUNT(bad); i++) {
    CHECK_EQ(HALOTUNE_ARGUMENT, configuration_set(t, bad[i], &configuration), "row %zu \"%s\"", i, bad[i]);
  }
  bindings_free(&bindings);
  template_free(t);
}

/* A line of a good file, its replacement, and the message. */
TEST(bad_files_are_refused) {
  static const struct {
    const char *line, *instead, *message;
  } rows[] = {
      {"name: test\n", "", "the field 'name' is missing"},
      {"name: test\n", "name: float\n", "'float' cannot be a template's name"},
      {"about: all fields\n", "abuot: all fields\n", "'abuot' is not a field that is allowed here"},
      {"default: 64", "default: 48", "the default '48' is not a value of 'block_x'"},
      {"values: [32, 64]", "values: []", "a parameter has between 1 and 256 values"},
      {"values: [32, 64]", "values: [32, many]", "the values of a parameter are all numbers or all words"},
      {"values: [32, 64]", "values: 32", "expected a list, such as [1, 2] for 'values'"},
      {"block_x: {values: [32, 64], default: 64, about: threads along x}", "blocking: {values: [32, 64], default: 64}",
       "the field 'about' is missing: it says in a line what 'blocking' is"},
      {"about: all fields", "about: \"all\\nfields\"", "this text cannot be an 'about': it must be one line"},
      {"about: threads along x}", "about: 'threads \\'}", "this text cannot be an 'about': it becomes a comment"},
      {"about: threads along x}", "about: \"threads\\nalong x\"}",
       "this text cannot be an 'about': it must be one line"},
      {"values: [32, 64]", "values: [32, 64, 32]", "the value '32' appears twice"},
      {"values: [32, 64]", "values: [32, 64, 64.0]", "the value '64.0' appears twice"},
      {"values: [32, 64]", "values: [64, nan]", "'nan' cannot be a value: it is not a finite number"},
      {"values: [32, 64]", "values: [64, -inf]", "'-inf' cannot be a value: it is not a finite number"},
      {"values: [32, 64]", "values: [64, 1e400]", "'1e400' cannot be a value: it is not a finite number"},
      {"values: [32, 64]", "values: [64, +032]", "'+032' cannot be a value: a number that begins with 0 is octal in C"},
      {"values: [32, 64]", "values: [64, 0x20]", "'0x20' cannot be a value: it is not written in decimal digits"},
      {"values: [32, 64]", "values: [64, ' 32']", "' 32' cannot be a value: it is not written in decimal digits"},
      {"values: [32, 64]", "values: [64, 032]", "'032' cannot be a value: a number that begins with 0"},
      {"[planes, registers]", "[planes, planes]", "the value 'planes' appears twice"},
      {"[planes, registers]", "[planes, Planes]", "in capitals, its name or one of its words equals"},
      {"[planes, registers]", "[planes, a b]", "'a b' cannot be a value: a name consists of letters"},
      {"[planes, registers]", "[planes, '']", "'' cannot be a value: a name cannot be empty"},
      {"[planes, registers]", "[planes, 'e,f=3']", "'e,f=3' cannot be a value"},
      {"[planes, registers]", "[planes, class]", "'class' cannot be a value: CUDA or the format of stencil files"},
      {"  halo:", "  a b-c:", "'a b-c' cannot be a parameter's name: a name consists of letters"},
      {"  halo:", "  class:", "'class' cannot be a parameter's name: CUDA or the format of stencil files"},
      {"  halo:", "  fmin:", "'fmin' cannot be a parameter's name: it is the name of a function"},
      {"  halo:", "  halo_:", "'halo_' cannot be a parameter's name: names that end in an underscore"},
      {"  halo:", "  kernel:",
       "'kernel' cannot be a parameter's name: in capitals, its name or one of its words is the name of a macro"},
      {"  halo:", "  Low_x:", "in capitals, its name or one of its words is the name of a macro"},
      {"  halo:", "  kernel_parameters:", "in capitals, its name or one of its words is the name of a macro"},
      {"  halo:", "  halotune_mode:", "in capitals, its name or one of its words is the name of a macro"},
      {"  halo:", "  Storage:",
       "'Storage' cannot be a parameter's name: in capitals, its name or one of its words equals"},
      {"  halo:", "  storage_planes:", "in capitals, its name or one of its words equals"},
      {"  halo:", "  load_path:", "'planes' cannot be a value of load_path: its values are plain"},
      {"  halo:", "  coefficients:", "'planes' cannot be a value of coefficients: its values are parameter"},
      {"  halo:", "  extents:", "'planes' cannot be a value of extents: its values are runtime"},
      {"  halo:", "  weights:", "'planes' cannot be a value of weights: its values are each"},
      {"  halo:", "  min_blocks:", "'planes' cannot be a value of min_blocks: its values are whole numbers"},
      {"  block_x: {values: [32, 64]", "  min_blocks: {values: [-1, 64]", "'-1' cannot be a value of min_blocks"},
      {"  block_x: {values: [32, 64]", "  min_blocks: {values: [0.5, 64]", "'0.5' cannot be a value of min_blocks"},
      {"  block_x: {values: [32, 64]", "  load_path: {values: [1, 64]", "'1' cannot be a value of load_path"},
      {"  block_x:", "  dims:", "'dims' already means something else"},
      {"  halo:", "  storage:", "storage"},
      {"[planes, edge], default: edge", "[edge, planes], default: edge", "'planes' already means something else"},
      {"  - {halo: planes}\n", "  - {hallo: planes}\n", "there is no parameter 'hallo'"},
      {"  - {halo: planes}\n", "  - {halo: registers}\n", "this is not a value of 'halo'"},
      {"  - {halo: planes}\n", "  - {halo: [planes]}\n", "this is not a value of 'halo'"},
      {"  - {halo: planes}\n", "  - {}\n", "expected parameters that differ from their defaults"},
      {"  - {halo: planes}\n", "  - planes\n", "expected parameters that differ from their defaults"},
      {"  - {block_x: 32, storage: registers}\n  - {halo: planes}\n", "  halo: planes\n",
       "expected a list of 1 to 8 maps"},
      {"otherwise: not of three dimensions", "else: no", "'else' is not a field that is allowed here"},
      {"keep: dims == 3", "keep: dimms == 3", "dimms"},
      {"block: [block_x, 2, 1]", "block: [block_x, 2]", "expected three expressions, for x, y and z"},
      {"shared_bytes: block_x*element_bytes\n", "", "the field 'shared_bytes' is missing"},
      {"shared_bytes: block_x*", "shared_bytes: tile*", "tile"},
      {"workspace_bytes: 16 + nx", "workspace_bytes: [16, nx]", "expected an expression"},
      {"  over_read: 1 + 2/block_x\n", "", "the field 'over_read' is missing"},
      {"  over_read: 1 +", "  overread: 1 +", "'overread' is not a field that is allowed here"},
      {"[2, 0, 0, 2]", "[2, 0, 0]", "expected four expressions"},
      {"[2, 0, 0, 2]", "2", "expected four expressions"},
      {"tensor_inputs:\n", "tensor_input:\n", "'tensor_input' is not a field that is allowed here"},
      {"  box: [block_x + 4, 4, 1]\n", "  promotion_bytes: 128\n", "the field 'box' is missing"},
      {"  box: [block_x + 4, 4, 1]\n", "  box: [block_x + 4, 4]\n", "expected three expressions, for x, y and z"},
      {"  box: [block_x + 4, 4, 1]\n", "  box: 8\n", "expected a list, such as [1, 2] for 'box'"},
      {"  box: [block_x + 4, 4, 1]\n", "  box: [tile, 4, 1]\n", "tile"},
      {"tensor_inputs:\n  box: [block_x + 4, 4, 1]\n", "tensor_inputs: [8, 4, 1]\n",
       "expected fields, such as box: [block_x, block_y, 1]"},
      {"  when: storage == registers\n", "  if: storage == registers\n", "'if' is not a field that is allowed here"},
      {"  when: storage == registers\n", "  when: [storage]\n", "expected an expression"},
      {"promotion_bytes: 2*block_x", "promotion_bytes: 256B", "256B"},
      {"cluster: [block_x/32, 1, 1]", "cluster: block_x/32", "expected three expressions, for x, y and z"},
      {"cluster: [block_x/32, 1, 1]", "cluster: [2]", "expected three expressions, for x, y and z"},
      {"overlap: halo == edge", "overlap: {halo: edge}", "expected an expression"},
      {"overlap: halo == edge", "overlap: halo = edge", "="},
      {"steps: block_x/16", "steps: nx/16", "the steps of a launch follow from parameters alone, not from 'nx'"},
      {"steps: block_x/16", "steps: [2]", "expected an expression"},
      {"[2, 0, 0, 2]", "[2, 0, 0, 2], [1, 0, 0, 1], [1, 0, 0, 1], [1, 0, 0, 1]", "at most 4 kinds of access"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    char yaml[2 * sizeof full];
    struct template *t;
    const char *line = strstr(full, rows[i].line);
    CHECK(line, "row %zu: no such line", i);
    snprintf(yaml, sizeof yaml, "%.*s%s%s", (int)(line - full), full, rows[i].instead, line + strlen(rows[i].line));
    CHECK_EQ(HALOTUNE_PARSE, template_of_texts(yaml, "", &t), "row %zu: %s", i, rows[i].instead);
    CHECK(strstr(fail_text(), rows[i].message), "row %zu: %s", i, fail_text());
    CHECK(strstr(fail_text(), "test.yaml:"), "row %zu: %s", i, fail_text());
    CHECK(!t, "row %zu", i);
  }
}

static int is_yaml(const struct dirent *entry) {
  const char *dot = strrchr(entry->d_name, '.');
  return dot && strcmp(dot, ".yaml") == 0;
}

/* A database may keep a template whose names hide those of the launch. It is read as it was when it was stored. */
TEST(stored_templates_may_hide_names_of_the_launch) {
  char *yaml;
  size_t length;
  struct template *t;
  static const char path[] = "tests/data/bad/templates/word_of_the_launch.yaml";
  CHECK_OK(file_read(path, MAX_STENCIL_BYTES, &yaml, &length));
  struct source source = source_of("stored", yaml, length);
  CHECK_OK(template_parse(&source, "", &t));
  template_free(t);
  free(yaml);
}

/* tests/data/bad/templates/NAME.yaml is refused with "PATH:" and the text of NAME.expected, which ends in a newline. */
TEST(bad_files_are_refused_with_their_messages) {
  struct dirent **entries = NULL;
  int count = scandir("tests/data/bad/templates", &entries, is_yaml, alphasort);
  CHECK(count >= 15, "%d files", count);
  for (int i = 0; i < count; i++) {
    char path[512], expected_path[512], *expected;
    size_t length;
    struct template *t;
    int stem = (int)(strlen(entries[i]->d_name) - strlen(".yaml"));
    snprintf(path, sizeof path, "tests/data/bad/templates/%s", entries[i]->d_name);
    snprintf(expected_path, sizeof expected_path, "tests/data/bad/templates/%.*s.expected", stem, entries[i]->d_name);
    CHECK_OK(file_read(expected_path, MAX_STENCIL_BYTES, &expected, &length));
    expected[length - 1] = '\0';
    CHECK_EQ(HALOTUNE_PARSE, template_read(path, &t), "%s", path);
    CHECK(strncmp(fail_text(), path, strlen(path)) == 0, "%s: %s", path, fail_text());
    CHECK_TEXT(expected, fail_text() + strlen(path) + 1, "%s", path);
    free(expected);
    free(entries[i]);
  }
  free(entries);
}

/* A formula with definitions has the same value as the formula with these written out. */
TEST(definitions_are_written_out) {
  static const char yaml[] = "name: test\nabout: for tests\n"
                             "parameters:\n"
                             "  block_x: {values: [32, 64], default: 64, about: threads along x}\n"
                             "  points: {values: [1, 2], default: 2, about: points of a thread}\n"
                             "  extra: {values: [0, 1], default: 0, about: nothing}\n"
                             "define:\n"
                             "  tile: block_x*points     # a comment\n"
                             "  wide: tile + low_x - 1\n"
                             "rules:\n"
                             "  - {keep: 2*wide - tile*3 <= wide, otherwise: too wide}\n"
                             "  - {keep: low_x > 0, otherwise: too narrow}\n"
                             "block: [block_x, 1, 1]\n"
                             "grid: [ceil(nx/tile), ny, nz]\n"
                             "shared_bytes: -wide*(wide - tile)\n"
                             "access: {loads_per_point: wide/tile, over_read: 1}\n";
  struct template *t;
  struct bindings bindings;
  double facts[FACT_COUNT];
  simple_facts(facts);
  facts[FACT_low_x] = 4;
  CHECK_OK(template_of_texts(yaml, "", &t));
  CHECK_OK(bindings_make(t, facts, &bindings));
  CHECK_NEAR(2 * 131 - 128 * 3 <= 131, bindings_value(&bindings, t->rules[0].keep), 0, "rule");
  CHECK_NEAR(1, bindings_value(&bindings, t->grid[0]), 0, "grid");
  CHECK_NEAR(-131 * 3, bindings_value(&bindings, t->shared_bytes), 0, "-(a + b) is negated as a whole");
  CHECK_NEAR(131 / 128.0, bindings_value(&bindings, t->access.loads_per_point), 0, "access");
  CHECK_NEAR(1, access_of(&bindings).computing_share, 0, "all threads compute where the file does not say it");
  CHECK_EQ(1, t->rules[0].last_parameter, "the last parameter of a definition of a definition");
  CHECK_TEXT("2*wide - tile*3 <= wide", t->rules[0].text, "the rule as it is written");
  bindings_free(&bindings);
  template_free(t);
}

/* A value that is not finite breaks a rule, as 0 does. */
TEST(rules_that_are_not_finite_fail) {
  static const struct {
    const char *rule;
    bool keeps;
  } rows[] = {{"nought/nought", false}, {"1/nought", false}, {"-1/nought", false}, {"sqrt(0 - one)", false},
              {"nought", false},        {"one", true},       {"0 - one", true},    {"1/nought > 1", true}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    char rule[128];
    struct template *t;
    struct bindings bindings;
    double facts[FACT_COUNT];
    device_facts(facts);
    snprintf(rule, sizeof rule, "{keep: '%s', otherwise: x}", rows[i].rule);
    CHECK_OK(template_of_rules("nought: {values: [0], default: 0, about: x}, one: {values: [1], default: 1, about: x}",
                               rule, &t));
    CHECK_OK(bindings_make(t, facts, &bindings));
    CHECK_EQ(rows[i].keeps, bindings_failed_rule(&bindings) == NULL, "row %zu: %s", i, rows[i].rule);
    bindings_free(&bindings);
    template_free(t);
  }
}

/* A program that uses the library may have set a locale with a decimal comma. */
TEST(numbers_have_a_point_in_every_locale) {
  static const char parameters[] = "share: {values: [0.5, 2], default: 0.5, about: x}";
  struct template *usual, *t;
  CHECK_OK(template_of_rules(parameters, "{keep: 'share < 1.5', otherwise: x}", &usual));
  comma_locale_begin();
  halotune_status status = template_of_rules(parameters, "{keep: 'share < 1.5', otherwise: x}", &t);
  comma_locale_end();
  CHECK_OK(status);
  CHECK(!t->parameters[0].is_word, "0.5 is a number");
  CHECK_NEAR(0.5, t->parameters[0].values[0], 0, "0.5");
  CHECK_EQ(0, identity_compare(usual->hash, t->hash), "the hash");
  template_free(t);
  template_free(usual);
}

/* Texts are UTF-8, and macros are in capitals of ASCII, whatever locale a program has set. */
TEST(characters_do_not_depend_on_the_locale) {
  struct template *t, *refused;
  turkish_locale_begin();
  halotune_status status = template_of_rules("a: {values: [1], default: 1, about: 2 \xC3\x97 2}", "", &t);
  halotune_status taken = template_of_rules("fields: {values: [1], default: 1, about: x}", "", &refused);
  turkish_locale_end();
  CHECK_OK(status);
  CHECK_EQ(HALOTUNE_PARSE, taken, "FIELDS");
  CHECK(strstr(fail_text(), "the name of a macro that every template has"), "%s", fail_text());
  template_free(t);
}

/* The least processor time, in ms, in which a template is read that has so many parameters of 256 words, all with long
 * names that begin alike. */
static double words_ms(int parameters) {
  enum { TRIES = 5 };
  struct text yaml = {0};
  double least = INFINITY;
  text_printf(&yaml, "name: test\nabout: for tests\nparameters:\n");
  for (int i = 0; i < parameters; i++) {
    text_printf(&yaml, "  q%058d_%02d: {values: [", 0, i);
    for (int k = 0; k < MAX_VALUES; k++) text_printf(&yaml, "%sw%d", k > 0 ? ", " : "", k);
    text_printf(&yaml, "], default: w0, about: a}\n");
  }
  text_printf(&yaml, "rules: []\nblock: [1, 1, 1]\ngrid: [1, 1, 1]\nshared_bytes: 0\n");
  for (int i = 0; i < TRIES; i++) {
    struct template *t;
    const double begin_ms = clock_thread_ms();
    CHECK_OK(template_of_texts(text_string(&yaml), "// nothing\n", &t));
    least = fmin(least, clock_thread_ms() - begin_ms);
    template_free(t);
  }
  text_free(&yaml);
  return least;
}

/* Macros are not compared in pairs: for eight times as many, that would take more than sixty times as long. */
TEST(many_words_take_a_look_each) {
  const double few = words_ms(3), many = words_ms(24);
  CHECK(many < 24 * few, "%g ms, and %g ms for an eighth of them", many, few);
}

TEST(steps_are_a_whole_number) {
  static const struct {
    const char *line;
    int choice, steps; /* 0: an error */
  } rows[] = {{"steps: block_x/16\n", 0, 2}, {"steps: block_x/16\n", 1, 4},   {"", 0, 1},
              {"steps: block_x/64\n", 0, 0}, {"steps: block_x - 32\n", 0, 0}, {"steps: 200*block_x\n", 0, 0}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    char yaml[2 * sizeof full];
    struct template *t;
    int steps = -1;
    snprintf(yaml, sizeof yaml, "%.*s%s", (int)(strstr(full, "steps:") - full), full, rows[i].line);
    CHECK_OK(template_of_texts(yaml, "// update()\n", &t));
    struct configuration configuration = configuration_default(t);
    configuration.choice[0] = (unsigned char)rows[i].choice;
    halotune_status status = configuration_steps(t, &configuration, &steps);
    CHECK_EQ(rows[i].steps > 0 ? HALOTUNE_OK : HALOTUNE_ARGUMENT, status, "row %zu", i);
    if (rows[i].steps > 0) CHECK_EQ(rows[i].steps, steps, "row %zu", i);
    template_free(t);
  }
}

TEST(both_files_are_needed) {
  struct template *t;
  CHECK_EQ(HALOTUNE_NOT_FOUND, template_of_texts(full, NULL, &t), "no .cu");
  CHECK(!t, "no .cu");
  CHECK_EQ(HALOTUNE_NOT_FOUND, template_of_texts(NULL, "", &t), "no .yaml");
  CHECK(!t, "no .yaml");
}

/* A database may hold longer texts, whose parse would take fifty times as much memory. */
TEST(texts_in_memory_are_as_long_as_files_at_most) {
  static const struct {
    int yaml, cuda;
    halotune_status want;
  } rows[] = {{MAX_STENCIL_BYTES, MAX_STENCIL_BYTES, HALOTUNE_OK},
              {MAX_STENCIL_BYTES + 1, 1, HALOTUNE_PARSE},
              {MAX_STENCIL_BYTES, MAX_STENCIL_BYTES + 1, HALOTUNE_PARSE}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text yaml = {0}, cuda = {0};
    struct template *t;
    text_printf(&yaml, "%s# %*c", full, rows[i].yaml - (int)strlen(full) - 2, 'x');
    text_printf(&cuda, "%*c", rows[i].cuda, ' ');
    CHECK(text_ok(&yaml) && text_ok(&cuda), "row %zu", i);
    const struct source source = source_of("stored", text_string(&yaml), yaml.length);
    CHECK_EQ(rows[i].want, template_parse(&source, text_string(&cuda), &t), "row %zu: %s", i, fail_text());
    CHECK((rows[i].want == HALOTUNE_OK) == (t != NULL), "row %zu", i);
    template_free(t);
    text_free(&cuda);
    text_free(&yaml);
  }
}

/* JSON holds UTF-8 only. An export of another text would not match the template's identity. */
TEST(cuda_is_utf8) {
  static const struct {
    const char *cuda, *error; /* NULL: it is read */
  } rows[] = {
      {"// gr\xC3\xB6\xC3\x9F"
       "er \xE2\x80\xAE \xF0\x9F\x98\x80\n\r\t\f",
       NULL},
      {"\n// \xC3\xB6 gr\xF6\xDF"
       "er\n",
       "test.cu:2:8: this is no character of UTF-8; save the file as UTF-8"},
      {"int \xFF;\n", "test.cu:1:5: this is no character of UTF-8; save the file as UTF-8"},
      {"\xED\xA0\x80", "test.cu:1:1: this is no character of UTF-8; save the file as UTF-8"},
      {"\xC2\x85", "test.cu:1:1: this is no character of UTF-8; save the file as UTF-8"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct template *t;
    CHECK_EQ(rows[i].error ? HALOTUNE_PARSE : HALOTUNE_OK, template_of_texts(full, rows[i].cuda, &t), "row %zu", i);
    CHECK(!rows[i].error || strstr(fail_text(), rows[i].error), "row %zu: %s", i, fail_text());
    template_free(t);
  }
}

/* The prelude implements some parameters, and recognises them by their words. */
TEST(our_templates_spell_common_parameters_alike) {
  static const struct {
    const char *name, *words[4];
  } common[] = {{"coefficients", {"parameter", "literal", "constant"}},
                {"extents", {"runtime", "literal"}},
                {"load_path", {"plain", "readonly", "texture", "texture2d"}}};
  struct dirent **entries = NULL;
  int count = scandir("templates", &entries, is_yaml, alphasort);
  CHECK(count >= 3, "%d templates", count);
  for (int i = 0; i < count; i++) {
    char path[512];
    struct template *t;
    snprintf(path, sizeof path, "templates/%s", entries[i]->d_name);
    CHECK_OK(template_read(path, &t));
    CHECK(strncmp(t->name, entries[i]->d_name, strlen(t->name)) == 0, "%s: its name is that of the file", path);
    CHECK(t->has_access, "%s: access", path);
    for (size_t c = 0; c < COUNT(common); c++) {
      for (int p = 0; p < t->parameter_count; p++) {
        const struct parameter *parameter = &t->parameters[p];
        if (strcmp(parameter->name, common[c].name) != 0) continue;
        for (int v = 0; v < parameter->value_count; v++) {
          bool is_common = false;
          for (int w = 0; w < 4 && common[c].words[w]; w++) {
            is_common |= strcmp(common[c].words[w], parameter->words[v]) == 0;
          }
          CHECK(is_common, "%s: %s=%s", path, parameter->name, parameter->words[v]);
        }
      }
    }
    template_free(t);
    free(entries[i]);
  }
  free(entries);
}

/* Whether one of our templates has the rule. */
static bool some_template_has(const char *keep) {
  struct dirent **entries = NULL;
  bool found = false;
  int count = scandir("templates", &entries, is_yaml, alphasort);
  for (int i = 0; i < count; i++) {
    char path[512];
    struct template *t;
    snprintf(path, sizeof path, "templates/%s", entries[i]->d_name);
    CHECK_OK(template_read(path, &t));
    for (int r = 0; r < t->rule_count; r++) found = found || strcmp(t->rules[r].text, keep) == 0;
    template_free(t);
    free(entries[i]);
  }
  free(entries);
  return found;
}

/* A rule that names a parameter which a template does not have is skipped, so a misspelt name would disable it. */
TEST(each_common_rule_is_one_of_some_template) {
  struct arena arena = {0};
  struct yaml *root;
  char *text;
  size_t length;
  int rules = 0;
  CHECK_OK(file_read("templates/common.yml", MAX_STENCIL_BYTES, &text, &length));
  struct source source = source_of("templates/common.yml", text, length);
  CHECK_OK(yaml_parse(&source, &arena, &root));
  for (const struct yaml *section = root->first; section; section = section->next) {
    for (const struct yaml *item = section->first; item; item = item->next) {
      const struct yaml *list = item->kind == YAML_LIST  ? item
                                : item->kind == YAML_MAP ? yaml_find(item, "rules")
                                                         : NULL;
      if (strcmp(section->key, "define") == 0 || (item->key && strcmp(item->key, "plain_boundary") == 0)) continue;
      for (const struct yaml *rule = list ? list->first : NULL; rule; rule = rule->next, rules++) {
        const char *keep = yaml_find(rule, "keep")->text;
        CHECK(some_template_has(keep), "no template has the rule %s", keep);
      }
    }
  }
  CHECK(rules > 15, "%d rules", rules);
  arena_free(&arena);
  free(text);
}

/* Templates in databases name them: a program that lacks one cannot read the winners of such a template. */
TEST(common_rules_and_parameters_stay) {
  static const char *const names[][2] = {
      {"rules", "no_scan"},        {"rules", "plain_boundary"}, {"rules", "stages_find_ends"},
      {"rules", "one_warp"},       {"rules", "two_warps"},      {"rules", "whole_vectors"},
      {"rules", "march_along_z"},  {"rules", "bands"},          {"rules", "plane_sums"},
      {"parameters", "load_path"}, {"parameters", "streaming"}, {"parameters", "coefficients"},
      {"parameters", "extents"},   {"parameters", "overlap"},   {"parameters", "min_blocks"},
      {"parameters", "weights"},   {"parameters", "padding"},   {"rules", "reads_neighbours"},
  };
  struct arena arena = {0};
  struct yaml *root;
  char *text;
  size_t length;
  CHECK_OK(file_read("templates/common.yml", MAX_STENCIL_BYTES, &text, &length));
  struct source source = source_of("templates/common.yml", text, length);
  CHECK_OK(yaml_parse(&source, &arena, &root));
  for (size_t i = 0; i < COUNT(names); i++)
    CHECK(yaml_find(yaml_find(root, names[i][0]), names[i][1]), "%s has no %s", names[i][0], names[i][1]);
  arena_free(&arena);
  free(text);
}

TEST(a_comment_does_not_include_common_code) {
  static const struct {
    const char *cuda;
    bool includes;
  } texts[] = {
      {"#include \"common.cuh\"\n", true},
      {"int a;\n # include /* b */ \"common.cuh\" // c\n", true},
      {"int a; // \"common.cuh\"\n", false},
      {"/*\n#include \"common.cuh\"\n*/\n", false},
      {"#include \"other.cuh\" // \"common.cuh\"\n", false},
  };
  for (size_t i = 0; i < COUNT(texts); i++) {
    CHECK_EQ(texts[i].includes, *template_common_cuda(texts[i].cuda) != '\0', "row %zu: %s", i, texts[i].cuda);
  }
}

/* The dot of a folder's name begins no extension. */
TEST(the_cuda_file_lies_beside_the_yaml_file) {
  static const char *const names[] = {"test.yaml", "test"};
  for (size_t i = 0; i < COUNT(names); i++) {
    char folder[] = "/tmp/halotune_test.XXXXXX", yaml[64], cuda[64];
    struct template *t;
    CHECK(mkdtemp(folder), "mkdtemp");
    snprintf(yaml, sizeof yaml, "%s/%s", folder, names[i]);
    snprintf(cuda, sizeof cuda, "%s/test.cu", folder);
    FILE *file = fopen(yaml, "w");
    CHECK(file && fputs(full, file) >= 0 && fclose(file) == 0, "%s", yaml);
    CHECK_EQ(HALOTUNE_NOT_FOUND, template_read(yaml, &t), "%s", yaml);
    CHECK(strncmp(fail_text(), cuda, strlen(cuda)) == 0, "%s: %s", yaml, fail_text());
    CHECK(unlink(yaml) == 0 && rmdir(folder) == 0, "%s", folder);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_field_is_read),
      cmocka_unit_test(the_cuda_file_lies_beside_the_yaml_file),
      cmocka_unit_test(the_hash_is_that_of_the_meaning),
      cmocka_unit_test(a_file_without_sums_has_the_identity_of_sums_in_an_order_of_their_own),
      cmocka_unit_test(what_a_template_takes_from_the_common_text_is_part_of_its_own_files),
      cmocka_unit_test(the_hash_is_that_of_rules_written_out),
      cmocka_unit_test(a_comment_does_not_include_common_code),
      cmocka_unit_test(rules_are_named_in_either_list),
      cmocka_unit_test(configurations_are_set_by_name),
      cmocka_unit_test(bad_files_are_refused),
      cmocka_unit_test(stored_templates_may_hide_names_of_the_launch),
      cmocka_unit_test(bad_files_are_refused_with_their_messages),
      cmocka_unit_test(definitions_are_written_out),
      cmocka_unit_test(each_common_rule_is_one_of_some_template),
      cmocka_unit_test(common_rules_and_parameters_stay),
      cmocka_unit_test(rules_that_are_not_finite_fail),
      cmocka_unit_test(numbers_have_a_point_in_every_locale),
      cmocka_unit_test(characters_do_not_depend_on_the_locale),
      cmocka_unit_test(many_words_take_a_look_each),
      cmocka_unit_test(steps_are_a_whole_number),
      cmocka_unit_test(both_files_are_needed),
      cmocka_unit_test(texts_in_memory_are_as_long_as_files_at_most),
      cmocka_unit_test(cuda_is_utf8),
      cmocka_unit_test(our_templates_spell_common_parameters_alike),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
