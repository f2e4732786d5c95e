/* sweep.c: computes the points of a sweep row by row, on several threads. */
#include "tuner/verify/sweep.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/system/parallel.h"
#include "tuner/verify/row_program.h"

/* The rows of one thread, by their numbers in the program. */
struct workspace {
  struct row *rows;
  double *indices[MAX_DIMS]; /* the numbers of the points of a row; NULL where the update does not use them */
  struct result_row *results;
  struct result_row *scratch; /* one for each output, if not every point of the box is computed */
};

struct sweep {
  const struct stencil *stencil;
  const struct analysis *analysis;
  bool has_masks;
  const struct layout *layout;
  struct box box;
  struct row_program program;
  bool magnitudes;
  int threads;
  struct workspace *workspaces; /* one for each thread */
  struct arena arena;
  const struct row *inputs; /* inputs of the current run */
  const struct result_row *outputs;
  const struct ending *ending;
  atomic_bool is_ended; /* the ending came before a part of the current run */
};

static bool buffer_make(struct sweep *sweep, struct result_row *buffer) {
  buffer->values = arena_alloc(&sweep->arena, ROW_POINTS * sizeof(double));
  buffer->magnitudes = arena_alloc(&sweep->arena, ROW_POINTS * sizeof(double));
  return buffer->values && buffer->magnitudes;
}

static halotune_status workspace_make(struct sweep *sweep, struct workspace *workspace) {
  const struct row_program *program = &sweep->program;
  size_t first_result = (size_t)row_program_first_result(program);
  size_t result_count = (size_t)row_program_result_count(program);
  workspace->rows = arena_alloc(&sweep->arena, (first_result + result_count) * sizeof *workspace->rows);
  workspace->results = arena_alloc(&sweep->arena, result_count * sizeof *workspace->results);
  if (!workspace->rows || !workspace->results) return fail_memory();
  for (int i = 0; i < program->tap_count; i++) {
    const int axis = program->taps[i].input - INDEX_INPUT;
    if (axis < 0 || workspace->indices[axis]) continue;
    workspace->indices[axis] = arena_alloc(&sweep->arena, ROW_POINTS * sizeof(double));
    if (!workspace->indices[axis]) return fail_memory();
  }
  for (int i = 0; i < program->constant_count; i++) workspace->rows[i] = program->constants[i];
  workspace->scratch = arena_alloc(&sweep->arena, (size_t)program->output_count * sizeof *workspace->scratch);
  if (!workspace->scratch) return fail_memory();
  for (int i = 0; i < program->output_count && sweep->has_masks; i++) {
    if (!buffer_make(sweep, &workspace->scratch[i])) return fail_memory();
  }
  for (size_t i = (size_t)program->output_count; i < result_count; i++) {
    struct result_row *buffer = &workspace->results[i];
    if (!buffer_make(sweep, buffer)) return fail_memory();
    workspace->rows[first_result + i] = (struct row){buffer->values, buffer->magnitudes};
  }
  return HALOTUNE_OK;
}

halotune_status sweep_make(const struct stencil *stencil, const struct analysis *analysis, const struct box *box,
                           const double *coefficients, const struct layout *layout, int threads, bool magnitudes,
                           const struct kernel_run *run, struct sweep **out) {
  *out = NULL;
  struct sweep *sweep = calloc(1, sizeof *sweep);
  if (!sweep) return fail_memory();
  sweep->stencil = stencil;
  sweep->analysis = analysis;
  sweep->has_masks = analysis_has_masks(analysis, stencil);
  sweep->layout = layout;
  sweep->box = *box;
  sweep->threads = threads;
  sweep->magnitudes = magnitudes;
  halotune_status status = row_program_make(stencil, coefficients, run, &sweep->arena, &sweep->program);
  if (status != HALOTUNE_OK) goto done;
  sweep->workspaces = arena_alloc(&sweep->arena, (size_t)threads * sizeof *sweep->workspaces);
  if (!sweep->workspaces) status = fail_memory();
  for (int i = 0; i < threads && status == HALOTUNE_OK; i++) status = workspace_make(sweep, &sweep->workspaces[i]);
done:
  if (status != HALOTUNE_OK) {
    sweep_free(sweep);
  } else {
    *out = sweep;
  }
  return status;
}

static void number_points(const struct workspace *workspace, long x, long y, long z) {
  const long first[MAX_DIMS] = {x, y, z};
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    for (int i = 0; i < ROW_POINTS && workspace->indices[axis]; i++) {
      workspace->indices[axis][i] = (double)(first[axis] + (axis == 0 ? i : 0));
    }
  }
}

