/* command_line.h: a command line made anew from what was read of it. */
#ifndef CLI_OPTIONS_COMMAND_LINE_H
#define CLI_OPTIONS_COMMAND_LINE_H

#include "base/text.h"
#include "tuner/cli/options/command.h"

/* The words behind "halotune": "tune", "star7", "--grid", "96,96,96". Owned by nobody: they are those of the
 * invocation, and of `names`. Start with {0}, end with command_words_free. */
struct command_words {
  const char **list; /* NULL at the end */
  char **names;      /* "--grid" */
  int count, name_count;
};

/* Collect them.
 *   without  names of options that are left out, NULL at the end; may be NULL
 *   more     how many words the caller will add at the end
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status command_words_make(const struct invocation *invocation, const char *const *without, int more,
                                   struct command_words *out);
void command_words_add(struct command_words *words, const char *word);
void command_words_free(struct command_words *words);

/* Append "halotune tune star7 --grid 96,96,96", with quotes where a shell needs them. */
void command_words_text(const struct command_words *words, struct text *text);

#endif
