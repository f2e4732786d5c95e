/* run_pieces.c: moves fields between files and a backend, in pieces that fit into memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stencil/analysis/iterate.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/run/run_files.h"
#include "tuner/verify/inputs.h"

enum { PIECE_BYTES = 1 << 24 };

static long piece_points(const struct run_problem *problem) { return PIECE_BYTES / (long)dtype_bytes(problem->dtype); }

/* Elements of a field, from `first` on. */
struct piece {
  long first, count;
  char *values;
};

/* Read an input's elements. */
static halotune_status piece_read(const struct npy_file *file, size_t element_bytes, const struct piece *piece) {
  return npy_read(file, piece->first * (long long)element_bytes, (size_t)piece->count * element_bytes, piece->values);
}

/* Copy elements `from` to `end` of the field from one piece to another, as far as the pieces hold them. */
static void piece_copy(const struct piece *to, const struct piece *source, long from, long end, size_t element_bytes) {
  if (from < to->first) from = to->first;
  if (end > to->first + to->count) end = to->first + to->count;
  if (from >= end) return;
  const size_t at = (size_t)(from - to->first) * element_bytes;
  memcpy(to->values + at, source->values + at, (size_t)(end - from) * element_bytes);
}

/* Give the points outside of the box the values of another piece of the same elements. */
static void piece_share(const struct run_problem *problem, const struct box *box, const struct piece *to,
                        const struct piece *source) {
  const long *n = problem->grid.n;
  const size_t element_bytes = dtype_bytes(problem->dtype);
  for (long row = to->first / n[0]; row * n[0] < to->first + to->count; row++) {
    const long y = row % n[1], z = row / n[1], start = row * n[0];
    if (y < box->low[1] || y >= box->high[1] || z < box->low[2] || z >= box->high[2]) {
      piece_copy(to, source, start, start + n[0], element_bytes);
    } else {
      piece_copy(to, source, start, start + box->low[0], element_bytes);
      piece_copy(to, source, start + box->high[0], start + n[0], element_bytes);
    }
  }
}

/* Copy one input to the backend.
 *   leader  the input whose values the skipped points get; `input` for its own */
static halotune_status input_load(const struct run_files *files, const struct run_problem *problem,
                                  const struct run_backend *backend, void *state, int input, int leader) {
  const struct stencil *stencil = problem->loaded.stencil;
  const struct analysis *analysis = problem->loaded.analysis;
  const struct npy_file *shared = leader == input ? NULL : &files->inputs[leader];
  const struct box computed = box_computed(stencil, analysis, &problem->grid);
  const struct box box = inputs_shared_box(stencil, analysis, &computed, &problem->grid, leader);
  const struct input_layout layout = run_input_layout(problem, input);
  const size_t element_bytes = layout.element_bytes;
  struct piece piece = {.values = malloc(PIECE_BYTES)}, other = {.values = shared ? malloc(PIECE_BYTES) : NULL};
  halotune_status status = piece.values && (!shared || other.values) ? HALOTUNE_OK : fail_memory();
  while (status == HALOTUNE_OK && piece.first < layout.elements) {
    const long left = layout.elements - piece.first;
    piece.count = left < piece_points(problem) ? left : piece_points(problem);
    if ((status = run_check_stop(problem)) != HALOTUNE_OK) break;
    status = piece_read(&files->inputs[input], element_bytes, &piece);
    if (status == HALOTUNE_OK && shared) {
      other.first = piece.first, other.count = piece.count;
      status = piece_read(shared, element_bytes, &other);
      if (status == HALOTUNE_OK) piece_share(problem, &box, &piece, &other);
    }
    if (status == HALOTUNE_OK) status = backend->put(state, input, piece.first, piece.count, piece.values);
    piece.first += piece.count;
  }
  free(piece.values);
  free(other.values);
  return status;
}

halotune_status run_files_load(const struct run_files *files, const struct run_problem *problem,
                               const struct run_backend *backend, void *state) {
  const struct stencil *stencil = problem->loaded.stencil;
  int leader[2 * MAX_FIELDS];
  halotune_status status = HALOTUNE_OK;
  iterate_leaders(stencil, leader);
  for (int i = 0; i < stencil->input_count && status == HALOTUNE_OK; i++) {
    const bool shares = problem->steps > 1;
    status = input_load(files, problem, backend, state, i, shares ? leader[i] : i);
  }
  return status == HALOTUNE_OK ? backend->start(state) : status;
}

/* A result that is being written. */
struct saving {
  const struct run_problem *problem;
  const struct run_backend *backend;
  void *state;
  const char *path;
  int result;
  char *values; /* PIECE_BYTES */
  bool any;     /* some value was finite */
  struct run_written written;
};

static void value_note(struct saving *saving, double value) {
  struct run_written *written = &saving->written;
  if (!isfinite(value)) {
    written->not_finite++;
    return;
  }
  if (!saving->any || value < written->min) written->min = value;
  if (!saving->any || value > written->max) written->max = value;
  saving->any = true;
}

static void values_note(struct saving *saving, long count) {
  const float *floats = (const float *)(const void *)saving->values;
  const double *doubles = (const double *)(const void *)saving->values;
  for (long i = 0; i < count; i++)
    value_note(saving, saving->problem->dtype == DTYPE_F32 ? (double)floats[i] : doubles[i]);
}

static halotune_status bytes_write(const struct saving *saving, int fd, const char *bytes, size_t length) {
  return output_bytes(saving->path, fd, bytes, length);
}

static halotune_status header_write(const struct saving *saving, int fd) {
  const struct stencil *stencil = saving->problem->loaded.stencil;
  long long shape[MAX_DIMS];
  struct text header = {0};
  for (int i = 0; i < stencil->dims; i++) shape[i] = saving->problem->grid.n[stencil->dims - 1 - i];
  npy_write_header(saving->problem->dtype == DTYPE_F32 ? "<f4" : "<f8", stencil->dims, shape, &header);
  halotune_status status =
      text_ok(&header) ? bytes_write(saving, fd, text_string(&header), header.length) : fail_memory();
  text_free(&header);
  return status;
}

static halotune_status output_write(void *context, int fd) {
  struct saving *saving = context;
  const struct run_problem *problem = saving->problem;
  halotune_status status = header_write(saving, fd);
  for (long first = 0, count; first < problem->points && status == HALOTUNE_OK; first += count) {
    count = problem->points - first < piece_points(problem) ? problem->points - first : piece_points(problem);
    if ((status = run_check_stop(problem)) != HALOTUNE_OK) break;
    status = saving->backend->get(saving->state, saving->result, first, count, saving->values);
    if (status != HALOTUNE_OK) break;
    values_note(saving, count);
    status = bytes_write(saving, fd, saving->values, (size_t)count * dtype_bytes(problem->dtype));
  }
  return status;
}

halotune_status run_files_save(const struct run_files *files, const struct run_problem *problem,
                               const struct run_backend *backend, void *state, int result, struct run_written *out) {
  struct saving saving = {.problem = problem,
                          .backend = backend,
                          .state = state,
                          .path = files->output_paths[result],
                          .result = result,
                          .values = malloc(PIECE_BYTES)};
  halotune_status status =
      saving.values ? output_pieces(saving.path, OUTPUT_FOR_ALL, output_write, &saving) : fail_memory();
  *out = saving.written;
  if (!saving.any) out->min = out->max = NAN;
  free(saving.values);
  return status;
}
