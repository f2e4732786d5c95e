/* completion.c: `halotune completion SHELL` prints the file that completes command lines in bash, zsh or fish. It is
 * written from the table of commands, so it never lags behind. */
#include <stdio.h>
#include <string.h>

#include "base/memory/array.h"
#include "tuner/cli/help/command_table.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/output/terminal.h"

static void print_options(const struct command *command) {
  for (const struct option_row *option = command->options; option->name; option++) printf("--%s ", option->name);
  for (const struct option_row *option = common_options; option->name; option++)
    printf("--%s%s", option->name, option[1].name ? " " : "");
}

static void print_command_names(void) {
  for (const struct command *const *command = command_table; *command; command++) printf("%s ", (*command)->name);
}

/* The names of stencils and templates come from the program itself when they are asked for. */
#define NAMES_OF_STENCILS "halotune list stencils 2>/dev/null | awk 'NR > 1 {print $1}'"
#define NAMES_OF_TEMPLATES "halotune list templates 2>/dev/null | awk -F: '/^[a-z]/ {print $1}'"

/* --- bash: one function, with a case for each option that takes a value */

static void print_bash_option(const struct option_row *option) {
  const struct option_values values = option_values_of(option);
  if (values.kind == VALUE_NONE) return;
  printf("        --%s) ", option->name);
  switch (values.kind) {
  case VALUE_WORDS: printf("words=\"%s\"", values.words); break;
  case VALUE_FILE: printf("_halotune_files -f; return"); break;
  case VALUE_FOLDER: printf("_halotune_files -d; return"); break;
  case VALUE_TEMPLATE: printf("words=$(" NAMES_OF_TEMPLATES ")"); break;
  case VALUE_FREE: printf("return"); break;
  case VALUE_NONE: break;
  }
  printf(" ;;\n");
}

static void print_bash_options(const struct option_row *options) {
  for (const struct option_row *option = options; option->name; option++) print_bash_option(option);
}

static void print_bash(void) {
  printf(
      "# halotune: completion for bash. Source this file, or put it into a folder that bash-completion reads.\n"
      "# Offer files. \"filenames\" lets bash quote what is special in a name, which would be executed as part of the line.\n"
      "_halotune_files() {\n"
      "  mapfile -t COMPREPLY < <(compgen \"$@\" -- \"$word\")\n"
      "  if [ ${#COMPREPLY[@]} != 0 ]; then compopt -o filenames 2>/dev/null; fi\n"
      "}\n"
      "_halotune() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
      "  COMPREPLY=()\n"
      "  if [ \"$word\" = = ]; then word=; fi\n"
      "  if [ \"$before\" = = ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
      "  if [ \"$COMP_CWORD\" = 1 ]; then\n    words=\"");
  print_command_names();
  printf("help --help --version\"\n  else\n    case ${COMP_WORDS[1]} in\n");
  for (const struct command *const *command = command_table; *command; command++) {
    const struct argument_values arguments = argument_values_of(*command);
    printf("    %s)\n      case $before in\n", (*command)->name);
    print_bash_options((*command)->options);
    print_bash_options(common_options);
    printf("        -o) _halotune_files -f; return ;;\n"
           "        *)\n          case $word in\n            -*) words=\"");
    print_options(*command);
    printf("\" ;;\n            *) words=\"");
    printf("%s%s\"", arguments.words, arguments.takes_stencils ? "$(" NAMES_OF_STENCILS ")" : "");
    if (arguments.takes_stencils) printf("; _halotune_files -f -X '!*.yaml'");
    else if (arguments.takes_files) printf("; _halotune_files -f");
    printf(" ;;\n");
    printf("          esac ;;\n      esac ;;\n");
  }
  printf("    help) words=\"");
  print_command_names();
  printf("\" ;;\n    esac\n  fi\n"
         "  COMPREPLY+=($(compgen -W \"$words\" -- \"$word\"))\n"
         "}\n"
         "complete -F _halotune halotune\n");
}

/* --- zsh: _arguments, with the text of help beside each option */

/* Print a text of help inside brackets and single quotes. */
static void print_zsh_text(const char *text) {
  for (; *text; text++) {
    if (strchr("[]:\\", *text)) putchar('\\');
    if (*text == '\'') printf("'\\''");
    else putchar(*text);
  }
}

static void print_zsh_option(const struct option_row *option) {
  const struct option_values values = option_values_of(option);
  printf("        '--%s%s[", option->name, values.kind == VALUE_NONE ? "" : "=");
  print_zsh_text(option->what);
  printf("]");
  if (values.kind != VALUE_NONE) {
    printf(":");
    print_zsh_text(option->argument);
    printf(":");
  }
  if (values.kind == VALUE_WORDS) printf("(%s)", values.words);
  if (values.kind == VALUE_FILE) printf("_files");
  if (values.kind == VALUE_FOLDER) printf("_files -/");
  if (values.kind == VALUE_TEMPLATE) printf("_halotune_templates");
  printf("' \\\n");
}

