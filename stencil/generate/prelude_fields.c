/* prelude_fields.c: writes the arguments of a kernel, and the functions with which a template reads and writes fields.
 * Each way of loading is written once here, so a template works with all of them. */
#include "stencil/generate/prelude_parts.h"

static bool is_texture(const struct prelude *prelude) {
  return prelude->load_path == LOAD_TEXTURE_LINEAR || prelude->load_path == LOAD_TEXTURE_2D;
}

/* Append the inputs' names as arguments, with 0 in place of masks; or those of the masks. */
static void add_inputs(struct text *text, const struct stencil *stencil, bool masks) {
  int count = 0;
  for (int i = 0; i < stencil->input_count; i++) {
    const bool is_mask = stencil->input_types[i] == INPUT_U8;
    if (masks && !is_mask) continue;
    text_printf(text, "%s%s%s", count++ > 0 ? ", " : "", is_mask && !masks ? "0" : "in_",
                is_mask && !masks ? "" : stencil->inputs[i]);
  }
}

/* Append names with a prefix, separated by commas. */
static void add_list(struct text *text, const char *prefix, const char *const *names, int count) {
  for (int i = 0; i < count; i++) text_printf(text, "%s%s%s", i > 0 ? ", " : "", prefix, names[i]);
}

/* Append the names of the fields that have tensor maps. */
static void add_mapped(struct text *text, const char *before, const char *const *names, const struct tensor_maps *maps,
                       const char *behind) {
  for (int i = 0; i < maps->count; i++) text_printf(text, "%s%s%s", before, names[maps->fields[i]], behind);
}

/* Append addresses of tensor maps in braces. */
static void add_map_list(struct text *text, const char *before, const char *const *names,
                         const struct tensor_maps *maps) {
  for (int i = 0; i < maps->count; i++)
    text_printf(text, "%s%s%s", i > 0 ? ", " : ", {", before, names[maps->fields[i]]);
  if (maps->count > 0) text_printf(text, "}");
}

/* Whether the kernel has a workspace. The prelude without a template has everything. */
static bool has_workspace(const struct prelude *prelude) {
  const struct template *template = prelude->spec->template;
  return !template || template->workspace_bytes.is_given;
}

/* Append the kernel's arguments. A plain load needs pointers without __restrict__, because with it the compiler would
 * use the read-only path. */
static void add_arguments(struct text *text, const struct prelude *prelude) {
  const struct stencil *stencil = prelude->spec->stencil;
  const struct launch *launch = prelude->launch;
  const char *restricted = prelude->load_path == LOAD_PLAIN ? "" : "__restrict__ ";
  text_printf(text, "#define KERNEL %s\n#define KERNEL_PARAMETERS \\\n ", prelude->launch->kernel);
  for (int i = 0; i < stencil->input_count; i++)
    text_printf(text, " const %s *%sin_%s,", stencil->input_types[i] == INPUT_U8 ? "unsigned char" : "real", restricted,
                stencil->inputs[i]);
  for (int i = 0; i < stencil->output_count; i++)
    text_printf(text, " real *%sout_%s,", restricted, stencil->outputs[i]);
  for (int i = 0; i < launch->carried_count; i++) text_printf(text, " real *%scarried_%d,", restricted, i);
  for (int i = 0; i < stencil->input_count && is_texture(prelude); i++) {
    if (!input_is_whole(stencil, i)) continue;
    text_printf(text, " cudaTextureObject_t texture_%s,", stencil->inputs[i]);
  }
  add_mapped(text, " const __grid_constant__ TensorMap map_in_", stencil->inputs, &launch->input_maps, ",");
  add_mapped(text, " const __grid_constant__ TensorMap map_out_", stencil->outputs, &launch->output_maps, ",");
  if (has_workspace(prelude)) text_printf(text, " void *workspace,");
  text_printf(text, " const Geometry g");
  if (prelude->launch->passes_coefficients) text_printf(text, ", const Coefficients coefficients");
  text_printf(text, "\n#define FIELDS {{");
  add_inputs(text, stencil, false);
  text_printf(text, "}, {");
  add_list(text, "out_", stencil->outputs, stencil->output_count);
  for (int i = 0; i < launch->carried_count; i++) text_printf(text, ", carried_%d", i);
  text_printf(text, "}");
  if (prelude_mask_number(stencil, stencil->input_count) > 0) {
    text_printf(text, ", {");
    add_inputs(text, stencil, true);
    text_printf(text, "}");
  }
  prelude_write_outside_values(text, prelude);
  if (is_texture(prelude)) {
    text_printf(text, ", {");
    for (int i = 0; i < stencil->input_count; i++) {
      text_printf(text, "%s%s%s", i > 0 ? ", " : "", input_is_whole(stencil, i) ? "texture_" : "0",
                  input_is_whole(stencil, i) ? stencil->inputs[i] : "");
    }
    text_printf(text, "}");
  }
  add_map_list(text, "&map_in_", stencil->inputs, &launch->input_maps);
  add_map_list(text, "&map_out_", stencil->outputs, &launch->output_maps);
  text_printf(text, "}\n#define LAUNCH_BOUNDS");
  if (prelude->threads > 0) text_printf(text, " __launch_bounds__(%ld", prelude->threads);
  if (prelude->threads > 0 && prelude->min_blocks > 0) text_printf(text, ", %ld", prelude->min_blocks);
  text_printf(text, prelude->threads > 0 ? ")\n\n" : "\n\n");
}

