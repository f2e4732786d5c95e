/* query_header_launch.c: writes tensor maps, workspaces, clusters and programmatic dependent launch into a header. */
#include "tuner/cli/query/query_header_launch.h"

#include <stdio.h>

#include "stencil/analysis/iterate.h"
#include "stencil/launch/tensor_shape.h"

bool header_has_maps(const struct launch *launch) { return launch->input_maps.count + launch->output_maps.count > 0; }

bool header_has_attributes(const struct launch *launch) {
  return launch_cluster_blocks(launch) > 1 || launch->overlaps || launch->cooperative;
}

void header_add_notes(const struct launch *launch, struct text *text) {
  if (header_has_maps(launch)) {
    text_printf(
        text,
        " * The kernel takes tensor maps of its fields, which _bind encodes (cuTensorMapEncodeTiled, on the CPU): once\n"
        " * for a set of pointers, for as many launches as you like. Nothing is to be freed.\n *\n");
  }
  if (launch->overlaps) {
    text_printf(
        text,
        " * It is launched with the attribute of programmatic dependent launch: it begins while the kernel before it in\n"
        " * the stream ends, and waits itself until that is done, before it touches memory.\n *\n");
  }
  if (launch->cooperative) {
    text_printf(
        text,
        " * Its blocks wait for each other, so all of them run at the same time (a cooperative launch). A GPU that\n"
        " * cannot hold them all refuses the launch.\n *\n");
  }
  if (launch->workspace_bytes > 0) {
    text_printf(text, " * Launches of one struct must not overlap: they share its workspace of %ld bytes.\n *\n",
                launch->workspace_bytes);
  }
}

void header_fields(const struct stencil *stencil, const struct launch *launch,
                   void (*use)(void *context, int number, const char *name), void *context) {
  struct carried carried[MAX_FIELDS];
  char name[HEADER_FIELD_BYTES];
  const int carried_count = iterate_carried(stencil, launch->steps, carried);
  int number = 0;
  for (int i = 0; i < stencil->input_count; i++) {
    snprintf(name, sizeof name, "input_%s", stencil->inputs[i]);
    use(context, number++, name);
  }
  for (int i = 0; i < stencil->output_count; i++) {
    snprintf(name, sizeof name, "output_%s", stencil->outputs[i]);
    use(context, number++, name);
  }
  for (int i = 0; i < carried_count; i++) {
    snprintf(name, sizeof name, "carried_%s_%d", stencil->outputs[carried[i].output], carried[i].later);
    use(context, number++, name);
  }
}

static void add_pointer(void *context, int number, const char *name) {
  (void)number;
  text_printf(context, ", CUdeviceptr %s", name);
}

void header_add_pointers(const struct stencil *stencil, const struct launch *launch, struct text *text) {
  header_fields(stencil, launch, add_pointer, text);
}

static void add_to_check(void *context, int number, const char *name) {
  text_printf(context, "%s%s", number ? " | " : "", name);
}

void header_add_check(const struct stencil *stencil, const struct launch *launch, const char *prefix,
                      struct text *text) {
  text_printf(text, "  if ((");
  header_fields(stencil, launch, add_to_check, text);
  text_printf(text, ") %% %s_ALIGNMENT) return CUDA_ERROR_MISALIGNED_ADDRESS;\n", prefix);
}

static void add_to_order(void *context, int number, const char *name) {
  text_printf(context, "%s%s", number ? ", " : "", name);
}

void header_add_in_place(const struct stencil *stencil, struct text *text) {
  for (int i = 0; i < stencil->in_place_count; i++) {
    const struct in_place *pair = &stencil->in_place[i];
    text_printf(text, "%s output_%s may be input_%s", i == 0 ? ", but" : ",", stencil->outputs[pair->output],
                stencil->inputs[pair->input]);
  }
  if (stencil->in_place_count > 1) text_printf(text, ": all of them or none");
}

/* Append the assignments that sort a list of pointers.
 *   in_place  every output that may lie in the memory of an input does so
 *   indent    blanks before each line */
static void add_assignments(const struct stencil *stencil, int steps, int written, bool in_place, const char *indent,
                            struct text *text) {
  int inputs[MAX_FIELDS], outputs[2 * MAX_FIELDS];
  for (int i = 0; i < stencil->input_count; i++) inputs[i] = i;
  for (int i = 0; i < written; i++) outputs[i] = stencil->input_count + i;
  for (int i = 0; i < stencil->in_place_count && in_place; i++)
    outputs[stencil->in_place[i].output] = stencil->in_place[i].input;
  iterate_advance(stencil, steps, inputs, outputs);
  for (int i = 0; i < stencil->input_count + written; i++) {
    const int from = i < stencil->input_count ? inputs[i] : outputs[i - stencil->input_count];
    if (from != i) text_printf(text, "%sfields[%d] = before[%d];\n", indent, i, from);
  }
}

