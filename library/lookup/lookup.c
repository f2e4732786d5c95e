/* lookup.c: halotune_lookup finds the configuration for a problem. A hit looks up two names and one row in hash
 * tables. */
#include "library/lookup/lookup.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory/array.h"
#include "base/numbers/number.h"
#include "base/text/json.h"
#include "db/store/launch_text.h"
#include "library/lookup/candidates.h"
#include "library/lookup/choose_steps.h"
#include "library/lookup/find_stencil.h"

#define AS_CASE(name, number, text, meaning) \
  case HALOTUNE_MATCH_##name: return text;

const char *halotune_match_name(halotune_match match) {
  switch (match) { HALOTUNE_MATCH_LIST(AS_CASE) }
  return "unknown match";
}

/* Compute the seal of a configuration, the member CONFIG_SEAL. It mixes all pointers that are followed later with an
 * address of this library. A struct that was cleared, or that another program filled, has another seal. */
static inline const void *config_seal(const halotune_config *config) {
  static const char own;
  uint64_t mixed = (uintptr_t)&own;
  const void *const followed[] = {config->parameters,
                                  config->template_name,
                                  config->reserved[CONFIG_CTX],
                                  config->reserved[CONFIG_ROW],
                                  config->reserved[CONFIG_STENCIL],
                                  config->reserved[CONFIG_TEMPLATE]};
  /* independent products are fast: a hit takes tens of nanoseconds */
  for (size_t i = 0; i < COUNT(followed); i++) mixed ^= (uintptr_t)followed[i] * (UINT64_C(0x9E3779B97F4A7C15) + 2 * i);
  return (const void *)(uintptr_t)(mixed | 1); /* never NULL */
}

halotune_status config_check(const halotune_config *config, const char *function) {
  if (config->reserved[CONFIG_SEAL] == config_seal(config)) return HALOTUNE_OK;
  return fail(HALOTUNE_ARGUMENT, "%s: the configuration was not filled by halotune_lookup, or was changed", function);
}

static double age_s(double date_s) { return (double)time(NULL) - date_s; }

/* Describe a measured row. */
static inline void fill_measured(const struct halotune_ctx *ctx, const struct lookup_key *key,
                                 const struct answer *answer, halotune_config *out) {
  const struct served *row = answer->row;
  for (int axis = 0; axis < MAX_DIMS; axis++) out->measured_grid[axis] = row->n[axis];
  out->parameters = answer->settled ? answer->settled : row->parameters;
  out->parameter_count = answer->settled ? answer->settled_count : row->parameter_count;
  out->time_ms = row->time_ms;
  out->low_ms = row->low_ms;
  out->high_ms = row->high_ms;
  /* Times of an emulation say nothing about bandwidth, and those of another problem nothing about this one's. */
  const bool has_bandwidth = answer->match <= HALOTUNE_MATCH_STALE && !ctx->catalog.devices[row->model].is_emulation;
  out->bandwidth_gbs = has_bandwidth ? (double)row->bytes / (row->time_ms * 1e6) : NAN;
  out->roof_share = has_bandwidth ? row->roof_share : NAN;
  out->measured_on = ctx->catalog.devices[row->model].name;
  out->measured_stencil = row->stencil == key->stencil ? out->stencil : ctx->catalog.stencils[row->stencil].name;
  out->date = row->date;
  out->age_s = age_s(row->date_s);
  out->driver = row->driver;
  out->nvrtc = row->nvrtc;
}