/* Point the rows of taps and outputs at the row that begins at x, y, z. */
static void point_rows(const struct sweep *sweep, struct workspace *workspace, long x, long y, long z) {
  const struct row_program *program = &sweep->program;
  struct row *tap_rows = workspace->rows + program->constant_count;
  number_points(workspace, x, y, z);
  for (int i = 0; i < program->tap_count; i++) {
    const struct tap *tap = &program->taps[i];
    if (tap->input >= INDEX_INPUT) { /* a number is its own magnitude */
      const double *indices = workspace->indices[tap->input - INDEX_INPUT];
      tap_rows[i] = (struct row){indices, indices};
      continue;
    }
    const struct row *input = &sweep->inputs[tap->input];
    long at = layout_index(sweep->layout, x + tap->offset[0], y + tap->offset[1], z + tap->offset[2]);
    tap_rows[i] = (struct row){input->values + at, sweep->magnitudes ? input->magnitudes + at : NULL};
  }
  struct row *output_rows = tap_rows + program->tap_count;
  long at = grid_index(&sweep->layout->grid, x, y, z);
  for (int i = 0; i < program->output_count; i++) {
    const struct result_row *output = &sweep->outputs[i];
    struct result_row to = {output->values + at, sweep->magnitudes ? output->magnitudes + at : NULL};
    if (sweep->has_masks) to = workspace->scratch[i];
    workspace->results[i] = to;
    output_rows[i] = (struct row){to.values, to.magnitudes};
  }
}

/* Write what was computed to the outputs, at the points where each of them is computed or kept. */
static void write_masked(const struct sweep *sweep, const struct workspace *workspace, const long first[MAX_DIMS],
                         long count) {
  const struct grid *grid = &sweep->layout->grid;
  for (int o = 0; o < sweep->program.output_count; o++) {
    const struct result_row *output = &sweep->outputs[o], *computed = &workspace->scratch[o];
    const int kept = analysis_kept_input(sweep->stencil, o);
    for (long i = 0; i < count; i++) {
      const long point[MAX_DIMS] = {first[0] + i, first[1], first[2]};
      const long at = grid_index(grid, point[0], point[1], point[2]);
      const long from = layout_index(sweep->layout, point[0], point[1], point[2]);
      const enum point_state state = analysis_point_state(sweep->analysis, sweep->stencil, grid, o, point);
      if (state == POINT_COMPUTED) output->values[at] = computed->values[i];
      if (state == POINT_KEPT) output->values[at] = sweep->inputs[kept].values[from];
      if (!sweep->magnitudes) continue;
      output->magnitudes[at] = state == POINT_COMPUTED ? computed->magnitudes[i]
                               : state == POINT_KEPT   ? sweep->inputs[kept].magnitudes[from]
                                                       : fabs(output->values[at]);
    }
  }
}

/* The number of pieces in which a row is computed. They have nearly equal lengths. */
static long pieces_of_row(const struct box *box) { return 1 + (box->high[0] - box->low[0] - 1) / ROW_POINTS; }

/* Compute pieces of rows, which are numbered through x, then y, then z. */
static void compute_pieces(void *context, int thread, long first, long end) {
  struct sweep *sweep = context;
  if (atomic_load(&sweep->is_ended)) return;
  if (ending_has_come(sweep->ending)) {
    atomic_store(&sweep->is_ended, true);
    return;
  }
  const struct box *box = &sweep->box;
  struct workspace *workspace = &sweep->workspaces[thread];
  long width = box->high[0] - box->low[0], height = box->high[1] - box->low[1];
  long pieces = pieces_of_row(box);
  for (long piece = first; piece < end; piece++) {
    long row = piece / pieces, column = piece % pieces;
    long x = width * column / pieces, x_end = width * (column + 1) / pieces;
    const long at[MAX_DIMS] = {box->low[0] + x, box->low[1] + row % height, box->low[2] + row / height};
    point_rows(sweep, workspace, at[0], at[1], at[2]);
    row_program_run(&sweep->program, (int)(x_end - x), workspace->rows, workspace->results, sweep->magnitudes);
    if (sweep->has_masks) write_masked(sweep, workspace, at, x_end - x);
  }
}

/* The pieces between two questions for the ending. The longest update has some hundred thousand instructions. One piece
 * of it takes up to a second. */
static long pieces_of_part(const struct row_program *program) {
  enum { PART_PIECES = 32, PART_INSTRUCTIONS = 1 << 14 };
  const long fitting = PART_INSTRUCTIONS / (program->instruction_count + 1L);
  return fitting < 1 ? 1 : fitting < PART_PIECES ? fitting : PART_PIECES;
}

bool sweep_run(struct sweep *sweep, const struct row inputs[], const struct result_row outputs[],
               const struct ending *ending) {
  const struct box *box = &sweep->box;
  if (box_points(box) == 0) return true;
  sweep->ending = ending;
  atomic_store(&sweep->is_ended, false);
  sweep->inputs = inputs;
  sweep->outputs = outputs;
  long rows = (box->high[1] - box->low[1]) * (box->high[2] - box->low[2]);
  parallel_for(rows * pieces_of_row(box), pieces_of_part(&sweep->program), sweep->threads, compute_pieces, sweep);
  return !atomic_load(&sweep->is_ended);
}

void sweep_free(struct sweep *sweep) {
  if (!sweep) return;
  arena_free(&sweep->arena);
  free(sweep);
}
