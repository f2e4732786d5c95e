/* prelude_partial_inputs.c: writes how a kernel reads inputs that are not whole: masks of bytes, and inputs that lie
 * along some axes only. Templates take each tap of such an input for a field of its own that is read at the computed
 * point, so that none of them stages it. read_point and read_vector know where the tap's value lies. */
#include "stencil/generate/prelude_parts.h"

int prelude_index_field(const struct stencil *stencil, int axis) {
  int field = stencil->input_count;
  for (int i = 0; i < axis && i < stencil->dims; i++) field += stencil->uses_index[i];
  return field;
}

static bool is_at_point(const struct tap *tap) { return !tap->offset[0] && !tap->offset[1] && !tap->offset[2]; }

/* Whether a tap has another field than its input's: all but the first tap of an input that is not whole. */
static bool has_own_field(const struct prelude *prelude, int tap) {
  const struct tap *taps = prelude->spec->analysis->taps;
  return !input_is_whole(prelude->spec->stencil, taps[tap].input) && tap > 0 && taps[tap - 1].input == taps[tap].input;
}

/* The first tap of an input or of a later one. Taps are sorted by their inputs. */
static int first_tap(const struct analysis *analysis, int input) {
  int low = 0, high = analysis->tap_count;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (analysis->taps[middle].input < input) low = middle + 1;
    else high = middle;
  }
  return low;
}

int prelude_tap_field(const struct prelude *prelude, int tap) {
  const struct stencil *stencil = prelude->spec->stencil;
  const struct analysis *analysis = prelude->spec->analysis;
  const int count = tap < 0 ? analysis->tap_count : tap;
  int field = prelude_index_field(stencil, MAX_DIMS);
  if (tap >= 0 && !has_own_field(prelude, tap)) return analysis->taps[tap].input;
  for (int i = 0; i < stencil->input_count; i++) { /* each tap of an input that is not whole but the first */
    const int first = first_tap(analysis, i), end = first_tap(analysis, i + 1), last = end < count ? end : count;
    if (!input_is_whole(stencil, i) && last > first) field += last - first - 1;
  }
  return field;
}

bool prelude_has_beside(const struct prelude *prelude) {
  const struct stencil *stencil = prelude->spec->stencil;
  for (int i = 0; i < stencil->input_count; i++) {
    if (!input_is_whole(stencil, i)) return true;
  }
  return false;
}

int prelude_mask_number(const struct stencil *stencil, int input) {
  int number = 0;
  for (int i = 0; i < input; i++) number += stencil->input_types[i] == INPUT_U8;
  return number;
}

/* Append a tap as the stencil's file spells it: "sponge[1]". */
static void add_spelling(struct text *text, const struct stencil *stencil, const struct tap *tap) {
  text_printf(text, "%s", stencil->inputs[tap->input]);
  for (int axis = 0, count = 0; axis < stencil->dims; axis++) {
    if (!input_lies_along(stencil, tap->input, axis)) continue;
    text_printf(text, "%s%d", count++ > 0 ? "," : "[", tap->offset[axis]);
  }
  text_printf(text, "]");
}

/* Append a coordinate of the tap's place in the grid: "x", or "image_x(g, x + 1)". */
static void add_coordinate(struct text *text, const struct stencil *stencil, const struct tap *tap, int axis) {
  const char name = axis_names[axis];
  if (axis >= stencil->dims || tap->offset[axis] == 0) {
    text_printf(text, "%c", name);
    return;
  }
  text_printf(text, "image_%c(g, ", name);
  if (!analysis_shares_images(stencil)) text_printf(text, "%d, ", tap->input);
  text_printf(text, "%c + %d)", name, tap->offset[axis]);
}

/* Append the address of the tap's value: rows and planes as far apart as the input's axes make them (input_layout_of in
 * stencil/launch/domain.h). */