/* The first input in whose memory an output may lie, and which the next step needs; NULL if there is none. */
static const char *lost_input(const struct stencil *stencil) {
  for (int i = 0; i < stencil->in_place_count; i++) {
    if (!iterate_frees(stencil, stencil->in_place[i].input)) return stencil->inputs[stencil->in_place[i].input];
  }
  return NULL;
}

void header_add_advance(const struct stencil *stencil, const struct launch *launch, const char *prefix,
                        struct text *text) {
  struct carried carried[MAX_FIELDS];
  if (stencil->iterate_count == 0) return;
  const int written = stencil->output_count + iterate_carried(stencil, launch->steps, carried);
  const char *lost = lost_input(stencil);
  text_printf(text, "\n/* Sort a list of pointers after a launch of %d step%s on them. Its order is\n *   ",
              launch->steps, PLURAL(launch->steps));
  header_fields(stencil, launch, add_to_order, text);
  text_printf(
      text, "\n * Afterwards each input is the buffer that holds its value after the launch, so that the list has the\n"
            " * arguments of the next launch. No data moves.");
  if (lost) text_printf(text, " No output may lie in the memory of an input: the next step needs\n * input_%s.", lost);
  text_printf(text,
              " */\n"
              "#define %s_STEPS %d\n#define %s_FIELDS %d\n"
              "static inline void %s_advance(CUdeviceptr fields[%d]) {\n  CUdeviceptr before[%d];\n"
              "  for (int i = 0; i < %d; i++) before[i] = fields[i];\n",
              prefix, launch->steps, prefix, stencil->input_count + written, prefix, stencil->input_count + written,
              stencil->input_count + written, stencil->input_count + written);
  if (stencil->in_place_count > 0 && launch->steps == 1 && !lost) {
    const struct in_place *first = &stencil->in_place[0];
    text_printf(text, "  if (before[%d] == before[%d]) { /* in place */\n", stencil->input_count + first->output,
                first->input);
    add_assignments(stencil, 1, written, true, "    ", text);
    text_printf(text, "    return;\n  }\n");
  }
  add_assignments(stencil, launch->steps, written, false, "  ", text);
  text_printf(text, "}\n");
}

static void add_encode(const struct tensor_shape *shape, const char *field, int number, struct text *text) {
  static const char *const promotions[] = {"NONE", "L2_64B", "L2_128B", "", "L2_256B"}; /* indexed by bytes/64 */
  text_printf(text, "  if (result == CUDA_SUCCESS) { /* boxes of %ux%ux%u elements */\n", shape->box[0], shape->box[1],
              shape->box[2]);
  if (shape->rank == MAX_DIMS) {
    text_printf(text,
                "    const cuuint64_t extents[3] = {%llu, %llu, %llu}; /* elements */\n"
                "    const cuuint64_t strides[2] = {%llu, %llu};       /* bytes of rows, planes */\n"
                "    const cuuint32_t box[3] = {%u, %u, %u}, steps[3] = {1, 1, 1};\n",
                shape->extents[0], shape->extents[1], shape->extents[2], shape->row_bytes, shape->plane_bytes,
                shape->box[0], shape->box[1], shape->box[2]);
  } else {
    text_printf(text,
                "    const cuuint64_t extents[2] = {%llu, %llu}; /* elements */\n"
                "    const cuuint64_t strides[1] = {%llu};       /* bytes of rows */\n"
                "    const cuuint32_t box[2] = {%u, %u}, steps[2] = {1, 1};\n",
                shape->extents[0], shape->extents[1], shape->row_bytes, shape->box[0], shape->box[1]);
  }
  text_printf(
      text,
      "    result = cuTensorMapEncodeTiled(&fields->maps[%d], CU_TENSOR_MAP_DATA_TYPE_%s, %d, (void *)(size_t)%s,\n"
      "                                    extents, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,\n"
      "                                    CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_%s,\n"
      "                                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);\n  }\n",
      number, shape->element_bytes == 4 ? "FLOAT32" : "FLOAT64", shape->rank, field,
      promotions[shape->promotion_bytes / 64]);
}