/* The code that reads an element of a texture. A double is two integers in a texture. */
static const char *texture_fetch(const struct prelude *prelude) {
  bool single = prelude->spec->dtype == DTYPE_F32;
  if (prelude->load_path == LOAD_TEXTURE_LINEAR) {
    return single ? "  return tex1Dfetch<float>(f.texture[field], int(at(g, x, y, z)));\n"
                  : "  const int2 bits = tex1Dfetch<int2>(f.texture[field], int(at(g, x, y, z)));\n"
                    "  return __hiloint2double(bits.y, bits.x);\n";
  }
  return single
             ? "  return tex2D<float>(f.texture[field], float(x) + 0.5f, float(z*(g.plane/g.row) + y) + 0.5f);\n"
             : "  const int2 bits = tex2D<int2>(f.texture[field], float(x) + 0.5f, float(z*(g.plane/g.row) + y) + 0.5f);\n"
               "  return __hiloint2double(bits.y, bits.x);\n";
}

/* The condition under which an input is streamed, to be written before the load; NULL if no input is. */
static const char *streaming_condition(const struct prelude *prelude) {
  if (is_texture(prelude)) return NULL;
  switch (prelude->streaming) {
  case STREAMING_ALL: return "if (staged_slot(field) < 0) ";
  case STREAMING_LOADS: return "";
  default: return NULL;
  }
}

/* Append the values of fields that hold the number of a point, at the beginning of a function that reads a field.
 *   pattern  what to do with each, with the axis in place of '@' */
static void add_index_values(struct text *text, const struct stencil *stencil, const char *pattern) {
  for (int axis = 0; axis < stencil->dims && stencil->kind == STENCIL_STENCIL; axis++) {
    if (!stencil->uses_index[axis]) continue;
    text_printf(text, "  if (field == %d) ", prelude_index_field(stencil, axis));
    prelude_write_for_axis(text, pattern, axis);
  }
}

