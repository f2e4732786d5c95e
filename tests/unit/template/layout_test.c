/* layout_test.c: templates whose comments, blanks and line ends were changed at random. Two texts of one identity make
 * the same kernel, with the same source for the compiler. SEED (1) and ROUNDS (6, for each template) of the environment
 * say which and how many. */
#include <dirent.h>

#include "base/numbers/random.h"
#include "gpu/architecture/arch.h"
#include "stencil/cuda/cuda_tokens.h"
#include "tests/unit/stencils.h"
#include "tests/unit/template/templates.h"

/* A text with what generating removes, replaces and moves. */
static const char lively[] =
    "#ifndef HALOTUNE_PRELUDE\n#include \"example.cuh\"\n#include \"common.cuh\"\n#endif\n"
    "constexpr int A = 1, BB = 2 /* b */, CC = A + 0 // c\n, DD = 4;\n"
    "#define F(x, y) (x + 0 + y)\n#define G (3 + 0)\n#define M(a) a; \\\n  a + 0; \\\n  (a + 0)\n#define P KERNEL_PARAMETERS\n"
    "#if BLOCK_X + 0 > 800 && (1 || UNKNOWN)\n#define Q 1\n#elif BLOCK_X == 64 // 64\n#define Q 2\n#else\n#define Q 3\n#endif\n"
    "template <int N, class T = int> struct Pair { static constexpr int v = N*(1 ? 2 : 3) + 0; T a; };\n"
    "// whether\n__device__ bool whether(int q) { return q && (1 && true); }\n;\n\n/* a table */\n"
    "__constant__ float table[] = {1, 2, (1 ? 3 : 4)};\n"
    "__device__ int chosen(int q) {\n  if (q) return 1;\n  else return 2;\n  return 3;\n}\n"
    "extern \"C\" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {\n"
    "  const index_t x = g.x0 + index_t(blockIdx.x)*BLOCK_X + threadIdx.x, y = g.y0 + blockIdx.y, z = g.z0 + blockIdx.z;\n"
    "  if (x >= g.x1) return;\n  const Fields f = FIELDS;\n"
    "  if constexpr (BLOCK_X > 1) { int t = 0; (void)t; } else { return; }\n"
    "#pragma unroll Q\n  for (int i = 0; i < 1; i++) { float r = i + 2*i + i*.5f; (void)r; }\n"
    "  for (int i = 0; i < 0; i++) return; // none\n"
    "  int u = BLOCK_X == 64 ? 1 : 2, w = of_stage (0, x + 1) * 2, v = sum_first(1, of_stage(0, 2 + 3)) %3;\n"
    "  { of_stage(0, int)h = -sum_last(2, LOW_X); (void)h; }\n  update_stage(0, PointTaps{f, g, x, y, z}, COEFFICIENT_VALUES, 0);\n"
    "  int c = (int)-1 + 0, d = Pair<(2 > 1)>{1}.a + F(x + 0, y) + G*2 + CC + DD + Q + chosen(1) + whether(c) + table[0];\n"
    "  M(u + v);\n  if (x) ; else if (0) ; else { (void)w, (void)d; }\n"
    "  compute_point(PointTaps{f, g, x, y, z}, COEFFICIENT_VALUES, f, g, x, y, z);\n}\n";

static const char lively_yaml[] =
    "name: lively\nabout: for tests\nparameters:\n  block_x: {values: [64], default: 64, about: threads}\n"
    "common: [coefficients, extents, one_warp]\nrules: []\nblock: [block_x, 1, 1]\n"
    "grid: [ceil(nx / block_x), ny, nz]\nshared_bytes: 0\n";

/* Append a text in which up to `most` gaps between tokens are widened. */
static void widen(const char *text, uint64_t key, int most, struct text *out) {
  static const char *const gaps[] = {" ",      "\n",     "\n\n\n\n\n", "/* c */", " /* c\n */ ",
                                     " \\\n ", "// c\n", "\t",         "/*\\*/",  "/**/"};
  struct cuda_reader reader = cuda_reader_of(text, strlen(text));
  const char *copied = text;
  int count = 1; /* a gap may also stand behind the last token */
  for (struct cuda_token token; (token = cuda_next(&reader)).kind != CUDA_END;) count++;
  reader = cuda_reader_of(text, strlen(text));
  for (uint64_t i = 0; i < (uint64_t)count; i++) {
    const struct cuda_token token = cuda_next(&reader);
    text_add(out, copied, (size_t)(token.at - copied));
    copied = token.at;
    if (random_bits(key, 2 * i) % (uint64_t)count >= (uint64_t)most) continue;
    const char *gap = gaps[random_bits(key, 2 * i + 1) % COUNT(gaps)];
    text_add(out, gap, strlen(gap));
  }
  text_add(out, copied, strlen(copied));
}

