/* prelude.c: writes what stands before a template. Each section is a function; the longer sections have their own
 * files. */
#include "stencil/generate/prelude.h"

static void add_upper(struct text *text, const char *name) {
  for (; *name; name++) text_printf(text, "%c", *name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name);
}

/* Append STORAGE_PLANES for the word `planes` of `storage`. */
static void add_word(struct text *text, const struct parameter *parameter, int value) {
  add_upper(text, parameter->name);
  text_printf(text, "_");
  add_upper(text, parameter->words[value]);
}

/* Append BLOCK_X 32 for a number. Each word gets a number, and the parameter is one of the words: STORAGE
 * STORAGE_PLANES. */
void prelude_write_parameters(struct text *text, const struct variant_spec *spec) {
  for (int i = 0; i < spec->template->parameter_count; i++) {
    const struct parameter *parameter = &spec->template->parameters[i];
    int chosen = spec->configuration.choice[i];
    for (int v = 0; v < parameter->value_count && parameter->is_word; v++) {
      text_printf(text, "#define ");
      add_word(text, parameter, v);
      text_printf(text, " %d\n", v);
    }
    text_printf(text, "#define ");
    add_upper(text, parameter->name);
    text_printf(text, " ");
    if (parameter->is_word) add_word(text, parameter, chosen);
    else text_printf(text, "%s", parameter->words[chosen]);
    text_printf(text, "  // %s\n", parameter->about);
  }
  text_printf(text, "\n");
}

/* Whether a tap of a point in the largest box can be outside the grid. */
static bool has_images(const struct stencil *stencil, const struct analysis *analysis) {
  const struct grid origin = {{0}};
  long low[MAX_DIMS], high[MAX_DIMS];
  analysis_computed(analysis, stencil, &origin, low, high);
  for (int axis = 0; axis < stencil->dims; axis++) {
    if (low[axis] < analysis->radius_low[axis] || -high[axis] < analysis->radius_high[axis]) return true;
  }
  return false;
}

/* Append two functions that number the staged inputs. There are STAGED of them, each with a slot. */
static void add_staged(struct text *text, const struct prelude *prelude) {
  const struct stencil *stencil = prelude->spec->stencil;
  int staged[MAX_FIELDS], count = 0;
  for (int i = 0; i < stencil->input_count; i++) {
    if (is_staged(prelude->spec->analysis, i)) staged[count++] = i;
  }
  text_printf(text, "#define STAGED %d  // inputs that are read beyond the point itself\n", count);
  text_printf(text, "__device__ constexpr int staged_input(int slot) { return ");
  for (int i = 0; i < count; i++) text_printf(text, "slot == %d ? %d : ", i, staged[i]);
  text_printf(text, "-1; }\n__device__ constexpr int staged_slot(int input) { return ");
  for (int i = 0; i < count; i++) text_printf(text, "input == %d ? %d : ", staged[i], i);
  text_printf(text, "-1; }\n\n");
}

/* Append the types, and the reach of the update. */
static void write_stencil(struct text *text, const struct prelude *prelude) {
  const struct variant_spec *spec = prelude->spec;
  const struct analysis *analysis = spec->analysis;
  text_printf(text, "typedef %s real;\ntypedef %s index_t;\n", spec->dtype == DTYPE_F32 ? "float" : "double",
              prelude->launch->index_bytes == 4 ? "int" : "long long");
  text_printf(text, "#define DIMS %d\n#define INPUTS %d\n#define OUTPUTS %d\n", spec->stencil->dims,
              prelude_tap_field(prelude, -1), spec->stencil->output_count);
  text_printf(text, "#define AXIS %d  // of a pencil or scan: 0, 1, 2 for x, y, z; else -1\n", analysis->pencil_axis);
  text_printf(text, "// How far taps reach towards smaller and larger indices.\n");
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    text_printf(text, "#define LOW_%c %d\n#define HIGH_%c %d\n", 'X' + axis, analysis->radius_low[axis], 'X' + axis,
                analysis->radius_high[axis]);
  }
  text_printf(text, "#define STAR %d  // 1 if every tap lies on an axis through the point\n",
              analysis_taps_on_axes(analysis));
  text_printf(text, "#define IMAGES %d  // 1 if taps of a point in the box may lie beyond the grid\n",
              has_images(spec->stencil, analysis));
  text_printf(text, "#define FILLS_ENDS %d  // 1 if taps beyond the grid read values other than 0\n",
              spec->stencil->kind == STENCIL_STENCIL && analysis_fills_ends(analysis, spec->stencil));
  text_printf(text, "#define PLAIN_ENDS %d  // 1 if is_zero_x and so on say what taps beyond the grid read\n",
              analysis_is_plain(analysis, spec->stencil));
  text_printf(
      text, "#define USES_AXES %d  // 1 if the place in memory alone does not determine what fields hold at a point\n",
      spec->stencil->kind == STENCIL_STENCIL && analysis_uses_axes(analysis, spec->stencil));
  text_printf(text, "#define FAR_ENDS %d  // 1 if some of them read at the other end of the grid\n",
              spec->stencil->kind == STENCIL_STENCIL && analysis_has_far_ends(analysis, spec->stencil));
  add_staged(text, prelude);
}

