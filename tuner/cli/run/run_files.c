/* run_files.c: reads --input and --output, and checks each file against the problem. */
#include "tuner/cli/run/run_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/path.h"
#include "base/text/nearest.h"
#include "tuner/cli/output/output.h"

/* NumPy's names of the element types. */
static const char *const npy_types[DTYPE_COUNT] = {[DTYPE_F32] = "<f4", [DTYPE_F64] = "<f8"};

void run_files_begin(struct run_files *files) {
  *files = (struct run_files){.input_paths = {NULL}};
  for (int i = 0; i < MAX_FIELDS; i++) files->inputs[i].fd = -1;
}

void run_files_free(struct run_files *files) {
  for (int i = 0; i < MAX_FIELDS; i++) {
    npy_close(&files->inputs[i]);
    free(files->input_paths[i]);
  }
  for (int i = 0; i < 2 * MAX_FIELDS; i++) free(files->output_paths[i]);
}

/* --- the options ------------------------------------------------------------------------------------------------- */

/* The inputs of a stencil, or the results that a run can write. */
struct side {
  const char *option, *other_option, *what;
  const char *const *names, *const *others;
  const bool *is_fixed; /* names that have no file here; NULL: all have one */
  int count, other_count;
};

static bool is_named(const char *const *names, int count, const char *name, size_t length, int *at) {
  for (*at = 0; *at < count; ++*at) {
    if (strlen(names[*at]) == length && strncmp(names[*at], name, length) == 0) return true;
  }
  return false;
}

static halotune_status fail_unknown(const struct side *side, const struct stencil *stencil, const char *name,
                                    size_t length) {
  struct nearest nearest = nearest_to(name, length);
  struct text known = {0};
  int at;
  if (is_named(side->others, side->other_count, name, length, &at) && side->is_fixed)
    return fail(HALOTUNE_ARGUMENT, "'%.*s' is an input of %s that does not change; name it with --input", (int)length,
                name, stencil->name);
  if (is_named(side->others, side->other_count, name, length, &at))
    return fail(HALOTUNE_ARGUMENT, "'%.*s' is no %s of %s; name it with --%s", (int)length, name, side->what,
                stencil->name, side->other_option);
  for (int i = 0; i < side->count; i++) {
    if (side->is_fixed && side->is_fixed[i]) continue;
    nearest_try(&nearest, side->names[i]);
    text_printf(&known, "%s%s", i > 0 ? ", " : "", side->names[i]);
  }
  halotune_status status = fail(HALOTUNE_ARGUMENT, "%s has no %s '%.*s'%s; it has %s", stencil->name, side->what,
                                (int)length, name, nearest.question, text_string(&known));
  text_free(&known);
  return status;
}

/* Read NAME=FILE,... */
static halotune_status side_read(const struct invocation *invocation, const struct stencil *stencil,
                                 const struct side *side, char *paths[]) {
  const char *rest = option_value(invocation, side->option), *item;
  size_t length;
  while ((item = list_next(&rest, &length))) {
    const char *equals = memchr(item, '=', length);
    const size_t name = equals ? (size_t)(equals - item) : length;
    int at;
    if (!equals || name + 1 == length) {
      return fail(HALOTUNE_ARGUMENT, "--%s takes NAME=FILE,..., not '%.*s'; a file's name has no comma", side->option,
                  (int)length, item);
    }
    if (!is_named(side->names, side->count, item, name, &at) || (side->is_fixed && side->is_fixed[at]))
      return fail_unknown(side, stencil, item, name);
    if (paths[at]) return fail(HALOTUNE_ARGUMENT, "--%s gives '%s' twice", side->option, side->names[at]);
    if (!(paths[at] = strndup(equals + 1, length - name - 1))) return fail_memory();
  }
  return HALOTUNE_OK;
}

/* --- shapes and types -------------------------------------------------------------------------------------------- */

/* The shape of an input's array, which has the axes of the input. NumPy names them in the order z, y, x. Returns their
 * number. */
static int input_shape(const struct stencil *stencil, const struct grid *grid, int input, bool reversed,
                       long long shape[MAX_DIMS]) {
  int dims = 0;
  for (int i = 0; i < stencil->dims; i++) {
    const int axis = reversed ? i : stencil->dims - 1 - i;
    if (input_lies_along(stencil, input, axis)) shape[dims++] = grid->n[axis];
  }
  return dims;
}

static void shape_text(const struct stencil *stencil, const struct grid *grid, int input, struct text *text) {
  long long shape[MAX_DIMS];
  const int dims = input_shape(stencil, grid, input, false, shape);
  npy_write_shape(dims, shape, text);
}