static void print_zsh(void) {
  printf("#compdef halotune\n"
         "# halotune: completion for zsh. Put it as _halotune into a folder of $fpath, or source it after compinit.\n"
         "_halotune_stencils() { compadd -- ${(f)\"$(" NAMES_OF_STENCILS ")\"}; _files -g '*.yaml' }\n"
         "_halotune_templates() { compadd -- ${(f)\"$(" NAMES_OF_TEMPLATES ")\"} }\n"
         "_halotune_words_or_files() { compadd -- $argv; _files }\n"
         "_halotune() {\n"
         "  if (( CURRENT == 2 )); then\n"
         "    local -a commands=(\n");
  for (const struct command *const *command = command_table; *command; command++) {
    printf("      '%s:", (*command)->name);
    print_zsh_text((*command)->what);
    printf("'\n");
  }
  printf("      'help:show the options of a command'\n    )\n    _describe command commands\n    return\n  fi\n"
         "  case $words[2] in\n");
  for (const struct command *const *command = command_table; *command; command++) {
    const struct argument_values arguments = argument_values_of(*command);
    printf("    %s)\n      _arguments : \\\n", (*command)->name);
    for (const struct option_row *option = (*command)->options; option->name; option++) print_zsh_option(option);
    for (const struct option_row *option = common_options; option->name; option++) print_zsh_option(option);
    printf("        '2:: :' \\\n        '*:");
    if (*arguments.words && arguments.takes_files) printf("what:_halotune_words_or_files %s", arguments.words);
    else if (*arguments.words) printf("what:(%s)", arguments.words);
    else printf(arguments.takes_stencils ? "stencil:_halotune_stencils" : "file:_files");
    printf("' ;;\n");
  }
  printf("    help) compadd -- ");
  print_command_names();
  printf(
      ";;\n  esac\n}\nif [ \"$funcstack[1]\" = _halotune ]; then _halotune \"$@\"; else compdef _halotune halotune; fi\n");
}

/* --- fish: a line for each option */

/* Print a text inside single quotes. */
static void print_fish_text(const char *text) {
  putchar('\'');
  for (; *text; text++) {
    if (*text == '\'' || *text == '\\') putchar('\\');
    putchar(*text);
  }
  putchar('\'');
}

static void print_fish_option(const struct command *command, const struct option_row *option) {
  const struct option_values values = option_values_of(option);
  printf("complete -c halotune -n '__fish_seen_subcommand_from %s' -l %s -d ", command->name, option->name);
  print_fish_text(option->what);
  if (strcmp(option->name, "output") == 0) printf(" -s o");
  switch (values.kind) {
  case VALUE_NONE: break;
  case VALUE_FREE: printf(" -x"); break;
  case VALUE_FILE: printf(" -r -F"); break;
  case VALUE_FOLDER: printf(" -x -a '(__fish_complete_directories)'"); break;
  case VALUE_TEMPLATE: printf(" -x -a '(__halotune_templates)'"); break;
  case VALUE_WORDS: printf(" -x -a '%s'", values.words); break;
  }
  printf("\n");
}

static void print_fish(void) {
  printf("# halotune: completion for fish. Put it as halotune.fish into ~/.config/fish/completions.\n"
         "function __halotune_stencils\n  " NAMES_OF_STENCILS "\nend\n"
         "function __halotune_templates\n  " NAMES_OF_TEMPLATES "\nend\n"
         "complete -c halotune -f\n");
  for (const struct command *const *at = command_table; *at; at++) {
    const struct command *command = *at;
    const struct argument_values arguments = argument_values_of(command);
    printf("complete -c halotune -n __fish_use_subcommand -a %s -d ", command->name);
    print_fish_text(command->what);
    printf("\n");
    for (const struct option_row *option = command->options; option->name; option++) print_fish_option(command, option);
    for (const struct option_row *option = common_options; option->name; option++) print_fish_option(command, option);
    if (!*arguments.words && !arguments.takes_stencils && !arguments.takes_files) continue;
    printf("complete -c halotune -n '__fish_seen_subcommand_from %s' -a '%s", command->name, arguments.words);
    if (arguments.takes_files) printf("%s(__fish_complete_path)", *arguments.words ? " " : "");
    if (arguments.takes_stencils) printf("(__halotune_stencils) (__fish_complete_suffix .yaml)");
    printf("'\n");
  }
  printf("complete -c halotune -n __fish_use_subcommand -a help -d 'show the options of a command'\n");
}

static enum exit_code completion_run(const struct invocation *invocation) {
  enum { BASH, ZSH, FISH };
  int shell;
  static const char *const shells[] = {"bash", "zsh", "fish"};
  halotune_status status = word_find("completion", invocation->arguments[0], shells, COUNT(shells), &shell);
  if (status != HALOTUNE_OK) return report_failure(status);
  terminal_keep_lines();
  if (shell == BASH) print_bash();
  if (shell == ZSH) print_zsh();
  if (shell == FISH) print_fish();
  return HALOTUNE_EXIT_SUCCESS;
}

static const struct option_row completion_options[] = {{0}};

const struct command command_completion = {
    .name = "completion",
    .arguments = "SHELL",
    .least_arguments = 1,
    .most_arguments = 1,
    .what = "print the file that completes command lines in bash, zsh or fish",
    .options = completion_options,
    .run = completion_run,
};
