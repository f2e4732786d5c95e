/* prelude_stages.c: writes the functions with which a template makes several time steps in one launch: which buffer a
 * step reads and writes, which points it computes, and which arrays the launch stores. A step is a stage of a pipeline.
 * Functions take the number of a stage, so that stages can differ. */
#include <string.h>

#include "stencil/analysis/iterate.h"
#include "stencil/generate/stage_words.h"

enum { NO_BUFFER = 2 * MAX_FIELDS }; /* numbers from here on are fields that do not change places */

/* The buffers of the fields in one stage. */
struct places {
  int inputs[MAX_FIELDS], outputs[MAX_FIELDS];
};

static bool changes_places(const struct stencil *stencil, int input) {
  for (int i = 0; i < stencil->iterate_count; i++) {
    if (stencil->iterate[i].to == input) return true;
  }
  return false;
}

/* Number the buffers of the first stage: inputs, then outputs. Returns their number. */
static int places_begin(const struct stencil *stencil, struct places *out) {
  int count = 0;
  memset(out, 0, sizeof *out);
  for (int i = 0; i < stencil->input_count; i++) out->inputs[i] = changes_places(stencil, i) ? count++ : NO_BUFFER + i;
  for (int o = 0; o < stencil->output_count; o++) {
    out->outputs[o] = analysis_kept_input(stencil, o) >= 0 ? count++ : NO_BUFFER + MAX_FIELDS + o;
  }
  return count;
}

/* The number of stages after which all buffers are in their first places again. */
static int find_period(const struct stencil *stencil, const struct places *first) {
  struct places places = *first;
  int period = 0;
  do {
    iterate_advance(stencil, 1, places.inputs, places.outputs);
    period++;
  } while (memcmp(&places, first, sizeof places) != 0);
  return period;
}

static int buffer_of(const struct places *places, bool is_input, int field) {
  int buffer = is_input ? places->inputs[field] : places->outputs[field];
  return buffer < NO_BUFFER ? buffer : -1;
}

/* Append a function from stage and field to the number of a buffer. */
static void add_buffers(struct text *text, const struct stencil *stencil, const struct places *first, int stages,
                        bool is_input) {
  const char *kind = is_input ? "input" : "output";
  int count = is_input ? stencil->input_count : stencil->output_count;
  text_printf(text, "__device__ constexpr int %s_buffer(int stage, int %s) {\n  return ", kind, kind);
  for (int field = 0; field < count; field++) {
    if (buffer_of(first, is_input, field) < 0) continue;
    struct places places = *first;
    text_printf(text, "%s == %d ? (", kind, field);
    for (int stage = 0; stage < stages - 1; stage++) {
      text_printf(text, "stage%%%d == %d ? %d : ", stages, stage, buffer_of(&places, is_input, field));
      iterate_advance(stencil, 1, places.inputs, places.outputs);
    }
    text_printf(text, "%d)\n         : ", buffer_of(&places, is_input, field));
  }
  text_printf(text, "-1;\n}\n");
}

static void add_advanced(struct text *text, const struct stencil *stencil) {
  text_printf(text, "// The input of the next stage that an output becomes; -1: none.\n"
                    "__device__ constexpr int advanced_input(int output) { return ");
  for (int o = 0; o < stencil->output_count; o++) {
    if (analysis_kept_input(stencil, o) >= 0)
      text_printf(text, "output == %d ? %d : ", o, analysis_kept_input(stencil, o));
  }
  text_printf(text, "-1; }\n");
}

/* Append the function for stored arrays. Carried arrays follow the outputs, as in a launch's arguments. */
static void add_stored(struct text *text, const struct stencil *stencil, int stages) {
  struct carried carried[MAX_FIELDS];
  int count = iterate_carried(stencil, stages, carried);
  text_printf(text,
              "// A launch also stores outputs of earlier stages that the next launch reads: %d arrays,\n"
              "// from f.out[OUTPUTS] on.\n#define CARRIED %d\n"
              "// The array of f.out that receives an output of a stage if `later` stages follow; -1: none.\n"
              "__device__ constexpr int stored_as(int later, int output) {\n  return later == 0 ? output",
              count, count);
  for (int c = 0; c < count; c++) {
    text_printf(text, "\n         : later == %d && output == %d ? OUTPUTS + %d", carried[c].later, carried[c].output,
                c);
  }
  text_printf(text, " : -1;\n}\n");
}

static bool is_periodic(const struct stencil *stencil, int axis) {
  return axis < stencil->dims && edge_is_periodic(&stencil->boundary[axis][SIDE_LOW]);
}

static bool axis_clamps(const struct stencil *stencil, int axis) {
  return stencil->boundary[axis][SIDE_LOW].rule == BOUNDARY_CLAMP;
}

static bool has_ends(const struct stencil *stencil, int axis) { return !is_periodic(stencil, axis); }

typedef bool axis_test(const struct stencil *stencil, int axis);