/* The shape in names if the grid is not known: "(ny, nx)". */
static void shape_of_names(const struct stencil *stencil, int input, struct text *text) {
  int count = 0;
  for (int axis = stencil->dims - 1; axis >= 0; axis--) {
    if (!input_lies_along(stencil, input, axis)) continue;
    text_printf(text, "%sn%c", count++ > 0 ? ", " : "(", axis_names[axis]);
  }
  text_printf(text, count > 1 ? ")" : ",)");
}

/* Refuse a run that lacks inputs, and list all of them.
 *   grid  NULL: not known yet */
static halotune_status fail_missing(const struct stencil *stencil, const struct run_files *files,
                                    const struct grid *grid, const char *type) {
  struct text list = {0};
  for (int i = 0; i < stencil->input_count; i++) {
    text_printf(&list, "\n  %-10s an array of shape ", stencil->inputs[i]);
    if (grid) shape_text(stencil, grid, i, &list);
    else shape_of_names(stencil, i, &list);
    text_printf(&list, ", %s%s", stencil->input_types[i] == INPUT_U8 ? input_type_names[INPUT_U8] : type,
                files->input_paths[i] ? "" : " (not given)");
  }
  halotune_status status = fail(HALOTUNE_ARGUMENT, "%s needs a file for each of its inputs, --input NAME=FILE,...:%s",
                                stencil->name, text_string(&list));
  text_free(&list);
  return status;
}

/* Check that a file holds little-endian floating-point numbers in C order.
 *   type  receives its element type */
static halotune_status check_kind(const struct npy_file *file, enum dtype *type) {
  const struct npy *header = &file->header;
  for (int i = 0; i < DTYPE_COUNT; i++) {
    if (header->type[0] == '>' && strcmp(header->type + 1, npy_types[i] + 1) == 0)
      return fail(HALOTUNE_ARGUMENT, "%s: its numbers are big-endian ('%s'); save array.astype('%s')", file->path,
                  header->type, npy_types[i]);
    if (strcmp(header->type, npy_types[i]) != 0) continue;
    *type = (enum dtype)i;
    if (!header->is_fortran) return HALOTUNE_OK;
    return fail(HALOTUNE_ARGUMENT, "%s: the array is in Fortran order; save numpy.ascontiguousarray(array)",
                file->path);
  }
  return fail(HALOTUNE_ARGUMENT, "%s: its elements are '%s'; save array.astype('f4') for f32, or 'f8' for f64",
              file->path, header->type);
}

/* Take the grid from a file's shape. */
static halotune_status grid_from(const struct npy_file *file, const struct stencil *stencil, struct grid *out) {
  const struct npy *header = &file->header;
  struct text shape = {0};
  bool fits = header->dims == stencil->dims;
  npy_write_shape(header->dims, header->shape, &shape);
  *out = (struct grid){{1, 1, 1}};
  for (int i = 0; i < stencil->dims && fits; i++) {
    fits = header->shape[i] >= 1 && header->shape[i] <= GRID_MOST_AXIS_POINTS;
    out->n[stencil->dims - 1 - i] = (long)header->shape[i];
  }
  halotune_status status = HALOTUNE_OK;
  if (!fits)
    status =
        fail(HALOTUNE_ARGUMENT, "%s: the array has the shape %s; %s has %d dimension%s of 1 to %ld points", file->path,
             text_string(&shape), stencil->name, stencil->dims, PLURAL(stencil->dims), GRID_MOST_AXIS_POINTS);
  text_free(&shape);
  return status;
}

static bool has_shape(const struct npy *header, const struct stencil *stencil, const struct grid *grid, int input,
                      bool reversed) {
  long long shape[MAX_DIMS];
  bool same = header->dims == input_shape(stencil, grid, input, reversed, shape);
  for (int i = 0; i < header->dims && same; i++) same = header->shape[i] == shape[i];
  return same;
}

/* Check that a file holds bytes, or truth values, in C order. */
static halotune_status check_mask(const struct npy_file *file, const char *input) {
  const struct npy *header = &file->header;
  if (strcmp(header->type, "|u1") != 0 && strcmp(header->type, "|b1") != 0)
    return fail(HALOTUNE_ARGUMENT, "%s: its elements are '%s', but '%s' is a mask; save array.astype('u1')", file->path,
                header->type, input);
  if (!header->is_fortran) return HALOTUNE_OK;
  return fail(HALOTUNE_ARGUMENT, "%s: the array is in Fortran order; save numpy.ascontiguousarray(array)", file->path);
}

