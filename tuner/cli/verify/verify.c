/* verify.c: `halotune verify STENCIL`: run variants where there is no GPU, and compare them with the reference. With
 * --all, for each of the stencils in kernels/asymmetric. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/system/clock.h"
#include "base/system/parallel.h"
#include "tuner/cli/options/pick_variants.h"
#include "tuner/cli/options/search_path.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/output/progress.h"
#include "tuner/cli/output/stop_signals.h"
#include "tuner/cli/output/variant_text.h"
#include "tuner/cli/verify/verify_print.h"

enum { SAMPLE = 60, SAMPLE_OF_ALL = 12 }; /* variants of a stencil; with --all, of each stencil in each element type */

struct tally {
  long passed, failed, not_run, launches;
  long left_out, not_comparable; /* variants of not_run: rules exclude them on every grid; there is no reference */
  double start_ms;
  bool was_stopped; /* stopped before all variants had a result */
};

/* One stencil in one element type. */
struct report {
  const struct problem *problem;
  bool json, only_failures, fails_fast;
  json_t *rows; /* rows of the JSON document */
  struct tally tally;
  struct progress *line;
};

static struct tally tally_sum(const struct tally *a, const struct tally *b) {
  return (struct tally){.passed = a->passed + b->passed,
                        .failed = a->failed + b->failed,
                        .not_run = a->not_run + b->not_run,
                        .left_out = a->left_out + b->left_out,
                        .not_comparable = a->not_comparable + b->not_comparable,
                        .launches = a->launches + b->launches,
                        .start_ms = a->start_ms,
                        .was_stopped = a->was_stopped || b->was_stopped};
}

static bool row_count(void *context, const struct verify_row *row) {
  struct report *report = context;
  struct tally *tally = &report->tally;
  const bool has_passed = row->result.outcome == CHECK_PASSED;
  const bool was_not_run = row->result.outcome == CHECK_NOT_RUN && row->scene_count == 0;
  tally->passed += has_passed;
  tally->not_run += was_not_run;
  tally->left_out += row->is_left_out;
  tally->not_comparable += row->is_not_comparable;
  tally->failed += !has_passed && !was_not_run;
  tally->launches += row->run_count;
  progress_hide(report->line);
  if (report->json) json_add(&report->rows, verify_row_json(row));
  else if (!report->only_failures || !(has_passed || was_not_run)) verify_print_row(row);
  fflush(stdout); /* a file or a pipe receives each row at once, too */
  return !report->fails_fast || tally->failed == 0;
}

static void progress_tell(void *context, const struct verify_progress *progress) {
  const struct report *report = context;
  struct progress_parts parts = {.count = 0};
  progress_add(&parts, 3, "", "%s %s", report->problem->loaded.stencil->name, dtype_names[report->problem->dtype]);
  progress_add(&parts, 0, ": ", "%ld of %ld variants", progress->done, progress->count);
  if (progress->compiled < progress->sources)
    progress_add(&parts, 1, ", ", "compiling: %d of %d sources", progress->compiled, progress->sources);
  if (report->tally.failed > 0) progress_add(&parts, 2, ", ", "%ld failed", report->tally.failed);
  progress_show(report->line, &parts);
}

/* "60 variants of star7 in f32: 60 passed, ..." */
static void tally_print(const struct tally *tally, const char *name, const char *dtype) {
  const long variants = tally->passed + tally->failed + tally->not_run;
  const long without_points = tally->not_run - tally->left_out - tally->not_comparable;
  printf("%ld variant%s of %s%s%s: %ld passed, %ld failed, %ld left out by rules on every grid", variants,
         PLURAL(variants), name, dtype ? " in " : "", dtype ? dtype : "", tally->passed, tally->failed,
         tally->left_out);
  if (tally->not_comparable > 0) printf(", %ld with no reference to compare with", tally->not_comparable);
  if (without_points > 0) printf(", %ld without a point to compute on any grid", without_points);
  printf("\n");
}

