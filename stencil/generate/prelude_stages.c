/* prelude_stages.c: writes what a template needs to make several time steps in one launch: which buffer a step reads
 * and writes, which points it computes, and what the launch stores. A step is a stage of a pipeline. Functions take the
 * number of a stage, so that stages can differ. */
#include <string.h>

#include "stencil/analysis/iterate.h"
#include "stencil/generate/prelude.h"

enum { NO_BUFFER = 2 * MAX_FIELDS }; /* numbers from here on are fields that do not change places */

/* The buffers of the fields in one stage. */
struct places {
  int inputs[MAX_FIELDS], outputs[MAX_FIELDS];
};

/* The input that an output becomes; -1 for none. */
static int input_of_output(const struct stencil *stencil, int output) {
  for (int i = 0; i < stencil->iterate_count; i++) {
    if (stencil->iterate[i].from_output && stencil->iterate[i].from == output) return stencil->iterate[i].to;
  }
  return -1;
}

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
    out->outputs[o] = input_of_output(stencil, o) >= 0 ? count++ : NO_BUFFER + MAX_FIELDS + o;
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
    if (input_of_output(stencil, o) >= 0) text_printf(text, "output == %d ? %d : ", o, input_of_output(stencil, o));
  }
  text_printf(text, "-1; }\n");
}

/* Append the function for stored arrays. Carried arrays follow the outputs, as in a launch's arguments. */
static void add_stored(struct text *text, const struct stencil *stencil, int steps) {
  struct carried carried[MAX_FIELDS];
  int count = iterate_carried(stencil, steps, carried);
  text_printf(
      text,
      "// What a launch stores beside the outputs of its last stage, so that the next launch can go on: %d arrays,\n"
      "// f.out[OUTPUTS] and those behind it.\n#define CARRIED %d\n"
      "// Which of f.out receives an output of a stage that `later` stages follow; -1: none.\n"
      "__device__ constexpr int stored_as(int later, int output) {\n  return later == 0 ? output",
      count, count);
  for (int c = 0; c < count; c++) {
    text_printf(text, "\n         : later == %d && output == %d ? OUTPUTS + %d", carried[c].later, carried[c].output,
                c);
  }
  text_printf(text, " : -1;\n}\n");
}

void prelude_write_stages(struct text *text, const struct prelude *prelude) {
  const struct stencil *stencil = prelude->spec->stencil;
  const int steps = prelude->launch->steps;
  struct places first;
  int buffers = places_begin(stencil, &first), period = find_period(stencil, &first);
  text_printf(
      text,
      "// Several time steps in one launch are the stages of a pipeline, counted from 0. A stage reads inputs from\n"
      "// buffers and leaves outputs in buffers, which change places from stage to stage. There are STAGE_BUFFERS of\n"
      "// them, for the inputs that change and the outputs that become inputs. -1: the field changes in no stage, or\n"
      "// is no input of the next one.\n#define STAGE_BUFFERS %d\n",
      buffers);
  add_buffers(text, stencil, &first, period, true);
  add_buffers(text, stencil, &first, period, false);
  add_advanced(text, stencil);
  add_stored(text, stencil, steps);
  text_printf(text, "\n");
}

void prelude_write_stage_points(struct text *text, const struct prelude *prelude) {
  const struct stencil *stencil = prelude->spec->stencil;
  text_printf(
      text,
      "// Whether a stage computes a point. Beyond the grid, images of a periodic axis are computed as the points "
      "that they are\n// images of. Each input keeps its value at other points, from stage to stage.\n"
      "__device__ __forceinline__ bool is_computed(const Geometry &g, index_t x, index_t y, index_t z) {\n"
      "  return in_box(g");
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    enum boundary boundary = stencil->boundary[axis][SIDE_LOW].rule;
    bool images = boundary == BOUNDARY_PERIODIC || boundary == BOUNDARY_PERIODIC_ENDPOINT;
    if (axis < stencil->dims && images) text_printf(text, ", image_%c(g, %c)", axis_names[axis], axis_names[axis]);
    else text_printf(text, ", %c", axis_names[axis]);
  }
  text_printf(
      text,
      ");\n}\n// Where a stage reads a tap that may lie beyond the grid: with `clamp` at the nearest point of the "
      "grid.\n");
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    char name = axis_names[axis];
    bool clamps = axis < stencil->dims && stencil->boundary[axis][SIDE_LOW].rule == BOUNDARY_CLAMP;
    text_printf(text, "__device__ __forceinline__ index_t tap_%c(const Geometry &g, index_t %c) { ", name, name);
    if (clamps) text_printf(text, "return image_%c(g, %c); }\n", name, name);
    else text_printf(text, "return (void)g, %c; }\n", name);
  }
  text_printf(text, "\n");
}
