/* verify.c: `halotune verify STENCIL`: run variants where there is no GPU, and compare them with the reference. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tuner/cli/describe.h"
#include "tuner/cli/pick.h"
#include "tuner/cli/problem.h"
#include "tuner/verify/host_verify.h"

enum { DEFAULT_SAMPLE = 60 };

struct report {
  const struct problem *problem;
  json_t *rows; /* NULL for text */
  long passed, failed, not_run, launches;
  double start_ms;
};

static void add_configuration(struct text *text, const struct verify_row *row) {
  text_printf(text, "%s", row->template->name);
  for (int i = 0; i < row->template->parameter_count; i++) {
    const struct parameter *parameter = &row->template->parameters[i];
    text_printf(text, " %s=%s", parameter->name, parameter->words[row->configuration.choice[i]]);
  }
}

static json_t *row_json(const struct verify_row *row) {
  json_t *values = json_object();
  const struct comparison *worst = &row->result.worst;
  for (int i = 0; i < row->template->parameter_count; i++) {
    const struct parameter *parameter = &row->template->parameters[i];
    int choice = row->configuration.choice[i];
    json_object_set_new(values, parameter->name,
                        parameter->is_word ? json_string(parameter->words[choice]) : json_real(parameter->values[choice]));
  }
  return json_pack("{s:s, s:o, s:s, s:s, s:s, s:i, s:i, s:f, s:f, s:f, s:f, s:f}", "template", row->template->name,
                   "parameters", values, "outcome", row->result.name, "detail", row->result.text, "scene", row->scene,
                   "scenes", row->scene_count, "launches", row->run_count, "rms_error",
                   isfinite(worst->rms_error) ? worst->rms_error : -1.0, "max_error",
                   isfinite(worst->max_error) ? worst->max_error : -1.0, "max_error_units",
                   isfinite(worst->max_error_units) ? worst->max_error_units : -1.0, "compile_time_ms",
                   row->compile_time_ms, "run_time_ms", row->run_time_ms);
}

static void print_row(const struct verify_row *row) {
  struct text text = {0};
  add_configuration(&text, row);
  printf("%-18s rms %-9.3g max %-9.3g %5.2f units  %s\n", row->result.name, row->result.worst.rms_error,
         row->result.worst.max_error, row->result.worst.max_error_units, text_string(&text));
  if (row->result.outcome != CHECK_PASSED) {
    printf("%-18s %s%s%s\n", "", row->scene, *row->scene ? ": " : "", row->result.text);
  }
  text_free(&text);
}

static bool take_row(void *context, const struct verify_row *row) {
  struct report *report = context;
  bool left_out = row->result.outcome == CHECK_NOT_RUN && row->scene_count == 0;
  report->passed += row->result.outcome == CHECK_PASSED;
  report->not_run += left_out;
  report->failed += row->result.outcome != CHECK_PASSED && !left_out;
  report->launches += row->run_count;
  if (report->rows) json_array_append_new(report->rows, row_json(row));
  else print_row(row);
  return true;
}

static halotune_status finish(struct report *report) {
  double time_s = (clock_ms() - report->start_ms) * 1e-3;
  long variants = report->passed + report->failed + report->not_run;
  if (!report->rows) {
    printf("%ld variants of %s in %s: %ld passed, %ld failed, %ld left out by rules on every grid\n", variants,
           report->problem->loaded.stencil->name, dtype_names[report->problem->dtype], report->passed, report->failed,
           report->not_run);
    fprintf(stderr, "%ld launches in %.1f s, %.0f variants a minute\n", report->launches, time_s,
            60 * (double)variants / (time_s > 0 ? time_s : 1));
    return HALOTUNE_OK;
  }
  return print_json(json_pack("{s:s, s:s, s:o, s:I, s:I, s:I, s:I, s:f}", "stencil", report->problem->loaded.stencil->name,
                              "dtype", dtype_names[report->problem->dtype], "variants", report->rows, "passed",
                              (json_int_t)report->passed, "failed", (json_int_t)report->failed, "not_run",
                              (json_int_t)report->not_run, "launches", (json_int_t)report->launches, "time_s", time_s));
}

static halotune_status verify(const struct invocation *invocation, struct report *report, const struct picked *picked) {
  const struct problem *problem = report->problem;
  long seed, threads;
  struct scenes scenes;
  halotune_status status = option_whole(invocation, "seed", 0, 1L << 62, 1, &seed);
  if (status == HALOTUNE_OK) status = option_whole(invocation, "workers", 1, 256, 0, &threads);
  if (status != HALOTUNE_OK) return status;
  struct scenes_request what = {.stencil = problem->loaded.stencil,
                                .analysis = problem->loaded.analysis,
                                .dtype = problem->dtype,
                                .grid = option_value(invocation, "grid") ? &problem->grid : NULL,
                                .seed = (uint64_t)seed,
                                .threads = (int)threads};
  if ((status = scenes_make(&what, &scenes)) != HALOTUNE_OK) return status;
  struct verify_request request = {
      .stencil = problem->loaded.stencil,
      .analysis = problem->loaded.analysis,
      .scenes = &scenes,
      .dtype = problem->dtype,
      .limits = problem->limits,
      .options = {.sanitize = option_value(invocation, "sanitize") != NULL, .workers = (int)threads},
      .threads = (int)threads};
  status = host_verify(&request, picked->variants, picked->count, take_row, report);
  scenes_free(&scenes);
  return status == HALOTUNE_OK ? finish(report) : status;
}

static enum exit_code run(const struct invocation *invocation) {
  const char *backend = option_value(invocation, "backend");
  struct problem problem;
  struct picked picked;
  if (backend && strcmp(backend, "host") != 0) {
    return report_failure(fail(HALOTUNE_ARGUMENT, "--backend is host, not '%s'", backend));
  }
  halotune_status status = problem_open(invocation, &problem);
  if (status != HALOTUNE_OK) return report_file_failure(status);
  struct report report = {.problem = &problem, .start_ms = clock_ms()};
  if (option_value(invocation, "json")) report.rows = json_array();
  if ((status = pick_variants(invocation, &problem, DEFAULT_SAMPLE, &picked)) == HALOTUNE_OK) {
    status = verify(invocation, &report, &picked);
    picked_free(&picked);
  }
  problem_free(&problem);
  if (status != HALOTUNE_OK) return report_failure(status);
  return report.failed > 0 ? HALOTUNE_EXIT_FAILURE : HALOTUNE_EXIT_SUCCESS;
}

static const struct option_row options[] = {
    {"backend", "host", "where variants run; host, the CPU, is the default"},
    TEMPLATE_OPTIONS,
    PICK_OPTIONS,
    PROBLEM_OPTIONS,
    {"sanitize", NULL, "build kernels with AddressSanitizer and UndefinedBehaviorSanitizer"},
    {"workers", "N", "processes and threads; one for each CPU by default"},
    {"json", NULL, "print a JSON document"},
    {0},
};

const struct command command_verify = {
    "verify", "STENCIL", 1, 1, "prove variants right: run them and compare with the reference", options, run,
};