static void speed_print(const struct tally *tally) {
  const double time_s = (clock_ms() - tally->start_ms) * 1e-3;
  const long variants = tally->passed + tally->failed + tally->not_run;
  fprintf(
      stderr,
      "%ld launch%s in %.1f s, %.0f variants a minute; a unit is one rounding of the sum of the sizes of all terms at a "
      "point\n",
      tally->launches, tally->launches == 1 ? "" : "es", time_s, 60 * (double)variants / (time_s > 0 ? time_s : 1));
}

static void tally_put(const struct tally *tally, json_t **json) {
  json_put(json, "passed", json_integer(tally->passed));
  json_put(json, "failed", json_integer(tally->failed));
  json_put(json, "not_run", json_integer(tally->not_run));
  json_put(json, "left_out", json_integer(tally->left_out));
  json_put(json, "not_comparable", json_integer(tally->not_comparable));
  json_put(json, "launches", json_integer(tally->launches));
  json_put(json, "time_s", number_json((clock_ms() - tally->start_ms) * 1e-3));
  json_put(json, "stopped", json_boolean(tally->was_stopped));
}

static halotune_status variants_verify(const struct invocation *invocation, struct report *report,
                                       const struct picked *picked) {
  const struct problem *problem = report->problem;
  long seed, threads;
  halotune_status status = option_whole(invocation, "seed", 0, 1L << 62, 1, &seed);
  if (status == HALOTUNE_OK) status = option_whole(invocation, "workers", 1, 256, 0, &threads);
  if (status != HALOTUNE_OK) return status;
  struct scene_sets scenes = {.request = {.stencil = problem->loaded.stencil,
                                          .analysis = problem->loaded.analysis,
                                          .dtype = problem->dtype,
                                          .grid = option_given(invocation, "grid") ? &problem->grid : NULL,
                                          .seed = (uint64_t)seed,
                                          .threads = (int)threads,
                                          .ending = {.flag = stop_flag()}}};
  struct verify_request request = {
      .stencil = problem->loaded.stencil,
      .analysis = problem->loaded.analysis,
      .scenes = &scenes,
      .dtype = problem->dtype,
      .limits = problem->limits,
      .options = {.sanitize = option_given(invocation, "sanitize"), .workers = (int)threads},
      .threads = (int)threads,
      .group = report->fails_fast ? parallel_threads((int)threads) : 0,
      .reproducible = problem->reproducible,
      .progress = progress_tell};
  status = emulated_verify(&request, picked->variants, picked->count, row_count, report);
  progress_hide(report->line);
  const struct tally *tally = &report->tally;
  report->tally.was_stopped = *stop_flag() && tally->passed + tally->failed + tally->not_run < picked->count;
  scene_sets_free(&scenes);
  return status;
}

/* Verify the variants of one problem. Rows and counts are printed, or put into *document.
 *   bad_templates  becomes true where a template could not be read */
static halotune_status problem_verify(const struct invocation *invocation, const struct problem *problem, long sample,
                                      json_t **document, struct report *report, bool *bad_templates) {
  struct picked picked;
  halotune_status status = pick_variants(invocation, problem, sample, &picked);
  if (status != HALOTUNE_OK) return status;
  *bad_templates = *bad_templates || picked.templates.code != HALOTUNE_EXIT_SUCCESS;
  if (report->json) report->rows = json_array();
  status = variants_verify(invocation, report, &picked);
  picked_free(&picked);
  if (status == HALOTUNE_OK && report->json) {
    json_put(document, "stencil", text_json(problem->loaded.stencil->name));
    json_put(document, "dtype", text_json(dtype_names[problem->dtype]));
    json_put(document, "variants", json_incref(report->rows));
    tally_put(&report->tally, document);
  } else if (status == HALOTUNE_OK) {
    tally_print(&report->tally, problem->loaded.stencil->name, dtype_names[problem->dtype]);
  }
  json_decref(report->rows);
  return status;
}

