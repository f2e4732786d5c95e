/* query_print.c: prints the answer as lines of text and as JSON. */
#include "tuner/cli/query/query_print.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/number.h"
#include "base/text/utf8.h"
#include "stencil/file/grid_text.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/output/variant_text.h"

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

/* The meanings for an emulated device, whose measurements say nothing about a GPU. */
static const char *const emulated_meanings[] = {
    [HALOTUNE_MATCH_EXACT] = "for this problem",
    [HALOTUNE_MATCH_STALE] = "for this problem, but the template has changed since",
    [HALOTUNE_MATCH_NEAR_GRID] = "for another grid or mode",
    [HALOTUNE_MATCH_SAME_ARCH] = "on another device of this architecture",
    [HALOTUNE_MATCH_DEFAULT] = "a template's defaults",
    [HALOTUNE_MATCH_SIMILAR] = "for a similar problem",
};

static struct grid grid_of(const long long n[MAX_DIMS]) { return (struct grid){{(long)n[0], (long)n[1], (long)n[2]}}; }

/* Bytes of the fields on the grid that was asked for. A step reads and writes unknown fields; it only reads known
 * fields. */
static double unknown_bytes(const struct query *query) {
  const long long *n = query->config.grid;
  return (double)query->question.parsed->analysis->unknown_bytes_per_point[query->config.dtype] *
         (double)(n[0] * n[1] * n[2]);
}
static double known_bytes(const struct query *query) {
  const long long *n = query->config.grid;
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
  if (c->steps == 1 && isfinite(c->roof_share))
    text_printf(text, ", %.3f of the fastest copy of the same bytes", c->roof_share);
  text_printf(text, "\n");
}

/* Whether exactly this problem was measured. Otherwise the measured numbers belong to another one. */
static bool is_measured(const halotune_config *config) { return config->match <= HALOTUNE_MATCH_STALE; }

/* Append the figures of a launch of several steps. T_eff counts the fields once for each step, the bandwidth once for
 * a launch. So a copy is a roof of single steps alone. */
static void add_steps(const struct query *query, bool is_emulation, struct text *text) {
  const halotune_config *c = &query->config;
  if (c->steps == 1) return;
  text_printf(text, "steps       %d a launch", c->steps);
  if (is_measured(c)) text_printf(text, ", %.6g ms a step", c->time_ms / c->steps);
  else if (isfinite(c->expected_ms) && !is_emulation)
    text_printf(text, ", about %.4g ms a step", c->expected_ms / c->steps);
  if (is_measured(c) && !is_emulation) {
    const double bytes = 2 * unknown_bytes(query) + known_bytes(query);
    text_printf(text, ", T_eff %.0f GB/s", bytes * c->steps / (c->time_ms * 1e6));
    if (isfinite(c->roof_share)) text_printf(text, ", %.2f of the fastest copy", c->roof_share * c->steps);
  }
  text_printf(text, "\n");
}

/* Append where and when the answer was measured; if that was another problem, also its time. */
static void add_measured(const struct query *query, bool is_emulation, struct text *text) {
  const halotune_config *c = &query->config;
  const struct grid grid = grid_of(c->measured_grid);
  text_printf(text, "measured    %s", c->date);
  add_age(c->age_s, text);
  text_printf(text, ", ");
  query_add_origin(query, text);
  text_printf(text, "on %s, ", c->measured_on);
  grid_text(&grid, query->question.parsed->stencil->dims, text);
  text_printf(text, ", driver %s, NVRTC %s", *c->driver ? c->driver : "none", c->nvrtc);
  if (!is_measured(c)) {
    text_printf(text, ": %.6g ms", c->time_ms);
    if (c->steps > 1) text_printf(text, " a launch");
    text_printf(text, " there%s", is_emulation ? ", on the CPU" : "");
  }
  text_printf(text, "\n");
}

/* Mention a winner that takes less time a step but that the question did not allow, unless the two times may be
 * equal. */
