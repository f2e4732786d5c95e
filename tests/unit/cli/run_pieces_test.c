/* run_pieces_test.c: fields of `halotune run` that are longer than a piece reach the backend and the files whole. */
#include <stdlib.h>

#include "tests/unit/stores.h"
#include "tuner/cli/run/run_files.h"

/* A piece of 16 MiB ends within a row of a field in f64. */
enum { NX = 1501, NY = 1500, POINTS = NX * NY, INPUTS = 4 };
enum { INPUT_U, INPUT_W, INPUT_SOLID, INPUT_LINE };

static const char text[] =
    "name: pieces\ndims: 2\ninputs: [u, w, solid, line]\noutputs: [v]\ntypes: {solid: u8}\nalong: {line: y}\n"
    "update: v = u[1,0] + u[-1,0] + u[0,1] + u[0,-1] - w[0,0] + solid[0,0]*line[0]\n"
    "boundary: skip\niterate: {v: u, u: w}\ndtypes: [f64]\ngrids: [[64, 64]]\n";

/* What element `i` of an input's file holds. */
static double value_of(int input, long i) { return input == INPUT_SOLID ? (double)(i % 251) : 1e8 * input + (double)i; }

/* What the backend of this test has got. */
struct taken {
  double *fields[INPUTS];
  long next[INPUTS]; /* elements so far */
  bool has_started;
};

static halotune_status taken_put(void *state, int input, long first, long count, const void *values) {
  struct taken *taken = state;
  CHECK_EQ(taken->next[input], first, "input %d", input);
  CHECK(first + count <= POINTS, "input %d: %ld elements from %ld on", input, count, first);
  for (long i = 0; i < count; i++)
    taken->fields[input][first + i] =
        input == INPUT_SOLID ? ((const unsigned char *)values)[i] : ((const double *)values)[i];
  taken->next[input] += count;
  return HALOTUNE_OK;
}

static halotune_status taken_start(void *state) {
  ((struct taken *)state)->has_started = true;
  return HALOTUNE_OK;
}

/* Element `i` of the result: 12 points are infinite or NaN. */
static double result_of(long i) { return i % 200000 == 7 ? (i % 400000 == 7 ? INFINITY : NAN) : (double)i - 1000; }

static halotune_status result_get(void *state, int result, long first, long count, void *values) {
  (void)state, (void)result;
  for (long i = 0; i < count; i++) ((double *)values)[i] = result_of(first + i);
  return HALOTUNE_OK;
}

static const struct run_backend backend = {.put = taken_put, .start = taken_start, .get = result_get};

static volatile sig_atomic_t stop;

static struct run_problem problem_of(long steps) {
  struct run_problem problem = {
      .grid = {{NX, NY, 1}}, .points = POINTS, .dtype = DTYPE_F64, .steps = steps, .stop = &stop};
  const struct source source = source_of("pieces.yaml", text, strlen(text));
  CHECK_OK(stencil_parse(&source, &problem.loaded.stencil));
  CHECK_OK(analysis_make(problem.loaded.stencil, &problem.loaded.analysis));
  return problem;
}

static void input_write(const char *path, int input) {
  static const int dims[INPUTS] = {2, 2, 2, 1};
  const long long shape[2] = {NY, NX};
  const long count = input == INPUT_LINE ? NY : POINTS;
  struct text header = {0};
  FILE *file = fopen(path, "w");
  CHECK(file, "%s", path);
  npy_write_header(input == INPUT_SOLID ? "|u1" : "<f8", dims[input], shape, &header);
  fwrite(header.bytes, 1, header.length, file);
  for (long i = 0; i < count; i++) {
    const double value = value_of(input, i);
    if (input == INPUT_SOLID) fputc((int)value, file);
    else fwrite(&value, sizeof value, 1, file);
  }
  CHECK_EQ(0, fclose(file), "%s", path);
  text_free(&header);
}

static bool is_skipped(long i) {
  const long x = i % NX, y = i / NX;
  return x == 0 || x == NX - 1 || y == 0 || y == NY - 1;
}

static void loaded_check(const struct run_files *files, long steps) {
  struct run_problem problem = problem_of(steps);
  struct taken taken = {.has_started = false};
  for (int k = 0; k < INPUTS; k++) CHECK((taken.fields[k] = calloc(POINTS, sizeof(double))), "memory");
  CHECK_OK(run_files_load(files, &problem, &backend, &taken));
  CHECK(taken.has_started, "after the last input");
  for (int k = 0; k < INPUTS; k++) {
    const long count = k == INPUT_LINE ? NY : POINTS;
    CHECK_EQ(count, taken.next[k], "input %d", k);
    for (long i = 0; i < count; i++) {
      const int from = k == INPUT_W && steps > 1 && is_skipped(i) ? INPUT_U : k;
      CHECK_EQ(value_of(from, i), taken.fields[k][i], "%ld steps, input %d, element %ld", steps, k, i);
    }
    free(taken.fields[k]);
  }
  loaded_free(&problem.loaded);
}

TEST(inputs_of_several_pieces_are_loaded) {
  const struct work work = work_begin();
  char paths[INPUTS][128];
  struct run_files files;
  run_files_begin(&files);
  for (int k = 0; k < INPUTS; k++) {
    snprintf(paths[k], sizeof paths[k], "%s/%d.npy", work.folder, k);
    input_write(paths[k], k);
    CHECK_OK(npy_open(paths[k], &files.inputs[k]));
  }
  loaded_check(&files, 1);
  loaded_check(&files, 2);
  run_files_free(&files);
  work_end(&work);
}

TEST(a_result_of_several_pieces_is_saved) {
  const struct work work = work_begin();
  char path[128];
  struct run_problem problem = problem_of(1);
  struct run_files files;
  struct run_written written;
  struct npy_file saved;
  double *values = malloc(POINTS * sizeof *values);
  snprintf(path, sizeof path, "%s/v.npy", work.folder);
  run_files_begin(&files);
  CHECK(values && (files.output_paths[0] = strdup(path)), "memory");
  CHECK_OK(run_files_save(&files, &problem, &backend, NULL, 0, &written));
  CHECK_OK(npy_open(path, &saved));
  CHECK_TEXT("<f8", saved.header.type, "type");
  CHECK(saved.header.dims == 2 && saved.header.shape[0] == NY && saved.header.shape[1] == NX, "shape");
  CHECK_EQ(saved.bytes, (long long)saved.header.header_bytes + POINTS * (long long)sizeof *values, "length");
  CHECK_OK(npy_read(&saved, 0, POINTS * sizeof *values, values));
  for (long i = 0; i < POINTS; i++) {
    const double want = result_of(i);
    CHECK(values[i] == want || (isnan(values[i]) && isnan(want)), "element %ld: %g, not %g", i, values[i], want);
  }
  CHECK_NEAR(-1000, written.min, 0, "the smallest");
  CHECK_NEAR(POINTS - 1 - 1000, written.max, 0, "the largest");
  CHECK_EQ(12, written.not_finite, "points");
  npy_close(&saved);
  run_files_free(&files);
  free(values);
  loaded_free(&problem.loaded);
  work_end(&work);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inputs_of_several_pieces_are_loaded),
      cmocka_unit_test(a_result_of_several_pieces_is_saved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
