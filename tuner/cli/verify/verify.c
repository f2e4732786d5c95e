/* verify.c: `halotune verify STENCIL`: run variants where there is no GPU, and compare them with the reference. */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "tuner/cli/options/pick_variants.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/output/variant_text.h"
#include "tuner/verify/host_verify.h"

enum { DEFAULT_SAMPLE = 60 };

struct report {
  const struct problem *problem;
  struct scenes scenes;
  bool json;
  json_t *rows; /* of the JSON document */
  long passed, failed, not_run, launches;
  double start_ms;
};

/* The hash of all outputs' bits in each scene that the variant came through. */
static json_t *outputs_json(const struct scenes *scenes, const struct verify_row *row) {
  static const struct hash none = {0};
  json_t *json = json_object();
  char hex[HASH_HEX_BYTES];
  for (int i = 0; i < scenes->count; i++) {
    if (hash_compare(row->outputs[i], none) == 0) continue;
    hash_hex(row->outputs[i], hex);
    json_put(&json, scenes->list[i].name, text_json(hex));
  }
  return json;
}

static json_t *row_json(const struct scenes *scenes, const struct verify_row *row) {
  const struct comparison *worst = &row->result.worst;
  json_t *json = json_object();
  json_put(&json, "template", text_json(row->template->name));
  json_put(&json, "parameters", variant_json(row->template, &row->configuration));
  json_put(&json, "outcome", text_json(row->result.name));
  json_put(&json, "detail", text_json(row->result.text));
  json_put(&json, "scene", text_json(row->scene));
  json_put(&json, "scenes", json_integer(row->scene_count));
  json_put(&json, "launches", json_integer(row->run_count));
  json_put(&json, "rms_error", number_json(worst->rms_error));
  json_put(&json, "max_error", number_json(worst->max_error));
  json_put(&json, "max_error_units", number_json(worst->max_error_units));
  json_put(&json, "outputs", outputs_json(scenes, row));
  json_put(&json, "compile_time_ms", number_json(row->compile_time_ms));
  json_put(&json, "run_time_ms", number_json(row->run_time_ms));
  return json;
}

static void print_row(const struct verify_row *row) {
  struct text text = {0};
  variant_text(row->template, &row->configuration, &text);
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
  if (report->json) json_add(&report->rows, row_json(&report->scenes, row));
  else print_row(row);
  return true;
}

static halotune_status finish(struct report *report) {
  double time_s = (clock_ms() - report->start_ms) * 1e-3;
  long variants = report->passed + report->failed + report->not_run;
  if (!report->json) {
    printf("%ld variant%s of %s in %s: %ld passed, %ld failed, %ld left out by rules on every grid\n", variants,
           PLURAL(variants), report->problem->loaded.stencil->name, dtype_names[report->problem->dtype], report->passed,
           report->failed, report->not_run);
    fprintf(stderr, "%ld launch%s in %.1f s, %.0f variants a minute\n", report->launches,
            report->launches == 1 ? "" : "es", time_s, 60 * (double)variants / (time_s > 0 ? time_s : 1));
    return HALOTUNE_OK;
  }
  json_t *json = json_object();
  json_put(&json, "stencil", text_json(report->problem->loaded.stencil->name));
  json_put(&json, "dtype", text_json(dtype_names[report->problem->dtype]));
  json_put(&json, "variants", report->rows);
  json_put(&json, "passed", json_integer(report->passed));
  json_put(&json, "failed", json_integer(report->failed));
  json_put(&json, "not_run", json_integer(report->not_run));
  json_put(&json, "launches", json_integer(report->launches));
  json_put(&json, "time_s", number_json(time_s));
  report->rows = NULL;
  return print_json(json);
}

static halotune_status verify(const struct invocation *invocation, struct report *report, const struct picked *picked) {
  const struct problem *problem = report->problem;
  long seed, threads;
  halotune_status status = option_whole(invocation, "seed", 0, 1L << 62, 1, &seed);
  if (status == HALOTUNE_OK) status = option_whole(invocation, "workers", 1, 256, 0, &threads);
  if (status != HALOTUNE_OK) return status;
  struct scenes_request what = {.stencil = problem->loaded.stencil,
                                .analysis = problem->loaded.analysis,
                                .dtype = problem->dtype,
                                .grid = option_value(invocation, "grid") ? &problem->grid : NULL,
                                .seed = (uint64_t)seed,
                                .threads = (int)threads};
  if ((status = scenes_make(&what, &report->scenes)) != HALOTUNE_OK) return status;
  struct verify_request request = {
      .stencil = problem->loaded.stencil,
      .analysis = problem->loaded.analysis,
      .scenes = &report->scenes,
      .dtype = problem->dtype,
      .limits = problem->limits,
      .options = {.sanitize = option_given(invocation, "sanitize"), .workers = (int)threads},
      .threads = (int)threads,
      .reproducible = problem->reproducible};
  status = host_verify(&request, picked->variants, picked->count, take_row, report);
  scenes_free(&report->scenes);
  return status == HALOTUNE_OK ? finish(report) : status;
}

static enum exit_code run(const struct invocation *invocation) {
  static const char *const backends[] = {"host"};
  int backend;
  struct problem problem;
  struct picked picked;
  enum exit_code code = HALOTUNE_EXIT_SUCCESS;
  halotune_status status = option_word(invocation, "backend", backends, COUNT(backends), 0, &backend);
  if (status != HALOTUNE_OK) return report_failure(status);
  status = problem_open(invocation, &problem);
  if (status != HALOTUNE_OK) return report_file_failure(status);
  struct report report = {.problem = &problem, .start_ms = clock_ms()};
  report.json = option_given(invocation, "json");
  if (report.json) report.rows = json_array();
  if ((status = pick_variants(invocation, &problem, DEFAULT_SAMPLE, &picked)) == HALOTUNE_OK) {
    status = verify(invocation, &report, &picked);
    code = picked.templates.code;
    picked_free(&picked);
  }
  json_decref(report.rows);
  problem_free(&problem);
  if (status != HALOTUNE_OK) return report_failure(status);
  return report.failed > 0 || report.passed == 0 ? HALOTUNE_EXIT_FAILURE
                                                 : code; /* where nothing ran, nothing is proven */
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
