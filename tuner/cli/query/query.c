/* query.c: `halotune query STENCIL`: what the library would answer, as text, JSON, CUDA source or a C header. */
#include "tuner/cli/query/query_answer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/replace.h"
#include "db/store/launch_text.h"
#include "tuner/cli/options/problem.h"
#include "tuner/cli/options/search_path.h"
#include "tuner/cli/output/output.h"

/* The name under which the databases have the stencil: a file's is that of its meaning. */
static halotune_status find_stencil(const struct invocation *invocation, struct query *query, const char **out) {
  *out = invocation->arguments[0];
  if (!search_is_path(*out)) return HALOTUNE_OK;
  halotune_status status = loaded_open(*out, &query->file);
  if (status != HALOTUNE_OK) return status;
  hash_hex(query->file.analysis->hash, query->stencil_hash);
  if (names_find(&query->ctx->catalog.stencil_names, query->stencil_hash) < 0) {
    return fail(HALOTUNE_NOT_FOUND, "no database knows the stencil in %s: run 'halotune tune %s'", *out, *out);
  }
  *out = query->stencil_hash;
  return HALOTUNE_OK;
}

/* Of a file its own defaults, for stencils that differ in these alone have one hash, and so one winner. It names the same
 * coefficients in the same order. */
static halotune_status find_coefficients(struct query *query) {
  const struct stencil *stencil = query->file.stencil ? query->file.stencil : query->question.parsed->stencil;
  query->coefficients = calloc((size_t)stencil->coefficient_count + 1, sizeof *query->coefficients);
  return query->coefficients ? stencil_coefficients(stencil, &query->question.domain.grid, query->coefficients)
                             : fail_memory();
}

static halotune_status read_problem(const struct invocation *invocation, halotune_ctx *ctx, const char *name,
                                    halotune_problem *out) {
  const struct parsed_stencil *parsed;
  struct grid grid;
  enum dtype dtype;
  int launch = -1, cache = -1;
  int at = names_find(&ctx->catalog.stencil_names, name);
  *out = (halotune_problem){.stencil = name};
  if (at < 0) {
    char *path;
    halotune_status found =
        search_find(&search_stencils, NULL, name, &path); /* a name that is misspelt cannot be tuned */
    struct nearest nearest = context_nearest_stencil(ctx, name);
    if (found == HALOTUNE_NOT_FOUND && *nearest.question)
      return fail(found, "no database knows the stencil '%s', nor is there a file of it%s", name, nearest.question);
    if (found != HALOTUNE_OK) return found;
    free(path);
    return fail(HALOTUNE_NOT_FOUND, "no database knows the stencil '%s': run 'halotune tune %s'", name, name);
  }
  const char *device = option_value(invocation, "device");
  out->device = device ? device : "0";
  halotune_status status = context_stencil(ctx, at, &parsed);
  if (status == HALOTUNE_OK) status = option_grid(invocation, parsed->stencil, &grid);
  if (status == HALOTUNE_OK) status = option_dtype(invocation, parsed->stencil, &dtype);
  if (status == HALOTUNE_OK)
    status = option_word(invocation, "launch", launch_mode_names, LAUNCH_MODE_COUNT, -1, &launch);
  if (status == HALOTUNE_OK) status = option_word(invocation, "cache", cache_mode_names, CACHE_MODE_COUNT, -1, &cache);
  if (status != HALOTUNE_OK) return status;
  for (int axis = 0; axis < MAX_DIMS; axis++) out->grid[axis] = grid.n[axis];
  out->dtype = (halotune_dtype)dtype;
  out->launch = (halotune_launch_mode)(launch + 1); /* 0 is any */
  out->cache = (halotune_cache_mode)(cache + 1);
  out->reproducible = option_given(invocation, "reproducible");
  return HALOTUNE_OK;
}

/* A lookup knows a stencil's name; one in a file is tuned by its path. */
static halotune_status name_file(const struct query *query, const char *path, halotune_status status) {
  struct text named = {0};
  text_printf(&named, "'halotune tune %s'", query->file.stencil->name);
  const char *detail = fail_text(), *command = strstr(detail, text_string(&named));
  if (command) {
    const int before = (int)(command - detail);
    (void)fail(status, "%.*s'halotune tune %s'%s", before, detail, path, command + named.length);
  }
  text_free(&named);
  return status;
}

/* Without a GPU a device has to be named; say which there are. */
static halotune_status explain_no_gpu(const halotune_ctx *ctx) {
  struct text names = {0};
  char detail[FAIL_TEXT_BYTES / 2];
  snprintf(detail, sizeof detail, "%s", fail_text());
  context_device_names(ctx, &names);
  halotune_status status = fail(HALOTUNE_NO_GPU, "%s; or name one with --device, such as %s%s", detail,
                                text_string(&names), names.length ? "" : "sm_90");
  text_free(&names);
  return status;
}

