/* db_forget.c: `halotune db forget`: counts rows, and removes them with --yes. */
#include <stdio.h>
#include <stdlib.h>

#include "base/text/text.h"
#include "db/exchange/forget.h"
#include "db/exchange/varying_rows.h"
#include "tuner/cli/db/db.h"
#include "tuner/cli/db/db_choice.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/tune/tuning_lock.h"

halotune_status db_must_exist(const char *path) {
  struct store *store;
  halotune_status status = store_open(path, STORE_READ, &store);
  store_close(store);
  return status == HALOTUNE_NOT_FOUND ? status : HALOTUNE_OK;
}

static void print_counts(const struct forget_counts *counts, bool sure) {
  const bool has_times = counts->predictions > 0, has_alone = counts->alone > 0;
  printf("%s %ld run%s with %ld measurement%s,%s %ld best configuration%s", sure ? "removed" : "would remove",
         counts->runs, PLURAL(counts->runs), counts->measurements, PLURAL(counts->measurements),
         has_times || has_alone ? "" : " and", counts->bests, PLURAL(counts->bests));
  if (has_times)
    printf(",%s %ld coefficient%s of predicted times", has_alone ? "" : " and", counts->predictions,
           PLURAL(counts->predictions));
  if (has_alone) printf(", and %ld row%s without results", counts->alone, PLURAL(counts->alone));
  printf("\n");
}

halotune_status db_forget(const struct invocation *invocation) {
  const char *path = option_value(invocation, "db");
  const bool sure = option_given(invocation, "yes");
  struct choice choice;
  struct forget_counts counts;
  struct store *store = NULL;
  long varying = 0;
  char *name, *device = NULL;
  halotune_status status = db_choice(invocation, &choice, &name);
  if (status == HALOTUNE_OK) status = db_must_exist(path);
  if (status == HALOTUNE_OK && !db_choice_is_given(&choice))
    status = fail(HALOTUNE_ARGUMENT,
                  "db forget needs at least one of --stencil, --device, --signer, --before and --problem");
  /* Opened for writing, a database of an older version would be migrated before anybody said --yes. */
  if (status == HALOTUNE_OK) status = store_open(path, sure ? STORE_WRITE : STORE_READ, &store);
  if (status == HALOTUNE_OK) status = db_choice_find_device(store, &choice, &device);
  if (status == HALOTUNE_OK && device)
    fprintf(stderr, "halotune: --device '%s' means '%s'\n", option_value(invocation, "device"), device);
  if (status == HALOTUNE_OK) status = store_forget_count(store, &choice, tuning_lock_is_held, &counts);
  if (status == HALOTUNE_OK && counts.runs == 0 && counts.bests == 0 && counts.predictions == 0 && counts.alone == 0 &&
      counts.left == 0)
    status = db_choice_fail(store, &choice);
  if (status == HALOTUNE_OK && sure) status = store_forget(store, &choice, tuning_lock_is_held);
  if (status == HALOTUNE_OK && sure && choice.signer) status = varying_count_left(store, choice.signer, &varying);
  if (status == HALOTUNE_OK) {
    print_counts(&counts, sure);
    if (counts.left > 0)
      fprintf(stderr, "halotune: %ld run%s that go%s on stay%s; forget %s when the tune has ended\n", counts.left,
              PLURAL(counts.left), counts.left == 1 ? "es" : "", counts.left == 1 ? "s" : "",
              counts.left == 1 ? "it" : "them");
    if (counts.is_tuned)
      fprintf(stderr, "halotune: a tune goes on in this database, so stencils, templates and so on that no result uses"
                      " any more stay\n");
    if (counts.wrong > 0)
      fprintf(
          stderr,
          "halotune: %ld of these measurements say%s that a variant is wrong: lookups may serve that variant again\n",
          counts.wrong, counts.wrong == 1 ? "s" : "");
    if (varying > 0)
      fprintf(stderr,
              "halotune: %ld GPU%s or template%s of this signer stay%s, because results of others use %s; import their"
              " files again, so that their own clocks and texts count\n",
              varying, PLURAL(varying), PLURAL(varying), varying == 1 ? "s" : "", varying == 1 ? "it" : "them");
    if (!sure) fprintf(stderr, "halotune: nothing was removed yet; add --yes to do it\n");
    else if (counts.fitted > 0)
      fprintf(stderr, "halotune: your own coefficients of predicted times stay, and may be fitted to times that were"
                      " removed; 'halotune db fit' makes them anew\n");
  }
  store_close(store);
  free(device);
  free(name);
  return status;
}
