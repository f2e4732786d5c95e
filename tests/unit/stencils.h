/* stencils.h: stencils for tests, from a text or from kernels/. */
#ifndef TESTS_UNIT_STENCILS_H
#define TESTS_UNIT_STENCILS_H

#include <stdio.h>
#include <string.h>

#include "stencil/analysis/analysis.h"

/* Make a stencil of `dims` dimensions. It has the inputs u and w, the outputs v, and the coefficients a to d that
 * `update` uses. */
static inline halotune_status stencil_of_update(int dims, const char *update, struct stencil **out) {
  static const char *const grids[] = {"[9]", "[9, 8]", "[9, 8, 7]"};
  static const char *const values[] = {"a: 0.5", "b: 0.25", "c: 3", "d: -2"};
  struct text text = {0}, names = {0};
  text_printf(&text, "name: test\ndims: %d\ninputs: [u%s]\noutputs: [v%s]\n", dims, strstr(update, "w[") ? ", w" : "",
              strstr(update, "v2 =") ? ", v2" : "");
  for (int i = 0; i < 4; i++) {
    bool used = false;
    for (const char *c = update; *c; c++) {
      bool letter_before = c > update && (c[-1] >= 'a' && c[-1] <= 'z');
      used = used || (*c == values[i][0] && !letter_before && !(c[1] >= 'a' && c[1] <= 'z'));
    }
    if (used) text_printf(&names, "%s%s", names.length ? ", " : "", values[i]);
  }
  if (names.length) text_printf(&text, "coefficients: {%s}\n", text_string(&names));
  text_printf(&text, "boundary: skip\ndtypes: [f32, f64]\ngrids: [%s]\nupdate: |\n  ", grids[dims - 1]);
  for (const char *c = update; *c; c++) text_printf(&text, *c == '\n' ? "\n  " : "%c", *c);
  text_printf(&text, "\n");
  halotune_status status = stencil_parse(&(struct source){"test.yaml", text_string(&text), text.length}, out);
  text_free(&names);
  text_free(&text);
  return status;
}

/* Read a stencil of kernels/ by its name. Tests run in the root of the repository. */
static inline halotune_status stencil_of_kernels(const char *name, struct stencil **out) {
  char path[128];
  snprintf(path, sizeof path, "kernels/%s.yaml", name);
  return stencil_read(path, out);
}

#endif
