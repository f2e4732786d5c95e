/* db_refresh.c: `halotune db refresh`: brings the templates of winners, finalists and wrong variants up to date, and
 * command lines of runs. */
#include <stdio.h>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "db/exchange/refresh.h"
#include "library/lookup/installed.h"
#include "tuner/cli/db/db.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/tune/tuning_lock.h"

struct printing {
  bool is_dry;
  int lines;
};

static void refreshed_print(void *context, const struct refreshed *refreshed) {
  struct printing *printing = context;
  char name[FAIL_TEXT_BYTES];
  const bool is_one = refreshed->variants == 1;
  const char *verdict = is_one ? "stays stale" : "stay stale";
  if (refreshed->outcome == REFRESH_SAME) verdict = printing->is_dry ? "would be refreshed" : "refreshed";
  printing->lines++;
  printable_name(name, sizeof name, refreshed->template_name);
  printf("%s: %ld variant%s %s: %s\n", name, refreshed->variants, PLURAL(refreshed->variants), verdict,
         refresh_outcome_texts[refreshed->outcome]);
}

halotune_status db_refresh(const struct invocation *invocation) {
  const char *path = option_value(invocation, "db");
  struct printing printing = {.is_dry = option_given(invocation, "dry-run")};
  struct store *store = NULL;
  int64_t commands = 0;
  halotune_status status = db_must_exist(path);
  if (status == HALOTUNE_OK) status = store_open(path, printing.is_dry ? STORE_READ : STORE_WRITE, &store);
  if (status == HALOTUNE_OK)
    status = store_refresh(store, installed_template, tuning_lock_is_held, printing.is_dry, refreshed_print, &printing);
  if (status == HALOTUNE_OK) status = store_refresh_commands(store, printing.is_dry, &commands);
  if (status == HALOTUNE_OK && commands > 0)
    printf("%lld command line%s of runs %s '?' for characters that cannot be printed\n", (long long)commands,
           PLURAL(commands), printing.is_dry ? "would get" : "got");
  if (status == HALOTUNE_OK && printing.lines == 0)
    fprintf(stderr, "halotune: all winners and finalists are of installed templates\n");
  store_close(store);
  return status;
}
