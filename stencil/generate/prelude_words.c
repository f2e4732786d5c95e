/* prelude_words.c: writes numbers, coefficients and taps in the form that all sections of the prelude use. */
#include <float.h>
#include <math.h>

#include "stencil/generate/prelude_parts.h"

void prelude_write_for_axis(struct text *text, const char *pattern, int axis) {
  for (; *pattern; pattern++) text_add(text, *pattern == '@' ? &axis_names[axis] : pattern, 1);
}

void prelude_write_number(struct text *text, const struct prelude *prelude, double number) {
  bool small = prelude->spec->dtype == DTYPE_F32 && fabs(number) < (double)FLT_MIN;
  const double value = small ? (double)(float)number : number;
  text_printf(text, "real(");
  if (value == 0 && signbit(value)) text_printf(text, "-0.0"); /* -0 would be an integer */
  else text_number(text, value);
  text_printf(text, ")");
}

const char *prelude_coefficients(const struct prelude *prelude) {
  static const char *const sources[] = {"coefficients", "Coefficients()", "constant_coefficients"};
  bool passed = prelude->launch->passes_coefficients || prelude->coefficients == COEFFICIENTS_CONSTANT;
  return sources[passed ? prelude->coefficients : COEFFICIENTS_LITERAL];
}

void prelude_write_leaf(struct text *text, const struct prelude *prelude, const struct expr *node) {
  const struct stencil *stencil = prelude->spec->stencil;
  switch (node->kind) {
  case EXPR_NUMBER: prelude_write_number(text, prelude, node->number); break;
  case EXPR_COEFFICIENT: text_printf(text, "%s_", stencil->coefficients[node->index].name); break;
  case EXPR_VARIABLE: text_printf(text, "%s_", variable_names[node->index]); break;
  default:
    if (!input_is_whole(stencil, node->index)) {
      text_printf(text, "beside_%d", prelude_tap_field(prelude, find_tap(prelude->spec->analysis, node)));
      break;
    }
    text_printf(text, "%s_", stencil->inputs[node->index]);
    for (int axis = 0; axis < stencil->dims; axis++)
      text_printf(text, "%s%d", axis == 0 ? "(" : ", ", node->offset[axis]);
    text_printf(text, ")");
    break;
  }
}
