/* stencil_fuzz.c: parses any bytes as a stencil file. A stencil that is accepted is analysed and printed. A refusal
 * must say where and why, in UTF-8 without control characters. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stencil/analysis/analysis.h"
#include "stencil/file/stencil.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void die(const char *what) {
  fprintf(stderr, "%s\n%s\n", what, fail_text());
  abort();
}

static void check_message(void) {
  const char *text = fail_text();
  char *end = NULL;
  bool name = strncmp(text, "input:", 6) == 0;
  bool line = name && strtol(text + 6, &end, 10) >= 1 && *end == ':';
  bool column = line && strtol(end + 1, &end, 10) >= 1 && strncmp(end, ": ", 2) == 0 && end[2];
  if (!column) die("an error without place or words");
  for (const char *at = text; *at; at++) {
    if ((unsigned char)*at < ' ' && *at != '\n' && *at != '\t') die("a control character in an error");
  }
}

static void print_leaf(struct text *text, const struct expr *node, const void *context) {
  (void)context;
  text_printf(text, "%d", node->index);
}

struct printing {
  const struct update *update;
  int index; /* of the assignment that is printed */
};

/* Print a temporary by its name, so that the output is not longer than the input. */
static const char *print_temporary(int node, const void *context) {
  const struct printing *printing = context;
  for (int i = 0; i < printing->index; i++) {
    if (printing->update->assignments[i].root == node) return printing->update->assignments[i].name;
  }
  return NULL;
}

static void use_stencil(const struct stencil *stencil) {
  struct analysis *analysis;
  struct text text = {0};
  struct printing printing = {&stencil->update, 0};
  struct spelling spelling = {.leaf = print_leaf, .temporary = print_temporary, .context = &printing};
  double *values = malloc(((size_t)stencil->coefficient_count + 1) * sizeof *values);
  if (!values || analysis_make(stencil, &analysis) != HALOTUNE_OK) die("the analysis failed");
  for (int i = 0; i < stencil->grid_count; i++) {
    if (stencil_coefficients(stencil, &stencil->grids[i], values) != HALOTUNE_OK)
      die("a coefficient passed, then failed");
  }
  for (int i = 0; i < stencil->update.count; i++) {
    int root = stencil->update.assignments[i].root;
    printing.index = i;
    if (expr_print(&text, &stencil->exprs, root, &spelling) != HALOTUNE_OK) die("not printed");
  }
  text_free(&text);
  analysis_free(analysis);
  free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct stencil *stencil;
  char *text = malloc(size + 1);
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  struct source source = source_of("input", text, size);
  halotune_status status = stencil_parse(&source, &stencil);
  if (status == HALOTUNE_OK) use_stencil(stencil);
  else if (status != HALOTUNE_PARSE) die("neither parsed nor refused");
  else check_message();
  stencil_free(stencil);
  free(text);
  return 0;
}
