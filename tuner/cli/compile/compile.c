/* compile.c: `halotune compile STENCIL`: compiles variants and prints what each needs of a GPU. It uses no GPU. */
#include <stdio.h>
#include <stdlib.h>

#include "base/system/clock.h"
#include "gpu/workers/compiler.h"
#include "stencil/file/grid_text.h"
#include "tuner/cli/compile/compile_print.h"
#include "tuner/cli/options/pick_variants.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/output/progress.h"
#include "tuner/cli/output/variant_text.h"

enum { DEFAULT_SAMPLE = 100, DEFAULT_SM_COUNT = 132, MAX_WORKERS = 256 };

/* One variant while it is compiled. */
struct job {
  struct compile_row row;
  struct generated generated; /* kept until the row is printed */
  bool is_done;
};

struct session {
  const struct problem *problem;
  struct compiler *compiler;
  struct job *jobs; /* in the order of printing */
  long job_count, next, done, printed;
  long counts[COMPILE_ROW_OUTCOMES], cached;
  int sm_count;
  bool json;
  json_t *rows; /* rows of the JSON document */
  struct progress progress;
  double start_ms;
};

static struct compile_request request_of(const struct session *session, const struct job *job) {
  return (struct compile_request){
      .source = job->generated.source, .name = job->generated.launch.kernel, .arch = session->problem->arch};
}

static void finish_job(struct session *session, struct job *job) {
  generated_free(&job->generated);
  job->is_done = true;
  session->done++;
  session->counts[job->row.outcome]++;
  session->cached += job->row.is_cached;
}

/* Generate a variant and hand it to the compiler, which looks into the cache first. */
static halotune_status start_job(struct session *session, long number) {
  struct job *job = &session->jobs[number];
  struct variant_spec spec = problem_variant(session->problem, job->row.template, &job->row.configuration);
  halotune_status status = generate(&spec, &job->generated);
  if (status == HALOTUNE_ARGUMENT) {
    compile_row_fail(&job->row, COMPILE_ROW_LEFT_OUT, fail_text());
    finish_job(session, job);
    return HALOTUNE_OK;
  }
  if (status != HALOTUNE_OK) return status;
  struct compile_request request = request_of(session, job);
  return compiler_submit(session->compiler, (uint64_t)number, &request);
}

static enum compile_row_outcome row_outcome(enum compile_outcome outcome) {
  switch (outcome) {
  case COMPILE_CRASHED: return COMPILE_ROW_CRASHED;
  case COMPILE_TIMEOUT: return COMPILE_ROW_TIMEOUT;
  case COMPILE_OK: return COMPILE_ROW_OK;
  case COMPILE_FAILED: break;
  }
  return COMPILE_ROW_FAILED;
}

static halotune_status take_result(struct session *session, const struct compiler_result *result) {
  const struct compile_result *compile = &result->compile;
  struct job *job = &session->jobs[compile->id];
  halotune_status status = HALOTUNE_OK;
  job->row.is_cached = result->is_cached;
  if (compile->outcome == COMPILE_OK) {
    status = compile_row_fill(&job->row, session->problem, &job->generated, &compile->compiled, session->sm_count);
  } else {
    compile_row_fail(&job->row, row_outcome(compile->outcome), compile->compiled.log);
  }
  finish_job(session, job);
  return status;
}

/* Print the rows that are done. A row waits for the rows before it. */
static void print_ready(struct session *session) {
  for (; session->printed < session->job_count && session->jobs[session->printed].is_done; session->printed++) {
    struct compile_row *row = &session->jobs[session->printed].row;
    progress_hide(&session->progress);
    if (session->json) {
      json_add(&session->rows, compile_row_json(row));
    } else {
      if (session->printed == 0) compile_print_head();
      compile_print_row(row);
    }
  }
  struct progress_parts parts = {.count = 0};
  progress_add(&parts, 0, "", "%ld of %ld compiled", session->done, session->job_count);
  progress_add(&parts, 1, ", ", "%ld failed",
               session->done - session->counts[COMPILE_ROW_OK] - session->counts[COMPILE_ROW_LEFT_OUT]);
  progress_show(&session->progress, &parts);
}

static halotune_status compile_all(struct session *session) {
  halotune_status status = HALOTUNE_OK;
  while (session->done < session->job_count && status == HALOTUNE_OK) {
    if (session->next < session->job_count && compiler_has_room(session->compiler)) {
      status = start_job(session, session->next++);
    } else {
      struct compiler_result result;
      bool have = false;
      status = compiler_wait(session->compiler, -1, &result, &have);
      if (status == HALOTUNE_OK && have) {
        status = take_result(session, &result);
        compile_result_free(&result.compile);
      }
    }
    print_ready(session);
  }
  progress_hide(&session->progress);
  return status;
}

static long failed_count(const struct session *session) {
  return session->job_count - session->counts[COMPILE_ROW_OK] - session->counts[COMPILE_ROW_LEFT_OUT];
}

/* The number of variants that were compiled now, without cached ones and those that a rule excludes. */
static long compiled_count(const struct session *session) {
  return session->job_count - session->cached - session->counts[COMPILE_ROW_LEFT_OUT];
}

