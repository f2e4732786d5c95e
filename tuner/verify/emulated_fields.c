/* emulated_fields.c: copies a scene's fields into buffers, and launches a variant on them. */
#include "tuner/verify/emulated_fields.h"

#include <string.h>

#include "stencil/launch/tensor_shape.h"

enum { SPARSE_ELEMENTS = 1 << 27 };

static enum dtype dtype_of(const struct emulated_fields *fields) { return fields->scene->request.dtype; }

double emulated_fields_get(const struct emulated_fields *fields, int buffer, long i) {
  const void *data = emulation_buffer_data(fields->buffers[buffer]);
  if (fields->layouts[buffer].element_bytes == 1) return ((const unsigned char *)data)[i];
  return dtype_of(fields) == DTYPE_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static void set_element(const struct emulated_fields *fields, int buffer, long i, double value) {
  void *data = emulation_buffer_data(fields->buffers[buffer]);
  if (fields->layouts[buffer].element_bytes == 1) ((unsigned char *)data)[i] = (unsigned char)value;
  else if (dtype_of(fields) == DTYPE_F32) ((float *)data)[i] = (float)value;
  else ((double *)data)[i] = value;
}

/* Copy a dense field over the whole grid to a buffer with its layout. The gaps stay poisoned.
 *   values  NULL: 1 everywhere */
static void copy_to_buffer(const struct emulated_fields *fields, int buffer, const double *values) {
  const struct input_layout *layout = &fields->layouts[buffer];
  const struct grid *grid = &fields->scene->request.domain.grid;
  long n[MAX_DIMS];
  input_layout_points(layout, grid, n);
  for (long z = 0; z < n[2]; z++) {
    for (long y = 0; y < n[1]; y++) {
      for (long x = 0; x < n[0]; x++) {
        const double value = values ? values[grid_index(grid, x, y, z)] : 1;
        set_element(fields, buffer, input_layout_index(layout, x, y, z), value);
      }
    }
  }
}

bool emulated_fields_are_sparse(const struct emulated_fields *fields) {
  return domain_elements(&fields->scene->request.domain) > SPARSE_ELEMENTS;
}

/* has_values: copy the scene's values; else the buffers are zero and take memory only where a kernel accesses them */
static halotune_status make_buffers(struct emulated_fields *fields, bool has_values) {
  halotune_status (*create)(size_t, int, struct emulation_buffer **) =
      emulated_fields_are_sparse(fields) || !has_values ? emulation_buffer_create_sparse : emulation_buffer_create;
  const struct stencil *stencil = fields->scene->request.stencil;
  const struct domain *domain = &fields->scene->request.domain;
  int count = stencil->input_count + fields->scene->written_count;
  for (; fields->buffer_count < count; fields->buffer_count++) {
    int i = fields->buffer_count, output = i - stencil->input_count;
    struct input_layout *layout = &fields->layouts[i];
    *layout =
        output < 0 ? input_layout_of(stencil, i, dtype_of(fields), domain) : domain_layout(domain, dtype_of(fields));
    /* poison is a word, so fields of bytes are searched in words */
    const int poison_bytes = layout->element_bytes == 1 ? 4 : (int)layout->element_bytes;
    halotune_status status =
        create((size_t)layout->elements * layout->element_bytes, poison_bytes, &fields->buffers[i]);
    if (status != HALOTUNE_OK) return status;
    if (output < 0) {
      fields->inputs[i] = i;
      if (has_values) copy_to_buffer(fields, i, fields->scene->inputs[i]);
    } else {
      fields->outputs[output] = i;
      if (has_values && fields->scene->launches > 1) copy_to_buffer(fields, i, fields->scene->outputs[output]);
    }
  }
  return HALOTUNE_OK;
}

static halotune_status make_workspace(struct emulated_fields *fields) {
  size_t bytes = (size_t)fields->generated->launch.workspace_bytes;
  halotune_status status = emulation_buffer_create(bytes, (int)dtype_bytes(dtype_of(fields)), &fields->workspace);
  if (status == HALOTUNE_OK) memset(emulation_buffer_data(fields->workspace), 0, bytes);
  return status;
}

enum { MAX_ARGUMENTS = 5 * MAX_FIELDS + 3 };
_Static_assert(MAX_ARGUMENTS <= (int)EMULATION_MAX_ARGUMENTS, "a launch has more arguments than the emulation takes");
_Static_assert(2 * MAX_FIELDS + 1 <= (int)EMULATION_MAX_BUFFERS,
               "inputs, outputs and the workspace have a buffer each");

/* Describe a linear texture over the whole field, or a 2D texture with its rows. A double is two integers. */
static struct emulation_wire_texture texture_of(const struct emulated_fields *fields) {
  const struct domain *d = &fields->scene->request.domain;
  uint32_t bytes = (uint32_t)dtype_bytes(dtype_of(fields));
  uint64_t elements = (uint64_t)domain_elements(d), row = (uint64_t)d->row;
  if (fields->generated->launch.passes_textures == 1)
    return (struct emulation_wire_texture){elements, 1, elements * bytes, bytes, 0};
  return (struct emulation_wire_texture){row, elements / row, row * bytes, bytes, 0};
}

/* Append the tensor maps of some fields.
 *   buffers  the number of each field's buffer */
static int add_maps(const struct emulated_fields *fields, const struct tensor_maps *maps, const int *buffers,
                    struct emulation_argument *arguments, int count) {
  const struct scene_request *request = &fields->scene->request;
  struct tensor_shape shape;
  tensor_shape_make(maps, request->stencil->dims, &request->domain, request->dtype, &shape);
  struct emulation_wire_tensor wire = {.row_bytes = shape.row_bytes,
                                       .plane_bytes = shape.plane_bytes,
                                       .rank = (uint32_t)shape.rank,
                                       .element_bytes = (uint32_t)shape.element_bytes};
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    wire.extents[axis] = shape.extents[axis];
    wire.box[axis] = shape.box[axis];
  }
  for (int i = 0; i < maps->count; i++) {
    arguments[count++] = (struct emulation_argument){
        .kind = EMULATION_ARGUMENT_TENSOR, .buffer = fields->buffers[buffers[maps->fields[i]]], .tensor = wire};
  }
  return count;
}