static halotune_status fill_default(struct halotune_ctx *ctx, const struct answer *answer, halotune_config *out) {
  const struct template *template;
  struct text text = {0};
  halotune_status status = context_template(ctx, answer->template_at, &template);
  if (status != HALOTUNE_OK) return status;
  configuration_write(template, &answer->configuration, &text);
  out->parameters = text_ok(&text) ? context_text(ctx, text_string(&text)) : NULL;
  text_free(&text);
  out->parameter_count = template->parameter_count;
  out->time_ms = out->low_ms = out->high_ms = out->bandwidth_gbs = out->roof_share = out->expected_ms =
      out->expected_error = out->age_s = NAN;
  for (int axis = 0; axis < MAX_DIMS; axis++) out->measured_grid[axis] = 0;
  out->measured_on = out->measured_stencil = out->date = out->driver = out->nvrtc = "";
  return out->parameters ? HALOTUNE_OK : fail_memory();
}

/* Fill the members that every answer has. fill_measured and fill_default set all others. Nothing clears the struct
 * first, because that would take as long as the rest of a hit. */
static inline void fill_question(struct halotune_ctx *ctx, const struct lookup_key *key, const struct answer *answer,
                                 halotune_config *out) {
  const struct known_stencil *stencil = &ctx->catalog.stencils[key->text_of];
  const struct known_template *template = &ctx->catalog.templates[answer->template_at];
  out->match = answer->match;
  out->is_stale = answer->is_stale;
  for (int axis = 0; axis < MAX_DIMS; axis++) out->grid[axis] = key->n[axis];
  out->dtype = (halotune_dtype)key->dtype;
  out->launch = (halotune_launch_mode)key->launch;
  out->cache = (halotune_cache_mode)key->cache;
  out->reproducible = key->reproducible;
  out->steps = key->steps;
  out->stencil = stencil->name;
  out->stencil_hash = stencil->hash;
  out->template_name = template->name;
  for (size_t i = CONFIG_PLACES; i < COUNT(out->reserved); i++) out->reserved[i] = NULL;
  out->reserved[CONFIG_CTX] = ctx;
  out->reserved[CONFIG_ROW] = answer->row;
  out->reserved[CONFIG_STENCIL] = stencil;
  out->reserved[CONFIG_TEMPLATE] = template;
}

/* Describe an answer that is a row. */
static inline void fill_row(struct halotune_ctx *ctx, const struct lookup_key *key, const struct answer *answer,
                            halotune_config *out) {
  fill_question(ctx, key, answer, out);
  fill_measured(ctx, key, answer, out);
  out->reserved[CONFIG_SEAL] = config_seal(out);
  out->expected_ms = answer->prediction.time_ms;
  out->expected_error = answer->prediction.error;
}