/* halotune_open passes over a file that is not there: before the first tune there is none. One that is named may be misspelt. */
static void tell_missing_database(void) {
  const char *named = getenv("HALOTUNE_DB");
  if (!named || !*named || access(named, F_OK) == 0) return;
  fprintf(stderr, "halotune: $HALOTUNE_DB names %s: %s; it is passed over\n", named, strerror(errno));
}

static halotune_status query_open(const struct invocation *invocation, struct query *out) {
  const char *path = option_value(invocation, "db"), *name;
  struct lookup_key key;
  *out = (struct query){.ctx = NULL};
  if (!path) tell_missing_database();
  halotune_status status = halotune_open(path ? &path : NULL, path ? 1 : 0, &out->ctx);
  if (status == HALOTUNE_OK) status = find_stencil(invocation, out, &name);
  if (status == HALOTUNE_OK) status = read_problem(invocation, out->ctx, name, &out->problem);
  if (status == HALOTUNE_OK) {
    status = halotune_lookup(out->ctx, &out->problem, &out->config);
    out->is_untuned = status == HALOTUNE_OK ? out->config.match > HALOTUNE_MATCH_STALE : status == HALOTUNE_NOT_FOUND;
    if (status == HALOTUNE_NO_GPU && !option_value(invocation, "device")) status = explain_no_gpu(out->ctx);
    if (status == HALOTUNE_NOT_FOUND && out->file.stencil) status = name_file(out, invocation->arguments[0], status);
  }
  if (status == HALOTUNE_OK) status = context_device(out->ctx, out->problem.device, &out->room, &out->device);
  if (status == HALOTUNE_OK) status = config_read(out->ctx, &out->config, &key, &out->answer);
  if (status == HALOTUNE_OK) {
    key.model = out->device->model;
    status = question_begin(out->ctx, &key, out->device, &out->question);
  }
  if (status == HALOTUNE_OK) status = find_coefficients(out);
  return status;
}

void query_free(struct query *query) {
  free(query->coefficients);
  loaded_free(&query->file);
  halotune_close(query->ctx);
}

static void add_age(double age_s, struct text *text) {
  static const struct {
    double seconds;
    const char *unit;
  } units[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}};
  for (size_t i = 0; i < 3; i++) {
    double count = floor(age_s / units[i].seconds);
    if (count < 1) continue;
    text_printf(text, ", %.0f %s%s ago", count, units[i].unit, PLURAL(count));
    return;
  }
}

#define AS_MEANING(name, number, text, meaning) [HALOTUNE_MATCH_##name] = (meaning),
static const char *const meanings[] = {HALOTUNE_MATCH_LIST(AS_MEANING)};

/* The same of an emulated device, on which nothing is measured that concerns a GPU. */
static const char *const emulated_meanings[] = {
    [HALOTUNE_MATCH_EXACT] = "for this problem",
    [HALOTUNE_MATCH_STALE] = "for this problem, but the template has changed since",
    [HALOTUNE_MATCH_NEAR_GRID] = "for another grid or mode",
    [HALOTUNE_MATCH_SAME_ARCH] = "on another device of this architecture",
    [HALOTUNE_MATCH_DEFAULT] = "a template's defaults",
};

void query_add_grid(const long long grid[MAX_DIMS], int dims, struct text *text) {
  for (int axis = 0; axis < dims; axis++) text_printf(text, "%s%lld", axis ? "x" : "", grid[axis]);
}

/* Bytes of the fields on the grid that was measured: unknown ones, which a step reads and writes, or known ones, which it
 * only reads. */
static double unknown_bytes(const struct query *query) {
  const long long *n = query->config.measured_grid;
  return (double)query->question.parsed->analysis->unknown_bytes_per_point[query->config.dtype] *
         (double)(n[0] * n[1] * n[2]);
}
static double known_bytes(const struct query *query) {
  const long long *n = query->config.measured_grid;
  return (double)query->question.parsed->analysis->known_bytes_per_point[query->config.dtype] *
         (double)(n[0] * n[1] * n[2]);
}

static void add_time(const struct query *query, bool is_emulation, struct text *text) {
  const double mega = 1e6;
  const halotune_config *c = &query->config;
  text_printf(text, "time        %.6g ms%s (95 %%: ", c->time_ms, is_emulation ? " on the CPU" : "");
  if (isfinite(c->low_ms)) text_printf(text, "%.6g to %.6g)\n", c->low_ms, c->high_ms);
  else text_printf(text, "unknown)\n");
  if (is_emulation) return;
  text_printf(text, "bandwidth   %.0f GB/s", c->bandwidth_gbs);
  if (unknown_bytes(query) > 0) {
    text_printf(text, " = (2 x %.5g + %.5g MB) / time", unknown_bytes(query) / mega, known_bytes(query) / mega);
  }
  if (isfinite(c->roof_share)) text_printf(text, ", %.3f of the fastest copy of the same bytes", c->roof_share);
  text_printf(text, "\n");
}

