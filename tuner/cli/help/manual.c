/* manual.c: `halotune manual [COMMAND]` prints a manual page in mdoc, the format of manual pages. It is written from
 * the table of commands. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/memory/array.h"
#include "tuner/cli/help/command_table.h"
#include "tuner/cli/help/examples.h"
#include "tuner/cli/help/option_groups.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/output/terminal.h"

enum { LINE_LETTERS = 78 };

/* Print a text in the form that mdoc needs: backslashes are doubled, no line begins with a dot or a quote, lines are
 * short, and each sentence begins a line. */
static void print_text(const char *text) {
  size_t column = 0;
  while (*text) {
    const size_t length = strcspn(text, " ");
    if (column > 0 && column + 1 + length > LINE_LETTERS) {
      putchar('\n');
      column = 0;
    }
    if (column > 0) putchar(' ');
    else if (*text == '.' || *text == '\'') printf("\\&");
    for (size_t i = 0; i < length; i++) printf(text[i] == '\\' ? "\\e" : "%c", text[i]);
    column += length + 1;
    const bool ends_sentence = length > 0 && strchr(".?", text[length - 1]) && text[length] == ' ';
    text += length + strspn(text + length, " ");
    if (ends_sentence && *text && !islower((unsigned char)*text)) {
      putchar('\n');
      column = 0;
    }
  }
  putchar('\n');
}

/* Print a line of a shell as the rest of a line of mdoc. */
static void print_line(const char *line) {
  for (; *line; line++) {
    if (*line == '\\') printf("\\e");
    else if (*line == '"') printf("\\(dq");
    else putchar(*line);
  }
  putchar('\n');
}

static void print_heading(const char *name, const char *what) {
  printf(".Dd $Mdocdate$\n.Dt ");
  for (const char *letter = name; *letter; letter++) putchar(toupper((unsigned char)*letter));
  printf(" 1\n.Os\n.Sh NAME\n.Nm %s\n.Nd ", name);
  print_text(what);
}

static void print_exit_codes(void) {
  printf(".Sh EXIT STATUS\n.Bl -tag -width Ds -compact\n");
#define AS_ITEM(name, number, text) printf(".It %d\n", number), print_text(text);
  EXIT_LIST(AS_ITEM)
#undef AS_ITEM
  printf(".El\n");
}

static void print_option_group(const struct option_group *group) {
  printf(".Ss %s\n.Bl -tag -width Ds\n", group->heading);
  for (int i = 0; i < group->count; i++) {
    const struct option_row *option = group->rows[i];
    printf(".It %sFl -%s", strcmp(option->name, "output") == 0 ? "Fl o , " : "", option->name);
    if (option->argument) printf(" Ar %s", option->argument);
    printf("\n");
    print_text(option_what(group, option));
  }
  printf(".El\n");
}

/* Print a text as a sentence: with a capital letter, and a stop at its end. */
static void print_sentence(const char *text, const char *end) {
  char sentence[256];
  snprintf(sentence, sizeof sentence, "%s%s", text, strpbrk(text, "?") ? "" : end);
  sentence[0] = (char)toupper((unsigned char)sentence[0]);
  print_text(sentence);
}

static void print_examples(const char *command) {
  printf(".Sh EXAMPLES\n");
  for (const struct example *example = examples_of(command); example->line; example++) {
    print_sentence(example->what, ":");
    printf(".Pp\n.Dl ");
    print_line(example->line);
    if (example[1].line) printf(".Pp\n");
  }
}

static void print_command(const struct command *command) {
  struct option_group groups[MOST_OPTION_GROUPS];
  char name[64];
  snprintf(name, sizeof name, "halotune-%s", command->name);
  print_heading(name, command->what);
  printf(".Sh SYNOPSIS\n.Nm halotune\n.Cm %s\n", command->name);
  if (command->options[0].name) printf(".Op Ar OPTION ...\n");
  if (*command->arguments) printf(".Ar %s\n", command->arguments);
  printf(".Sh DESCRIPTION\n");
  print_sentence(command->what, ".");
  const int count = option_groups(command, groups);
  for (int i = 0; i < count; i++) print_option_group(&groups[i]);
  print_exit_codes();
  print_examples(command->name);
  printf(".Sh SEE ALSO\n.Xr halotune 1\n");
}

static void print_program(void) {
  print_heading("halotune", "find the fastest stencil kernels for an NVIDIA GPU");
  printf(".Sh SYNOPSIS\n.Nm\n.Ar COMMAND\n.Op Ar OPTION ...\n.Op Ar ARGUMENT ...\n.Sh DESCRIPTION\n"
         "Halotune writes CUDA variants of a stencil from templates.\n"
         "It compiles each one at run time, checks it against a reference, measures it,\n"
         "and stores the winner of each GPU in a database.\n.Pp\nThe commands are:\n"
         ".Bl -tag -width selftest\n");
  for (const struct command *const *command = command_table; *command; command++) {
    printf(".It Cm %s%s%s\n", (*command)->name, *(*command)->arguments ? " Ar " : "", (*command)->arguments);
    print_text((*command)->what);
  }
  printf(".El\n.Pp\nEach command has a manual page of its own, such as\n.Xr halotune-tune 1 .\n"
         ".Sh ENVIRONMENT\n.Bl -tag -width Ds\n"
         ".It Ev HALOTUNE_DB\nThe user's database.\n"
         ".It Ev HALOTUNE_PATH\nFolders with stencils, separated by colons.\n"
         ".It Ev HALOTUNE_TEMPLATE_PATH\nFolders with templates, separated by colons.\n"
         ".It Ev HALOTUNE_PIPE_TIMEOUT\nSeconds for which a pipe that you name is waited for, 600 by default.\n"
         ".It Ev CUDA_HOME\nThe folder of the CUDA Toolkit.\n"
         ".It Ev NO_COLOR\nIf it is set, nothing is printed in colours.\n.El\n");
  print_exit_codes();
  print_examples("");
  printf(".Sh SEE ALSO\n.Xr halotune-query 1 ,\n.Xr halotune-report 1 ,\n.Xr halotune-tune 1\n");
}

static enum exit_code manual_run(const struct invocation *invocation) {
  terminal_keep_lines();
  if (invocation->argument_count == 0) {
    print_program();
    return HALOTUNE_EXIT_SUCCESS;
  }
  const struct command *command = command_find(invocation->arguments[0]);
  if (!command) return report_failure(fail(HALOTUNE_NOT_FOUND, "there is no command '%s'", invocation->arguments[0]));
  print_command(command);
  return HALOTUNE_EXIT_SUCCESS;
}

static const struct option_row manual_options[] = {{0}};

const struct command command_manual = {
    .name = "manual",
    .arguments = "[COMMAND]",
    .least_arguments = 0,
    .most_arguments = 1,
    .what = "print a manual page, for man -l: of the program, or of a command",
    .options = manual_options,
    .run = manual_run,
};