/* Describe an answer. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
static halotune_status config_fill(struct halotune_ctx *ctx, const struct lookup_key *key, const struct answer *answer,
                                   halotune_config *out) {
  if (answer->row) {
    fill_row(ctx, key, answer, out);
    return HALOTUNE_OK;
  }
  halotune_config config;
  fill_question(ctx, key, answer, &config);
  halotune_status status = fill_default(ctx, answer, &config);
  if (status != HALOTUNE_OK) return status;
  config.reserved[CONFIG_SEAL] = config_seal(&config);
  *out = config;
  return status;
}

halotune_status config_read(struct halotune_ctx *ctx, const halotune_config *config, struct lookup_key *key,
                            struct answer *out) {
  const struct template *template;
  if ((unsigned)config->dtype >= DTYPE_COUNT || (unsigned)config->launch > LAUNCH_MODE_COUNT ||
      (unsigned)config->cache > CACHE_MODE_COUNT || config->steps < 1 || config->steps > LAUNCH_MOST_STEPS)
    return fail(HALOTUNE_ARGUMENT, "halotune_kernel_create: the configuration was changed");
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (config->grid[axis] < 1 || config->grid[axis] > GRID_MOST_AXIS_POINTS)
      return fail(HALOTUNE_ARGUMENT, "halotune_kernel_create: the grid of the configuration was changed");
  }
  const struct known_stencil *stencil = config->reserved[CONFIG_STENCIL];
  const struct known_template *known = config->reserved[CONFIG_TEMPLATE];
  *key = (struct lookup_key){.model = -1,
                             .dtype = (unsigned char)config->dtype,
                             .launch = (unsigned char)config->launch,
                             .cache = (unsigned char)config->cache,
                             .reproducible = config->reproducible != 0,
                             .steps = (unsigned short)config->steps};
  context_set_stencil(ctx, (int)(stencil - ctx->catalog.stencils), key);
  for (int axis = 0; axis < MAX_DIMS; axis++) key->n[axis] = (uint32_t)config->grid[axis];
  *out = (struct answer){.match = config->match,
                         .row = config->reserved[CONFIG_ROW],
                         .template_at = (int)(known - ctx->catalog.templates),
                         .prediction = {config->expected_ms, config->expected_error}};
  const halotune_status status = context_template(ctx, out->template_at, &template);
  if (status != HALOTUNE_OK) return status;
  return configuration_read(template, config->parameters, &out->configuration);
}

static inline halotune_status read_problem(const struct halotune_ctx *ctx, const halotune_problem *problem,
                                           struct lookup_key *key) {
  if (!problem->stencil) return fail(HALOTUNE_ARGUMENT, "halotune_lookup: problem->stencil is NULL");
  if ((unsigned)problem->dtype >= DTYPE_COUNT || (unsigned)problem->launch > LAUNCH_MODE_COUNT ||
      (unsigned)problem->cache > CACHE_MODE_COUNT) {
    return fail(HALOTUNE_ARGUMENT, "halotune_lookup: dtype, launch or cache is not one of its enumerators");
  }
  key->dtype = (unsigned char)problem->dtype;
  key->launch = (unsigned char)problem->launch;
  key->cache = (unsigned char)problem->cache;
  if (problem->steps < HALOTUNE_STEPS_ANY) {
    return fail(HALOTUNE_ARGUMENT, "halotune_lookup: steps is %d; it must be 0 or more, or HALOTUNE_STEPS_ANY",
                problem->steps);
  }
  key->reproducible = problem->reproducible != 0;
  key->steps = 1;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    long long points = problem->grid[axis];
    if (points < 0 || points > GRID_MOST_AXIS_POINTS) {
      return fail(HALOTUNE_ARGUMENT, "halotune_lookup: the grid has %lld points in %c; it must have 1 to %ld", points,
                  axis_names[axis], GRID_MOST_AXIS_POINTS);
    }
    key->n[axis] = points ? (uint32_t)points : 1;
    if (points == 0) key->unsaid |= (unsigned char)(1 << axis);
  }
  int stencil = 0;
  halotune_status status = context_require_stencil(ctx, problem->stencil, &stencil);
  if (status == HALOTUNE_OK) context_set_stencil(ctx, stencil, key);
  return status;
}

static bool is_single_step(const halotune_problem *problem) { return problem->steps == 0 || problem->steps == 1; }

/* Answer a problem that has no row. */
static halotune_status lookup_far(struct halotune_ctx *ctx, const struct lookup_key *key,
                                  const struct known_device *device, struct answer *out) {
  struct question question;
  halotune_status status = question_begin(ctx, key, device, &question);
  return status == HALOTUNE_OK ? choose(&question, out) : status;
}

/* If the problem's row comes from a run that was cut short, answer with a better row, if there is one.
 *   found  receives whether `out` is filled */
static halotune_status lookup_instead(struct halotune_ctx *ctx, const struct lookup_key *key,
                                      const struct known_device *device, const struct served *partial,
                                      struct answer *out, bool *found) {
  struct question question;
  struct fail_kept kept;
  *found = false;
  fail_keep(&kept);
  const halotune_status status = question_begin(ctx, key, device, &question);
  if (status == HALOTUNE_OK) return choose_instead(&question, partial, out, found);
  if (status == HALOTUNE_MEMORY) return status;
  fail_put_back(&kept); /* if the stencil's text cannot be read, the problem's own row answers */
  return HALOTUNE_OK;
}