static halotune_status print_text(const struct query *query) {
  const halotune_config *c = &query->config;
  const bool is_emulation = query->device->is_emulation;
  struct text text = {0};
  halotune_parameter parameter;
  char second_grid[QUERY_GRID_BYTES];
  int dims = query->question.parsed->stencil->dims;
  text_printf(&text, "%s %s ", c->stencil, dtype_names[c->dtype]);
  query_add_grid(c->grid, dims, &text);
  text_printf(&text, "%s on %s\nmatch       %s: %s\n", c->reproducible ? ", reproducible," : "", query->device->name,
              halotune_match_name(c->match), (is_emulation ? emulated_meanings : meanings)[c->match]);
  if (is_emulation) {
    text_printf(&text, "emulation   times taken on the CPU rank nothing, and tell nothing of a GPU\n");
  }
  if (c->is_stale && c->match != HALOTUNE_MATCH_STALE)
    text_printf(&text, "            by a template that has changed since\n");
  text_printf(&text, "template    %s\nparameters ", c->template_name);
  for (int i = 0; i < c->parameter_count && halotune_config_parameter_at(c, i, &parameter) == HALOTUNE_OK; i++) {
    text_printf(&text, " %s=%s", parameter.name, parameter.value);
  }
  text_printf(&text, "\n");
  if (c->match != HALOTUNE_MATCH_DEFAULT) {
    add_time(query, is_emulation, &text);
    text_printf(&text, "measured    %s", c->date);
    add_age(c->age_s, &text);
    text_printf(&text, ", on %s, ", c->measured_on);
    query_add_grid(c->measured_grid, dims, &text);
    text_printf(&text, ", driver %s, NVRTC %s\n", *c->driver ? c->driver : "none", c->nvrtc);
    if (query_second_grid(query, second_grid))
      text_printf(&text, "second grid %s\n", *second_grid ? second_grid : "none");
  }
  if (c->match > HALOTUNE_MATCH_STALE && isfinite(c->expected_ms) && !is_emulation)
    text_printf(&text, "expected    %.6g ms\n", c->expected_ms);
  bool ok = text_ok(&text);
  fputs(text_string(&text), stdout);
  text_free(&text);
  return ok ? HALOTUNE_OK : fail_memory();
}

static json_t *grid_json(const long long grid[MAX_DIMS]) {
  json_t *list = json_array();
  for (int axis = 0; axis < MAX_DIMS; axis++) json_add(&list, json_integer(grid[axis]));
  return list;
}

static halotune_status print_query_json(const struct query *query) {
  char second_grid[QUERY_GRID_BYTES];
  const halotune_config *c = &query->config;
  json_t *json = json_object();
  json_put(&json, "stencil", text_json(c->stencil));
  json_put(&json, "stencil_hash", text_json(c->stencil_hash));
  json_put(&json, "device", text_json(query->device->name));
  json_put(&json, "emulated", json_boolean(query->device->is_emulation));
  json_put(&json, "dtype", text_json(dtype_names[c->dtype]));
  json_put(&json, "grid", grid_json(c->grid));
  json_put(&json, "reproducible", json_boolean(c->reproducible));
  json_put(&json, "match", text_json(halotune_match_name(c->match)));
  json_put(&json, "is_stale", json_boolean(c->is_stale));
  json_put(&json, "template", text_json(c->template_name));
  json_put(&json, "parameters", json_loads(c->parameters, 0, NULL));
  json_put(&json, "time_ms", number_json(c->time_ms));
  json_put(&json, "low_ms", number_json(c->low_ms));
  json_put(&json, "high_ms", number_json(c->high_ms));
  json_put(&json, "expected_ms", number_json(c->expected_ms));
  json_put(&json, "bandwidth_gbs", number_json(c->bandwidth_gbs));
  json_put(&json, "unknown_bytes",
           unknown_bytes(query) > 0 ? json_integer((json_int_t)unknown_bytes(query)) : json_null());
  json_put(&json, "known_bytes", unknown_bytes(query) > 0 ? json_integer((json_int_t)known_bytes(query)) : json_null());
  json_put(&json, "roof_share", number_json(c->roof_share));
  json_put(&json, "measured_on", text_json(c->measured_on));
  json_put(&json, "measured_grid", grid_json(c->measured_grid));
  json_put(&json, "second_grid",
           query_second_grid(query, second_grid) && *second_grid ? text_json(second_grid) : json_null());
  json_put(&json, "date", text_json(c->date));
  json_put(&json, "age_s", number_json(c->age_s));
  json_put(&json, "driver", text_json(c->driver));
  json_put(&json, "nvrtc", text_json(c->nvrtc));
  return print_json(json);
}

