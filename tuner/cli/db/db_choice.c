/* db_choice.c: turns options into a choice of rows. */
#include "tuner/cli/db/db_choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "db/store/query.h"
#include "gpu/architecture/gpus.h"
#include "stencil/file/grid_text.h"
#include "tuner/cli/options/option_value.h"

/* Read STENCIL[,DTYPE[,GRID]]. The text is cut after the stencil and the dtype. */
static halotune_status problem_choose(char *text, struct choice *out) {
  char *dtype = strchr(text, ','), *grid = dtype ? strchr(dtype + 1, ',') : NULL;
  out->stencil = text;
  if (!dtype) return HALOTUNE_OK;
  *dtype++ = '\0';
  if (grid) *grid++ = '\0';
  int type;
  halotune_status status = word_find("DTYPE of --problem", dtype, dtype_names, DTYPE_COUNT, &type);
  if (status != HALOTUNE_OK) return status;
  out->has_dtype = true;
  out->dtype = (enum dtype)type;
  out->has_grid = grid != NULL;
  if (!grid || grid_read(grid, &out->grid) > 0) return HALOTUNE_OK;
  return fail(HALOTUNE_ARGUMENT, "--problem: a grid is one to three numbers, such as 512x512x512, not '%s'", grid);
}

/* Rows without a signer have an empty name: an unset variable of a script would choose all of the user's own rows. */
static halotune_status signer_check(const char *signer) {
  if (*signer) return HALOTUNE_OK;
  return fail(
      HALOTUNE_ARGUMENT,
      "--signer is empty: give the name or the public key of a signer ('halotune trust list'); --stencil, --device,"
      " --problem and --before choose your own results");
}

/* Read the options that tell problems on one grid apart. */
static halotune_status mode_choose(const struct invocation *invocation, struct choice *out) {
  int launch = -1, cache = -1;
  long steps = 0;
  halotune_status status = option_word(invocation, "launch", launch_mode_names, LAUNCH_MODE_COUNT, -1, &launch);
  if (status == HALOTUNE_OK) status = option_word(invocation, "cache", cache_mode_names, CACHE_MODE_COUNT, -1, &cache);
  if (status == HALOTUNE_OK) status = option_whole(invocation, "steps", 1, LAUNCH_MOST_STEPS, 0, &steps);
  if (launch >= 0) out->launch = launch_mode_names[launch];
  if (cache >= 0) out->cache = cache_mode_names[cache];
  out->steps = (int)steps;
  out->is_reproducible = option_given(invocation, "reproducible");
  return status;
}

halotune_status db_choice(const struct invocation *invocation, struct choice *out, char **name) {
  const char *problem = option_value(invocation, "problem");
  *name = NULL;
  *out = (struct choice){.stencil = option_value(invocation, "stencil"),
                         .device = option_value(invocation, "device"),
                         .signer = option_value(invocation, "signer")};
  halotune_status status = option_date(invocation, "before", &out->before);
  if (status == HALOTUNE_OK) status = mode_choose(invocation, out);
  if (status == HALOTUNE_OK && out->signer) status = signer_check(out->signer);
  if (status != HALOTUNE_OK || !problem) return status;
  if (!(*name = strdup(problem))) return fail_memory();
  const char *stencil = out->stencil;
  status = problem_choose(*name, out);
  if (status == HALOTUNE_OK && stencil && strcmp(stencil, out->stencil) != 0)
    status = fail(HALOTUNE_ARGUMENT, "--stencil '%s' and --problem '%s' name two stencils; no row is about both",
                  stencil, problem);
  if (status == HALOTUNE_OK) return status;
  free(*name);
  *name = NULL;
  return status;
}

/* The names that fit best so far. */
struct best_names {
  int misfit;
  char *first, *second; /* second: another one that fits as well; NULL for none */
};

static halotune_status try_name(struct best_names *best, const char *asked, const char *name) {
  const int misfit = gpu_misfit(asked, name, NULL);
  if (misfit == GPU_NO_FIT || misfit > best->misfit) return HALOTUNE_OK;
  char *copy = strdup(name);
  if (!copy) return fail_memory();
  free(best->second);
  best->second = NULL;
  if (misfit == best->misfit) best->second = copy;
  else {
    free(best->first);
    best->first = copy;
  }
  best->misfit = misfit;
  return HALOTUNE_OK;
}

halotune_status db_choice_find_device(const struct store *store, struct choice *choice, char **name) {
  static const char sql[] =
      "select distinct name, coalesce(max(name = ?1 or uuid = ?1) over (), 0) from device order by 1";
  struct best_names best = {.misfit = GPU_NO_FIT};
  sqlite3_stmt *query = NULL;
  bool is_exact = false;
  *name = NULL;
  if (!choice->device) return HALOTUNE_OK;
  halotune_status status = query_prepare(store_connection(store), sql, &query);
  if (status == HALOTUNE_OK) sqlite3_bind_text(query, 1, choice->device, -1, SQLITE_STATIC);
  int code = SQLITE_DONE;
  while (status == HALOTUNE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) {
    is_exact = sqlite3_column_int(query, 1) != 0;
    status = try_name(&best, choice->device, column_text(query, 0));
  }
  if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(store_connection(store));
  sqlite3_finalize(query);
  if (status == HALOTUNE_OK && !is_exact && best.second)
    status = fail(HALOTUNE_ARGUMENT, "--device '%s' fits '%s' and '%s' equally well", choice->device, best.first,
                  best.second);
  free(best.second);
  if (status != HALOTUNE_OK || is_exact || !best.first) {
    free(best.first);
    return status;
  }
  choice->device = *name = best.first;
  return HALOTUNE_OK;
}

bool db_choice_is_given(const struct choice *choice) {
  return choice->stencil || choice->device || choice->signer || choice->before || choice->launch || choice->cache ||
         choice->steps > 0 || choice->is_reproducible;
}

halotune_status db_choice_fail(const struct store *store, const struct choice *choice) {
  struct text text = {0};
  if (choice->stencil) text_printf(&text, " of stencil '%s'", choice->stencil);
  if (choice->has_dtype) text_printf(&text, " in %s", dtype_names[choice->dtype]);
  if (choice->has_grid) {
    text_printf(&text, " on ");
    grid_text(&choice->grid, grid_dims(&choice->grid), &text);
  }
  if (choice->steps > 0 || choice->launch || choice->cache || choice->is_reproducible) text_printf(&text, " with");
  if (choice->steps > 0) text_printf(&text, " --steps %d", choice->steps);
  if (choice->launch) text_printf(&text, " --launch %s", choice->launch);
  if (choice->cache) text_printf(&text, " --cache %s", choice->cache);
  if (choice->is_reproducible) text_printf(&text, " --reproducible");
  if (choice->device) text_printf(&text, " on device '%s'", choice->device);
  if (choice->signer) text_printf(&text, " of signer '%s'", choice->signer);
  if (choice->before) text_printf(&text, " before %s", choice->before);
  halotune_status status =
      fail(HALOTUNE_NOT_FOUND, "%s: nothing%s was measured; 'halotune db info' lists the measured problems",
           store_path(store), text_string(&text));
  text_free(&text);
  return status;
}