/* The largest number of steps of a launch that a problem allows. */
static int most_steps(const halotune_problem *problem) {
  if (problem->steps == HALOTUNE_STEPS_ANY || problem->steps > LAUNCH_MOST_STEPS) return LAUNCH_MOST_STEPS;
  return problem->steps > 1 ? problem->steps : 1;
}

halotune_status lookup_has_row(struct halotune_ctx *ctx, const halotune_problem *problem, bool *out) {
  struct known_device room;
  const struct known_device *device;
  struct lookup_key key = {.stencil = 0};
  *out = false;
  ctx = context_newest(ctx);
  halotune_status status = read_problem(ctx, problem, &key);
  if (status == HALOTUNE_OK) status = context_device(ctx, problem->device, &room, &device);
  if (status != HALOTUNE_OK || device->model < 0) return status;
  key.model = device->model;
  for (int steps = 1; steps <= most_steps(problem) && !*out; steps++) {
    key.steps = (unsigned short)steps;
    *out = lookup_exact(&ctx->table, &key) != NULL;
  }
  return status;
}

/* Choose the number of time steps of a launch, at most as many as the problem says. */
static halotune_status lookup_steps(struct halotune_ctx *ctx, const halotune_problem *problem,
                                    const struct known_device *device, struct lookup_key *key, struct answer *out) {
  struct question question;
  halotune_status status = question_begin(ctx, key, device, &question);
  if (status == HALOTUNE_OK) status = choose_steps(&question, most_steps(problem), out);
  if (status == HALOTUNE_OK) key->steps = question.key.steps;
  return status;
}

/* Answer a problem of which no row answers.
 *   partial  the problem's row, if it comes from a run that was cut short; it answers if no other row is better */
static halotune_status lookup_single(struct halotune_ctx *ctx, const struct lookup_key *key,
                                     const struct known_device *device, const struct served *partial,
                                     struct answer *out) {
  halotune_status status = HALOTUNE_OK;
  bool is_instead = false;
  *out = (struct answer){.match = HALOTUNE_MATCH_EXACT};
  if (!partial) return lookup_far(ctx, key, device, out);
  status = lookup_instead(ctx, key, device, partial, out, &is_instead);
  if (status != HALOTUNE_OK || is_instead) return status;
  out->row = partial;
  out->template_at = partial->template_at;
  out->prediction = candidates_exact(partial);
  return HALOTUNE_OK;
}

/* Note whether an answer is stale. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
static inline halotune_status settle_match(struct halotune_ctx *ctx, struct answer *answer) {
  bool is_stale;
  const halotune_status status = context_is_superseded(ctx, answer->template_at, &is_stale);
  if (status != HALOTUNE_OK) return status;
  answer->is_stale = is_stale;
  if (answer->match == HALOTUNE_MATCH_EXACT && is_stale) answer->match = HALOTUNE_MATCH_STALE;
  return HALOTUNE_OK;
}

/* Answer with the problem's own row. This is the whole of a hit, so that its answer stays in registers. */
static inline halotune_status lookup_hit(struct halotune_ctx *ctx, const struct lookup_key *key,
                                         const struct served *row, halotune_config *out) {
  struct answer answer = {
      .match = HALOTUNE_MATCH_EXACT, .row = row, .template_at = row->template_at, .prediction = candidates_exact(row)};
  const halotune_status status = settle_match(ctx, &answer);
  if (status == HALOTUNE_OK) fill_row(ctx, key, &answer, out);
  return status;
}

/* Answer a problem whose own row does not answer.
 *   row  see lookup_single */
static halotune_status lookup_other(struct halotune_ctx *ctx, const halotune_problem *problem,
                                    const struct known_device *device, const struct served *row, struct lookup_key *key,
                                    halotune_config *out) {
  struct answer answer;
  halotune_status status = is_single_step(problem) ? lookup_single(ctx, key, device, row, &answer)
                                                   : lookup_steps(ctx, problem, device, key, &answer);
  if (status == HALOTUNE_OK) status = settle_match(ctx, &answer);
  return status == HALOTUNE_OK ? config_fill(ctx, key, &answer, out) : status;
}

