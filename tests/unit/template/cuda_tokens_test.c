/* cuda_tokens_test.c: CUDA texts are split into tokens, and only changes of meaning change their hash. */
#include "stencil/cuda/cuda_tokens.h"

#include <stdlib.h>

#include "base/text/text.h"
#include "stencil/cuda/includes.h"
#include "tests/unit/unit.h"

/* Append the tokens, each after a letter for its kind. */
static void describe_tokens(const char *text, struct text *out) {
  static const char kinds[] = "?nd'pc#;"; /* in the order of enum cuda_token_kind */
  struct cuda_reader reader = cuda_reader_of(text, strlen(text));
  struct cuda_token token;
  while ((token = cuda_next(&reader)).kind != CUDA_END) {
    text_printf(out, "%s%c%.*s", out->length > 0 ? " " : "", kinds[token.kind], (int)token.length, token.at);
  }
}

TEST(texts_become_tokens) {
  static const struct {
    const char *text, *want;
  } rows[] = {
      {"", ""},
      {" \t\n", ""},
      {"int x1 = 0x1p-3f;", "nint nx1 p= d0x1p-3f p;"},
      {"a+ +b", "na p+ p+ nb"},
      {"a++b", "na p++ nb"},
      {"1.5e+3+.5", "d1.5e+3 p+ d.5"},
      {"a<<=b->c::d", "na p<<= nb p-> nc p:: nd"},
      {"x // y\nz", "nx c// y nz"},
      {"x // y \\\n z\nw", "nx c// y \\\n z nw"},
      {"x /* y\n */ z", "nx c/* y\n */ nz"},
      {"/* open", "c/* open"},
      {"\"a\\\"b\" 'c'", "'\"a\\\"b\" ''c'"},
      {"\"open\nx", "'\"open nx"},
      {"R\"m(a)\" )m\" x", "'R\"m(a)\" )m\" nx"},
      {"R\"(open", "'R\"(open"},
      {"#if A\nx", "## nif nA ; nx"},
      {"x # y", "nx p# ny"},
      {" # define F(a) \\\n a\nz", "## ndefine nF p( na p) na ; nz"},
      {"/* c */ #if A", "c/* c */ ## nif nA ;"},
      {"/* a *\\\n/ x */", "c/* a *\\\n/ nx p* p/"},
      {"/* a *\\\r\n\\\n/ x", "c/* a *\\\r\n\\\n/ nx"},
      {"#if A // c\nx", "## nif nA c// c ; nx"},
      {"\\", "p\\"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text got = {0};
    describe_tokens(rows[i].text, &got);
    CHECK_TEXT(rows[i].want, text_string(&got), "row %zu", i);
    text_free(&got);
  }
}

TEST(tokens_know_their_lines) {
  static const char text[] = "a /*\n*/ b\n\n#define C \\\n d\ne";
  static const int lines[] = {1, 1, 2, 4, 4, 4, 5, 5, 6};
  struct cuda_reader reader = cuda_reader_of(text, strlen(text));
  for (size_t i = 0; i < COUNT(lines); i++) {
    struct cuda_token token = cuda_next(&reader);
    CHECK_EQ(lines[i], token.line, "token %zu", i);
  }
  struct cuda_token end = cuda_next(&reader);
  CHECK_EQ(CUDA_END, end.kind, "the end");
}

TEST(only_meaning_changes_the_hash) {
  static const struct {
    const char *left, *right;
    bool is_same;
  } rows[] = {
      {"a = b;", "a=b ;  // why", true},
      {"a = b;", "/* why */ a =\n\n  b;\n", true},
      {"#line 3 \"x.cu\"\na;", "a;", true},
      {"# 3 \"x.cu\"\na;", "a;", true},
      {"#define A 1\nb;", "  #  define A \\\n  1 // one\nb;", true},
      {"ab", "a b", false},
      {"a + +b", "a ++b", false},
      {"a > > b", "a >> b", false},
      {"#define A 1\nb;", "#define A 1 b;", false},
      {"#define A\n1;", "#define A 1\n;", false},
      {"#define F(x) x\n", "#define F (x) x\n", false},
      {"#if A\n#endif\n", "# if A\n# endif\n", true},
      {"\"a b\"", "\"a  b\"", false},
      {"\"// a\"", "\"// b\"", false},
      {"1", "1.0", false},
      {"#pragma unroll\nfor", "#pragma unroll for", false},
      {"#define F(x) x\n", "#define F/**/(x) x\n", false},
      {"#define F(x) x\n", "#define F\\\n(x) x\n", false},
      {"#define F (x)\n", "#define F\\\n(x)\n", false},
      {"#define F (x)\n", "#define F\\\n (x)\n", true},
      {"a /* b */ c", "a /* b *\\\n/ d; /* */ c", false}, /* a comment's end on two lines */
      {"a / *b", "a /\\\n*b", false},                     /* joined, it begins a comment */
      {"#if defined A\n#endif\n", "#if defined\\\nA\n#endif\n", false},
      {"a b", "a \\\n b", true},
      {"a\nb", "a\n#line 1 /\\\n*\nb", false},
      {"a\nb", "a\n#line 1 /* c */\nb", true},
      {"a\nb", "a\n#line 1 \"x\" // c\nb", true},
      {"a\nb", "a\n#line 1 \"x\nb", false},
      {"a\nb", "a\n#line 1 c\nb", false},
      {"#define S(x) #x\nS(a+b)", "#define S(x) #x\nS(a + b)", false}, /* sizeof tells */
      {"#define S(x) #x\nS(a+b)", "#define  S(x) #x // why\nS(a+b)", true},
      {"u8R\"(\" /* a */ \")\"", "u8R\"(\" /* b */ \")\"", false},
      {"\"a\" R\"(\"/* a */\")\"", "\"a\"R\"(\"/* b */\")\"", false},
      {"R\\\n\"(\" /* a */ \")\"", "R\\\n\"(\" /* b */ \")\"", false},
      {"L\"a\"", "L \"a\"", false},   /* L may be a macro */
      {"\"a\"_b", "\"a\" _b", false}, /* so may _b */
      {"%:define A\nB", "%:define A B", false},
      {"\n## a b\n", "\n## a  b\n", false}, /* no directive begins so */
      {"a\\u00e9", "a \\u00e9", false},
      {"a\xc3\xa9", "a \xc3\xa9", false},
      {"a /\\\n/ b\nc", "a /\\\n/ b c", false},
      {"' /*\n// */ a\n/* */", "' /*\n// */ b\n/* */", false},
      {"1'a /*\n// */ a\n/* */", "1'a /*\n// */ b\n/* */", false},
      {"a; // b\nc;", "a; // b\\ \nc;", false},  /* g++ joins these lines */
      {"a; // b\nc;", "a; // b\rd;\nc;", false}, /* and ends this one at \r */
      {"a; // b\r\nc;\r\n", "a; \nc;\n", true},
      {"a = \"\\\\\";", "a =\"\\\\\"; // why", true},
      {"F\n(a);", "F\n#line 3\n(a);", false}, /* a macro F takes no arguments behind a directive */
      {"G(F)\n(a);", "G(F)\n# 3 \"x.cu\"\n/* why */ (a);", false},
      {"a; // b\nc;", "a; // \xff\nc;", false},             /* NVRTC ends here */
      {"#if A\n#endif\n", "#/* b */if A\n#endif\n", false}, /* for who assembles a source, it is no #if */
      {"a; // b\nc;", "a; // \xc3\xbf\nc;", true},
      {"#if 0\na /*\n*/ #else\nb\n#endif\n", "#if 0\na /**/ #else\nb\n#endif\n", false}, /* for NVRTC one is #else */
      {"#if 0\na /*\n*/ /**/ #else\nb\n#endif\n", "#if 0\na /**/ /**/ #else\nb\n#endif\n", false},
      {"#if 0\na #pragma b\n#else\nc\n#endif\n", "#if 0\na\n#pragma b #else\nc\n#endif\n", false},
      {"#if defined/*\n*/@-\n#endif\n", "#if defined/* */@-\n#endif\n", false},
      {"a /*\n*/\n#if 0\n#endif\n", "a\n/**/ #if 0\n#endif\n", true},
      {"a;", "a; /* b", false}, /* a comment without an end is an error */
      {"a;", "a; /*/", false},
      {"a;", "a; /**/", true},
      {"a;", "#line 1.5\na;", false}, /* so is a number that is no line's */
      {"a;", "#line 0\na;", false},
      {"a;", "# 3e\na;", false},
      {"a;", "#line 4294967296\na;", false},
      {"a;", "#line 3 \"\\\"\na;", false},
      {"a;", "#line 3 \"\\u1\"\na;", false},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct identity left, right;
    CHECK_OK(source_hash(rows[i].left, &left));
    CHECK_OK(source_hash(rows[i].right, &right));
    CHECK_EQ(rows[i].is_same, identity_compare(left, right) == 0, "row %zu: '%s' and '%s'", i, rows[i].left,
             rows[i].right);
  }
}

/* NVRTC gets a source without words that make a compiler look at a file. A comment may decide whether it loses one. */
TEST(a_comment_counts_if_it_decides_what_is_compiled) {
  static const struct {
    const char *left, *right;
    bool is_same;
  } rows[] = {
      {"a = b /* # */ include : 7;", "a = b /*#/**/ include : 7;", false},
      {"a = b // # /*\ninclude : 7;", "a = b // # \ninclude : 7;", true}, /* neither loses one */
      {"a = b // # /*\n/**/include : 7;", "a = b // # \n/**/include : 7;", false},
      {"a = b /* # */ embedded;", "a = b /*#/**/ embedded;", false},
      {"a = /* a */ assert(b);", "a = /* b */ assert(b);", false},
      {"a = /* a */ __LINE__;", "a = /* b */ __LINE__;", false},
      {"a; /* #include \"a.h\" */", "a; // assert", true},
      {"#if 0\n#include \"a.h\"\n#endif\n", "#if 0\n# include \"a.h\"\n#endif\n", false},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct identity left, right;
    CHECK_OK(source_hash(rows[i].left, &left));
    CHECK_OK(source_hash(rows[i].right, &right));
    CHECK_EQ(rows[i].is_same, identity_compare(left, right) == 0, "row %zu: '%s' and '%s'", i, rows[i].left,
             rows[i].right);
  }
}

/* What a generator removes from a template, and the lines in which it writes the rest, must not show where blanks and
 * comments stood. */
TEST(what_layout_may_decide_counts_in_a_template) {
  static const struct {
    const char *left, *right;
    bool is_same;
  } rows[] = {
      {"a = b; // c\n", "a  = b;", true},
      {"D({\nif constexpr (0) ; # define Z 1\n})", "D({ if constexpr (0) ; # define Z 1\n})", false},
      {"D(\nof_stage(0, # define Z 1)\n)", "D( of_stage(0, # define Z 1)\n)", false},
      {"a;\n; # define Z() 0\n;\n", "a;\n; # define Z() 0 ;\n", false},
      {"#define S(x) #x\nS((x + 0 + y))", "#define S(x) #x\nS((x + 0/**/+ y))", false},
      {"S(/**/ import)", "S(/*#/**/ import)", false},
      {"/**/ f(0); import", "/*#*/ f(0); import", false},
      {"/* # */ embedded;", "/*#/**/ embedded;", false},
      {"f(\"#/*\"); KERNEL(a)", "f(\"#/*\"); /**/ KERNEL(a)", false},
      {"f(\"%:/*\"); KERNEL(a)", "f(\"%:/*\"); /**/ KERNEL(a)", false},
      {"KERNEL(a)", "/*#/**/ KERNEL(a)", false},                  /* it may become importer_direct */
      {"a = /* a */ assert(b);", "a = /* b */ assert(b);", true}, /* each compiler gets the same */
      {"#ifndef A\n#include \"a.cuh\"\n#endif\na;", "#ifndef A // b\n#include \"a.cuh\"\n#endif\na;", true},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct identity left, right;
    CHECK_OK(cuda_hash(rows[i].left, &left));
    CHECK_OK(cuda_hash(rows[i].right, &right));
    CHECK_EQ(rows[i].is_same, identity_compare(left, right) == 0, "row %zu: '%s' and '%s'", i, rows[i].left,
             rows[i].right);
  }
}

TEST(a_file_that_is_included_is_found) {
  static const struct {
    const char *text;
    bool includes;
  } rows[] = {
      {"int a;", false},
      {"#define A # B\n#if A\n", false},
      {"a % b; c = d ? e%f:include;", false},
      {"#include \"a.h\"\n", true},
      {"int a;\n  # include <a.h>\n", true},
      {"#inc\\\nlude \"a.h\"\n", true},
      {"#\\\r\n\\\ninclude \"a.h\"\n", true},
      {"#inc\\\r\r\nlude \"a.h\"\n", true},  /* NVRTC joins such lines */
      {"#inc\\ \t\r\nlude \"a.h\"\n", true}, /* g++ joins such lines */
      {"#inc\\ x\nlude \"a.h\"\n", false},
      {"%:include \"a.h\"\n", true},
      {"%\\\n:include \"a.h\"\n", true},
      {"/* b */ # /* c\n */ /\\\n* d *\\\n/ include A\n", true},
      {"#include_next <a.h>\n", true},
      {"#import \"a.h\"\n", true},
      {"int a[] = {\n# em\\\nbed <a.bin>\n};\n", true},
      {"// #include \"a.h\"", true}, /* it may be in no comment after all */
      {"#if __has_include(\"a.h\")\n", true},
      {"#if __has_\\\ninclude_next(\"a.h\")\n", true},
      {"#define H __has_include\n#if H(<a.h>)\n", true},
      {"#if __has_embed(\"a\")\n", true},
      {"#define JOIN(a, b) a##b\n", true}, /* it may join __has_ and include */
      {"#define JOIN(a, b) a %:\\\n%: b\n", true},
      {"#define F(a) # a #a\n", false},
      {"a = __LINE__;", true},
      {"a = __LI\\\nNE__;", true},
      {"#if __TIME__\n", true},
      {"a = __builtin_COLUMN();", true},
      {"assert(a);", true},
      {"as\\\nsert (a);", true},
      {"static_assert(1); int asserted, assert_, _assert;", false},
      {"a = _LINE__ + LINE__;", false},
      {"assert__LINE__", true},
      {"int has_include;", false},
      {"#", false},
      {"#\\\n", false},
      {"# /* ", false},
      {"%", false},
      {"#/*/include", false},
      {"#/**/include", true},
      {"#/***/include", true},
      {"# / **/include", false},
      {"#/* *\\\n/include", true},
      {"a #/* b #/* c #/**/include d */include e", true},
      {"a = \"#/*\";\n#include A\nb = __LINE__;\nc = \"*/include\";\n", true}, /* the first # leads to the last word */
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    CHECK_EQ(rows[i].includes, cuda_includes_file(rows[i].text), "row %zu: %s", i, rows[i].text);
    char *text = strdup(rows[i].text);
    cuda_disarm_includes(text);
    CHECK(!cuda_includes_file(text) && strlen(text) == strlen(rows[i].text), "row %zu: %s", i, text);
    free(text);
  }
  char two[] = "#include A\n#include B\n";
  cuda_disarm_includes(two);
  CHECK_TEXT(CUDA_DISARMED " A\n" CUDA_DISARMED " B\n", two, "both");
}

/* A search from each # to the end of its comment would take hours. */
TEST(very_many_comments_behind_a_hash_are_read_once) {
  enum { COMMENTS = 1 << 21 };
  static const char begin[] = "#/*", end[] = "*/include";
  const size_t length = sizeof begin - 1;
  char *text = malloc(COMMENTS * length + sizeof end);
  CHECK(text, "memory");
  for (size_t i = 0; i < COMMENTS; i++) memcpy(text + i * length, begin, length);
  memcpy(text + COMMENTS * length, end, sizeof end);
  CHECK(cuda_includes_file(text), "the word behind all comments");
  cuda_disarm_includes(text);
  CHECK(!cuda_includes_file(text), "disarmed");
  CHECK_TEXT("*/?nclude", text + COMMENTS * length, "the word");
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(texts_become_tokens),
      cmocka_unit_test(tokens_know_their_lines),
      cmocka_unit_test(only_meaning_changes_the_hash),
      cmocka_unit_test(a_comment_counts_if_it_decides_what_is_compiled),
      cmocka_unit_test(what_layout_may_decide_counts_in_a_template),
      cmocka_unit_test(a_file_that_is_included_is_found),
      cmocka_unit_test(very_many_comments_behind_a_hash_are_read_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