/* Check a file against the grid and the element type. */
static halotune_status check_array(const struct npy_file *file, const struct run_problem *problem, int input) {
  const struct stencil *stencil = problem->loaded.stencil;
  const struct input_layout layout = run_input_layout(problem, input);
  const bool is_mask = stencil->input_types[input] == INPUT_U8;
  enum dtype type = problem->dtype;
  halotune_status status = is_mask ? check_mask(file, stencil->inputs[input]) : check_kind(file, &type);
  if (status != HALOTUNE_OK) return status;
  if (type != problem->dtype)
    return fail(HALOTUNE_ARGUMENT, "%s: its elements are %s, but the run is in %s; save array.astype('%s')%s",
                file->path, dtype_names[type], dtype_names[problem->dtype], npy_types[problem->dtype] + 1,
                stencil->dtypes[type] ? ", or choose another --dtype" : "");
  if (!has_shape(&file->header, stencil, &problem->grid, input, false)) {
    struct text got = {0}, want = {0};
    npy_write_shape(file->header.dims, file->header.shape, &got);
    shape_text(stencil, &problem->grid, input, &want);
    status =
        fail(HALOTUNE_ARGUMENT, "%s: the array has the shape %s, but the grid needs %s%s", file->path,
             text_string(&got), text_string(&want),
             has_shape(&file->header, stencil, &problem->grid, input, true)
                 ? ": NumPy names the axes in the order z, y, x; transpose the array, or give --grid in the other order"
                 : "");
    text_free(&got);
    text_free(&want);
    return status;
  }
  const long long need = layout.elements * (long long)layout.element_bytes;
  const long long have = file->bytes - (long long)file->header.header_bytes;
  if (have == need) return HALOTUNE_OK;
  return fail(HALOTUNE_ARGUMENT, "%s: the file has %lld bytes of elements, but its shape needs %lld: it is %s",
              file->path, have, need, have < need ? "incomplete" : "too long");
}

/* The element type: that of --dtype, or else of the first file. */
static halotune_status type_read(const struct invocation *invocation, const struct stencil *stencil,
                                 const struct npy_file *first, enum dtype *out) {
  if (option_given(invocation, "dtype") || !first) return option_dtype(invocation, stencil, out);
  halotune_status status = check_kind(first, out);
  if (status != HALOTUNE_OK || stencil->dtypes[*out]) return status;
  const enum dtype other = *out == DTYPE_F32 ? DTYPE_F64 : DTYPE_F32;
  return fail(HALOTUNE_ARGUMENT,
              "%s: its elements are %s, but %s has only the element type %s; save array.astype('%s')", first->path,
              dtype_names[*out], stencil->name, dtype_names[other], npy_types[other] + 1);
}

static halotune_status inputs_open(const struct invocation *invocation, struct run_problem *problem,
                                   struct run_files *files) {
  const struct stencil *stencil = problem->loaded.stencil;
  const bool has_grid = option_given(invocation, "grid");
  /* the file that has the grid's shape, and the file that has the element type */
  const struct npy_file *first = NULL, *first_real = NULL;
  bool complete = true;
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < stencil->input_count && status == HALOTUNE_OK; i++) {
    complete = complete && files->input_paths[i];
    if (!files->input_paths[i]) continue;
    status = npy_open(files->input_paths[i], &files->inputs[i]);
    if (!first && !input_is_thin(stencil, i)) first = &files->inputs[i];
    if (!first_real && stencil->input_types[i] == INPUT_OF_DTYPE) first_real = &files->inputs[i];
  }
  if (status == HALOTUNE_OK) status = type_read(invocation, stencil, first_real, &problem->dtype);
  if (status != HALOTUNE_OK) return status;
  if (has_grid) status = option_grid(invocation, stencil, &problem->grid);
  else if (first) status = grid_from(first, stencil, &problem->grid);
  else if (complete) status = fail(HALOTUNE_ARGUMENT, "no input of %s lies along all axes: give --grid", stencil->name);
  if (status != HALOTUNE_OK) return status;
  if (!complete)
    return fail_missing(stencil, files, has_grid || first ? &problem->grid : NULL,
                        first_real || option_given(invocation, "dtype") ? dtype_names[problem->dtype] : "f32 or f64");
  if ((status = stencil_check_grid(stencil, &problem->grid, NULL)) != HALOTUNE_OK) return status;
  problem->points = problem->grid.n[0] * problem->grid.n[1] * problem->grid.n[2];
  for (int i = 0; i < stencil->input_count && status == HALOTUNE_OK; i++)
    status = check_array(&files->inputs[i], problem, i);
  return status;
}

