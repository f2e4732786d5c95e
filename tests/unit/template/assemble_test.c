/* assemble_test.c: the definitions that a source gets, and the code that a configuration removes from it. */
#include "stencil/cuda/assemble.h"

#include "stencil/cuda/definitions_hash.h"
#include "stencil/generate/generate.h"
#include "tests/unit/unit.h"

/* Assemble a text after these macros, without #line. Spaces and line breaks become one space each. */
static void assemble_text(const char *macros, const char *text, struct text *out) {
  static const char *const none[] = {NULL};
  const struct assembly_text texts[] = {{NULL, macros, NULL}, {"test.cu", text, NULL}};
  struct text source = {0};
  bool is_decisive;
  CHECK_OK(assemble(texts, 2, 4, none, "ARCH", &is_decisive, &source));
  source_strip_lines(source.bytes);
  for (const char *c = source.bytes; *c; c++) {
    bool is_space = *c == ' ' || *c == '\n';
    if (is_space && (out->length == 0 || out->bytes[out->length - 1] == ' ')) continue;
    text_add(out, is_space ? " " : c, 1);
  }
  text_free(&source);
}

#define KERNEL(body) "__global__ void k() { " body " }"

TEST(only_what_a_kernel_needs_is_there) {
  static const struct {
    const char *text, *want;
  } rows[] = {
      {"int f() { return 1; }\nint g() { return 2; }\n" KERNEL("g();"), "int g() { return 2; } " KERNEL("g();") " "},
      {"struct A { int a; };\nA f() { return A(); }\n" KERNEL("f();"),
       "struct A { int a; }; A f() { return A(); } " KERNEL("f();") " "},
      {"int f() { return 1; }\n" KERNEL("a.f;"), KERNEL("a.f;") " "},
      {"template <int N> struct W;\ntemplate <> struct W<4> { int w; };\n" KERNEL("W<4> w;"),
       "template <int N> struct W; template <> struct W<4> { int w; }; " KERNEL("W<4> w;") " "},
      {"constexpr int A = 1, B = 2, C = B;\n" KERNEL("f(C);"), "constexpr int B = 2, C = B; " KERNEL("f(C);") " "},
      {"constexpr int A = 1 F( ; L ) ;\n" KERNEL("f(A);"), "constexpr int A = 1 F( ; L ) ; " KERNEL("f(A);") " "},
      {"constexpr int A = 1 F( ; L, M) ;\n" KERNEL("f(A);"), "constexpr int A = 1 F( ; L, M) ; " KERNEL("f(A);") " "},
      {"constexpr int A = B < C ; D > (x);\n" KERNEL("f(A);"), "constexpr int A = B < C ; " KERNEL("f(A);") " "},
      {"#define F(x) x\n#define G 1\n" KERNEL("F(1);"), "#define F(x) x " KERNEL("F(1);") " "},
      {"// of f\nint f();\n\n// alone\n\nint g();\n" KERNEL("f(); g();"),
       "// of f int f(); int g(); " KERNEL("f(); g();") " "},
      {"enum E { X, Y };\ntypedef int t;\nusing u = t;\n" KERNEL("f(Y, u());"),
       "enum E { X, Y }; typedef int t; using u = t; " KERNEL("f(Y, u());") " "},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text got = {0};
    assemble_text("", rows[i].text, &got);
    CHECK_TEXT(rows[i].want, text_string(&got), "row %zu", i);
    text_free(&got);
  }
}

/* A comment ends with its line, and a joined line stays joined, also where the lines before them are left out. */
TEST(comments_and_joined_lines_end_where_they_did) {
  static const struct {
    const char *text, *want;
  } rows[] = {
      {"constexpr int A = 1 // a\n, B = 2;\n" KERNEL("f(A, B);"), "A = 1 // a\n, B = 2;\n"},
      {"int f();\nconstexpr int A = 1 /* a */, B = 2;\n" KERNEL("g(A, B);"), "A = 1 /* a */, B = 2;\n"},
      {"constexpr int A = 1 // a\n, B = 2 // b\n;\n#pragma \\\n unroll\n" KERNEL("f(A);"), "#pragma \\\n unroll\n"},
      {"#define ON 1\n" KERNEL("if (ON) {\n  #pragma \\\n    unroll\n  for (;;) f();\n}"), "#pragma \\\n    unroll\n"},
      {"#define ON 1\n#define A int q = ON == 1 ? 1 : 7 \\\n ; int w = 0;\n" KERNEL("A"),
       "#define A int q = 1 ; int w = 0;\n"},
      {"#define ON 1\n" KERNEL("if (ON) {\n  for (int\ti = -\t-1;;) f();\n}"), "for (int i = - -1;;) f();"},
  };
  static const char *const none[] = {NULL};
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct assembly_text texts[] = {{NULL, "", NULL}, {"test.cu", rows[i].text, NULL}};
    struct text source = {0};
    bool is_decisive;
    CHECK_OK(assemble(texts, 2, 4, none, "ARCH", &is_decisive, &source));
    source_strip_lines(source.bytes);
    CHECK(strstr(source.bytes, rows[i].want), "row %zu: %s", i, source.bytes);
    text_free(&source);
  }
}

/* The identity of what assemble() makes of a text after these macros. */
static struct identity identity_assembled(const char *text) {
  static const char macros[] =
      "#define ON 1\n#define OFF 0\n#define LONG const int a_name_of_40_bytes_______________1, "
      "const int a_name_of_40_bytes_______________2, const int b\n";
  static const char *const none[] = {"LONG", NULL};
  const struct assembly_text texts[] = {{NULL, macros, NULL}, {"test.cu", text, NULL}};
  struct text source = {0};
  struct identity identity;
  bool is_decisive;
  CHECK_OK(assemble(texts, 2, 4, none, "ARCH", &is_decisive, &source));
  source_strip_lines(source.bytes);
  CHECK_OK(source_hash(source.bytes, &identity));
  text_free(&source);
  return identity;
}