/* A launch, and the values of its arguments. */
struct described_launch {
  struct emulation_argument arguments[MAX_ARGUMENTS];
  char geometry[GEOMETRY_BYTES];
  double coefficients[MAX_COEFFICIENTS];
  struct emulation_launch launch;
};

static void describe_launch(const struct emulated_fields *fields, struct check_order order,
                            struct described_launch *out) {
  const struct scene_request *request = &fields->scene->request;
  const struct stencil *stencil = request->stencil;
  const struct generated *g = fields->generated;
  struct emulation_argument *arguments = out->arguments;
  int count = 0;
  for (int i = 0; i < stencil->input_count; i++) {
    arguments[count++] =
        (struct emulation_argument){.kind = EMULATION_ARGUMENT_BUFFER, .buffer = fields->buffers[fields->inputs[i]]};
  }
  for (int i = 0; i < fields->scene->written_count; i++) {
    arguments[count++] =
        (struct emulation_argument){.kind = EMULATION_ARGUMENT_BUFFER, .buffer = fields->buffers[fields->outputs[i]]};
  }
  for (int i = 0; i < stencil->input_count && g->launch.passes_textures; i++) {
    if (!input_is_whole(stencil, i)) continue;
    arguments[count++] = (struct emulation_argument){.kind = EMULATION_ARGUMENT_TEXTURE,
                                                     .buffer = fields->buffers[fields->inputs[i]],
                                                     .texture = texture_of(fields)};
  }
  count = add_maps(fields, &g->launch.input_maps, fields->inputs, arguments, count);
  count = add_maps(fields, &g->launch.output_maps, fields->outputs, arguments, count);
  if (fields->workspace) {
    arguments[count++] = (struct emulation_argument){.kind = EMULATION_ARGUMENT_BUFFER, .buffer = fields->workspace};
  }
  size_t bytes = geometry_pack(&g->launch, &request->domain, out->geometry);
  arguments[count++] =
      (struct emulation_argument){.kind = EMULATION_ARGUMENT_BYTES, .bytes = out->geometry, .byte_count = bytes};
  bytes = coefficients_pack(&g->launch, stencil, request->dtype, request->coefficients, out->coefficients);
  if (bytes > 0) {
    arguments[count++] =
        (struct emulation_argument){.kind = EMULATION_ARGUMENT_BYTES, .bytes = out->coefficients, .byte_count = bytes};
  }
  out->launch = (struct emulation_launch){.kernel = g->launch.kernel,
                                          .shared_bytes = (size_t)g->launch.shared_bytes,
                                          .overlaps = g->launch.overlaps,
                                          .cooperative = g->launch.cooperative,
                                          .arguments = arguments,
                                          .argument_count = count,
                                          .threads = order.threads,
                                          .blocks = order.blocks,
                                          .seed = order.seed};
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    out->launch.grid[axis] = (unsigned)g->launch.grid[axis];
    out->launch.block[axis] = (unsigned)g->launch.block[axis];
    out->launch.cluster[axis] = (unsigned)g->launch.cluster[axis];
  }
}

