/* stage_words.c: writes the list of stages as CUDA: one number for all stages that are alike, else a table. */
#include "stencil/generate/stage_words.h"

#include <stdio.h>
#include <string.h>

#include "base/memory/array.h"
#include "stencil/cuda/inline_names.h"

/* The words for numbers of a stage, if all stages are alike. The reaches stand in the order of add_sums. */
static const struct inlined stage_words[] = {
    {"PerStage", {NULL}, "int"},
    {"STAGE_LOW_X", {NULL}, "LOW_X"},
    {"STAGE_HIGH_X", {NULL}, "HIGH_X"},
    {"STAGE_SPAN_X", {NULL}, "(LOW_X + HIGH_X)"},
    {"STAGE_LOW_Y", {NULL}, "LOW_Y"},
    {"STAGE_HIGH_Y", {NULL}, "HIGH_Y"},
    {"STAGE_SPAN_Y", {NULL}, "(LOW_Y + HIGH_Y)"},
    {"STAGE_LOW_Z", {NULL}, "LOW_Z"},
    {"STAGE_HIGH_Z", {NULL}, "HIGH_Z"},
    {"STAGE_SPAN_Z", {NULL}, "(LOW_Z + HIGH_Z)"},
    {"of_stage", {"stage", "number"}, "number"},
    {"sum_first", {"stages", "number"}, "stages*number"},
    {"sum_last", {"stages", "number"}, "stages*number"},
};
static const struct inlined update_word = {
    "update_stage", {"stage", "taps", "coefficients", "results"}, "update(taps, coefficients, results)"};

static const char *const reaches[] = {"LOW", "HIGH", "SPAN"};
enum { REACHES = COUNT(reaches), SUMS = REACHES * MAX_DIMS, MOST_WORDS = COUNT(stage_words) + 2 + SUMS };
enum { WORD_BYTES = 48 };

/* All words, if all stages are alike. */
struct word_list {
  struct inlined words[MOST_WORDS];
  int count;
  char number[16]; /* of stages */
  struct {
    char name[WORD_BYTES], text[WORD_BYTES];
  } sums[SUMS];
};

/* Add ALL_LOW_X and so on, the sums over all stages. */
static void add_sums(struct word_list *list, const char *count) {
  for (int i = 0; i < SUMS; i++) {
    char *name = list->sums[i].name, *text = list->sums[i].text;
    const struct inlined *of_stage = &stage_words[1 + i];
    snprintf(name, WORD_BYTES, "ALL_%s_%c", reaches[i % REACHES], 'X' + i / REACHES);
    snprintf(text, WORD_BYTES, "%s*%s", count, of_stage->text);
    list->words[list->count++] = (struct inlined){name, {NULL}, text};
  }
}

/* A template with a parameter `steps` has the number of stages as a macro. */
static void find_words(const struct prelude *prelude, struct word_list *out) {
  const struct template *template = prelude->spec->template;
  const bool has_steps = !template || template_parameter(template, "steps", strlen("steps")) >= 0;
  const char *count = has_steps ? "STEPS" : out->number;
  snprintf(out->number, sizeof out->number, "%d", stages_count(&prelude->stages));
  out->count = 0;
  for (size_t i = 0; i < COUNT(stage_words); i++) out->words[out->count++] = stage_words[i];
  out->words[out->count++] = (struct inlined){"STAGE_COUNT", {NULL}, count};
  add_sums(out, count);
  out->words[out->count++] = update_word;
}

static void write_alike(struct text *text, const struct prelude *prelude) {
  struct word_list list;
  find_words(prelude, &list);
  text_printf(
      text,
      "#define STAGES_ALIKE 1  // all stages make one update, so that a number that each stage has is one number\n");
  for (int i = 0; i < list.count; i++) {
    const struct inlined *word = &list.words[i];
    const bool is_product = strchr(word->text, '*');
    if (!word->parameters[0])
      text_printf(text, is_product ? "#define %s (%s)\n" : "#define %s %s\n", word->name, word->text);
  }
  for (size_t i = 0; i < COUNT(stage_words); i++) {
    const struct inlined *word = &stage_words[i];
    if (!word->parameters[0]) continue;
    text_printf(text, "__device__ constexpr int %s(int %s, PerStage %s) { return %s; }\n", word->name,
                word->parameters[0], word->parameters[1], word->text);
  }
}