struct variant {
  struct stencil *stencil;
  struct analysis *analysis;
  double coefficients[64];
  struct variant_spec spec;
};

/* Make a variant of the first stencil for which a template makes a kernel. Returns whether there is one. */
static bool find_variant(const struct template *template, struct variant *out) {
  static const char *const stencils[] = {"star7", "heat2d", "advect1d", "scan_z", "derivative_y", "box27"};
  for (size_t i = 0; i < COUNT(stencils); i++) {
    struct generated generated;
    CHECK_OK(stencil_of_kernels(stencils[i], &out->stencil));
    CHECK_OK(analysis_make(out->stencil, &out->analysis));
    const struct grid grid = out->stencil->grids[0];
    CHECK_OK(stencil_coefficients(out->stencil, &grid, out->coefficients));
    out->spec = (struct variant_spec){.stencil = out->stencil,
                                      .analysis = out->analysis,
                                      .template = template,
                                      .configuration = configuration_default(template),
                                      .dtype = DTYPE_F32,
                                      .domain = domain_dense(out->stencil, out->analysis, &grid),
                                      .coefficients = out->coefficients,
                                      .limits = arch_device_limits(arch_find(9, 0)),
                                      .most_steps = LAUNCH_MOST_STEPS};
    if (generate(&out->spec, &generated) == HALOTUNE_OK) {
      generated_free(&generated);
      return true;
    }
    analysis_free(out->analysis);
    stencil_free(out->stencil);
  }
  return false;
}

/* Check that a widened text makes the kernel of the plain one.
 *   text  the widened one */
static void check_widened(const struct template *template, const struct generated *plain,
                          const struct generated *widened, const char *text) {
  struct identity compiled;
  CHECK_OK(source_hash(widened->source, &compiled));
  CHECK(identity_compare(plain->hash, widened->hash) == 0, "%s: another kernel of: %s", template->name, text);
  CHECK(identity_compare(compiled, widened->hash) == 0, "%s: the compiler gets another source of: %s", template->name,
        text);
}

/* Widen the text of a template, and compare its kernel where it has the same identity. Returns whether it has. A text
 * that makes no kernel makes none with another layout either. */
static bool compare_kernels(struct template *template, const struct variant *variant, uint64_t key) {
  struct identity before, after;
  struct generated plain, widened;
  struct text text = {0};
  char *own = template->cuda;
  widen(own, key, 1 + (int)(key % 40), &text);
  CHECK_OK(cuda_hash(own, &before));
  CHECK_OK(cuda_hash(text_string(&text), &after));
  const bool is_same = identity_compare(before, after) == 0;
  if (is_same) {
    const halotune_status of_plain = generate(&variant->spec, &plain);
    template->cuda = text.bytes;
    const halotune_status of_widened = generate(&variant->spec, &widened);
    template->cuda = own;
    CHECK_EQ(of_plain, of_widened, "%s: %s", fail_text(), text_string(&text));
    if (of_plain == HALOTUNE_OK) {
      check_widened(template, &plain, &widened, text_string(&text));
      generated_free(&plain);
      generated_free(&widened);
    }
  }
  text_free(&text);
  return is_same;
}

/* Compare many texts with a template. Returns whether it makes a kernel of one of the stencils with its defaults. */
static bool compare_often(struct template *template) {
  const uint64_t seed = (uint64_t)number_of_environment("SEED", 1),
                 rounds = (uint64_t)number_of_environment("ROUNDS", 6);
  struct variant variant;
  int same = 0;
  if (!find_variant(template, &variant)) return false;
  for (uint64_t round = 0; round < rounds; round++)
    same += compare_kernels(template, &variant, random_bits(seed, round));
  CHECK(same > 0, "%s: no text has the identity of the template", template->name);
  analysis_free(variant.analysis);
  stencil_free(variant.stencil);
  return true;
}

static int is_yaml(const struct dirent *entry) {
  const char *end = strrchr(entry->d_name, '.');
  return end && strcmp(end, ".yaml") == 0;
}

