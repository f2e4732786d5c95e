/* command_table.c: the table of commands, and what the values of their options and arguments can be. */
#include "tuner/cli/help/command_table.h"

#include <string.h>

#include "base/memory/array.h"

const struct command *const command_table[] = {
    &command_list,       &command_show,
    &command_space,      &command_generate,
    &command_doctor,     &command_tune,
    &command_query,      &command_run,
    &command_explain,    &command_bench,
    &command_compare,    &command_report,
    &command_verify,     &command_selftest,
    &command_compile,    &command_accesses,
    &command_reference,  &command_db,
    &command_key,        &command_trust,
    &command_fleet,      &command_cache,
    &command_new,        &command_manual,
    &command_completion, NULL,
};

const char *command_group(const struct command *command) {
  static const struct {
    const struct command *first;
    const char *heading;
  } groups[] = {
      {&command_list, "What there is"},
      {&command_tune, "Find the fastest kernel, and use it"},
      {&command_verify, "Check kernels, and look into them"},
      {&command_db, "Databases, and who is trusted"},
      {&command_new, "More"},
  };
  for (size_t i = 0; i < COUNT(groups); i++) {
    if (groups[i].first == command) return groups[i].heading;
  }
  return NULL;
}

const struct option_row common_options[] = {
    {"color", "WHEN", "colours: auto (on a terminal, unless $NO_COLOR is set; the default), always or never"},
    {"help", NULL, "this text"},
    {0},
};

const struct command *command_find(const char *name) {
  for (const struct command *const *command = command_table; *command; command++) {
    if (strcmp(name, (*command)->name) == 0) return *command;
  }
  return NULL;
}

struct option_values option_values_of(const struct option_row *option) {
  static const struct {
    const char *text; /* the option's name, or how help names its value */
    const char *what; /* part of the option's text, if options of this name differ */
    struct option_values values;
  } known[] = {
      {"dtype", "or all", {VALUE_WORDS, "f32 f64 all"}},
      {"dtype", "", {VALUE_WORDS, "f32 f64"}},
      {"launch", "", {VALUE_WORDS, "stream graph"}},
      {"objective", "", {VALUE_WORDS, "time energy edp"}},
      {"cache", "", {VALUE_WORDS, "steady cold"}},
      {"backend", "gpu (", {VALUE_WORDS, "gpu cpu"}},
      {"backend", "cuda (", {VALUE_WORDS, "cuda host replay:"}},
      {"backend", "", {VALUE_WORDS, "host"}},
      {"strategy", "", {VALUE_WORDS, "local model random exhaustive"}},
      {"format", "", {VALUE_WORDS, "json t4"}},
      {"input", "smooth", {VALUE_WORDS, "smooth random wide"}},
      {"color", "", {VALUE_WORDS, "auto always never"}},
      {"TEMPLATE", "", {VALUE_TEMPLATE, ""}},
      {"template", "", {VALUE_TEMPLATE, ""}},
      {"FILE", "", {VALUE_FILE, ""}},
      {"KEYFILE", "", {VALUE_FILE, ""}},
      {"FOLDER", "", {VALUE_FOLDER, ""}},
  };
  if (!option->argument) return (struct option_values){VALUE_NONE, ""};
  for (size_t i = 0; i < COUNT(known); i++) {
    const bool is_named = strcmp(option->name, known[i].text) == 0 || strcmp(option->argument, known[i].text) == 0;
    if (is_named && strstr(option->what, known[i].what)) return known[i].values;
  }
  return (struct option_values){VALUE_FREE, ""};
}

struct argument_values argument_values_of(const struct command *command) {
  static const struct {
    const char *name, *words;
    bool takes_files;
  } known[] = {
      {"list", "stencils templates gpus", false},
      {"db", "info check merge import export fit forget refresh", true},
      {"new", "template", false},
      {"cache", "show clean", false},
      {"key", "new show", true},
      {"trust", "add list remove", true},
      {"fleet", "status", true},
      {"completion", "bash zsh fish", false},
  };
  struct argument_values values = {"", strstr(command->arguments, "STENCIL") != NULL,
                                   strstr(command->arguments, "FILE") != NULL};
  for (size_t i = 0; i < COUNT(known); i++) {
    if (strcmp(command->name, known[i].name) != 0) continue;
    values.words = known[i].words;
    values.takes_files = known[i].takes_files;
  }
  return values;
}
