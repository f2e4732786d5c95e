/* bench.c: `halotune bench STENCIL`: checks on this GPU what the database says. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stencil/file/grid_text.h"
#include "stencil/template/template_read.h"
#include "tuner/cli/bench/bench_rounds.h"
#include "tuner/cli/options/gpu_options.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/options/search_path.h"
#include "tuner/cli/options/templates.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/output/terminal.h"

/* The state of a run. */
struct bench {
  const struct invocation *invocation;
  struct compiler *compiler;
  struct backend_handle backend;
  struct query query;
  bool has_query;
  struct template *plain;
  double tolerance, limit_s;
  struct bench_result result;
};

/* The ways in which this GPU contradicts the database. */
enum falsehood { NOTHING_FALSE, FALSE_RESULT, FALSE_TIME, FALSE_ORDER, UNDECIDED };
static const char *const falsehood_names[] = {"true", "winner failed", "winner is slower", "plain kernel is faster",
                                              "not decided"};

static enum falsehood judge_rounds(const struct bench *b) {
  const struct bench_result *r = &b->result;
  if (r->verdicts[BENCH_WINNER].outcome != OUTCOME_MEASURED) return FALSE_RESULT;
  /* a GPU that lowers its clocks takes longer, whatever the winner is */
  if (r->times_ms[BENCH_WINNER].low > b->query.config.time_ms * (1 + b->tolerance))
    return r->is_throttled ? UNDECIDED : FALSE_TIME;
  if (r->ratios[BENCH_PLAIN].high < 1 - b->tolerance) return FALSE_ORDER;
  return NOTHING_FALSE;
}

static halotune_status options_read(struct bench *b) {
  halotune_status status = option_seconds(b->invocation, "time", 5, &b->limit_s);
  if (status == HALOTUNE_OK) status = option_tolerance(b->invocation, 0.05, &b->tolerance);
  return status;
}

/* Open compilers and GPU. They come first: both start processes, before the program has threads. */
static halotune_status machine_open(struct bench *b) {
  struct backend_cuda_options options;
  halotune_status status = gpu_options_read(b->invocation, &options);
  if (status == HALOTUNE_OK) status = compiler_open(&(struct compiler_options){.no_cache = false}, &b->compiler);
  options.compiler = b->compiler;
  return status == HALOTUNE_OK ? backend_cuda_open(&options, &b->backend) : status;
}

/* Ask the library for the winner on this model of GPU. */
static halotune_status winner_find(struct bench *b) {
  struct invocation inner = *b->invocation;
  option_put(&inner, "device", b->backend.facts.device.name);
  b->has_query = true;
  halotune_status status = query_open(&inner, &b->query);
  if (status != HALOTUNE_OK || b->query.config.match <= HALOTUNE_MATCH_STALE) return status;
  return fail(HALOTUNE_NOT_FOUND,
              "the databases have no winner of %s that was measured for this grid, type, mode and number of "
              "steps on an %s: run 'halotune tune %s'",
              b->query.config.stencil, b->backend.facts.device.name, b->invocation->arguments[0]);
}

/* Read the template of the plain kernel. If it is not found, there is none. */
static void plain_open(struct bench *b) {
  char *path = NULL;
  if (search_find(&search_templates, option_value(b->invocation, "template-dir"), "direct", &path) != HALOTUNE_OK ||
      template_open(path, true, &b->plain) != HALOTUNE_OK)
    b->plain = NULL;
  free(path);
}

static void add_summary(struct text *text, const struct summary *times_ms) {
  text_printf(text, "%.6g ms", times_ms->median);
  if (times_ms->count > 1) text_printf(text, " (95 %%: %.6g to %.6g)", times_ms->low, times_ms->high);
}