TEST(installed_templates_make_the_same_kernels) {
  struct dirent **entries;
  const int count = scandir("templates", &entries, is_yaml, alphasort);
  int compared = 0;
  for (int i = 0; i < count; i++) {
    struct template *template;
    char path[512];
    snprintf(path, sizeof path, "templates/%s", entries[i]->d_name);
    CHECK_OK(template_read(path, &template));
    compared += compare_often(template);
    template_free(template);
    free(entries[i]);
  }
  free(entries);
  CHECK(compared >= 12, "%d templates", compared);
}

TEST(a_text_with_all_that_is_removed_makes_the_same_kernel) {
  struct template *template;
  CHECK_OK(template_of_texts(lively_yaml, lively, &template));
  CHECK(compare_often(template), "no kernel: %s", fail_text());
  template_free(template);
}

/* A line of a text that no person would write. */
static const char *line_of(uint64_t key, uint64_t line) {
  static const char *const lines[] = {
      "if (0) v = 1;", "if (1) v = 2; else v = 3;", "for (int i = 0; i < 1; i++) v += i;", "while (0) v = 1;",
      "for (int i = 0; i < 0; i++) { v = 1; }", "if (1) { v = 1; return; } v = 4;", "v = 1 ? 2 : 3;", "v = 0*v + 1*v;",
      "if (0) { } else", "{ int w = 1; }", "v = (1)*(v);", "return;", "{", "}", ";", "if (v) { } else if (0) v = 1;",
      "constexpr int QA = 1, QB = 2;", "int q = true && v;", "if (0) v = 1", "for (int i = 0; i < 0; i++) v = 1",
      "v = 1 ?", "else", "if (1)", "= 1", ", v2 = 2", "do", "case 1:", "constexpr int QC = 1", "template <int N>",
      "for (int i = 0; i < 1; i++)", "v = sum_first(1, of_stage(0, 2 + 3)) % 3;", "of_stage(0, int) q2 = 1;",
      "v = F2(1, 2);", "v = F2 ( v ,", "3 );", "struct S { int a; static constexpr int k = 1 ? 2 : 3; };",
      "template <int N2, class T = int> int tf() { return N2 ? 1 : 2; }", "enum E { X1, Y1 = 1 + 0 };",
      "typedef int t1;", "constexpr bool OK = true, NO = 0;", "constexpr int AR[] = {1, 2, 3};",
      "__constant__ int tb[] = {1, (1 ? 3 : 4)};", "v = OK ? 1 : NO;", "if constexpr (OK) v = 1; else v = 2;",
      "v = - -v;", "int g1() { if (1) return 1; return 2; }",
      /* directives */
      "#define N 1", "#define N(a) a", "#define OPEN {", "#define CLOSE }", "#if 0\n#define N 2\n#endif",
      "#if 1\nv = 5;\n#endif", "#undef N", "#pragma unroll", "#pragma unroll N", "#define Q ; v = 5;",
      "#define Q ) v = 6;", "#define Q } v = 7;", "#define Q = 1 ? 2 : 3", "#define Q , v2 = 2",
      "#define Q if (0) v = 1;", "#define Q else", "#define Q {", "#define F2(a, b) a + 0*b",
      "#define F2(a, b) { a; b; }", "#define M3 if (1) { v = 1; } else", "#define C1 constexpr int Z9 = 1,",
      "#define Q ; } int g2() {", "#ifdef UNKNOWN\nv = 6;\n#else\nv = 7\n#endif"};
  return lines[random_bits(key, line) % COUNT(lines)];
}