halotune_status emulated_fields_launch(struct emulated_fields *fields, struct emulation_batch *batch, int variant,
                                       struct check_order order, struct emulation_outcome *outcome) {
  struct described_launch described;
  describe_launch(fields, order, &described);
  return emulation_run(batch, variant, &described.launch, outcome);
}

halotune_status emulated_fields_count(struct emulated_fields *fields, struct emulation_batch *batch, int variant,
                                      const unsigned block[MAX_DIMS], struct emulation_outcome *outcome,
                                      struct emulation_counts *counts) {
  struct described_launch described;
  describe_launch(fields, (struct check_order){EMULATION_ASCENDING, EMULATION_ASCENDING, 0}, &described);
  return emulation_count(batch, variant, &described.launch, block, outcome, counts);
}

halotune_status emulated_fields_rehearse(struct emulated_fields *fields, struct emulation_batch *batch, int variant,
                                         struct check_order order, struct emulation_outcome *outcome) {
  const struct scene *scene = fields->scene;
  int input_count = scene->request.stencil->input_count;
  for (int i = 0; i < input_count; i++) copy_to_buffer(fields, i, NULL);
  halotune_status status = emulated_fields_launch(fields, batch, variant, order, outcome);
  for (int i = 0; i < fields->buffer_count; i++) {
    const double *start = i < input_count       ? scene->inputs[i]
                          : scene->launches > 1 ? scene->outputs[i - input_count]
                                                : NULL;
    if (start) copy_to_buffer(fields, i, start);
    else if (!emulation_buffer_is_sparse(fields->buffers[i])) emulation_buffer_poison(fields->buffers[i]);
  }
  return status;
}

static halotune_status make_fields(const struct scene *scene, const struct generated *generated, bool has_values,
                                   struct emulated_fields *out) {
  *out = (struct emulated_fields){.scene = scene, .generated = generated};
  halotune_status status = make_buffers(out, has_values);
  return status == HALOTUNE_OK && generated->launch.workspace_bytes > 0 ? make_workspace(out) : status;
}

halotune_status emulated_fields_make(const struct scene *scene, const struct generated *generated,
                                     struct emulated_fields *out) {
  return make_fields(scene, generated, true, out);
}

halotune_status emulated_fields_make_empty(const struct scene *scene, const struct generated *generated,
                                           struct emulated_fields *out) {
  return make_fields(scene, generated, false, out);
}

halotune_status emulated_fields_make_in_place(const struct scene *scene, const struct generated *generated,
                                              struct emulated_fields *out) {
  const struct stencil *stencil = scene->request.stencil;
  halotune_status status = make_fields(scene, generated, true, out);
  for (int i = 0; i < stencil->in_place_count; i++) {
    out->outputs[stencil->in_place[i].output] = out->inputs[stencil->in_place[i].input];
  }
  return status;
}

void emulated_fields_free(struct emulated_fields *fields) {
  for (int i = 0; i < fields->buffer_count; i++) emulation_buffer_free(fields->buffers[i]);
  fields->buffer_count = 0;
  emulation_buffer_free(fields->workspace);
  fields->workspace = NULL;
}