static void add_encodes(const struct query *query, const struct tensor_maps *maps, const char *kind,
                        const char *const *names, int first, struct text *text) {
  struct tensor_shape shape;
  tensor_shape_make(maps, query->question.parsed->stencil->dims, &query->question.domain,
                    (enum dtype)query->config.dtype, &shape);
  for (int i = 0; i < maps->count; i++) {
    struct text field = {0};
    text_printf(&field, "%s_%s", kind, names[maps->fields[i]]);
    add_encode(&shape, text_string(&field), first + i, text);
    text_free(&field);
  }
}

static void add_member(void *context, int number, const char *name) {
  (void)number;
  text_printf(context, "  CUdeviceptr %s;\n", name);
}

static void add_keep(void *context, int number, const char *name) {
  (void)number;
  text_printf(context, "  fields->%s = %s;\n", name, name);
}

void header_add_fields(const struct query *query, const struct built *built, const char *prefix, struct text *text) {
  const struct launch *launch = &built->launch;
  const struct stencil *stencil = query->question.parsed->stencil;
  text_printf(
      text,
      "\n/* A set of pointers, and the kernel's tensor maps of them, which begin at a multiple of 128 bytes; in C99\n"
      " * cuda.h does not say so. */\n"
      "struct %s_fields {\n#ifdef __GNUC__\n  __attribute__((aligned(128)))\n#endif\n  CUtensorMap maps[%d];\n",
      prefix, launch->input_maps.count + launch->output_maps.count);
  header_fields(stencil, launch, add_member, text);
  text_printf(
      text,
      "};\n\n/* Keep the pointers and encode their maps; CUDA_ERROR_MISALIGNED_ADDRESS for one that the kernel cannot\n"
      " * take. */\n"
      "static inline CUresult %s_bind(struct %s_fields *fields",
      prefix, prefix);
  header_add_pointers(stencil, launch, text);
  text_printf(text, ") {\n  CUresult result = CUDA_SUCCESS;\n");
  header_add_check(stencil, launch, prefix, text);
  header_fields(stencil, launch, add_keep, text);
  add_encodes(query, &launch->input_maps, "input", stencil->inputs, 0, text);
  add_encodes(query, &launch->output_maps, "output", stencil->outputs, launch->input_maps.count, text);
  text_printf(text, "  return result;\n}\n");
}

/* Append a launch with attributes. The structs are filled member by member, so that the text is C and C++. */
static void add_call_with_attributes(const struct launch *l, struct text *text) {
  const int clusters = launch_cluster_blocks(l) > 1, count = clusters + l->overlaps + l->cooperative;
  text_printf(text, "  CUlaunchAttribute attributes[%d];\n  CUlaunchConfig config;\n", count);
  text_printf(text, "  memset(attributes, 0, sizeof attributes);\n  memset(&config, 0, sizeof config);\n");
  if (clusters) {
    text_printf(text, "  attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;\n");
    for (int axis = 0; axis < MAX_DIMS; axis++) {
      text_printf(text, "  attributes[0].value.clusterDim.%c = %ld;\n", axis_names[axis], l->cluster[axis]);
    }
  }
  if (l->overlaps) {
    text_printf(text,
                "  attributes[%d].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;\n"
                "  attributes[%d].value.programmaticStreamSerializationAllowed = 1;\n",
                clusters, clusters);
  }
  if (l->cooperative) {
    text_printf(text,
                "  attributes[%d].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;\n  attributes[%d].value.cooperative = 1;\n",
                count - 1, count - 1);
  }
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    text_printf(text, "  config.gridDim%c = %ld;\n  config.blockDim%c = %ld;\n", 'X' + axis, l->grid[axis], 'X' + axis,
                l->block[axis]);
  }
  text_printf(text,
              "  config.sharedMemBytes = %ld;\n  config.hStream = stream;\n  config.attrs = attributes;\n  "
              "config.numAttrs = %d;\n"
              "  return cuLaunchKernelEx(&config, kernel->function, arguments, NULL);\n}\n",
              l->shared_bytes, count);
}

void header_add_call(const struct launch *l, struct text *text) {
  if (header_has_attributes(l)) {
    add_call_with_attributes(l, text);
    return;
  }
  text_printf(
      text,
      "  return cuLaunchKernel(kernel->function, %ld, %ld, %ld, %ld, %ld, %ld, %ld, stream, arguments, NULL);\n}\n",
      l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], l->shared_bytes);
}
