/* explain_choice.c: compares the options with the problems of a report's document. */
#include "tuner/cli/explain/explain_choice.h"

#include <string.h>

#include "db/store/store.h"
#include "stencil/file/grid_text.h"
#include "stencil/template/template.h"
#include "tuner/cli/options/option_value.h"

/* The options' conditions. A member that is not given fits everything. */
struct wanted {
  const char *dtype, *launch, *cache; /* NULL: any */
  struct grid grid;
  bool has_grid, reproducible;
  long steps;
};

const json_t *row_with_id(const json_t *list, int64_t id) {
  size_t i;
  json_t *row;
  json_array_foreach(list, i, row) {
    if (member_whole(row, "id") == id) return row;
  }
  return NULL;
}

static struct grid grid_of(const json_t *problem) {
  return (struct grid){
      {(long)member_whole(problem, "nx"), (long)member_whole(problem, "ny"), (long)member_whole(problem, "nz")}};
}

static bool is_same_grid(const struct grid *a, const struct grid *b) { return memcmp(a->n, b->n, sizeof a->n) == 0; }

static bool problem_fits(const struct wanted *wanted, const json_t *problem) {
  const struct grid grid = grid_of(problem);
  if (!json_is_object(json_object_get(problem, "winner"))) return false;
  if (wanted->dtype && strcmp(wanted->dtype, member_text(problem, "dtype")) != 0) return false;
  if (wanted->launch && strcmp(wanted->launch, member_text(problem, "launch")) != 0) return false;
  if (wanted->cache && strcmp(wanted->cache, member_text(problem, "cache")) != 0) return false;
  if (json_is_true(json_object_get(problem, "is_reproducible")) != wanted->reproducible) return false;
  if (wanted->has_grid && !is_same_grid(&wanted->grid, &grid)) return false;
  return member_whole(problem, "steps") == wanted->steps;
}

static const char *date_of(const json_t *problem) { return member_text(json_object_get(problem, "winner"), "date"); }

/* Whether this user measured the winner (SQL_ORIGIN). */
static bool is_own(const json_t *problem) {
  return strcmp(member_text(json_object_get(problem, "winner"), "origin"), "tuned") == 0;
}

/* Whether a problem answers better than another one, among those that fit: the preferred grid, then the largest, then
 * what this user measured, then the newest. */
static bool is_better(const json_t *problem, const json_t *than, const struct grid *preferred) {
  if (!than) return true;
  const struct grid grid = grid_of(problem), other = grid_of(than);
  if (!is_same_grid(&grid, &other)) {
    if (is_same_grid(&grid, preferred) || is_same_grid(&other, preferred)) return is_same_grid(&grid, preferred);
    return member_number(problem, "points") > member_number(than, "points");
  }
  if (is_own(problem) != is_own(than)) return is_own(problem);
  return strcmp(date_of(problem), date_of(than)) > 0;
}

static halotune_status read_wanted(const struct invocation *invocation, const struct stencil *stencil,
                                   struct wanted *out) {
  enum dtype dtype;
  int launch, cache;
  *out = (struct wanted){.has_grid = option_given(invocation, "grid"),
                         .reproducible = option_given(invocation, "reproducible")};
  halotune_status status = option_whole(invocation, "steps", 1, LAUNCH_MOST_STEPS, 1, &out->steps);
  if (status == HALOTUNE_OK) status = option_dtype(invocation, stencil, &dtype);
  if (status == HALOTUNE_OK) status = option_grid(invocation, stencil, &out->grid);
  if (status == HALOTUNE_OK)
    status = option_word(invocation, "launch", launch_mode_names, LAUNCH_MODE_COUNT, -1, &launch);
  if (status == HALOTUNE_OK) status = option_word(invocation, "cache", cache_mode_names, CACHE_MODE_COUNT, -1, &cache);
  if (status != HALOTUNE_OK) return status;
  out->dtype = dtype_names[dtype];
  out->launch = launch < 0 ? NULL : launch_mode_names[launch];
  out->cache = cache < 0 ? NULL : cache_mode_names[cache];
  return HALOTUNE_OK;
}

/* Append "f32 512x512x512 --steps 4 --reproducible", unless the text has it already. */
static void add_problem(struct text *text, const json_t *problem, int dims) {
  const struct grid grid = grid_of(problem);
  struct text name = {0};
  text_printf(&name, "%s ", member_text(problem, "dtype"));
  grid_text(&grid, dims, &name);
  if (member_whole(problem, "steps") > 1)
    text_printf(&name, " --steps %lld", (long long)member_whole(problem, "steps"));
  if (json_is_true(json_object_get(problem, "is_reproducible"))) text_printf(&name, " --reproducible");
  if (!text->bytes || !strstr(text->bytes, text_string(&name)))
    text_printf(text, "%s%s", text->length > 0 ? ", " : "", text_string(&name));
  text_free(&name);
}

static halotune_status fail_with_list(const json_t *problems, const char *stencil, int dims) {
  enum { MOST_BYTES = 400 };
  struct text there = {0};
  size_t i;
  json_t *problem;
  bool is_cut = false;
  json_array_foreach(problems, i, problem) {
    if (!json_is_object(json_object_get(problem, "winner"))) continue;
    is_cut = is_cut || there.length >= MOST_BYTES;
    if (!is_cut) add_problem(&there, problem, dims);
  }
  if (is_cut) text_printf(&there, " and others");
  halotune_status status =
      there.length == 0
          ? fail(HALOTUNE_NOT_FOUND, "the database has no winner of %s: run 'halotune tune %s'", stencil, stencil)
          : fail(HALOTUNE_NOT_FOUND, "the database has no winner of %s like this; it has winners for %s", stencil,
                 text_string(&there));
  text_free(&there);
  return status;
}

halotune_status explain_choose(const struct invocation *invocation, const struct definitions *definitions,
                               const json_t *document, const char *stencil, const json_t **out) {
  const json_t *problems = json_object_get(document, "problems"), *best = NULL;
  const json_t *row = json_array_get(json_object_get(document, "stencils"), 0);
  const struct known_stencil *known = definitions_stencil(definitions, member_whole(row, "id"));
  struct wanted wanted;
  size_t i;
  json_t *problem;
  *out = NULL;
  if (!known || !known->stencil)
    return fail(HALOTUNE_PARSE, "this version cannot read the text of %s that the database holds", stencil);
  halotune_status status = read_wanted(invocation, known->stencil, &wanted);
  if (status != HALOTUNE_OK) return status;
  json_array_foreach(problems, i, problem) {
    if (problem_fits(&wanted, problem) && is_better(problem, best, &wanted.grid)) best = problem;
  }
  if (!best) return fail_with_list(problems, stencil, known->stencil->dims);
  *out = best;
  return HALOTUNE_OK;
}
