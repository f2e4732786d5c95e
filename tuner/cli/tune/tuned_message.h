/* tuned_message.h: the rows of a task that a member ran alone, as bytes for its leader and back. */
#ifndef CLI_TUNE_TUNED_MESSAGE_H
#define CLI_TUNE_TUNED_MESSAGE_H

#include "base/files/pack.h"
#include "tuner/cli/tune/tune_task.h"

/* Append the rows, without the report of a crew. Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for more rows than tuned_read
 * takes; or HALOTUNE_MEMORY. */
halotune_status tuned_write(struct text *out, const struct tuned_list *rows);

/* Read the rows of a task, and append them to `rows`. Returns false for bytes that are not rows; some rows may have
 * been added then. */
bool tuned_read(struct unpack *in, const struct planned_task *planned, struct tuned_list *rows);

#endif