/* A run without a variant is a failure, because it proves nothing. A stopped run is a failure, because it did not
 * prove everything that the user asked for. */
static enum exit_code exit_code_for(const struct tally *tally, bool bad_templates) {
  if (tally->was_stopped)
    fprintf(stderr, "halotune: stopped; these are the results of the variants that were done before\n");
  if (tally->failed > 0 || tally->passed == 0 || tally->was_stopped) return HALOTUNE_EXIT_FAILURE;
  return bad_templates ? HALOTUNE_EXIT_BAD_INPUT : HALOTUNE_EXIT_SUCCESS;
}

/* Tell how variants run that need a larger grid. */
static void tell_left_out(const struct invocation *invocation, const struct tally *tally) {
  if (tally->left_out == 0 || option_given(invocation, "grid")) return;
  fprintf(stderr,
          "halotune: rules left out %ld variant%s on these small grids: %s--grid NX,NY,NZ runs them on a larger one\n",
          tally->left_out, PLURAL(tally->left_out), option_given(invocation, "all") ? "for one stencil, " : "");
}

static enum exit_code verify_one(const struct invocation *invocation) {
  struct problem problem;
  struct progress line;
  bool bad_templates = false;
  halotune_status status = problem_open(invocation, &problem);
  if (status != HALOTUNE_OK) return report_file_failure(status);
  problem.most_steps = LAUNCH_MOST_STEPS;
  struct report report = {.problem = &problem,
                          .json = option_given(invocation, "json"),
                          .fails_fast = option_given(invocation, "fail-fast"),
                          .tally = {.start_ms = clock_ms()},
                          .line = &line};
  json_t *document = report.json ? json_object() : NULL;
  progress_open(&line);
  status = problem_verify(invocation, &problem, SAMPLE, &document, &report, &bad_templates);
  if (status == HALOTUNE_OK && report.json) status = print_json(json_incref(document));
  else if (status == HALOTUNE_OK) speed_print(&report.tally);
  if (status == HALOTUNE_OK) tell_left_out(invocation, &report.tally);
  json_decref(document);
  problem_free(&problem);
  return status == HALOTUNE_OK ? exit_code_for(&report.tally, bad_templates) : report_failure(status);
}

/* The results of --all so far. */
struct rounds {
  const struct invocation *invocation;
  struct tally tally;
  json_t *list; /* a document for each stencil and element type; NULL: as text */
  bool bad_templates, fails_fast;
  struct progress line;
};

/* Verify one stencil in one element type. */
static halotune_status round_verify(struct rounds *rounds, char *path, enum dtype dtype) {
  struct invocation inner = *rounds->invocation;
  struct problem problem;
  inner.arguments = &path;
  inner.argument_count = 1;
  option_put(&inner, "dtype", dtype_names[dtype]);
  halotune_status status = problem_open(&inner, &problem);
  if (status != HALOTUNE_OK) return status;
  problem.most_steps = LAUNCH_MOST_STEPS;
  struct report report = {.problem = &problem,
                          .json = rounds->list != NULL,
                          .only_failures = true,
                          .fails_fast = rounds->fails_fast,
                          .tally = {.start_ms = clock_ms()},
                          .line = &rounds->line};
  json_t *document = report.json ? json_object() : NULL;
  status = problem_verify(&inner, &problem, SAMPLE_OF_ALL, &document, &report, &rounds->bad_templates);
  if (status == HALOTUNE_OK && report.json) json_add(&rounds->list, json_incref(document));
  rounds->tally = tally_sum(&rounds->tally, &report.tally);
  json_decref(document);
  problem_free(&problem);
  return status;
}