/* Answer a problem that was read.
 *   key  of the problem, without the device's model */
static inline halotune_status lookup_read(struct halotune_ctx *ctx, const halotune_problem *problem,
                                          const struct known_device *device, struct lookup_key *key,
                                          halotune_config *out) {
  key->model = device->model;
  const bool has_row = device->model >= 0 && is_single_step(problem);
  const struct served *row = has_row ? lookup_exact(&ctx->table, key) : NULL;
  if (row && !row->is_partial) return lookup_hit(ctx, key, row, out);
  return lookup_other(ctx, problem, device, row, key, out);
}

halotune_status halotune_lookup(halotune_ctx *ctx, const halotune_problem *problem, halotune_config *out) {
  struct known_device room;
  const struct known_device *device;
  struct lookup_key key = {.stencil = 0};
  if (!ctx || !problem || !out) return fail(HALOTUNE_ARGUMENT, "halotune_lookup: an argument is NULL");
  halotune_status status = forked_check(ctx->generation);
  ctx = context_newest(ctx);
  if (status == HALOTUNE_OK) status = read_problem(ctx, problem, &key);
  if (status == HALOTUNE_OK) status = context_device(ctx, problem->device, &room, &device);
  return status == HALOTUNE_OK ? lookup_read(ctx, problem, device, &key, out) : status;
}

halotune_status lookup_on(struct halotune_ctx *ctx, const halotune_problem *problem, const struct known_device *device,
                          halotune_config *out) {
  struct lookup_key key = {.stencil = 0};
  const halotune_status status = read_problem(ctx, problem, &key);
  return status == HALOTUNE_OK ? lookup_read(ctx, problem, device, &key, out) : status;
}

static void copy_text(char *to, size_t bytes, const char *from, size_t length) {
  size_t count = length < bytes - 1 ? length : bytes - 1;
  memcpy(to, from, count);
  to[count] = '\0';
}

static halotune_status give_parameter(const struct json_member *member, halotune_parameter *out) {
  copy_text(out->name, sizeof out->name, member->name, member->name_length);
  copy_text(out->value, sizeof out->value, member->value, member->value_length);
  out->number = member->is_string ? NAN : number_read(out->value, NULL);
  return HALOTUNE_OK;
}

halotune_status halotune_config_parameter(const halotune_config *config, const char *name, halotune_parameter *out) {
  struct json_member next;
  if (!config || !name || !out) return fail(HALOTUNE_ARGUMENT, "halotune_config_parameter: an argument is NULL");
  const halotune_status status = config_check(config, "halotune_config_parameter");
  if (status != HALOTUNE_OK) return status;
  size_t length = strlen(name);
  for (const char *at = config->parameters; json_member_next(&at, &next);) {
    if (next.name_length == length && memcmp(next.name, name, length) == 0) return give_parameter(&next, out);
  }
  return fail(HALOTUNE_NOT_FOUND, "template %s has no parameter '%s'", config->template_name, name);
}

halotune_status halotune_config_parameter_at(const halotune_config *config, int position, halotune_parameter *out) {
  struct json_member next;
  if (!config || !out) return fail(HALOTUNE_ARGUMENT, "halotune_config_parameter_at: an argument is NULL");
  const halotune_status status = config_check(config, "halotune_config_parameter_at");
  if (status != HALOTUNE_OK) return status;
  const char *at = config->parameters;
  for (int i = 0; i <= position && json_member_next(&at, &next); i++) {
    if (i == position) return give_parameter(&next, out);
  }
  return fail(HALOTUNE_NOT_FOUND, "there is no parameter %d; %s has %d, counted from 0", position,
              config->template_name, config->parameter_count);
}
