/* command_words.h: writes the command line again from the parsed invocation. */
#ifndef CLI_OPTIONS_COMMAND_WORDS_H
#define CLI_OPTIONS_COMMAND_WORDS_H

#include "base/text/text.h"
#include "tuner/cli/options/command.h"

/* The words after "halotune": "tune", "star7", "--grid", "96,96,96". They point into the invocation and into `names`.
 * End with command_words_free. */
struct command_words {
  const char **list; /* NULL at the end */
  char **names;      /* "--grid", and arguments that were changed */
  int count, name_count;
};

/* Collect the words.
 *   without  names of options to leave out, with NULL at the end; NULL for none
 *   more     words for which command_words_add needs room
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status command_words_make(const struct invocation *invocation, const char *const *without, int more,
                                   struct command_words *out);
void command_words_add(struct command_words *words, const char *word);
void command_words_free(struct command_words *words);

/* Append "halotune tune star7 --grid 96,96,96", with quotes where a shell needs them. A database keeps the text, so
 * that characters which cannot be printed become '?'. */
void command_words_text(const struct command_words *words, struct text *text);

#endif