static halotune_status rounds_print(const struct rounds *rounds) {
  if (!rounds->list) {
    tally_print(&rounds->tally, "all stencils", NULL);
    speed_print(&rounds->tally);
    return HALOTUNE_OK;
  }
  json_t *document = json_object();
  json_put(&document, "stencils", json_incref(rounds->list));
  tally_put(&rounds->tally, &document);
  return print_json(document);
}

static enum exit_code verify_all(const struct invocation *invocation) {
  struct rounds rounds = {
      .invocation = invocation, .fails_fast = option_given(invocation, "fail-fast"), .tally = {.start_ms = clock_ms()}};
  char **paths = NULL;
  int count = 0;
  bool named[DTYPE_COUNT], any = false;
  halotune_status status = option_dtypes(invocation, true, named);
  if (status == HALOTUNE_OK) status = search_all(&search_asymmetric, NULL, &paths, &count);
  if (status == HALOTUNE_OK && count == 0)
    status = fail(HALOTUNE_NOT_FOUND, "there is no folder kernels/asymmetric here or in the installation");
  if (option_given(invocation, "json")) rounds.list = json_array();
  progress_open(&rounds.line);
  for (int i = 0; i < count * DTYPE_COUNT && status == HALOTUNE_OK; i++) {
    if (*stop_flag()) {
      rounds.tally.was_stopped = true;
      break;
    }
    if (!named[i % DTYPE_COUNT] || (rounds.fails_fast && rounds.tally.failed > 0)) continue;
    status = round_verify(&rounds, paths[i / DTYPE_COUNT], (enum dtype)(i % DTYPE_COUNT));
    any = any || status == HALOTUNE_OK;
    if (status == HALOTUNE_ARGUMENT) status = HALOTUNE_OK; /* no template has a variant of it */
  }
  search_free(paths, count);
  if (status == HALOTUNE_OK && !any && !rounds.tally.was_stopped)
    status = HALOTUNE_ARGUMENT; /* the last stencil's failure tells why */
  if (status == HALOTUNE_OK) status = rounds_print(&rounds);
  if (status == HALOTUNE_OK) tell_left_out(invocation, &rounds.tally);
  json_decref(rounds.list);
  return status == HALOTUNE_OK ? exit_code_for(&rounds.tally, rounds.bad_templates) : report_file_failure(status);
}

static enum exit_code verify_run(const struct invocation *invocation) {
  static const char *const backends[] = {"host"};
  const bool all = option_given(invocation, "all");
  int backend;
  halotune_status status = option_word(invocation, "backend", backends, COUNT(backends), 0, &backend);
  if (status == HALOTUNE_OK && all == (invocation->argument_count == 1))
    status = fail(HALOTUNE_ARGUMENT, "verify takes a stencil or --all");
  if (status == HALOTUNE_OK && all && option_given(invocation, "grid"))
    status = fail(HALOTUNE_ARGUMENT,
                  "--grid cannot be the same for all stencils of --all; name one of them in place of --all");
  if (status != HALOTUNE_OK) return report_failure(status);
  stop_signals_catch();
  return all ? verify_all(invocation) : verify_one(invocation);
}

static const struct option_row options[] = {
    {"all", NULL, "use each stencil in kernels/asymmetric, with 12 variants by default"},
    {"backend", "host", "where variants run; host, the CPU, is the default"},
    TEMPLATE_OPTIONS,
    PICK_OPTIONS("60"),
    PROBLEM_OPTIONS_GRID("by default several small grids that find mistakes"),
    {"sanitize", NULL, "build kernels with AddressSanitizer and UndefinedBehaviorSanitizer"},
    {"workers", "N", "processes and threads; one for each CPU by default"},
    {"fail-fast", NULL, "end with the first variant that fails"},
    LONG_OPTION,
    {"json", NULL, "print a JSON document"},
    {0},
};

const struct command command_verify = {
    "verify", "[STENCIL]", 0, 1, "run variants on the CPU, and compare their results with the reference",
    options,  verify_run,
};