static void add_faster(const struct query *query, struct text *text) {
  const halotune_config *c = &query->config;
  halotune_problem problem = query->problem;
  halotune_config any;
  struct fail_kept kept;
  problem.steps = HALOTUNE_STEPS_ANY;
  if (query->problem.steps == HALOTUNE_STEPS_ANY || !query->question.parsed->analysis->can_iterate) return;
  fail_keep(&kept);
  if (halotune_lookup(query->ctx, &problem, &any) == HALOTUNE_OK && any.steps > c->steps &&
      !query->device->is_emulation) {
    const double step_ms = any.expected_ms / any.steps, own_ms = c->expected_ms / c->steps;
    const bool is_sure = step_ms * (1 + any.expected_error) < own_ms * (1 - c->expected_error);
    if (is_sure && is_measured(&any))
      text_printf(text, "faster      with --steps any: %d steps a launch, %.6g ms a step\n", any.steps, step_ms);
    else if (is_sure)
      text_printf(text, "faster      perhaps, with --steps any: %d steps a launch, about %.3g ms a step, +- %.0f %%\n",
                  any.steps, step_ms, 100 * any.expected_error);
  }
  fail_put_back(&kept);
}

/* Append the command that measures an answer which was measured for another problem, or not at all. A stencil that came
 * through a pipe cannot be read again. */
static void add_tune(const struct query *query, struct text *text) {
  const halotune_config *c = &query->config;
  const halotune_problem *asked = &query->problem;
  const char *file = query->ctx->tune_argument;
  char stencil[PATH_MAX];
  if (is_measured(c) || query->device->is_emulation || (file && strncmp(file, "/dev/", 5) == 0)) return;
  printable_name(stencil, sizeof stencil, file ? file : c->stencil);
  text_printf(text, "tune        halotune tune ");
  text_shell_path(text, stencil);
  text_printf(text, " --dtype %s --grid ", dtype_names[c->dtype]);
  for (int axis = 0; axis < query->question.parsed->stencil->dims; axis++)
    text_printf(text, "%s%lld", axis > 0 ? "," : "", c->grid[axis]);
  if (asked->steps > 1) text_printf(text, " --steps %d", asked->steps);
  if (asked->launch) text_printf(text, " --launch %s", launch_mode_names[asked->launch - 1]);
  if (asked->cache) text_printf(text, " --cache %s", cache_mode_names[asked->cache - 1]);
  if (asked->reproducible) text_printf(text, " --reproducible");
  text_printf(text, " --budget 2s\n");
}

/* The values of the coefficients in the answer's source: those of the user's file, else of the newest stored text. */
static void add_coefficients(const struct query *query, struct text *text) {
  const struct stencil *stencil = query->question.parsed->stencil;
  if (stencil->coefficient_count > 0) text_printf(text, "\ncoefficient");
  for (int i = 0; i < stencil->coefficient_count; i++) {
    text_printf(text, " %s=", stencil->coefficients[i].name);
    text_number(text, query->coefficients[i]);
  }
}

static json_t *coefficients_json(const struct query *query) {
  const struct stencil *stencil = query->question.parsed->stencil;
  json_t *json = json_object();
  for (int i = 0; i < stencil->coefficient_count; i++)
    json_put(&json, stencil->coefficients[i].name, number_json(query->coefficients[i]));
  return json;
}

halotune_status query_print_text(const struct query *query) {
  const halotune_config *c = &query->config;
  const struct grid asked = grid_of(c->grid);
  const bool is_emulation = query->device->is_emulation;
  struct text text = {0};
  const struct template *template;
  struct query_stored stored;
  int dims = query->question.parsed->stencil->dims;
  text_printf(&text, "%s %s ", c->stencil, dtype_names[c->dtype]);
  grid_text(&asked, dims, &text);
  text_printf(&text, "%s on %s\nmatch       %s: %s\n", c->reproducible ? ", reproducible," : "", query->device->name,
              halotune_match_name(c->match), (is_emulation ? emulated_meanings : meanings)[c->match]);
  if (!is_measured(c) && isfinite(c->expected_ms) && !is_emulation)
    text_printf(&text, "expected    %.4g ms, +- %.0f %%\n", c->expected_ms, 100 * c->expected_error);
  if (is_emulation) {
    text_printf(&text,
                "emulation   times were taken on the CPU: they do not rank variants and say nothing about a GPU\n");
  }
  if (c->is_stale && c->match != HALOTUNE_MATCH_STALE)
    text_printf(&text, "            by a template that has changed since\n");
  text_printf(&text, "template    %s\nparameters ", c->template_name);
  if (context_template(query->ctx, query->answer.template_at, &template) != HALOTUNE_OK) template = NULL;
  parameters_text_brief(template, c->parameters, &text);
  add_coefficients(query, &text);
  text_printf(&text, "\n");
  if (is_measured(c)) add_time(query, is_emulation, &text);
  if (c->match != HALOTUNE_MATCH_DEFAULT) {
    add_steps(query, is_emulation, &text);
    add_measured(query, is_emulation, &text);
  }
  if (is_measured(c) && query_stored(query, &stored)) {
    if (isfinite(stored.energy_mj))
      text_printf(&text, "energy      %.5g mJ where it was measured; it was ranked by %s\n", stored.energy_mj,
                  stored.objective);
    text_printf(&text, "second grid %s\n", stored.second_grid[0] ? stored.second_grid : "none");
  }
  add_faster(query, &text);
  add_tune(query, &text);
  bool ok = text_ok(&text);
  fputs(text_string(&text), stdout);
  text_free(&text);
  return ok ? HALOTUNE_OK : fail_memory();
}