/* The identity of a template covers no comments. So a comment, here the word C, must not change what a text becomes. */
TEST(a_comment_decides_nothing) {
  static const char *const rows[] = {
      "constexpr int N = 1;\nint f(int C N) { if (N) return a(); return b(); }\n" KERNEL("f(N);"),
      "constexpr int N = 1;\ntemplate <int C N> int f() { return N ? a() : b(); }\n" KERNEL("f<2>();"),
      KERNEL("for (int i = 0; i < ON; i++) { for (int C i = 0; i < y; i++) a(i); }"),
      KERNEL("for (int i = 0; i < ON; i++) a(S C {i}, ON ? 1 : 2);"),
      KERNEL("\n#pragma unroll\nC\nfor (int i = 0; i < OFF; i++) a(i);\nb();"),
      KERNEL("f C <ON ? 1 : 2>(x);"),
      KERNEL("x = y/(C ON*z);"),
      KERNEL("x = S C {ON ? 1 : 2};"),
      "int f() { return 1; }\n" KERNEL("a. C f;"),
      "int f() { return 1; }\n" KERNEL("a-> C f;"),
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text with = {0}, without = {0};
    const char *mark = strstr(rows[i], "C");
    text_printf(&without, "%.*s%s", (int)(mark - rows[i]), rows[i], mark + 1);
    text_printf(&with, "%.*s/* C */%s", (int)(mark - rows[i]), rows[i], mark + 1);
    CHECK_EQ(0, identity_compare(identity_assembled(text_string(&without)), identity_assembled(text_string(&with))),
             "row %zu: %s", i, rows[i]);
    text_free(&with);
    text_free(&without);
  }
}

#define KERNEL_HEAD "__global__ void k() { "

/* Nor does it cover blanks. */
TEST(a_blank_decides_nothing) {
  static const char blanks[] = "                                                            ";
  static const struct {
    const char *left, *between, *right;
  } rows[] = {
      {"__global__ void k() { for (int i = 0; i < ON; i++) a(i", " ", ".5); }"},
      {"\n\n", "/* c */", ";\nint q;\n" KERNEL("q = 1;")},
      {"#define P ", blanks, "LONG\n" KERNEL("f(P);")},
      {"#define O {\n#define E ; }\nint f() O int z = 5;\n", "// c\n\n",
       "if (0) {\n#define Z 1\n}\nreturn Z E;\n" KERNEL("f();")},
      {"constexpr int A = 1\n#define Q\n", "// c\n", ", B = 2;\nQ ;\n" KERNEL("f(A, B Q);")},
      {"constexpr int A = 1\n#define Q\n,", "\n", "B = 2;\nQ ;\n" KERNEL("f(A, B Q);")},
      {"#define F ON ?", " ", "(x) : y\n" KERNEL("a(F);")},
      {"#define F /**/ON ?", "/* c */", "(x) : y\n" KERNEL("a(F);")},
      {"#define F(a) OFF ? y :", " ", "(x)\n" KERNEL("a(F(1));")},
      {"#define A int q = ON == 1 ? 1 : f(R\"(\n)\") ", "/* \\ */", "; int w = 0;\n" KERNEL("A")},
      /* what is removed ends in a directive: the rest of it is no directive any more */
      {KERNEL_HEAD "int v = 0; ", "// c", "\nif (0) v = 1\n#define A ; v = 2;\nif (v == 2) return; }"},
      {KERNEL_HEAD "int v = 0; ", "// c", "\nif (ON) v = 3; else v = 1\n#define A ; v = 2;\nif (v == 2) return; }"},
      {KERNEL_HEAD "int v = 0; ", "// c",
       "\nfor (int i = 0; i < 0; i++) v = 1\n#define A ; v = 2;\nif (v == 2) return; }"},
      {"constexpr int A = 1\n#define Q ; int q = 3;\nint r() ", "// c\n", "{ return 1; }\n" KERNEL("f(A, q, r());")},
      {"constexpr int A = 1\n#define Q , B = 2\n, C ", "// c\n", "= 3 ;\n" KERNEL("f(A, C);")},
      {"constexpr int A = 1\n#define Q // q\n, B = 2, C ", "// c\n", "= 3 ;\n" KERNEL("f(A Q, C);")},
      /* no bracket closes these */
      {"#define R }\n" KERNEL("if (A1) f(A1);") "constexpr int A1 = 1, Z1 = int { 1 R ;\n", "// c\n", ""},
      {"#define R }\n#define LATE int g();\n" KERNEL_HEAD "if (ON) { if (f()) return;\nR LATE ", "// c\n", ""},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text with = {0}, without = {0};
    text_printf(&without, "%s%s", rows[i].left, rows[i].right);
    text_printf(&with, "%s%s%s", rows[i].left, rows[i].between, rows[i].right);
    CHECK_EQ(0, identity_compare(identity_assembled(text_string(&without)), identity_assembled(text_string(&with))),
             "row %zu: %s", i, text_string(&with));
    text_free(&with);
    text_free(&without);
  }
}

/* Assemble a kernel with these parameters and this body; `want` receives the same kernel with the wanted body. */
static void assemble_body(const char *parameters, const char *body, const char *wanted, struct text *kernel,
                          struct text *want, struct text *got) {
  text_printf(kernel, "__global__ void k(%s) { %s }", parameters, body);
  text_printf(want, "__global__ void k(%s) { %s } ", parameters, wanted);
  assemble_text(
      "#define ON 1\n#define OFF 0\n#define WIDTH 4\n#define SUM 1 + 2\n#define SAME SUM\n#define ADD(a) a + 1\n",
      text_string(kernel), got);
}

