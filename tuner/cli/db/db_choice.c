/* db_choice.c: turns options into a choice of rows. */
#include "tuner/cli/db/db_choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/date.h"
#include "base/text/text.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/output/grid_text.h"

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

/* Dates are compared as texts, so they must have the form of the database. */
static halotune_status date_check(const char *date) {
  if (!isnan(date_seconds(date))) return HALOTUNE_OK;
  return fail(HALOTUNE_ARGUMENT, "--before takes a date such as 2026-11-21, in UTC, not '%s'", date);
}

/* Rows without a signer have an empty name: an unset variable of a script would choose all of the user's own rows. */
static halotune_status signer_check(const char *signer) {
  if (*signer) return HALOTUNE_OK;
  return fail(
      HALOTUNE_ARGUMENT,
      "--signer is empty: give the name or the public key of a signer ('halotune trust list'); --stencil, --device,"
      " --problem and --before choose your own results");
}

halotune_status db_choice(const struct invocation *invocation, struct choice *out, char **name) {
  const char *problem = option_value(invocation, "problem");
  halotune_status status = HALOTUNE_OK;
  *name = NULL;
  *out = (struct choice){.stencil = option_value(invocation, "stencil"),
                         .device = option_value(invocation, "device"),
                         .signer = option_value(invocation, "signer"),
                         .before = option_value(invocation, "before")};
  if (out->before) status = date_check(out->before);
  if (status == HALOTUNE_OK && out->signer) status = signer_check(out->signer);
  if (status != HALOTUNE_OK || !problem) return status;
  if (!(*name = strdup(problem))) return fail_memory();
  status = problem_choose(*name, out);
  if (status == HALOTUNE_OK) return status;
  free(*name);
  *name = NULL;
  return status;
}

bool db_choice_is_given(const struct choice *choice) {
  return choice->stencil || choice->device || choice->signer || choice->before;
}

halotune_status db_choice_fail(const struct store *store, const struct choice *choice) {
  struct text text = {0};
  if (choice->stencil) text_printf(&text, " of stencil '%s'", choice->stencil);
  if (choice->has_dtype) text_printf(&text, " in %s", dtype_names[choice->dtype]);
  if (choice->has_grid) {
    text_printf(&text, " on ");
    grid_text(&choice->grid, grid_dims(&choice->grid), &text);
  }
  if (choice->device) text_printf(&text, " on device '%s'", choice->device);
  if (choice->signer) text_printf(&text, " of signer '%s'", choice->signer);
  if (choice->before) text_printf(&text, " before %s", choice->before);
  halotune_status status =
      fail(HALOTUNE_NOT_FOUND, "%s: nothing%s was measured; 'halotune db info' lists the measured problems",
           store_path(store), text_string(&text));
  text_free(&text);
  return status;
}