static halotune_status put(const struct invocation *invocation, const char *text) {
  const char *path = option_value(invocation, "output");
  if (path) return file_replace_for_all(path, text, strlen(text));
  fputs(text, stdout); /* main tells whether it arrived */
  return HALOTUNE_OK;
}

static halotune_status put_source(const struct invocation *invocation, const struct query *query) {
  struct built built;
  halotune_status status = kernel_source(&query->question, &query->answer, query->coefficients, &built);
  if (status != HALOTUNE_OK) return status;
  status = put(invocation, built.source);
  built_free(&built);
  return status;
}

/* The winner, or where it reads through textures the best variant that does not. */
static halotune_status put_header(const struct invocation *invocation, const struct query *query) {
  struct answer answer = query->answer;
  struct question question = query->question;
  struct built built = {.steps = 1};
  struct text text = {0}, parameters = {0};
  const struct template *template;
  bool fits = false;
  int alignment = 1;
  question.no_textures = true;
  halotune_status status = context_template(query->ctx, answer.template_at, &template);
  if (status == HALOTUNE_OK) status = choose_check(&question, template, &answer.configuration, &fits);
  if (status == HALOTUNE_OK && !fits) {
    fprintf(stderr, "halotune: the winner needs texture objects; the header has the best variant that needs none\n");
    status = choose(&question, &answer);
    if (status == HALOTUNE_OK) status = context_template(query->ctx, answer.template_at, &template);
  }
  if (status == HALOTUNE_OK) status = kernel_build(&question, &answer, query->coefficients, &built);
  if (status == HALOTUNE_OK) {
    status = variant_alignment(&question, template, &answer.configuration, &alignment);
  }
  if (status == HALOTUNE_OK) {
    configuration_write(template, &answer.configuration, &parameters);
    struct query_choice chosen = {template->name, text_string(&parameters)};
    query_header(query, &built, fits ? NULL : &chosen, alignment, &text);
    status = text_ok(&text) ? put(invocation, text_string(&text)) : fail_memory();
  }
  text_free(&parameters);
  text_free(&text);
  built_free(&built);
  return status;
}

static enum exit_code run(const struct invocation *invocation) {
  static const char *const forms[] = {"json", "source", "header"};
  struct query query;
  int given = 0;
  for (int i = 0; i < 3; i++) given += option_value(invocation, forms[i]) != NULL;
  if (given > 1) return report_failure(fail(HALOTUNE_ARGUMENT, "query takes one of --json, --source and --header"));
  if (option_value(invocation, "output") && !option_value(invocation, "source") &&
      !option_value(invocation, "header")) {
    return report_failure(fail(HALOTUNE_ARGUMENT, "--output is for --source and --header"));
  }
  halotune_status status = query_open(invocation, &query);
  if (status == HALOTUNE_OK) {
    if (option_value(invocation, "json")) status = print_query_json(&query);
    else if (option_value(invocation, "source")) status = put_source(invocation, &query);
    else if (option_value(invocation, "header")) status = put_header(invocation, &query);
    else status = print_text(&query);
  }
  enum exit_code code = status == HALOTUNE_OK ? HALOTUNE_EXIT_SUCCESS : report_failure(status);
  if (query.is_untuned) query_tell_untrusted(&query);
  query_free(&query);
  return code;
}

static const struct option_row options[] = {
    {"dtype", "TYPE", "f32 or f64; the stencil's first by default"},
    {"grid", "NX,NY,NZ", "points along each axis; the stencil's first grid by default"},
    {"device", "NAME", "its number, name or uuid, or an architecture such as sm_90; GPU 0 by default"},
    {"launch", "MODE", "stream or graph; stream by default, where both were measured"},
    {"cache", "MODE", "steady or cold; steady by default, where both were measured"},
    {"reproducible", NULL, "only a variant whose results are those of every other such one, bit for bit"},
    {"db", "FILE", "the database; by default yours, then the one that was installed"},
    {"json", NULL, "print a JSON document"},
    {"source", NULL, "print the CUDA source"},
    {"header", NULL, "print a C header with the compiled kernel, and functions that load and launch it"},
    {"output", "FILE", "write source or header there; to stdout by default"},
    {0},
};

const struct command command_query = {
    "query", "STENCIL", 1, 1, "print the best known configuration, its source, or a header with its kernel",
    options, run,
};