static void add_player(const struct bench *b, enum bench_player player, const char *label, struct text *text) {
  const struct bench_result *r = &b->result;
  const double change = r->times_ms[player].median / b->query.config.time_ms - 1;
  text_printf(text, "%-12s", label);
  if (r->verdicts[player].outcome != OUTCOME_MEASURED) {
    text_printf(text, "%s: %s\n", outcome_name(r->verdicts[player].outcome), r->verdicts[player].reason);
    return;
  }
  if (r->times_ms[player].count == 0) {
    text_printf(text, "not timed\n");
    return;
  }
  add_summary(text, &r->times_ms[player]);
  if (player == BENCH_WINNER)
    text_printf(text, ", %+.1f %% against the stored time\n", fabs(change) < 0.0005 ? 0.0 : 100 * change);
  else text_printf(text, ", %.3f times the winner's\n", r->ratios[player].median);
}

static void add_verdict(const struct bench *b, struct text *text) {
  const double change = b->result.times_ms[BENCH_WINNER].median / b->query.config.time_ms - 1;
  const enum falsehood falsehood = judge_rounds(b);
  text_printf(text, "verdict     ");
  switch (falsehood) {
  case NOTHING_FALSE:
    text_printf(text, "%strue here%s: right results, and at most %g %% slower than stored", ink(stdout, INK_WINNER),
                ink(stdout, INK_NONE), 100 * b->tolerance);
    if (change < -b->tolerance) text_printf(text, "; even faster: 'halotune tune --rematch' stores the new time");
    break;
  case FALSE_RESULT:
    text_printf(text, "%snot true here%s: the winner does not work", ink(stdout, INK_FAILURE), ink(stdout, INK_NONE));
    break;
  case FALSE_TIME:
    text_printf(text, "%snot true here%s: the winner is %.1f %% slower than stored, which is more than %g %%",
                ink(stdout, INK_FAILURE), ink(stdout, INK_NONE), 100 * change, 100 * b->tolerance);
    break;
  case FALSE_ORDER:
    text_printf(text, "%snot true here%s: the plain kernel is faster than the winner", ink(stdout, INK_FAILURE),
                ink(stdout, INK_NONE));
    break;
  case UNDECIDED:
    text_printf(text, "%snot decided%s: the winner is %.1f %% slower than stored, but the GPU lowered its clocks",
                ink(stdout, INK_WARNING), ink(stdout, INK_NONE), 100 * change);
    break;
  }
  text_printf(text, "\n");
}

static void print_text(const struct bench *b) {
  const halotune_config *c = &b->query.config;
  const struct grid grid = {{(long)c->grid[0], (long)c->grid[1], (long)c->grid[2]}};
  struct text text = {0};
  text_printf(&text, "%s %s ", c->stencil, dtype_names[c->dtype]);
  grid_text(&grid, b->query.question.parsed->stencil->dims, &text);
  text_printf(&text, " on %s, %d round%s\nstored      %.6g ms: %s of %.10s, driver %s, NVRTC %s%s\n",
              b->backend.facts.device.name, b->result.rounds, PLURAL(b->result.rounds), c->time_ms, c->template_name,
              c->date, *c->driver ? c->driver : "none", c->nvrtc,
              c->is_stale ? ", by a template that has changed" : "");
  add_player(b, BENCH_WINNER, "winner", &text);
  add_player(b, BENCH_PLAIN, "plain", &text);
  add_player(b, BENCH_COPY, "copy", &text);
  if (b->result.is_throttled) text_printf(&text, "slowdown    the GPU lowered its clocks in these rounds\n");
  add_verdict(b, &text);
  if (text_ok(&text)) fputs(text_string(&text), stdout);
  text_free(&text);
}

static json_t *player_json(const struct bench_result *result, enum bench_player player) {
  const struct verdict *verdict = &result->verdicts[player];
  json_t *json = json_object();
  json_put(&json, "outcome", text_json(outcome_name(verdict->outcome)));
  json_put(&json, "reason", text_json(verdict->reason));
  json_put(&json, "time_ms", number_json(result->times_ms[player].median));
  json_put(&json, "low_ms", number_json(result->times_ms[player].low));
  json_put(&json, "high_ms", number_json(result->times_ms[player].high));
  json_put(&json, "ratio", number_json(result->ratios[player].median));
  return json;
}

