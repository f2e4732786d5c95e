/* tune_tools.h: the databases whose winners a search tries first, beside those of the one that it writes. */
#ifndef CLI_TUNE_TUNE_TOOLS_H
#define CLI_TUNE_TUNE_TOOLS_H

#include "db/store/store.h"
#include "tuner/cli/options/option_value.h"

/* End with hint_stores_close. */
struct hint_stores {
  struct store *list[2];
  int count;
};

/* Open, to be read only, the one that --hints names and the one that ships; with --no-hints the latter is there for the roof
 * alone, of which a search learns nothing. Of the latter it is said on stderr where it cannot be read.
 *   out  after a failure hint_stores_close is harmless
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for both options; or what store_open returns for the one that is named. */
halotune_status hint_stores_open(const struct invocation *invocation, struct hint_stores *out);

void hint_stores_close(struct hint_stores *stores);

#endif