/* --- outputs ----------------------------------------------------------------------------------------------------- */

/* Whether two paths will name the same file, even if it does not exist yet. */
static bool names_same(const char *a, const char *b) {
  if (file_is_same(a, b)) return true;
  char *a_folder = path_folder(a), *b_folder = path_folder(b);
  const bool same = a_folder && b_folder && strcmp(path_name(a), path_name(b)) == 0 && file_is_same(a_folder, b_folder);
  free(a_folder);
  free(b_folder);
  return same;
}

/* Find out before hours of computing whether the file can be written.
 *   target  of output_target: a link is one of the proc file system, which the kernel follows */
static halotune_status check_writable(const char *path, const char *target) {
  struct stat facts;
  if (lstat(target, &facts) == 0) {
    if (S_ISDIR(facts.st_mode)) return fail(HALOTUNE_IO, "%s: is a directory, not a file", path);
    if (!S_ISREG(facts.st_mode)) return HALOTUNE_OK;
  }
  char *folder = path_folder(target);
  if (!folder) return fail_memory();
  const bool is_writable = access(folder, W_OK | X_OK) == 0;
  free(folder);
  return is_writable ? HALOTUNE_OK : fail(HALOTUNE_IO, "%s: cannot be written: %s", path, strerror(errno));
}

/* Check the file of an output against the inputs and the outputs before it.
 *   targets  of output_target; NULL for outputs that are not named */
static halotune_status output_check(const struct stencil *stencil, const struct run_files *files, char *const targets[],
                                    int output) {
  for (int k = 0; k < stencil->input_count; k++) {
    if (names_same(targets[output], files->input_paths[k]))
      return fail(HALOTUNE_ARGUMENT, "the output '%s' would replace %s, the file of the input '%s'; name another file",
                  run_result_name(stencil, output), files->input_paths[k], stencil->inputs[k]);
  }
  for (int k = 0; k < output; k++) {
    if (targets[k] && names_same(targets[output], targets[k]))
      return fail(HALOTUNE_ARGUMENT, "the outputs '%s' and '%s' have the same file %s", run_result_name(stencil, k),
                  run_result_name(stencil, output), targets[output]);
  }
  return check_writable(files->output_paths[output], targets[output]);
}

static halotune_status outputs_check(const struct stencil *stencil, const struct run_files *files) {
  char *targets[2 * MAX_FIELDS] = {NULL};
  bool any = false;
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < run_result_count(stencil) && status == HALOTUNE_OK; i++) {
    if (!files->output_paths[i]) continue;
    any = true;
    status = output_target(files->output_paths[i], &targets[i]);
    if (status == HALOTUNE_OK) status = output_check(stencil, files, targets, i);
  }
  for (int i = 0; i < 2 * MAX_FIELDS; i++) free(targets[i]);
  if (any) return status;
  return fail(HALOTUNE_ARGUMENT, "name a file for at least one output: --output %s=FILE", stencil->outputs[0]);
}

/* Read --output, whose files are those of outputs and of inputs that change. */
static halotune_status outputs_read(const struct invocation *invocation, const struct run_problem *problem,
                                    char *paths[]) {
  const struct stencil *stencil = problem->loaded.stencil;
  const int count = run_result_count(stencil);
  const char *names[2 * MAX_FIELDS];
  bool is_fixed[2 * MAX_FIELDS];
  for (int i = 0; i < count; i++) {
    names[i] = run_result_name(stencil, i);
    is_fixed[i] = i >= stencil->output_count;
  }
  for (int i = 0; i < stencil->iterate_count && problem->loaded.analysis->can_iterate; i++)
    is_fixed[stencil->output_count + stencil->iterate[i].to] = false;
  const struct side outputs = {"output",        "input",  "output", names,
                               stencil->inputs, is_fixed, count,    stencil->input_count};
  return side_read(invocation, stencil, &outputs, paths);
}

halotune_status run_files_open(const struct invocation *invocation, struct run_problem *problem,
                               struct run_files *files) {
  const struct stencil *stencil = problem->loaded.stencil;
  const struct side inputs = {
      "input", "output", "input", stencil->inputs, stencil->outputs, NULL, stencil->input_count, stencil->output_count};
  halotune_status status = side_read(invocation, stencil, &inputs, files->input_paths);
  if (status == HALOTUNE_OK) status = outputs_read(invocation, problem, files->output_paths);
  if (status == HALOTUNE_OK) status = inputs_open(invocation, problem, files);
  if (status == HALOTUNE_OK) status = outputs_check(stencil, files);
  return status;
}