static halotune_status print_document(const struct bench *b) {
  json_t *json = json_object();
  json_put(&json, "stencil", text_json(b->query.config.stencil));
  json_put(&json, "device", text_json(b->backend.facts.device.name));
  json_put(&json, "verdict", text_json(falsehood_names[judge_rounds(b)]));
  json_put(&json, "is_true",
           judge_rounds(b) == UNDECIDED ? json_null() : json_boolean(judge_rounds(b) == NOTHING_FALSE));
  json_put(&json, "stored_ms", number_json(b->query.config.time_ms));
  json_put(&json, "stored_date", text_json(b->query.config.date));
  json_put(&json, "tolerance", number_json(b->tolerance));
  json_put(&json, "code", b->result.code ? text_json(b->result.code) : json_null());
  json_put(&json, "rounds", json_integer(b->result.rounds));
  json_put(&json, "is_throttled", json_boolean(b->result.is_throttled));
  json_put(&json, "winner", player_json(&b->result, BENCH_WINNER));
  json_put(&json, "plain", player_json(&b->result, BENCH_PLAIN));
  json_put(&json, "copy", player_json(&b->result, BENCH_COPY));
  return print_json(json);
}

static enum exit_code bench_run(const struct invocation *invocation) {
  struct bench b = {.invocation = invocation};
  struct text warnings = {0};
  halotune_status status = options_read(&b);
  if (status == HALOTUNE_OK) status = machine_open(&b);
  if (status == HALOTUNE_OK) status = winner_find(&b);
  if (status == HALOTUNE_OK) {
    plain_open(&b);
    const struct bench_request request = {&b.backend, b.compiler, &b.query, b.plain, 1e3 * b.limit_s};
    status = bench_rounds(&request, &warnings, &b.result);
  }
  if (warnings.length > 0) fprintf(stderr, "halotune: %s", text_string(&warnings));
  if (status == HALOTUNE_OK && option_given(invocation, "json")) status = print_document(&b);
  else if (status == HALOTUNE_OK) print_text(&b);
  const enum falsehood falsehood = status == HALOTUNE_OK ? judge_rounds(&b) : NOTHING_FALSE;
  enum exit_code code = status != HALOTUNE_OK        ? report_failure(status)
                        : falsehood == UNDECIDED     ? HALOTUNE_EXIT_UNDECIDED
                        : falsehood != NOTHING_FALSE ? HALOTUNE_EXIT_FAILURE
                                                     : HALOTUNE_EXIT_SUCCESS;
  text_free(&warnings);
  template_free(b.plain);
  if (b.has_query) query_free(&b.query);
  backend_close(&b.backend);
  compiler_close(b.compiler);
  return code;
}

static const struct option_row options[] = {
    {"dtype", "TYPE", "f32 or f64; f32 by default, where the stencil has it"},
    {"grid", "NX,NY,NZ", "points along each axis; the stencil's first grid by default"},
    GPU_OPTIONS,
    {"launch", "MODE", "stream or graph; where both were measured, by default the one that you measured, then stream"},
    {"cache", "MODE", "steady or cold; steady by default, where both were measured"},
    {"steps", "N", "the most time steps that a launch may advance, or any; 1 by default"},
    {"reproducible", NULL, "the winner among variants that all give the same bits"},
    {"time", "TIME", "time for the rounds, 5s by default; eight rounds are taken in any case"},
    {"tolerance", "SHARE", "how much slower than stored the winner may be; 5% by default"},
    {"template-dir", "FOLDER", "folder in which the template of the plain kernel is looked for first"},
    {"db", "FILE", "the database; by default yours, then the one that was installed"},
    {"json", NULL, "print a JSON document"},
    {0},
};

const struct command command_bench = {
    .name = "bench",
    .arguments = "STENCIL",
    .least_arguments = 1,
    .most_arguments = 1,
    .what = "time the stored winner, the plain kernel and a copy here, to see whether the database is still right",
    .options = options,
    .run = bench_run,
};
