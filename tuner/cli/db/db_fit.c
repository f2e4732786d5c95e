/* db_fit.c: `halotune db fit`: finds the coefficients with which times on other grids are predicted. */
#include <stdio.h>

#include "library/predict/fit.h"
#include "tuner/cli/db/db.h"
#include "tuner/cli/options/option_value.h"

static void result_print(void *context, const struct fit_result *result) {
  int *models = context;
  const double percent = 100;
  ++*models;
  printf("%s: %ld times of %ld variants on several grids\n", result->device, result->times, result->variants);
  if (!result->is_kept) {
    printf("  too few times, or the fitted coefficients make no sense: the defaults stay in use\n");
    return;
  }
  printf("  median error of a time on one grid from that on another: %.1f %% (%.1f %% with the defaults)\n",
         percent * result->error_after, percent * result->error_before);
  for (int i = 0; i < PREDICT_COEFFICIENTS; i++)
    printf("  %-14s %8.4f\n", predict_names[i], result->model.coefficients[i]);
}

halotune_status db_fit(const struct invocation *invocation) {
  const char *path = option_value(invocation, "db");
  struct store *store = NULL;
  int models = 0;
  halotune_status status = db_must_exist(path);
  if (status == HALOTUNE_OK) status = store_open(path, STORE_WRITE, &store);
  if (status == HALOTUNE_OK) status = predict_fit(store, result_print, &models);
  if (status == HALOTUNE_OK && models == 0)
    fprintf(stderr, "halotune: no times of a GPU are stored; the predictions of lookups use the defaults\n");
  store_close(store);
  return status;
}