/* Append struct Geometry. Its members are constants if extents are literal, so templates write g.nx in both cases. */
static void write_grid(struct text *text, const struct prelude *prelude) {
  long numbers[DOMAIN_NUMBERS];
  domain_numbers(&prelude->spec->domain, numbers);
  text_printf(text,
              "// The grid: points in x, y, z; strides in elements; the box to compute, x0 <= x < x1 and so on\n"
              "struct Geometry {\n  %sindex_t ",
              prelude->literal_extents ? "static constexpr " : "");
  for (int i = 0; i < DOMAIN_NUMBERS; i++) {
    text_printf(text, "%s%s", i > 0 ? ", " : "", domain_number_names[i]);
    if (prelude->literal_extents) text_printf(text, " = %ld", numbers[i]);
  }
  text_printf(text, ";\n};\n"
                    "__device__ __forceinline__ index_t at(const Geometry &g, index_t x, index_t y, index_t z) {\n"
                    "  return z*g.plane + y*g.row + x;\n}\n"
                    "__device__ __forceinline__ bool in_box(const Geometry &g, index_t x, index_t y, index_t z) {\n"
                    "  return x >= g.x0 && x < g.x1 && y >= g.y0 && y < g.y1 && z >= g.z0 && z < g.z1;\n}\n\n");
}

/* Append the coefficients. Templates pass COEFFICIENT_VALUES to the update, wherever the values are kept. */
static void write_coefficients(struct text *text, const struct prelude *prelude) {
  const struct stencil *stencil = prelude->spec->stencil;
  const double *values = prelude->spec->coefficients;
  bool literal = prelude->coefficients == COEFFICIENTS_LITERAL;
  text_printf(text, "struct Coefficients {");
  for (int i = 0; i < stencil->coefficient_count; i++) {
    text_printf(text, "%s%s_",
                i > 0     ? ", "
                : literal ? "\n  static constexpr real "
                          : "\n  real ",
                stencil->coefficients[i].name);
    if (!literal) continue;
    text_printf(text, " = ");
    prelude_write_number(text, prelude, values[i]);
  }
  text_printf(text, stencil->coefficient_count > 0 ? ";\n};\n" : "};\n");
  if (prelude->coefficients == COEFFICIENTS_CONSTANT) {
    text_printf(text, "__constant__ Coefficients constant_coefficients = {");
    for (int i = 0; i < stencil->coefficient_count; i++) {
      text_printf(text, "%s", i > 0 ? ", " : "");
      prelude_write_number(text, prelude, values[i]);
    }
    text_printf(text, "};\n");
  }
  text_printf(text, "#define COEFFICIENT_VALUES %s\n\n", prelude_coefficients(prelude));
}

halotune_status prelude_write(struct text *text, const struct prelude *prelude) {
  const struct variant_spec *spec = prelude->spec;
  halotune_status status = HALOTUNE_OK;
  write_stencil(text, prelude);
  write_grid(text, prelude);
  write_coefficients(text, prelude);
  if (spec->stencil->kind == STENCIL_STENCIL) prelude_write_stages(text, prelude);
  prelude_write_fields(text, prelude);
  prelude_write_boundary(text, prelude);
  if (spec->stencil->kind == STENCIL_STENCIL) prelude_write_stage_points(text, prelude);
  if (spec->stencil->kind == STENCIL_STENCIL) status = prelude_write_update(text, prelude);
  if (status == HALOTUNE_OK && spec->analysis->split.form_count > 0) status = prelude_write_split(text, prelude);
  if (status != HALOTUNE_OK) return status;
  return text_ok(text) ? HALOTUNE_OK : fail_memory();
}
