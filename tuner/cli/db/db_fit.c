/* db_fit.c: `halotune db fit`: finds the coefficients with which times on other grids are predicted, and the weights of
 * static costs. */
#include <stdio.h>

#include "db/store/sql_parts.h"
#include "library/predict/fit.h"
#include "tuner/cli/db/db.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/options/templates.h"

static const double percent = 100;

static void predictions_print(const struct fit_result *result) {
  printf("%s: %ld times of %ld variants on several grids\n", result->device, result->times, result->variants);
  if (!result->is_kept) {
    printf(
        "  too few times, or the fitted coefficients make no sense: the defaults stay in use, or those of a document\n");
    return;
  }
  if (result->pairs > 0)
    printf("  median error of a time on one grid from that on another: %.1f %% (%.1f %% with the defaults)\n",
           percent * result->error_after, percent * result->error_before);
  for (int i = 0; i < PREDICT_COEFFICIENTS; i++)
    printf("  %-18s %8.4f\n", predict_names[i], result->model.coefficients[i]);
}

static void costs_print(const struct static_fit *costs) {
  printf("  static costs: %ld times of variants of %d problem%s\n", costs->times, costs->problems,
         costs->problems == 1 ? "" : "s");
  if (costs->times < STATIC_LEAST_TIMES) {
    printf("  too few times, fewer than %d: searches use the built-in weights, or those of a document\n",
           STATIC_LEAST_TIMES);
  } else if (!costs->is_kept) {
    printf("  the fitted weights are no better than the built-in weights, or make no sense: searches use the built-in"
           " weights, or those of a document\n");
  } else {
    printf("  of two variants, the slower one has the higher cost in %.1f %% of the cases (%.1f %% with the built-in"
           " weights)\n",
           percent * costs->ordered_after, percent * costs->ordered_before);
    for (int i = 0; i < STATIC_COST_FEATURES; i++)
      printf("  " STATIC_WEIGHT_PREFIX "%-11s %8.4f\n", static_cost_names[i], costs->weights.of[i]);
  }
}

static void result_print(void *context, const struct fit_result *result) {
  int *models = context;
  ++*models;
  predictions_print(result);
  costs_print(&result->costs);
}

halotune_status db_fit(const struct invocation *invocation) {
  const char *path = option_value(invocation, "db");
  struct store *store = NULL;
  struct templates templates = {0};
  int models = 0;
  halotune_status status = db_must_exist(path);
  if (status == HALOTUNE_OK) status = templates_open(invocation, &templates);
  if (status == HALOTUNE_OK) status = store_open(path, STORE_WRITE, &store);
  if (status == HALOTUNE_OK) status = predict_fit(store, templates.list, templates.count, result_print, &models);
  if (status == HALOTUNE_OK && models == 0)
    fprintf(stderr, "halotune: no times of a GPU are stored; lookups and searches use the defaults\n");
  store_close(store);
  templates_free(&templates);
  return status;
}