static void add_readers(struct text *text, const struct prelude *prelude) {
  static const char *const loads[] = {"  return load_plain(f.in[field] + at(g, x, y, z));\n",
                                      "  return load_readonly(f.in[field] + at(g, x, y, z));\n"};
  static const char *const vectors[] = {"  load_vector(f.in[field] + at(g, x, y, z), values);\n",
                                        "  load_vector_readonly(f.in[field] + at(g, x, y, z), values);\n"};
  static const char by_points[] = "#pragma unroll\n"
                                  "  for (int i = 0; i < N; i++) values[i] = read_point(f, field, g, x + i, y, z);\n";
  const struct stencil *stencil = prelude->spec->stencil;
  const char *condition = streaming_condition(prelude);
  const bool is_always_streamed = condition && !*condition;
  text_printf(text,
              "// Input `field` at a point of the grid.\n"
              "__device__ __forceinline__ real read_point(const Fields &f, int field, const Geometry &g, index_t x, "
              "index_t y, index_t z) {\n");
  add_index_values(text, stencil, "return real(@);\n");
  prelude_write_beside(text, prelude, false);
  if (condition) text_printf(text, "  %sreturn load_streaming(f.in[field] + at(g, x, y, z));\n", condition);
  if (!is_always_streamed) {
    text_printf(text, "%s", is_texture(prelude) ? texture_fetch(prelude) : loads[prelude->load_path]);
  }
  text_printf(text,
              "}\n// N neighbours in x from this point on. They are aligned as a vector of N elements.\n"
              "template <int N>\n"
              "__device__ __forceinline__ void read_vector(const Fields &f, int field, const Geometry &g, index_t x, "
              "index_t y, index_t z, real (&values)[N]) {\n");
  add_index_values(
      text, stencil,
      "{\n#pragma unroll\n    for (int i = 0; i < N; i++) values[i] = read_point(f, field, g, x + i, y, z);\n"
      "    return;\n  }\n");
  prelude_write_beside(text, prelude, true);
  if (condition) {
    text_printf(text, "  %sreturn load_vector_streaming(f.in[field] + at(g, x, y, z), values);\n", condition);
  }
  if (!is_always_streamed) text_printf(text, "%s", is_texture(prelude) ? by_points : vectors[prelude->load_path]);
  text_printf(
      text, "}\n// The same, but elements behind the row's last point are 0.\n"
            "template <int N>\n"
            "__device__ __forceinline__ void read_in_row(const Fields &f, int field, const Geometry &g, index_t x, "
            "index_t y, index_t z, real (&values)[N]) {\n"
            "  if (x + N <= g.nx) {\n    read_vector(f, field, g, x, y, z, values);\n    return;\n  }\n"
            "#pragma unroll\n"
            "  for (int i = 0; i < N; i++) values[i] = x + i < g.nx ? read_point(f, field, g, x + i, y, z) : real(0);\n"
            "}\n");
}

/* Append functions that write outputs where not all of them are computed at every point of the box. */
static void add_masked_writers(struct text *text, const char *suffix) {
  text_printf(
      text,
      "__device__ __forceinline__ void write_point(const Fields &f, int field, const Geometry &g, index_t x, "
      "index_t y, index_t z, real value) {\n  if (is_left(field, g, x, y, z)) return;\n"
      "  if (kept_input(field) >= 0 && is_kept_at(field, g, x, y, z)) value = f.in[kept_input(field)][at(g, x, y, z)];\n"
      "  store%s(f.out[field] + at(g, x, y, z), value);\n}\n"
      "// Whether a vector is computed as a whole. Both ends decide, because the computed points are a box.\n"
      "template <int N> __device__ __forceinline__ bool is_all_computed(int output, const Geometry &g, index_t x, index_t "
      "y, index_t z) {\n  return !is_left(output, g, x, y, z) && !is_left(output, g, x + N - 1, y, z) && "
      "!is_kept_at(output, g, x, y, z) && !is_kept_at(output, g, x + N - 1, y, z);\n}\n"
      "template <int N>\n"
      "__device__ __forceinline__ void write_vector(const Fields &f, int field, const Geometry &g, index_t x, "
      "index_t y, index_t z, const real (&values)[N]) {\n  if (is_all_computed<N>(field, g, x, y, z)) {\n"
      "    store_vector%s(f.out[field] + at(g, x, y, z), values);\n    return;\n  }\n#pragma unroll\n"
      "  for (int i = 0; i < N; i++) write_point(f, field, g, x + i, y, z, values[i]);\n}\n",
      *suffix ? suffix : "_plain", suffix);
  text_printf(text,
              "// Write the elements of a vector that lie in the box. Its row is a row of the box.\n"
              "template <int N>\n"
              "__device__ __forceinline__ void write_in_box(const Fields &f, int field, const Geometry &g, index_t x, "
              "index_t y, index_t z, const real (&values)[N]) {\n"
              "  if (x >= g.x0 && x + N <= g.x1 && is_all_computed<N>(field, g, x, y, z)) {\n"
              "    store_vector%s(f.out[field] + at(g, x, y, z), values);\n    return;\n  }\n"
              "#pragma unroll\n"
              "  for (int i = 0; i < N; i++) {\n"
              "    if (x + i >= g.x0 && x + i < g.x1) write_point(f, field, g, x + i, y, z, values[i]);\n"
              "  }\n}\n\n",
              suffix);
}

