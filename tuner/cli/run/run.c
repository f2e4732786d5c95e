/* run.c: `halotune run STENCIL`: computes a stencil on the user's arrays, on a GPU or with the reference. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/system/clock.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/output/progress.h"
#include "tuner/cli/output/stop_signals.h"
#include "tuner/cli/run/run_print.h"

/* The progress of the steps. */
struct course {
  long done;
  double start_ms;
  struct progress line;
};

static void course_show(struct course *course, const struct run_problem *problem) {
  const double ms_per_s = 1e3, percent = 100, elapsed_s = (clock_ms() - course->start_ms) / ms_per_s;
  const double share = (double)course->done / (double)problem->steps;
  struct progress_parts parts = {.count = 0};
  progress_add(&parts, 0, "", "%ld/%ld steps", course->done, problem->steps);
  progress_add(&parts, 1, "  ", "%.0f %%", percent * share);
  progress_add(&parts, 2, "  ", "%.4g million points a second",
               (double)problem->points * (double)course->done / elapsed_s * 1e-6);
  progress_add(&parts, 1, "  ", "%.0f s left", elapsed_s / share - elapsed_s);
  progress_show(&course->line, &parts);
}

/* Advance in parts of whole launches, so that the result does not depend on the parts. */
static halotune_status steps_make(const struct run_problem *problem, const struct run_backend *backend, void *state,
                                  double *time_ms) {
  const double least_ms = 50; /* least time of a part, so that the waits between parts cost little */
  struct course course = {.start_ms = clock_ms()};
  long part = backend->facts(state).launch_steps;
  halotune_status status = HALOTUNE_OK;
  progress_open(&course.line);
  while (course.done < problem->steps && (status = run_check_stop(problem)) == HALOTUNE_OK) {
    const long left = problem->steps - course.done, steps = left < 2 * part ? left : part;
    const double start_ms = clock_ms();
    if ((status = backend->advance(state, steps)) != HALOTUNE_OK) break;
    course.done += steps;
    if (clock_ms() - start_ms < least_ms && part < problem->steps) part *= 2;
    course_show(&course, problem);
  }
  progress_hide(&course.line);
  *time_ms = clock_ms() - course.start_ms;
  if (status == HALOTUNE_CANCELLED)
    return fail(status, "stopped after %ld of %ld steps; no output was written", course.done, problem->steps);
  return status;
}

/* Whether a file is created, or replaced in one step. Then it is unchanged until the end of the run. */
static bool is_replaced(const char *path) { return access(path, F_OK) != 0 || file_is_regular(path); }

static halotune_status outputs_save(struct run_result *result, void *state) {
  const struct stencil *stencil = result->problem->loaded.stencil;
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < run_result_count(stencil) && status == HALOTUNE_OK; i++) {
    if (!result->files->output_paths[i]) continue;
    status = run_files_save(result->files, result->problem, result->backend, state, i, &result->written[i]);
    if (status == HALOTUNE_CANCELLED)
      return fail(status, "stopped while '%s' was being written to %s%s", run_result_name(stencil, i),
                  result->files->output_paths[i],
                  is_replaced(result->files->output_paths[i]) ? ", which is unchanged" : "");
  }
  return status;
}

static halotune_status problem_compute(const struct invocation *invocation, struct run_result *result) {
  const struct run_problem *problem = result->problem;
  const struct run_backend *backend = result->backend;
  const bool as_json = option_given(invocation, "json");
  void *state = NULL;
  stop_signals_catch();
  halotune_status status = backend->open(invocation, problem, &state);
  if (status != HALOTUNE_OK) return status;
  result->facts = backend->facts(state);
  if (!as_json) run_print_title(result);
  status = run_files_load(result->files, problem, backend, state);
  if (status == HALOTUNE_CANCELLED) status = fail(status, "stopped before the first step; no output was written");
  if (status == HALOTUNE_OK) status = steps_make(problem, backend, state, &result->time_ms);
  if (status == HALOTUNE_OK) status = outputs_save(result, state);
  if (status == HALOTUNE_OK && as_json) status = print_json(run_json(result));
  else if (status == HALOTUNE_OK) run_print(result);
  backend->close(state);
  return status;
}

static halotune_status problem_read(const struct invocation *invocation, struct run_problem *problem,
                                    struct run_files *files, const struct run_backend **backend) {
  static const struct run_backend *const backends[] = {&run_backend_gpu, &run_backend_cpu};
  static const char *const names[] = {"gpu", "cpu"};
  const struct stencil *stencil = problem->loaded.stencil;
  int which;
  halotune_status status = option_word(invocation, "backend", names, 2, 0, &which);
  if (status != HALOTUNE_OK) return status;
  *backend = backends[which];
  status = option_whole(invocation, "steps", 1, HALOTUNE_RUN_MOST_STEPS, 1, &problem->steps);
  if (status == HALOTUNE_OK && problem->steps > 1 && !problem->loaded.analysis->can_iterate)
    status =
        fail(HALOTUNE_ARGUMENT,
             "%s makes one step only: its file does not say in `iterate` which output becomes an input", stencil->name);
  if (status == HALOTUNE_OK) status = run_files_open(invocation, problem, files);
  return status == HALOTUNE_OK ? run_coefficients(invocation, problem) : status;
}

static enum exit_code run_command_run(const struct invocation *invocation) {
  struct run_problem problem = {.stop = stop_flag()};
  struct run_files files;
  struct run_result result = {.problem = &problem, .files = &files};
  run_files_begin(&files);
  halotune_status status = loaded_open(invocation->arguments[0], &problem.loaded);
  if (status == HALOTUNE_OK) status = problem_read(invocation, &problem, &files, &result.backend);
  enum exit_code code;
  if (status != HALOTUNE_OK) {
    code = report_file_failure(status);
  } else {
    status = problem_compute(invocation, &result);
    code = status == HALOTUNE_OK ? HALOTUNE_EXIT_SUCCESS : report_failure(status);
  }
  run_files_free(&files);
  free(problem.coefficients);
  loaded_free(&problem.loaded);
  return code;
}

static const struct option_row options[] = {
    {"input", "NAME=FILE,...", "a file in NumPy's format (.npy) for each input of the stencil"},
    {"output", "NAME=FILE,...", "files for outputs, and for inputs that change, as they are after the last step"},
    {"grid", "NX,NY,NZ", "points along each axis; the shape of the first input by default"},
    {"steps", "N", "time steps, 1 by default; more where the stencil has an `iterate`"},
    {"set", "NAME=VALUE,...", "coefficients that differ from the stencil's file"},
    {"dtype", "TYPE", "f32 or f64; the type of the first input by default"},
    {"backend", "NAME", "gpu (the default): the best known kernel; cpu: the reference in double precision"},
    {"device", "N", "the GPU's number; 0 by default"},
    {"hang-timeout", "TIME", "time for a launch on the GPU, 10m by default; a launch that takes longer has hung"},
    {"db", "FILE", "the database; by default yours, then the one that was installed"},
    {"reproducible", NULL, "only kernels that all give the same bits"},
    {"threads", "N", "threads with --backend cpu; one for each CPU by default"},
    {"json", NULL, "print a JSON document"},
    {0},
};

const struct command command_run = {
    "run", "STENCIL", 1, 1, "compute a stencil on your arrays, on the GPU or on the CPU", options, run_command_run,
};
