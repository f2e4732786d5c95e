/* sweep.c: computes the points of a sweep row by row, on several threads. */
#include "tuner/verify/sweep.h"

#include <stdlib.h>

#include "base/parallel.h"
#include "tuner/verify/row_program.h"

/* The rows of one thread, by their numbers in the program. */
struct workspace {
  struct row *rows;
  struct result_row *results;
};

struct sweep {
  const struct layout *layout;
  struct box box;
  struct row_program program;
  bool magnitudes;
  int threads;
  struct workspace *workspaces; /* one for each thread */
  struct arena arena;
  const struct row *inputs; /* of the current run */
  const struct result_row *outputs;
};

static halotune_status workspace_make(struct sweep *sweep, struct workspace *workspace) {
  const struct row_program *program = &sweep->program;
  size_t first_result = (size_t)row_program_first_result(program);
  size_t result_count = (size_t)row_program_result_count(program);
  workspace->rows = arena_alloc(&sweep->arena, (first_result + result_count) * sizeof *workspace->rows);
  workspace->results = arena_alloc(&sweep->arena, result_count * sizeof *workspace->results);
  if (!workspace->rows || !workspace->results) return fail_memory();
  for (int i = 0; i < program->constant_count; i++) workspace->rows[i] = program->constants[i];
  for (size_t i = (size_t)program->output_count; i < result_count; i++) {
    struct result_row *buffer = &workspace->results[i];
    buffer->values = arena_alloc(&sweep->arena, ROW_POINTS * sizeof(double));
    buffer->magnitudes = arena_alloc(&sweep->arena, ROW_POINTS * sizeof(double));
    if (!buffer->values || !buffer->magnitudes) return fail_memory();
    workspace->rows[first_result + i] = (struct row){buffer->values, buffer->magnitudes};
  }
  return HALOTUNE_OK;
}

halotune_status sweep_make(const struct stencil *stencil, const struct box *box, const double *coefficients,
                           const struct layout *layout, int threads, bool magnitudes, struct sweep **out) {
  *out = NULL;
  struct sweep *sweep = calloc(1, sizeof *sweep);
  if (!sweep) return fail_memory();
  sweep->layout = layout;
  sweep->box = *box;
  sweep->threads = threads;
  sweep->magnitudes = magnitudes;
  halotune_status status = row_program_make(stencil, coefficients, &sweep->arena, &sweep->program);
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

/* Point the rows of taps and outputs at the row that begins at x, y, z. */
static void point_rows(const struct sweep *sweep, struct workspace *workspace, long x, long y, long z) {
  const struct row_program *program = &sweep->program;
  struct row *tap_rows = workspace->rows + program->constant_count;
  for (int i = 0; i < program->tap_count; i++) {
    const struct tap *tap = &program->taps[i];
    const struct row *input = &sweep->inputs[tap->input];
    long at = layout_index(sweep->layout, x + tap->offset[0], y + tap->offset[1], z + tap->offset[2]);
    tap_rows[i] = (struct row){input->values + at, sweep->magnitudes ? input->magnitudes + at : NULL};
  }
  struct row *output_rows = tap_rows + program->tap_count;
  long at = grid_index(&sweep->layout->grid, x, y, z);
  for (int i = 0; i < program->output_count; i++) {
    const struct result_row *output = &sweep->outputs[i];
    struct result_row to = {output->values + at, sweep->magnitudes ? output->magnitudes + at : NULL};
    workspace->results[i] = to;
    output_rows[i] = (struct row){to.values, to.magnitudes};
  }
}

/* A row is computed in pieces of nearly equal length. */
static long pieces_of_row(const struct box *box) { return 1 + (box->high[0] - box->low[0] - 1) / ROW_POINTS; }

/* Compute pieces of rows, which are numbered through x, then y, then z. */
static void compute_pieces(void *context, int thread, long first, long end) {
  const struct sweep *sweep = context;
  const struct box *box = &sweep->box;
  struct workspace *workspace = &sweep->workspaces[thread];
  long width = box->high[0] - box->low[0], height = box->high[1] - box->low[1];
  long pieces = pieces_of_row(box);
  for (long piece = first; piece < end; piece++) {
    long row = piece / pieces, column = piece % pieces;
    long x = width * column / pieces, x_end = width * (column + 1) / pieces;
    point_rows(sweep, workspace, box->low[0] + x, box->low[1] + row % height, box->low[2] + row / height);
    row_program_run(&sweep->program, (int)(x_end - x), workspace->rows, workspace->results, sweep->magnitudes);
  }
}

void sweep_run(struct sweep *sweep, const struct row inputs[], const struct result_row outputs[]) {
  enum { PART_PIECES = 32 };
  const struct box *box = &sweep->box;
  if (box_points(box) == 0) return;
  sweep->inputs = inputs;
  sweep->outputs = outputs;
  long rows = (box->high[1] - box->low[1]) * (box->high[2] - box->low[2]);
  parallel_for(rows * pieces_of_row(box), PART_PIECES, sweep->threads, compute_pieces, sweep);
}

void sweep_free(struct sweep *sweep) {
  if (!sweep) return;
  arena_free(&sweep->arena);
  free(sweep);
}