static void add_address(struct text *text, const struct stencil *stencil, const struct tap *tap) {
  const int input = tap->input;
  static const char *const rows[MAX_DIMS + 1] = {"", "g.row", "g.ny", ""}; /* no axis follows z */
  int inner = 0; /* distance of neighbours along the next axis, as an index of `rows` */
  bool any = false;
  if (stencil->input_types[input] == INPUT_U8) text_printf(text, "f.mask[%d] + ", prelude_mask_number(stencil, input));
  else text_printf(text, "f.in[%d] + ", input);
  if (!input_is_thin(stencil, input)) {
    text_printf(text, "at(g, ");
    for (int axis = 0; axis < MAX_DIMS; axis++) {
      if (axis > 0) text_printf(text, ", ");
      add_coordinate(text, stencil, tap, axis);
    }
    text_printf(text, ")");
    return;
  }
  for (int axis = 0; axis < stencil->dims; axis++) {
    if (!input_lies_along(stencil, input, axis)) continue;
    if (any) text_printf(text, " + ");
    add_coordinate(text, stencil, tap, axis);
    if (inner > 0) text_printf(text, "*%s", rows[inner]);
    inner = axis + 1;
    any = true;
  }
}

/* Append the statements of one tap for reading a field at a point. */
static void add_point_case(struct text *text, const struct prelude *prelude, int number) {
  const struct stencil *stencil = prelude->spec->stencil;
  const struct tap *tap = &prelude->spec->analysis->taps[number];
  text_printf(text, "  if (field == %d) return ", prelude_tap_field(prelude, number));
  if (!is_at_point(tap)) {
    text_printf(text, "ghost_value(f, %d, g", tap->input);
    for (int axis = 0; axis < MAX_DIMS; axis++) {
      text_printf(text, ", %c", axis_names[axis]);
      if (tap->offset[axis] != 0) text_printf(text, " + %d", tap->offset[axis]);
    }
    text_printf(text, ", ");
  }
  text_printf(text, "real(%s(", prelude->load_path == LOAD_READONLY ? "load_readonly" : "load_plain");
  add_address(text, stencil, tap);
  text_printf(text, "))%s;  // ", is_at_point(tap) ? "" : ")");
  add_spelling(text, stencil, tap);
  text_printf(text, "\n");
}

/* Append the statements of one tap for reading a vector of a field. */
static void add_vector_case(struct text *text, const struct prelude *prelude, int number) {
  const struct stencil *stencil = prelude->spec->stencil;
  const struct tap *tap = &prelude->spec->analysis->taps[number];
  const bool is_mask = stencil->input_types[tap->input] == INPUT_U8;
  text_printf(text, "  if (field == %d) {\n", prelude_tap_field(prelude, number));
  if (!input_lies_along(stencil, tap->input, 0)) {
    text_printf(text, "    const real same = read_point(f, field, g, x, y, z);\n"
                      "#pragma unroll\n    for (int i = 0; i < N; i++) values[i] = same;\n");
  } else if (!is_at_point(tap)) {
    text_printf(text, "#pragma unroll\n"
                      "    for (int i = 0; i < N; i++) values[i] = read_point(f, field, g, x + i, y, z);\n");
  } else if (is_mask) {
    text_printf(text, "    unsigned char bytes[N];\n    load_bytes(");
    add_address(text, stencil, tap);
    text_printf(text, ", bytes);\n#pragma unroll\n    for (int i = 0; i < N; i++) values[i] = real(bytes[i]);\n");
  } else {
    text_printf(text, "    load_vector%s(", prelude->load_path == LOAD_READONLY ? "_readonly" : "");
    add_address(text, stencil, tap);
    text_printf(text, ", values);\n");
  }
  text_printf(text, "    return;\n  }\n");
}

void prelude_write_beside(struct text *text, const struct prelude *prelude, bool is_vector) {
  const struct analysis *analysis = prelude->spec->analysis;
  for (int i = 0; i < analysis->tap_count; i++) {
    if (input_is_whole(prelude->spec->stencil, analysis->taps[i].input)) continue;
    if (is_vector) add_vector_case(text, prelude, i);
    else add_point_case(text, prelude, i);
  }
}

void prelude_write_beside_values(struct text *text, const struct prelude *prelude) {
  const struct analysis *analysis = prelude->spec->analysis;
  for (int i = 0; i < analysis->tap_count; i++) {
    if (input_is_whole(prelude->spec->stencil, analysis->taps[i].input)) continue;
    const int field = prelude_tap_field(prelude, i);
    text_printf(text, "  const real beside_%d = taps(%d, 0, 0, 0);  // ", field, field);
    add_spelling(text, prelude->spec->stencil, &analysis->taps[i]);
    text_printf(text, "\n");
  }
}