/* Write a line of some tokens, which mean nothing together. */
static void write_any_tokens(uint64_t key, uint64_t line, struct text *out) {
  static const char *const tokens[] = {"if",
                                       "else",
                                       "for",
                                       "while",
                                       "do",
                                       "switch",
                                       "case",
                                       "default",
                                       "return",
                                       "break",
                                       "constexpr",
                                       "template",
                                       "struct",
                                       "enum",
                                       "typedef",
                                       "using",
                                       "operator",
                                       "extern",
                                       "static",
                                       "auto",
                                       "bool",
                                       "int",
                                       "float",
                                       "true",
                                       "false",
                                       "sizeof",
                                       "defined",
                                       "v",
                                       "x",
                                       "AA",
                                       "N",
                                       "F",
                                       "Q",
                                       "0",
                                       "1",
                                       "2",
                                       "1u",
                                       ".5",
                                       "\"s\"",
                                       "'c'",
                                       "(",
                                       ")",
                                       "{",
                                       "}",
                                       "[",
                                       "]",
                                       "<",
                                       ">",
                                       ";",
                                       ",",
                                       ":",
                                       "?",
                                       "=",
                                       "==",
                                       "+",
                                       "-",
                                       "*",
                                       "&",
                                       "!",
                                       "&&",
                                       "||",
                                       "++",
                                       "--",
                                       ".",
                                       "->",
                                       "::",
                                       "#",
                                       "##",
                                       "KERNEL",
                                       "FIELDS",
                                       "KERNEL_PARAMETERS",
                                       "COEFFICIENT_VALUES",
                                       "LAUNCH_BOUNDS",
                                       "BLOCK_X",
                                       "LOW_X",
                                       "of_stage",
                                       "sum_first",
                                       "__global__",
                                       "__constant__",
                                       "\n",
                                       "\n#define",
                                       "\n#undef",
                                       "\n#if",
                                       "\n#ifdef",
                                       "\n#else",
                                       "\n#endif",
                                       "\n#pragma unroll"};
  const uint64_t count = 1 + random_bits(key, 4000 + line) % 6;
  for (uint64_t i = 0; i < count; i++)
    text_printf(out, "%s ", tokens[random_bits(key, 5000 + 16 * line + i) % COUNT(tokens)]);
}

/* Put some lines into a template's text: at its beginning, into a function, behind a constant or into the kernel. */
static void write_lines(uint64_t key, struct text *out) {
  static const char *const before[] = {"", "__device__ int ff(int v, int v2) {\n", "constexpr int AA = 1\n", ""};
  static const char *const behind[] = {"", "return v;\n}\n", ", BB = 2\n, CC = AA ;\n", ""};
  static const char *const uses[] = {"", "int w = ff(1, 2);\n", "int w = CC;\n", ""};
  enum { PLACES = 4, IN_KERNEL = 3 };
  const size_t place = random_bits(key, 1000) % PLACES;
  const uint64_t count = 2 + random_bits(key, 1001) % 8;
  struct text lines = {0};
  for (uint64_t i = 0; i < count; i++) {
    if (random_bits(key, 3000 + i) % 4 == 0) write_any_tokens(key, i, &lines);
    else text_printf(&lines, "%s", line_of(key, i));
    text_printf(&lines, "\n");
  }
  text_printf(out, "#ifndef HALOTUNE_PRELUDE\n#include \"common.cuh\"\n#endif\n%s%s%s", before[place],
              place == IN_KERNEL ? "" : text_string(&lines), behind[place]);
  text_printf(out,
              "extern \"C\" __global__ void LAUNCH_BOUNDS KERNEL(KERNEL_PARAMETERS) {\n"
              "const index_t x = g.x0 + index_t(blockIdx.x)*BLOCK_X + threadIdx.x, y = g.y0, z = g.z0;\n"
              "const Fields f = FIELDS;\nint v = 0, v2 = 0;\n%s%sif (v == 2) return;\n"
              "compute_point(PointTaps{f, g, x, y, z}, COEFFICIENT_VALUES, f, g, x, y, z);\n}\n",
              uses[place], place == IN_KERNEL ? text_string(&lines) : "");
  text_free(&lines);
}

/* What is removed may begin and end anywhere, also within a directive. */
TEST(texts_of_any_lines_make_the_same_kernel) {
  enum { TEXTS_A_ROUND = 60, LAYOUTS = 3 };
  const uint64_t seed = (uint64_t)number_of_environment("SEED", 1),
                 texts = TEXTS_A_ROUND * (uint64_t)number_of_environment("ROUNDS", 6);
  struct template *template;
  struct variant variant;
  int same = 0;
  CHECK_OK(template_of_texts(lively_yaml, lively, &template));
  CHECK(find_variant(template, &variant), "no kernel: %s", fail_text());
  char *own = template->cuda;
  for (uint64_t i = 0; i < texts; i++) {
    const uint64_t key = random_bits(seed, i);
    struct text text = {0};
    write_lines(key, &text);
    template->cuda = text.bytes;
    for (uint64_t k = 0; k < LAYOUTS; k++) same += compare_kernels(template, &variant, random_bits(key, 2000 + k));
    template->cuda = own;
    text_free(&text);
  }
  CHECK(same > 0, "no text has the identity of another one");
  analysis_free(variant.analysis);
  stencil_free(variant.stencil);
  template_free(template);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(installed_templates_make_the_same_kernels),
      cmocka_unit_test(a_text_with_all_that_is_removed_makes_the_same_kernel),
      cmocka_unit_test(texts_of_any_lines_make_the_same_kernel),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
