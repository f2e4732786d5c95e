/* tune_tools.c: opened in the order in which equally near winners count. */
#include "tuner/cli/tune/tune_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

halotune_status hint_stores_open(const struct invocation *invocation, struct hint_stores *out) {
  const char *named = option_value(invocation, "hints");
  *out = (struct hint_stores){.count = 0};
  if (named && option_value(invocation, "no-hints"))
    return fail(HALOTUNE_ARGUMENT, "--no-hints leaves nothing for --hints to do");
  if (named) {
    halotune_status status = store_open(named, STORE_READ, &out->list[out->count]);
    if (status != HALOTUNE_OK) return status;
    out->count++;
  }
  char *starter = NULL;
  halotune_status status = store_starter_path(&starter);
  if (status == HALOTUNE_OK && access(starter, R_OK) == 0) {
    if (store_open(starter, STORE_READ, &out->list[out->count]) == HALOTUNE_OK) out->count++;
    else fprintf(stderr, "halotune: no hints from it: %s\n", fail_text());
  }
  free(starter);
  return status;
}

void hint_stores_close(struct hint_stores *stores) {
  for (int i = 0; i < stores->count; i++) store_close(stores->list[i]);
  stores->count = 0;
}