static void print_summary(const struct session *session, double time_s) {
  const struct problem *problem = session->problem;
  const struct compile_row *only = &session->jobs[0].row;
  if (session->job_count == 1 && (only->outcome == COMPILE_ROW_OK || only->outcome == COMPILE_ROW_NO_FIT)) {
    struct text text = {0};
    occupancy_explain(&problem->arch_facts->limits, &only->needs, &text);
    printf("%s\n", text_string(&text));
    text_free(&text);
  }
  printf("%ld variant%s of %s in %s for %s:", session->job_count, PLURAL(session->job_count),
         problem->loaded.stencil->name, dtype_names[problem->dtype], problem->arch);
  const char *separator = " ";
  for (int i = 0; i < COMPILE_ROW_OUTCOMES; i++) {
    if (session->counts[i] == 0 && i != COMPILE_ROW_OK) continue;
    printf("%s%ld %s", separator, session->counts[i], compile_row_names[i]);
    separator = ", ";
  }
  printf("\n");
  fprintf(stderr, "%ld from the cache, %ld compiled in %.1f s, %.1f a second\n", session->cached,
          compiled_count(session), time_s, (double)compiled_count(session) / (time_s > 0 ? time_s : 1));
}

static halotune_status print_document(struct session *session, double time_s) {
  const struct problem *problem = session->problem;
  json_t *json = json_object(), *counts = json_object();
  for (int i = 0; i < COMPILE_ROW_OUTCOMES; i++)
    json_put(&counts, compile_row_names[i], json_integer(session->counts[i]));
  json_put(&json, "stencil", text_json(problem->loaded.stencil->name));
  json_put(&json, "dtype", text_json(dtype_names[problem->dtype]));
  json_put(&json, "arch", text_json(problem->arch));
  json_put(&json, "grid", grid_json(&problem->grid, MAX_DIMS));
  json_put(&json, "sm_count", json_integer(session->sm_count));
  json_put(&json, "variants", session->rows);
  json_put(&json, "outcomes", counts);
  json_put(&json, "cached", json_integer(session->cached));
  json_put(&json, "compiled", json_integer(compiled_count(session)));
  json_put(&json, "time_s", number_json(time_s));
  json_put(&json, "compiles_per_s", number_json((double)compiled_count(session) / time_s));
  session->rows = NULL;
  return print_json(json);
}

static halotune_status results_print(struct session *session) {
  double time_s = (clock_ms() - session->start_ms) * 1e-3;
  if (session->json) return print_document(session, time_s);
  print_summary(session, time_s);
  return HALOTUNE_OK;
}

static halotune_status compile_picked(struct session *session, const struct picked *picked) {
  session->jobs = calloc((size_t)picked->count + 1, sizeof *session->jobs);
  if (!session->jobs) return fail_memory();
  session->job_count = picked->count;
  for (long i = 0; i < picked->count; i++) {
    session->jobs[i].row.template = picked->variants[i].template;
    session->jobs[i].row.configuration = picked->variants[i].configuration;
  }
  halotune_status status = compile_all(session);
  if (status == HALOTUNE_OK) status = results_print(session);
  for (long i = 0; i < session->job_count; i++) {
    generated_free(&session->jobs[i].generated);
    compile_row_free(&session->jobs[i].row);
  }
  return status;
}

static void cache_warn(const char *text) { fprintf(stderr, "halotune: the cache of cubins: %s\n", text); }

static enum exit_code compile_run(const struct invocation *invocation) {
  struct problem problem;
  struct picked picked;
  enum exit_code code = HALOTUNE_EXIT_SUCCESS;
  long workers, sm_count;
  halotune_status status = option_whole(invocation, "workers", 1, MAX_WORKERS, 0, &workers);
  if (status == HALOTUNE_OK) status = option_whole(invocation, "sms", 1, 1 << 16, DEFAULT_SM_COUNT, &sm_count);
  if (status != HALOTUNE_OK) return report_failure(status);
  if ((status = problem_open(invocation, &problem)) != HALOTUNE_OK) return report_file_failure(status);
  problem.most_steps = LAUNCH_MOST_STEPS;
  struct session session = {.problem = &problem, .sm_count = (int)sm_count, .start_ms = clock_ms()};
  struct compiler_options options = {
      .pool = {.workers = (int)workers}, .no_cache = option_given(invocation, "no-cache"), .warn = cache_warn};
  if ((status = pick_variants(invocation, &problem, DEFAULT_SAMPLE, &picked)) != HALOTUNE_OK) goto done;
  session.json = option_given(invocation, "json");
  if (session.json) session.rows = json_array();
  progress_open(&session.progress);
  session.start_ms = clock_ms();
  status = compiler_open(&options, &session.compiler);
  if (status == HALOTUNE_OK) status = compile_picked(&session, &picked);
  code = picked.templates.code;
  compiler_close(session.compiler);
  json_decref(session.rows);
  picked_free(&picked);
done:
  problem_free(&problem);
  if (status != HALOTUNE_OK) code = report_failure(status);
  else if (failed_count(&session) > 0 || session.counts[COMPILE_ROW_OK] == 0) code = HALOTUNE_EXIT_FAILURE;
  free(session.jobs);
  return code;
}

static const struct option_row options[] = {
    TEMPLATE_OPTIONS,
    PICK_OPTIONS("100"),
    PROBLEM_OPTIONS,
    {"sms", "N",
     "number of multiprocessors of the GPU, from which waves are computed; 132 by default, as on an H100 or H200"},
    {"workers", "N", "number of compilers that run at a time; one for each CPU by default"},
    {"no-cache", NULL, "compile every variant, and neither read nor write the cache of cubins"},
    LONG_OPTION,
    {"json", NULL, "print a JSON document"},
    {0},
};

const struct command command_compile = {
    "compile", "STENCIL", 1, 1, "compile variants and print registers, occupancy and accesses", options, compile_run,
};