/* A text of somebody else may begin with anything: nothing stands before its first token. */
TEST(a_text_may_begin_with_anything) {
  static const char *const rows[] = {"constexpr int A = 1, 3 = 2;\n",
                                     "constexpr int A = 1, = 2;\n",
                                     "constexpr int A = 1,;\n",
                                     "constexpr int A = 1, (B) = 2;\n",
                                     "constexpr int A = 1, = = 2, 3 = = B;\n",
                                     "__global__ = 0*index_t(x), y = 2;\n",
                                     "= 0*index_t(x), __global__ = 2;\n",
                                     "0*index_t(x) + __global__;\n",
                                     "(0*index_t(x))(__global__);\n",
                                     "!0 && __global__ ? 1 : 2;\n",
                                     "const) { __global__ return !1 && x; }\n"};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text got = {0};
    assemble_text("", rows[i], &got);
    text_free(&got);
  }
}

TEST(what_a_configuration_decides_is_resolved) {
  static const struct {
    const char *body, *want;
  } rows[] = {
      {"if (ON) a(); else b();", "a();"},
      {"if (OFF) a(); else b();", "b();"},
      {"if (OFF) a(); c();", "c();"},
      {"if (ON) { a(); b(); } c();", "a(); b(); c();"},
      {"if (ON) { int x = 1; a(x); } b(x);", "{ int x = 1; a(x); } b(x);"},
      {"if (y) a(); else if (OFF) b(); c();", "if (y) a(); c();"},
      {"if (y) a(); else if (ON) b(); else c();", "if (y) a(); else b();"},
      {"if (y) if (OFF) a(); c();", "if (y) if (OFF) a(); c();"},
      {"a(); if (ON) return; b();", "a();"},
      {"if (y) { if (ON) return; a(); } b();", "if (y) { return; } b();"},
      {"if (ON && y) a();", "if (y) a();"},
      {"if (y || OFF) a();", "if (y) a();"},
      {"x = (ON && y)*3;", "x = (ON && y)*3;"}, /* y may be 2 */
      {"x = 3 - ((y || OFF));", "x = 3 - ((y || OFF));"},
      {"if ((ON && y) || z) a();", "if (y || z) a();"},
      {"x = (ON && y) ? z : 3;", "x = y ? z : 3;"},
      {"x = (ON && y && z)*3;", "x = (y && z)*3;"},
      {"if (y && f(x) && OFF) a();", "if (y && f(x) && OFF) a();"},
      {"if constexpr (WIDTH == 4) a();", "a();"},
      {"x = ON ? 1 : 2;", "x = 1;"},
      {"x = y + (OFF ? a() : b());", "x = y + b();"},
      {"x = OFF ? 1 : y ? 2 : 3;", "x = y ? 2 : 3;"},
      {"f<WIDTH, ON ? 1 : 2>(x);", "f<WIDTH, 1>(x);"},
      {"f<WIDTH, ON ? 1 : WIDTH>(x, y);", "f<WIDTH, 1>(x, y);"},
      {"x = g<ON>(1) ? a : b;", "x = g<ON>(1) ? a : b;"},
      {"if (WIDTH/0 == 1) a();", "if (WIDTH/0 == 1) a();"},
      {"if (y) a();", "if (y) a();"},
      {"while (y) { if (ON) { a(); continue; } b(); }", "while (y) { a(); continue; }"},
      {"for (int i = 0; i < ON; i++) a(i);", "a(0);"},
      {"for (int i = 0; i < ON; i++) { a(i); b(i); } c();", "a(0); b(0); c();"},
      {"for (int i = 0; i < WIDTH && ON; i++) a(i);", "for (int i = 0; i < WIDTH; i++) a(i);"},
      {"for (int i = 0; i < WIDTH | y; i++) a(i);", "for (int i = 0; i < WIDTH | y; i++) a(i);"},
      {"for (int i = 0; i < WIDTH == ON; i++) a(i);", "for (int i = 0; i < WIDTH == ON; i++) a(i);"},
      {"for (int i = 0; i < (ON && ON); i++) a(i);", "a(0);"},
      {"for (int i = 0; i < OFF; i++) a(i); b();", "b();"},
      {"for (int i = 0; i < WIDTH; i++) a(i);", "for (int i = 0; i < WIDTH; i++) a(i);"},
      {"for (int i = 0; i < y; i++) for (int k = 0; k < ON; k++) a(i, k);", "for (int i = 0; i < y; i++) a(i, 0);"},
      {"for (int i = 0; i < ON; i++) { if (i > 0) break; a(i); }", "a(0);"},
      {"for (int i = 0; i < ON; i++) { if (y) continue; a(i); }",
       "for (int i = 0; i < ON; i++) { if (y) continue; a(0); }"},
      {"for (int i = 0; i < ON; i++) { for (int i = 0; i < y; i++) a(i); }",
       "for (int i = 0; i < ON; i++) { for (int i = 0; i < y; i++) a(i); }"},
      {"for (int i = 0; i < ON; i++) { int x = i; a(x); } b(x);", "{ int x = 0; a(x); } b(x);"},
      {"for (int i = 0; i < ON; i += 2) a(i);", "for (int i = 0; i < ON; i += 2) a(i);"},
      {"for (int x = 0; x < ON; x++) a(threadIdx.x + x, p->x, W::x);", "a(threadIdx.x, p->x, W::x);"},
      {"for (int i = 0; i < ON; i++) { a(i); i += 2; }", "for (int i = 0; i < ON; i++) { a(i); i += 2; }"},
      {"for (int i = 0; i < ON; i++) { i = b(); }", "for (int i = 0; i < ON; i++) { i = b(); }"},
      {"for (int i = 0; i < ON; i++) a(--i);", "for (int i = 0; i < ON; i++) a(--i);"},
      {"for (int i = 0; i < ON; i++) a(i++);", "for (int i = 0; i < ON; i++) a(i++);"},
      {"for (int i = 0; i < ON; i++) a(&i);", "for (int i = 0; i < ON; i++) a(&i);"},
      {"for (int i = 0; i < ON; i++) a(y & i, i == 1);", "a(y & 0, 0 == 1);"},
      {"for (int i = 0; i < OFF; i++) i += y; b();", "b();"},
      {"x = y + OFF;", "x = y;"},
      {"x = (y + OFF)*ON;", "x = y;"},
      {"x = OFF*y + z;", "x = z;"},
      {"x = z - OFF*y;", "x = z;"},
      {"x = OFF - y;", "x = OFF - y;"},
      {"x = y/ON + y%ON;", "x = y + y%ON;"},
      {"a(ON*y, y[OFF + z]);", "a(y, y[z]);"},
      {"x = (y + z)*ON - z;", "x = (y + z) - z;"},
      {"return(y*ON);", "return(y);"},
      {"x = y/(// of z\n ON*z);", "x = y/ // of z z;"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text got = {0}, kernel = {0}, want = {0};
    assemble_body("int y, int z", rows[i].body, rows[i].want, &kernel, &want, &got);
    CHECK_TEXT(text_string(&want), text_string(&got), "row %zu: %s", i, rows[i].body);
    text_free(&got);
    text_free(&kernel);
    text_free(&want);
  }
}

/* An operand goes only if its type and its calls do not matter. */
TEST(types_and_effects_are_kept) {
  static const char parameters[] =
      "int n, index_t w, unsigned q, unsigned int v, long l, unsigned long long h, const real r, const real &s, int *p, "
      "T t, const int a[4]";
  static const struct {
    const char *body, *want;
  } rows[] = {
      {"x = OFF*n;", "x = OFF;"},
      {"x = n*OFF + w;", "x = w;"},
      {"x = OFF*(n + w);", "x = OFF;"},
      {"x = (OFF*w + n)*n;", "x = (OFF*w + n)*n;"}, /* a product of long */
      {"x = OFF*w + w;", "x = w;"},
      {"auto v = OFF*w;", "auto v = OFF*w;"},
      {"x = OFF*r;", "x = OFF*r;"},
      {"x = s*OFF;", "x = s*OFF;"},
      {"x = OFF*t;", "x = OFF*t;"},
      {"x = OFF*unknown;", "x = OFF*unknown;"},
      {"x = OFF*0.5f;", "x = OFF*0.5f;"},
      {"x = OFF/r + OFF%n;", "x = OFF/r + OFF;"},
      {"x = OFF*f(n);", "x = OFF*f(n);"},
      {"x = OFF*int(f(n));", "x = OFF*int(f(n));"},
      {"x = OFF*n++;", "x = OFF*n++;"},
      {"x = OFF*p[n];", "x = OFF*p[n];"},
      {"x = OFF*q;", "x = OFF*q;"},
      {"real m = OFF; int n; x = OFF*m;", "real m = OFF; int n; x = OFF*m;"},
      {"int c = n, m = n; x = OFF*m;", "int c = n, m = n; x = OFF;"},
      {"x = r + OFF;", "x = r + OFF;"},
      {"x = OFF + s;", "x = OFF + s;"},
      {"x = r - OFF;", "x = r;"},
      {"x = r*ON;", "x = r;"},
      {"x = p + OFF;", "x = p;"},
      {"x = 1L*n;", "x = 1L*n;"},
      {"x = n + 0L;", "x = n + 0L;"},
      {"x = 1L*w;", "x = 1L*w;"}, /* w may have 32 bits */
      {"x = 1L*l;", "x = l;"},
      {"x = q + 0L;", "x = q + 0L;"}, /* 32 bits become 64 */
      {"x = h + 0L;", "x = h;"},
      {"x = ON ? q : w;", "x = ON ? q : w;"},
      {"x = ON ? q : l;", "x = ON ? q : l;"},
      {"x = ON ? h : l;", "x = h;"},
      {"x = OFF*h;", "x = OFF*h;"},
      {"if ((4 | 1 & 2) == 4 && (2 ^ 3 & 1) == 3) a();", "a();"},
      {"x = (long)-OFF + n;", "x = (long)-OFF + n;"},
      {"x = (unsigned)-OFF*ON;", "x = (unsigned)-OFF;"},
      {"x = (unsigned int)-OFF*ON;", "x = (unsigned int)-OFF*ON;"},
      {"x = (real)*p*ON;", "x = (real)*p;"},
      {"x = (n)-OFF;", "x = (n);"},
      {"x = 2*(ON ? SUM : n);", "x = 2*(ON ? SUM : n);"}, /* 2*1 + 2 */
      {"x = 2*(ON ? SAME : n);", "x = 2*(ON ? SAME : n);"},
      {"x = OFF*SUM;", "x = OFF*SUM;"},
      {"x = 2*(ON ? ADD(n) : n);", "x = 2*(ADD(n));"},
      {"x = index_t(ON)*n;", "x = index_t(ON)*n;"},
      {"if (-1 < sizeof(int)) a();", "if (-1 < sizeof(int)) a();"},
      {"if (sizeof(int) - 8 > 0) a();", "if (sizeof(int) - 8 > 0) a();"},
      {"if (sizeof(real) == WIDTH) a();", "a();"},
      {"if (0xffffffff + 1 == 0) a();", "if (0xffffffff + 1 == 0) a();"},
      {"if (2*SUM == 4) a();", "if (2*SUM == 4) a();"},
      {"x = (ON ? 1 : r)/2;", "x = (ON ? 1 : r)/2;"},
      {"x = ON ? r : 1;", "x = r;"},
      {"x = ON ? -1 : q;", "x = ON ? -1 : q;"},
      {"x = ON ? -1 : v;", "x = ON ? -1 : v;"},
      {"x = ON ? -1 : h;", "x = ON ? -1 : h;"},
      {"x = ON ? n : w;", "x = ON ? n : w;"},
      {"x = ON ? w : n;", "x = w;"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text got = {0}, kernel = {0}, want = {0};
    assemble_body(parameters, rows[i].body, rows[i].want, &kernel, &want, &got);
    CHECK_TEXT(text_string(&want), text_string(&got), "row %zu: %s", i, rows[i].body);
    text_free(&got);
    text_free(&kernel);
    text_free(&want);
  }
}

/* What is left of && and || stands for 0 or 1 only where its truth alone is used. */
TEST(a_condition_that_is_used_as_a_number_stays) {
  static const char parameters[] = "int n, int m, int *p";
  static const struct {
    const char *body, *want;
  } rows[] = {
      {"int v = ON && n;", "int v = ON && n;"},
      {"int a = bool(m), v = n || OFF;", "int a = bool(m), v = n || OFF;"},
      {"v = ON && n;", "v = ON && n;"},
      {"v += ON && n;", "v += ON && n;"},
      {"v = p[ON && n];", "v = p[ON && n];"},
      {"f(ON && n, m);", "f(ON && n, m);"},
      {"f(m, (ON && n));", "f(m, (ON && n));"},
      {"v = int(ON && n)*3;", "v = int(ON && n)*3;"},
      {"v = (int)(ON && n);", "v = (int)(ON && n);"},
      {"int v[] = {ON && n, 2};", "int v[] = {ON && n, 2};"},
      {"v = m ? ON && n : 2;", "v = m ? ON && n : 2;"},
      {"v = m ? 2 : ON && n;", "v = m ? 2 : ON && n;"},
      {"switch (ON && n) { case 1: a(); }", "switch (ON && n) { case 1: a(); }"},
      {"v = WIDTH || n;", "v = WIDTH || n;"},
      {"v = ON && WIDTH;", "v = ON && WIDTH;"},
      {"v = (ON && WIDTH) || n;", "v = WIDTH || n;"},
      {"v = OFF || (ON && WIDTH);", "v = OFF || WIDTH;"},
      {"return ON && n;", "return ON && n;"},
      {"bool a = v = ON && n;", "bool a = v = ON && n;"},
      {"bool v = (ON && n)*3 == 3;", "bool v = (ON && n)*3 == 3;"},
      {"v = ON && n > 2;", "v = n > 2;"},
      {"v = ON && !n;", "v = !n;"},
      {"v = ON && -(n > 2);", "v = ON && -(n > 2);"},
      {"v = ON && (n && m);", "v = (n && m);"},
      {"v = OFF && n;", "v = OFF;"},
      {"v = !(ON && n);", "v = !n;"},
      {"const bool a = m, v = ON && n;", "const bool a = m, v = n;"},
      {"bool v = (ON && n);", "bool v = n;"},
      {"while (ON && n) a();", "while (n) a();"},
      {"for (; ON && n;) a();", "for (; n;) a();"},
      {"for (bool v = ON && n; v;) a();", "for (bool v = n; v;) a();"},
      {"if constexpr (WIDTH || n) a();", "a();"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text got = {0}, kernel = {0}, want = {0};
    assemble_body(parameters, rows[i].body, rows[i].want, &kernel, &want, &got);
    CHECK_TEXT(text_string(&want), text_string(&got), "row %zu: %s", i, rows[i].body);
    text_free(&got);
    text_free(&kernel);
    text_free(&want);
  }
}

TEST(a_function_that_returns_bool_returns_a_truth) {
  static const struct {
    const char *text, *want;
  } rows[] = {
      {"bool f(int n) { return ON && n; }\n" KERNEL("f(1);"), "bool f(int n) { return n; } " KERNEL("f(1);") " "},
      {"int f(int n) { return ON && n; }\n" KERNEL("f(1);"), "int f(int n) { return ON && n; } " KERNEL("f(1);") " "},
      {"bool f(int n) { auto g = [&]() -> int { return ON && n; }; return g() == 1; }\n" KERNEL("f(1);"),
       "bool f(int n) { auto g = [&]() -> int { return ON && n; }; return g() == 1; } " KERNEL("f(1);") " "},
      {"struct S { bool f(int n) const { if (n > 1) { return (ON && n); } else { return true; } } };\n" KERNEL(
           "S().f(1);"),
       "struct S { bool f(int n) const { if (n > 1) { return (n); } else { return true; } } }; " KERNEL(
           "S().f(1);") " "},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text got = {0};
    assemble_text("#define ON 1\n", rows[i].text, &got);
    CHECK_TEXT(rows[i].want, text_string(&got), "row %zu", i);
    text_free(&got);
  }
}

/* A constexpr of a real type is no number of ours, and a wide one stays wide. */
TEST(constexprs_have_the_types_that_they_are_declared_with) {
  static const struct {
    const char *text, *want;
  } rows[] = {
      {"constexpr real W = 2;\n" KERNEL("if (W/4 > 0) a();"), "constexpr real W = 2; " KERNEL("if (W/4 > 0) a();") " "},
      {"constexpr index_t W = 1;\n" KERNEL("x = 3*W;"), "constexpr index_t W = 1; " KERNEL("x = 3*W;") " "},
      {"constexpr int f(int n) { return n; }\n" KERNEL("x = OFF*f(1) + y;"), KERNEL("x = y;") " "},
      {"constexpr real f(int n) { return n; }\n" KERNEL("x = OFF*f(1);"),
       "constexpr real f(int n) { return n; } " KERNEL("x = OFF*f(1);") " "},
      {"int f(int n) { return n; }\n" KERNEL("x = OFF*f(1);"),
       "int f(int n) { return n; } " KERNEL("x = OFF*f(1);") " "},
      {"constexpr int W = f(1);\n" KERNEL("x = OFF*W + y;"), KERNEL("x = y;") " "},
      {"constexpr bool W = 6 & 4;\n" KERNEL("if (W == 1) a();"), KERNEL("a();") " "},
      {"constexpr unsigned W = -1;\n" KERNEL("if (long(W) > 0) a();"),
       "constexpr unsigned W = -1; " KERNEL("if (long(W) > 0) a();") " "},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text got = {0};
    assemble_text("#define OFF 0\n", rows[i].text, &got);
    CHECK_TEXT(rows[i].want, text_string(&got), "row %zu", i);
    text_free(&got);
  }
}

TEST(directives_are_resolved) {
  static const struct {
    const char *text, *want;
  } rows[] = {
      {"#if ON\n" KERNEL("a();") "\n#else\n" KERNEL("b();") "\n#endif\n", KERNEL("a();") " "},
      {"#ifndef ON\n#define X 1\n#endif\n" KERNEL("X;"), KERNEL("X;") " "},
      {"#if OFF\n#elif ON == 1\n" KERNEL("b();") "\n#endif\n", KERNEL("b();") " "},
      {"#if OFF\n#elif __CUDA_ARCH__ > 1\n" KERNEL("b();") "\n#endif\n",
       "#if __CUDA_ARCH__ > 1 " KERNEL("b();") " #endif "},
      {"#if defined(ON) && !defined(OTHER)\n" KERNEL("a();") "\n#endif\n", KERNEL("a();") " "},
      {"#include <some.h>\n#ifdef SOME\n" KERNEL("a();") "\n#endif\n",
       "#include <some.h> #ifdef SOME " KERNEL("a();") " #endif "},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text got = {0};
    assemble_text("#define ON 1\n#define OFF 0\n", rows[i].text, &got);
    CHECK_TEXT(rows[i].want, text_string(&got), "row %zu", i);
    text_free(&got);
  }
}

/* The compiler takes an undefined name after #if for 0, so that a misspelt word takes a branch silently. */
/* Append a text so many times. */
static void repeat(struct text *text, const char *what, int count) {
  for (int i = 0; i < count; i++) text_add(text, what, strlen(what));
}

/* Each #endif ends the #if that it belongs to, or the text is refused. */
TEST(conditionals_nest) {
  static const struct {
    int count;
    bool is_refused;
  } rows[] = {{1, false}, {40, false}, {300, true}};
  static const char *const none[] = {NULL};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text text = {0}, source = {0};
    bool is_decisive;
    text_printf(&text, "#if OFF\n");
    repeat(&text, "#if ON\n", rows[i].count);
    text_printf(&text, "int never;\n");
    repeat(&text, "#endif\n", rows[i].count);
    text_printf(&text, "int never_either;\n#endif\n__global__ void k() { never = never_either; }\n");
    const struct assembly_text texts[] = {{NULL, "#define ON 1\n#define OFF 0\n", NULL},
                                          {"test.cu", text_string(&text), NULL}};
    const halotune_status status = assemble(texts, 2, 4, none, "ARCH", &is_decisive, &source);
    CHECK_EQ(rows[i].is_refused ? HALOTUNE_PARSE : HALOTUNE_OK, status, "%d conditionals", rows[i].count);
    CHECK(rows[i].is_refused || !strstr(text_string(&source), "int never"), "%s", text_string(&source));
    text_free(&source);
    text_free(&text);
  }
}

TEST(an_undefined_name_after_if_is_an_error) {
  static const char *const none[] = {NULL};
  static const struct {
    const char *text, *message; /* NULL: there is no error */
  } rows[] = {
      {"\n#if ORDER == ADJACENT\n#endif\n", "test.cu:2: nothing defines 'ADJACENT'"},
      {"#if ORDER == 2\n#elif\\\n ODER == 1\n#endif\n", "test.cu:3: nothing defines 'ODER'"},
      {"#if __CUDA_ARCH__ > 800 && FAST\n#endif\n", "test.cu:1: nothing defines 'FAST'"},
      {"#if LATER\n#endif\n#define LATER 1\n", "test.cu:1: nothing defines 'LATER'"},
      {"#if __CUDA_ARCH__ > 800\n#elif FAST\n#endif\n", "test.cu:2: nothing defines 'FAST'"},
      {"#if ORDER == 2\n#elif __CUDA_ARCH__ > 800\n#elif FAST\n#endif\n", "test.cu:3: nothing defines 'FAST'"},
      {"#if __CUDA_ARCH__ > 800\n#elif ORDER || FAST\n#endif\n", NULL},
      {"#if ORDER == 2\n#if __CUDA_ARCH__ > 800\n#elif FAST\n#endif\n#endif\n", NULL},
      {"#ifdef FAST\n#endif\n#ifndef FAST\n#endif\n", NULL},
      {"#if defined(FAST) && FAST > 1\n#endif\n", NULL},
      {"#if defined(FAST) || defined ORDER && __cplusplus > 201703\n#endif\n", NULL},
      {"#if ORDER == 2\n#if FAST\n#endif\n#endif\n", NULL},
      {"#define LARGE(x) (x)\n#if LARGE(ORDER)\n#endif\n", NULL},
      {"#if ORDER == true\n#endif\n", NULL},
      {"#include <some.h>\n#if SOME_VERSION >= 2\n#endif\n", NULL},
      {"#if __has_include(<cuda/std/version>)\n#endif\n", NULL},
      {"#if __has_include(<cuda/std/version>) && FAST\n#endif\n", "test.cu:1: nothing defines 'FAST'"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct assembly_text texts[] = {{NULL, "#define ORDER 1\n", NULL}, {"test.cu", rows[i].text, NULL}};
    struct text source = {0};
    bool is_decisive;
    halotune_status status = assemble(texts, 2, 4, none, "ARCH", &is_decisive, &source);
    CHECK_EQ(rows[i].message ? HALOTUNE_PARSE : HALOTUNE_OK, status, "row %zu: %s", i, fail_text());
    CHECK(!rows[i].message || strstr(fail_text(), rows[i].message), "row %zu: %s", i, fail_text());
    text_free(&source);
  }
}

/* A macro is decisive if it chose a definition that the kernel needs. */
TEST(a_macro_that_decided_something_is_told) {
  static const char *const none[] = {NULL};
  static const struct {
    const char *text;
    bool is_decisive;
  } rows[] = {
      {"void f() {\n#if ARCH > 80\n  a();\n#endif\n}\n" KERNEL("f();"), true},
      {"void f() {\n#if ARCH > 80\n  a();\n#endif\n}\n" KERNEL("g();"), false},
      {"void f() { a(); }\n" KERNEL("f();"), false},
      {"int f() { return ARCH; }\n" KERNEL("f();"), false},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct assembly_text texts[] = {{NULL, "#define ARCH 90\n", NULL}, {"test.cu", rows[i].text, NULL}};
    struct text source = {0};
    bool is_decisive;
    CHECK_OK(assemble(texts, 2, 4, none, "ARCH", &is_decisive, &source));
    CHECK_EQ(rows[i].is_decisive, is_decisive, "row %zu: %s", i, rows[i].text);
    text_free(&source);
  }
}

/* A #line directive stands before each line that does not follow its predecessor in the file. */
TEST(lines_are_those_of_the_file) {
  static const char *const none[] = {NULL};
  const struct assembly_text texts[] = {
      {"a.cu", "int f();\n\nint g();\n\n\n__global__ void k() {\n  f();\n  if (false) g();\n  wrong;\n}\n", NULL}};
  struct text source = {0};
  bool is_decisive;
  CHECK_OK(assemble(texts, 1, 4, none, "ARCH", &is_decisive, &source));
  CHECK_TEXT(
      "#line 1 \"a.cu\"\nint f();\n\n#line 6 \"a.cu\"\n__global__ void k() {\n  f();\n#line 9 \"a.cu\"\n  wrong;\n}\n",
      text_string(&source), "source");
  text_free(&source);
}

/* Whether the definitions that a text uses mean the same as those of the first row. */
TEST(only_definitions_that_are_used_count) {
  static const char user[] = "#include \"common.cuh\"\n__global__ void k() { f(); a.g; }\n";
  static const struct {
    const char *library;
    bool is_same;
  } rows[] = {
      {"int h() { return 1; }\nint f() { return h(); }\nint g() { return 2; }\n#ifdef M\nint m();\n#endif\n", true},
      {"// of h\nint h()\n{ return 1; }\nint f() { return h(); }\nint g() { return 2; }\n", true},
      {"int g() { return 3; }\nint f() { return h(); }\nint h() { return 1; }\nint i();\n", true},
      {"int h() { return 1; }\nint f() { return 2*h(); }\nint g() { return 2; }\n", false},
      {"int h() { return 2; }\nint f() { return h(); }\nint g() { return 2; }\n", false},
      {"#ifdef M\nint h() { return 2; }\n#else\nint h() { return 1; }\n#endif\nint f() { return h(); }\n", false},
      {"int f() { return h(); }\n", false},
  };
  struct identity usual, got;
  CHECK_OK(used_definitions_hash("#define M 1\n", rows[0].library, user, &usual));
  for (size_t i = 0; i < COUNT(rows); i++) {
    CHECK_OK(used_definitions_hash("#define M 1\n", rows[i].library, user, &got));
    CHECK_EQ(rows[i].is_same, identity_compare(usual, got) == 0, "row %zu: %s", i, rows[i].library);
  }
}

/* A text of somebody else ends, however deeply it is nested, and does not use up the stack. */
TEST(nested_text_ends) {
  static const struct {
    const char *before, *open, *middle, *close;
    int count;
    bool is_refused;
  } rows[] = {
      {"int z = ", "(", "1", ")", 20, false},
      {"int z = ", "(", "1", ")", 200000, true},
      {"int z = ", "f(n, ", "1", ")", 200000, true},
      {"int z = ", "n[", "1", "]", 200000, true},
      {"int z = ", "sizeof(", "1", ")", 100000, true},
      {"int z = ", "-", "1", "", 200000, false}, /* an expression that is not understood stays as it is */
      {"int z = ", "n ? n : ", "1", "", 20, false},
      {"int z = ", "n ? n : ", "1", "", 100000, true},
      {"int z = ", "a<", "1", "", 300000, true},
      {"", "int a = b ", "1", "", 50, false},
      {"", "int a = b ", "1", "", 20000, true},
      {"int z = ", "0 || ", "n", "", 50, false},
      {"int z = ", "0 || ", "n", "", 30000, true},
      {"", "if (n) ", "", "", 50, false},
      {"", "if (n) ", "", "", 100000, true},
      {"", "if (n) ; else ", "", "", 50, false},
      {"", "if (n) ; else ", "", "", 100000, true},
      {"", "if (n) {", "n = 1;", "}", 50, false},
      {"", "if (n) {", "n = 1;", "}", 100000, true},
      {"", "if (1) {", "n = 1;", "}", 100000, true},
      {"", "do if (n) ", "", "", 100000, true},
      {"", "for (int i = 0; i < 1; i++) ", "", "", 50000, true},
      {"", "if (n) n = 1;", "", "", 20000, false}, /* long is not deep */
  };
  static const char *const none[] = {NULL};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text text = {0}, source = {0};
    bool is_decisive;
    text_printf(&text, "__global__ void k(int n) { %s", rows[i].before);
    repeat(&text, rows[i].open, rows[i].count);
    repeat(&text, rows[i].middle, 1);
    repeat(&text, rows[i].close, rows[i].count);
    text_printf(&text, "; }");
    const struct assembly_text texts[] = {{NULL, "", NULL}, {"test.cu", text_string(&text), NULL}};
    const halotune_status status = assemble(texts, 2, 4, none, "ARCH", &is_decisive, &source);
    CHECK_EQ(rows[i].is_refused ? HALOTUNE_PARSE : HALOTUNE_OK, status, "%zu: %d of %s", i, rows[i].count,
             rows[i].open);
    text_free(&source);
    text_free(&text);
  }
}

/* A macro of two macros of two macros is read again for each use, and a text of somebody else may use it often. */
TEST(macros_of_macros_end) {
  static const struct {
    int depth, uses;
    bool is_refused;
  } rows[] = {{3, 1000, false}, {15, 2, false}, {15, 2000, true}};
  static const char *const none[] = {NULL};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text text = {0}, source = {0};
    bool is_decisive;
    for (int k = 0; k < rows[i].depth; k++) text_printf(&text, "#define M%d M%d M%d\n", k, k + 1, k + 1);
    text_printf(&text, "#define M%d 1\n#if 0 ", rows[i].depth);
    repeat(&text, "+ M0 ", rows[i].uses);
    text_printf(&text, "\n#endif\n__global__ void k(int n) {}");
    const struct assembly_text texts[] = {{NULL, "", NULL}, {"test.cu", text_string(&text), NULL}};
    const halotune_status status = assemble(texts, 2, 4, none, "ARCH", &is_decisive, &source);
    CHECK_EQ(rows[i].is_refused ? HALOTUNE_PARSE : HALOTUNE_OK, status, "row %zu", i);
    text_free(&source);
    text_free(&text);
  }
}

/* The constants of one statement do not look at the directives above it one by one, which would take an hour here. */
TEST(many_constants_below_many_directives_end_soon) {
  enum { REPEATS = 300000 };
  static const char *const none[] = {NULL};
  struct text text = {0}, source = {0};
  bool is_decisive;
  text_printf(&text, "__device__ int f(int n) { return n; }\n");
  repeat(&text, "#if 0\n#endif\n", REPEATS);
  text_printf(&text, "constexpr int A = 1");
  for (int k = 0; k < REPEATS; k++) text_printf(&text, ",A%d=1", k);
  text_printf(&text, ";\n__global__ void k(int n) { n = f(n); }");
  const struct assembly_text texts[] = {{NULL, "", NULL}, {"test.cu", text_string(&text), NULL}};
  CHECK_OK(assemble(texts, 2, 4, none, "ARCH", &is_decisive, &source));
  CHECK(!strstr(text_string(&source), "A1"), "a constant that nothing uses");
  text_free(&source);
  text_free(&text);
}

/* Each use of a name reaches all its definitions, and a text of somebody else may have many of both. */
TEST(many_uses_of_a_name_with_many_definitions_end) {
  static const struct {
    const char *definition;
    int definitions, uses;
    bool is_refused;
  } rows[] = {{"int f();\n", 50, 50, false},
              {"int f();\n", 5000, 5000, true},
              {"#define f 1\n", 50, 50, false},
              {"#define f 1\n", 5000, 5000, true}};
  static const char *const none[] = {NULL};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text text = {0}, source = {0};
    bool is_decisive;
    repeat(&text, rows[i].definition, rows[i].definitions);
    text_printf(&text, "__global__ void k(int n) { n = 1 ");
    repeat(&text, ", f", rows[i].uses);
    text_printf(&text, "; }");
    const struct assembly_text texts[] = {{NULL, "", NULL}, {"test.cu", text_string(&text), NULL}};
    const halotune_status status = assemble(texts, 2, 4, none, "ARCH", &is_decisive, &source);
    CHECK_EQ(rows[i].is_refused ? HALOTUNE_PARSE : HALOTUNE_OK, status, "row %zu", i);
    text_free(&source);
    text_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nested_text_ends),
      cmocka_unit_test(macros_of_macros_end),
      cmocka_unit_test(many_uses_of_a_name_with_many_definitions_end),
      cmocka_unit_test(many_constants_below_many_directives_end_soon),
      cmocka_unit_test(conditionals_nest),
      cmocka_unit_test(only_what_a_kernel_needs_is_there),
      cmocka_unit_test(comments_and_joined_lines_end_where_they_did),
      cmocka_unit_test(a_comment_decides_nothing),
      cmocka_unit_test(a_blank_decides_nothing),
      cmocka_unit_test(a_text_may_begin_with_anything),
      cmocka_unit_test(what_a_configuration_decides_is_resolved),
      cmocka_unit_test(types_and_effects_are_kept),
      cmocka_unit_test(a_condition_that_is_used_as_a_number_stays),
      cmocka_unit_test(a_function_that_returns_bool_returns_a_truth),
      cmocka_unit_test(constexprs_have_the_types_that_they_are_declared_with),
      cmocka_unit_test(directives_are_resolved),
      cmocka_unit_test(an_undefined_name_after_if_is_an_error),
      cmocka_unit_test(a_macro_that_decided_something_is_told),
      cmocka_unit_test(lines_are_those_of_the_file),
      cmocka_unit_test(only_definitions_that_are_used_count),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