/* The test for the axes along which a stage reads taps beyond the grid at another place. */
static axis_test *moved_axes(const struct prelude *prelude) {
  const struct stencil *stencil = prelude->spec->stencil;
  const bool has_ghosts = analysis_has_ghosts(prelude->spec->analysis, stencil);
  return has_ghosts && analysis_shares_images(stencil) ? has_ends : axis_clamps;
}

static bool moves_taps(const struct prelude *prelude) {
  const struct stencil *stencil = prelude->spec->stencil;
  for (int axis = 0; axis < stencil->dims; axis++) {
    if (moved_axes(prelude)(stencil, axis)) return true;
  }
  return false;
}

void prelude_write_stages(struct text *text, const struct prelude *prelude) {
  const struct stencil *stencil = prelude->spec->stencil;
  struct places first;
  int buffers = places_begin(stencil, &first), period = find_period(stencil, &first);
  text_printf(
      text,
      "// Several time steps in one launch are the stages of a pipeline, counted from 0. A stage reads inputs from\n"
      "// buffers and writes outputs to buffers, which swap from stage to stage. There are STAGE_BUFFERS buffers, for\n"
      "// the inputs that change and the outputs that become inputs. -1: no stage changes the input, or the output\n"
      "// does not become an input.\n#define STAGE_BUFFERS %d\n"
      "#define GHOSTS %d  // 1 if each stage computes anew what its taps read beyond the grid\n"
      "#define MOVES_TAPS %d  // 1 if tap_x, tap_y or tap_z may give another place\n",
      buffers, analysis_has_ghosts(prelude->spec->analysis, stencil), moves_taps(prelude));
  add_buffers(text, stencil, &first, period, true);
  add_buffers(text, stencil, &first, period, false);
  add_advanced(text, stencil);
  add_stored(text, stencil, stages_count(&prelude->stages));
  stage_words_write(text, prelude);
  text_printf(text, "\n");
}

/* Append the image along an axis: "image_x(g, x)". The rules of periodic axes hold for all inputs. */
static void add_image(struct text *text, const struct stencil *stencil, int axis) {
  const char name = axis_names[axis];
  text_printf(text, "image_%c(g, %s%c)", name, analysis_shares_images(stencil) ? "" : "0, ", name);
}

/* Append a function for each axis that maps a point to the point that is read in its place, if the axis's rule needs
 * one. */
static void add_axis_functions(struct text *text, const struct stencil *stencil, const char *function,
                               axis_test *has_image, const char *otherwise) {
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    const char name = axis_names[axis];
    text_printf(text, "__device__ __forceinline__ index_t %s_%c(const Geometry &g, index_t %c) { return ", function,
                name, name);
    if (axis >= stencil->dims) {
      text_printf(text, "(void)g, %c", name);
    } else if (has_image(stencil, axis)) {
      add_image(text, stencil, axis);
    } else {
      prelude_write_for_axis(text, otherwise, axis);
    }
    text_printf(text, "; }\n");
  }
}

/* Append the functions of stages that find the values beyond the grid again. */
static void add_ghosts(struct text *text, const struct prelude *prelude) {
  const struct stencil *stencil = prelude->spec->stencil;
  text_printf(
      text, "// The place from which the launch loads a point: beyond a periodic end its image, beyond another end the "
            "nearest point of the grid.\n");
  add_axis_functions(text, stencil, "loaded", is_periodic, "@ < 0 ? 0 : @ >= g.n@ ? g.n@ - 1 : @");
  text_printf(text, "// Whether an output is not computed at a point of the box, and keeps the value of the input "
                    "that it becomes.\n__device__ __forceinline__ bool keeps_value(int output, const Geometry &g, "
                    "index_t x, index_t y, index_t z) {\n");
  if (analysis_has_masks(prelude->spec->analysis, stencil))
    text_printf(text, "  return kept_input(output) >= 0 && is_kept_at(output, g, x, y, z);\n}\n");
  else text_printf(text, "  (void)output, (void)g, (void)x, (void)y, (void)z;\n  return false;\n}\n");
}

void prelude_write_stage_points(struct text *text, const struct prelude *prelude) {
  const struct stencil *stencil = prelude->spec->stencil;
  const bool has_ghosts = analysis_has_ghosts(prelude->spec->analysis, stencil);
  text_printf(
      text, "// Whether a stage computes a point. Images beyond a periodic axis are computed like points of the grid. "
            "At other\n// points an input keeps its value from stage to stage.\n"
            "__device__ __forceinline__ bool is_computed(const Geometry &g, index_t x, index_t y, index_t z) {\n"
            "  return in_box(g");
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    text_printf(text, ", ");
    if (is_periodic(stencil, axis)) add_image(text, stencil, axis);
    else text_printf(text, "%c", axis_names[axis]);
  }
  text_printf(text, ");\n}\n// The place where a stage reads a tap that may lie beyond the grid: ");
  text_printf(text, has_ghosts ? "its image, but beyond a periodic axis the place itself.\n"
                               : "with `clamp` the nearest point of the grid.\n");
  add_axis_functions(text, stencil, "tap", moved_axes(prelude), "(void)g, @");
  if (has_ghosts) add_ghosts(text, prelude);
  text_printf(text, "\n");
}
