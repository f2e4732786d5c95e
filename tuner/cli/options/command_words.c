/* command_words.c: writes the command, its arguments and its options. */
#include "tuner/cli/options/command_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"

static bool is_listed(const char *const *names, const char *name) {
  for (; names && *names; names++) {
    if (strcmp(*names, name) == 0) return true;
  }
  return false;
}

/* Add an argument. One that begins with a hyphen stood behind --, and is the name of a file, because names of stencils
 * have no hyphen. It gets ./ in front, since options follow the arguments. */
static bool add_argument(struct command_words *words, const char *argument) {
  char *path = NULL;
  if (*argument == '-' && asprintf(&path, "./%s", argument) < 0) return false;
  if (path) words->names[words->name_count++] = path;
  command_words_add(words, path ? path : argument);
  return true;
}

halotune_status command_words_make(const struct invocation *invocation, const char *const *without, int more,
                                   struct command_words *out) {
  const struct option_row *options = invocation->command->options;
  size_t room = (size_t)invocation->argument_count + (size_t)more + 2 * (size_t)MAX_OPTIONS + 2;
  *out = (struct command_words){.count = 0};
  out->list = calloc(room, sizeof *out->list);
  out->names = calloc((size_t)invocation->argument_count + MAX_OPTIONS, sizeof *out->names);
  bool ok = out->list && out->names;
  if (ok) command_words_add(out, invocation->command->name);
  for (int i = 0; i < invocation->argument_count && ok; i++) ok = add_argument(out, invocation->arguments[i]);
  for (int i = 0; options[i].name && ok; i++) {
    const char *value = invocation->values[i];
    if (!value || is_listed(without, options[i].name)) continue;
    char *name = NULL;
    if (!(ok = asprintf(&name, "--%s", options[i].name) > 0)) break;
    out->names[out->name_count++] = name;
    command_words_add(out, name);
    if (options[i].argument) command_words_add(out, value);
  }
  if (ok) return HALOTUNE_OK;
  command_words_free(out);
  return fail_memory();
}

void command_words_add(struct command_words *words, const char *word) { words->list[words->count++] = word; }

void command_words_free(struct command_words *words) {
  for (int i = 0; i < words->name_count; i++) free(words->names[i]);
  free(words->names);
  free(words->list);
  *words = (struct command_words){.count = 0};
}

void command_words_text(const struct command_words *words, struct text *text) {
  text_printf(text, "halotune");
  for (int i = 0; i < words->count; i++) {
    const size_t bytes = strlen(words->list[i]) + 1; /* the copy is not longer */
    char *printable = malloc(bytes);
    text_printf(text, " ");
    if (printable) printable_name(printable, bytes, words->list[i]);
    if (printable) text_shell_word(text, printable);
    else text->out_of_memory = true;
    free(printable);
  }
}