/* Append the reach of all stages on one side of an axis. */
static void write_reach(struct text *text, const struct stages *stages, int axis, enum edge_side side) {
  text_printf(text, "__device__ constexpr PerStage STAGE_%s_%c(", side == SIDE_LOW ? "LOW" : "HIGH", 'X' + axis);
  for (int stage = 0; stage < stages_count(stages); stage++) {
    text_printf(text, "%s%d", stage > 0 ? ", " : "", stages_get(stages, stage)->reach[axis][side]);
  }
  text_printf(text, ");\n");
}

/* Append the reach of all stages together. */
static void write_sums(struct text *text, const struct stages *stages, int axis) {
  const int count = stages_count(stages), low = stages_reach_first(stages, count, axis, SIDE_LOW),
            high = stages_reach_first(stages, count, axis, SIDE_HIGH);
  text_printf(text, "#define ALL_LOW_%c %d\n#define ALL_HIGH_%c %d\n#define ALL_SPAN_%c %d\n", 'X' + axis, low,
              'X' + axis, high, 'X' + axis, low + high);
}

static const char table_type[] =
    "// A number that each stage has. Where one number is asked for, it is the largest.\n"
    "struct PerStage {\n"
    "  int of[STAGE_COUNT];\n"
    "  __device__ constexpr PerStage(int all) : of() {\n"
    "    for (int stage = 0; stage < STAGE_COUNT; stage++) of[stage] = all;\n"
    "  }\n"
    "  template <class... Numbers>\n"
    "  __device__ constexpr PerStage(int first, Numbers... rest) : of{first, rest...} {}\n"
    "  __device__ constexpr PerStage operator+(const PerStage &other) const {\n"
    "    PerStage sum = *this;\n"
    "    for (int stage = 0; stage < STAGE_COUNT; stage++) sum.of[stage] += other.of[stage];\n"
    "    return sum;\n"
    "  }\n"
    "  __device__ constexpr PerStage operator+(int other) const { return *this + PerStage(other); }\n"
    "  __device__ constexpr operator int() const {\n"
    "    int largest = of[0];\n"
    "    for (int stage = 1; stage < STAGE_COUNT; stage++) largest = of[stage] > largest ? of[stage] : largest;\n"
    "    return largest;\n"
    "  }\n"
    "};\n";

static const char table_functions[] =
    "__device__ constexpr int of_stage(int stage, const PerStage &number) { return number.of[stage]; }\n"
    "__device__ constexpr int sum_first(int stages, const PerStage &number) {\n"
    "  int sum = 0;\n"
    "  for (int stage = 0; stage < stages; stage++) sum += number.of[stage];\n"
    "  return sum;\n"
    "}\n"
    "__device__ constexpr int sum_last(int stages, const PerStage &number) {\n"
    "  return sum_first(STAGE_COUNT, number) - sum_first(STAGE_COUNT - stages, number);\n"
    "}\n";

static void write_table(struct text *text, const struct stages *stages) {
  text_printf(text, "#define STAGES_ALIKE 0\n#define STAGE_COUNT %d  // all stages of the launch\n%s",
              stages_count(stages), table_type);
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    const char name = (char)('X' + axis);
    write_reach(text, stages, axis, SIDE_LOW);
    write_reach(text, stages, axis, SIDE_HIGH);
    text_printf(text, "__device__ constexpr PerStage STAGE_SPAN_%c = STAGE_LOW_%c + STAGE_HIGH_%c;\n", name, name,
                name);
    write_sums(text, stages, axis);
  }
  text_printf(text, "%s", table_functions);
}

void stage_words_write(struct text *text, const struct prelude *prelude) {
  text_printf(
      text, "// How far the taps of a stage, and of all stages together, reach: to the low side, the high side, and to "
            "both (SPAN).\n// The number of a stage; its sum over the first stages, and over the last ones.\n");
  if (stages_are_alike(&prelude->stages)) write_alike(text, prelude);
  else write_table(text, &prelude->stages);
}

halotune_status stage_words_inline(const struct prelude *prelude, const char *cuda, struct text *out) {
  struct word_list list = {.count = 0};
  if (stages_are_alike(&prelude->stages)) find_words(prelude, &list);
  return inline_names(cuda, list.words, list.count, out);
}