/* Round a predicted number to its significant digits. Measured numbers stay as they are. */
static double round_predicted(const halotune_config *config, double value) {
  char digits[32];
  if (config->match <= HALOTUNE_MATCH_STALE || !isfinite(value)) return value;
  snprintf(digits, sizeof digits, "%.4g", value);
  return number_read(digits, NULL);
}

halotune_status query_print_json(const struct query *query) {
  struct query_stored stored;
  const halotune_config *c = &query->config;
  const struct grid asked = grid_of(c->grid), measured = grid_of(c->measured_grid);
  const bool is_stored = query_stored(query, &stored);
  json_t *json = json_object();
  json_put(&json, "stencil", text_json(c->stencil));
  json_put(&json, "stencil_hash", text_json(c->stencil_hash));
  json_put(&json, "device", text_json(query->device->name));
  json_put(&json, "emulated", json_boolean(query->device->is_emulation));
  json_put(&json, "dtype", text_json(dtype_names[c->dtype]));
  json_put(&json, "grid", grid_json(&asked, MAX_DIMS));
  json_put(&json, "reproducible", json_boolean(c->reproducible));
  json_put(&json, "match", text_json(halotune_match_name(c->match)));
  json_put(&json, "is_stale", json_boolean(c->is_stale));
  json_put(&json, "template", text_json(c->template_name));
  json_put(&json, "parameters", json_of_text(c->parameters));
  json_put(&json, "coefficients", coefficients_json(query));
  json_put(&json, "steps", json_integer(c->steps));
  json_put(&json, "time_ms", number_json(c->time_ms));
  json_put(&json, "low_ms", number_json(c->low_ms));
  json_put(&json, "high_ms", number_json(c->high_ms));
  json_put(&json, "expected_ms", number_json(round_predicted(c, c->expected_ms)));
  json_put(&json, "expected_error", number_json(round_predicted(c, c->expected_error)));
  json_put(&json, "bandwidth_gbs", number_json(c->bandwidth_gbs));
  json_put(&json, "unknown_bytes",
           unknown_bytes(query) > 0 ? json_integer((json_int_t)unknown_bytes(query)) : json_null());
  json_put(&json, "known_bytes", unknown_bytes(query) > 0 ? json_integer((json_int_t)known_bytes(query)) : json_null());
  json_put(&json, "roof_share", number_json(c->roof_share));
  json_put(&json, "measured_stencil", text_json(c->measured_stencil));
  json_put(&json, "measured_dtype", query->answer.row ? text_json(dtype_names[query->answer.row->dtype]) : json_null());
  json_put(&json, "measured_on", text_json(c->measured_on));
  json_put(&json, "measured_grid", grid_json(&measured, MAX_DIMS));
  json_put(&json, "second_grid", is_stored && stored.second_grid[0] ? text_json(stored.second_grid) : json_null());
  json_put(&json, "objective", is_stored ? text_json(stored.objective) : json_null());
  json_put(&json, "energy_mj", number_json(stored.energy_mj));
  json_put(&json, "date", text_json(c->date));
  json_put(&json, "age_s", number_json(c->age_s));
  json_put(&json, "driver", text_json(c->driver));
  json_put(&json, "nvrtc", text_json(c->nvrtc));
  return print_json(json);
}