static void add_writers(struct text *text, const struct prelude *prelude) {
  bool streams = prelude->streaming == STREAMING_STORES || prelude->streaming == STREAMING_ALL;
  const char *suffix = streams ? "_streaming" : "";
  if (analysis_has_masks(prelude->spec->analysis, prelude->spec->stencil)) {
    prelude_write_masks(text, prelude);
    add_masked_writers(text, suffix);
    return;
  }
  text_printf(
      text,
      "__device__ __forceinline__ void write_point(const Fields &f, int field, const Geometry &g, index_t x, "
      "index_t y, index_t z, real value) {\n  store%s(f.out[field] + at(g, x, y, z), value);\n}\n"
      "template <int N>\n"
      "__device__ __forceinline__ void write_vector(const Fields &f, int field, const Geometry &g, index_t x, "
      "index_t y, index_t z, const real (&values)[N]) {\n  store_vector%s(f.out[field] + at(g, x, y, z), values);\n"
      "}\n",
      *suffix ? suffix : "_plain", suffix);
  text_printf(
      text,
      "// Write the elements of a vector that lie in the box. Its row is a row of the box.\n"
      "template <int N>\n"
      "__device__ __forceinline__ void write_in_box(const Fields &f, int field, const Geometry &g, index_t x, "
      "index_t y, index_t z, const real (&values)[N]) {\n"
      "  if (x >= g.x0 && x + N <= g.x1) {\n    store_vector%s(f.out[field] + at(g, x, y, z), values);\n    return;\n  }\n"
      "#pragma unroll\n"
      "  for (int i = 0; i < N; i++) {\n"
      "    if (x + i >= g.x0 && x + i < g.x1) write_point(f, field, g, x + i, y, z, values[i]);\n"
      "  }\n}\n\n",
      suffix);
}

void prelude_write_fields(struct text *text, const struct prelude *prelude) {
  const struct launch *launch = prelude->launch;
  text_printf(text, "struct Fields {\n  const real *in[INPUTS];\n  real *out[%s];\n",
              launch->carried_count > 0 ? "OUTPUTS + CARRIED" : "OUTPUTS");
  const int masks = prelude_mask_number(prelude->spec->stencil, prelude->spec->stencil->input_count);
  if (masks > 0) text_printf(text, "  const unsigned char *mask[%d];\n", masks);
  prelude_write_outside_member(text, prelude);
  text_printf(text, "%s%s%s};\n", is_texture(prelude) ? "  cudaTextureObject_t texture[INPUTS];\n" : "",
              launch->input_maps.count > 0 ? "  const TensorMap *map_in[STAGED];  // by slot\n" : "",
              launch->output_maps.count > 0 ? "  const TensorMap *map_out[OUTPUTS];\n" : "");
  add_arguments(text, prelude);
  if (prelude_has_beside(prelude)) prelude_write_images(text, prelude);
  add_readers(text, prelude);
  add_writers(text, prelude);
}
