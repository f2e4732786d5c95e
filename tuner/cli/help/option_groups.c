/* option_groups.c: which group an option belongs to. */
#include "tuner/cli/help/option_groups.h"

#include <stdio.h>
#include <string.h>

#include "base/memory/array.h"
#include "tuner/cli/help/command_table.h"

enum { FEW_OPTIONS = 6 }; /* so few options form one group */

/* The groups in the order in which they are shown. The last group has the options that are in no other. */
static const struct {
  const char *heading, *options;
} kinds[] = {
    {"The problem", " all stencil dtype grid steps launch cache plan resume gpus "},
    {"Which results", " "},
    {"Which variants", " template template-dir set sample reproducible single-steps "},
    {"Where it runs", " gpu device members backend arch sms workers threads in-process hang-timeout "},
    {"The search",
     " strategy budget deadline max-variants good-enough objective measure in-flight seed compile-timeout fresh hints no-hints"
     " rematch "},
    {"The check", " time tolerance wrappers no-large-planes sanitize fail-fast "},
    {"Files and output",
     " input output counters db no-cache trace dry-run list long prelude source header why count json color"
     " help "},
};

/* Options that belong to another group in some commands. */
static const struct {
  const char *command, *option, *heading;
} others[] = {
    {"compare", "device", "Which results"},     {"compare", "driver", "Which results"},
    {"compare", "date", "Which results"},       {"compare", "stencil", "Which results"},
    {"compare", "all", "Files and output"},     {"report", "stencil", "Which results"},
    {"report", "device", "Which results"},      {"explain", "device", "Which results"},
    {"query", "device", "Which results"},       {"run", "set", "The problem"},
    {"reference", "input", "The problem"},      {"reference", "seed", "The problem"},
    {"verify", "seed", "Which variants"},       {"selftest", "seed", "Which variants"},
    {"compile", "seed", "Which variants"},      {"accesses", "seed", "Which variants"},
    {"explain", "reproducible", "The problem"},
};

/* The length of "merge, import" in "merge, import: take no machine code" if the command has such parts; else 0. */
static size_t parts_length(const struct command *command, const struct option_row *option) {
  const char *words = argument_values_of(command).words;
  const size_t length = strcspn(option->what, ":"), first = strcspn(option->what, ":, ");
  if (option->what[length] != ':' || first == 0) return 0;
  for (const char *word = words; *word; word += strcspn(word, " "), word += strspn(word, " ")) {
    if (strcspn(word, " ") == first && strncmp(word, option->what, first) == 0) return length;
  }
  return 0;
}

static const char *heading_of(const struct command *command, const struct option_row *option) {
  char name[40];
  for (size_t i = 0; i < COUNT(others); i++) {
    if (strcmp(command->name, others[i].command) == 0 && strcmp(option->name, others[i].option) == 0)
      return others[i].heading;
  }
  snprintf(name, sizeof name, " %s ", option->name);
  for (size_t i = 0; i < COUNT(kinds); i++) {
    if (strstr(kinds[i].options, name)) return kinds[i].heading;
  }
  return kinds[COUNT(kinds) - 1].heading;
}

static void put_row(struct option_group *groups, int *count, const char *heading, size_t length,
                    const struct option_row *row) {
  int at = 0;
  while (at < *count && (strncmp(groups[at].heading, heading, length) != 0 || groups[at].heading[length])) at++;
  if (at == MOST_OPTION_GROUPS) at--;
  if (at == *count) {
    groups[at] = (struct option_group){.count = 0};
    snprintf(groups[at].heading, sizeof groups[at].heading, "%.*s", (int)length, heading);
    ++*count;
  }
  if (groups[at].count < MAX_OPTIONS) groups[at].rows[groups[at].count++] = row;
}

/* Add the options of a heading from both tables. Without a heading, add all options. */
static void put_rows(const struct command *command, const char *heading, const char *shown, struct option_group *groups,
                     int *count) {
  const struct option_row *const tables[] = {command->options, common_options};
  for (size_t i = 0; i < COUNT(tables); i++) {
    for (const struct option_row *row = tables[i]; row->name; row++) {
      const bool is_of_part = parts_length(command, row) > 0;
      if (!heading || (!is_of_part && strcmp(heading_of(command, row), heading) == 0))
        put_row(groups, count, shown, strlen(shown), row);
    }
  }
}

int option_groups(const struct command *command, struct option_group out[MOST_OPTION_GROUPS]) {
  int count = 0, options = 0;
  while (command->options[options].name) options++;
  if (options + 2 <= FEW_OPTIONS) { /* --color and --help */
    put_rows(command, NULL, "Options", out, &count);
    return count;
  }
  for (const struct option_row *row = command->options; row->name; row++) {
    const size_t length = parts_length(command, row);
    if (length > 0) put_row(out, &count, row->what, length, row);
  }
  for (size_t i = 0; i < COUNT(kinds); i++) put_rows(command, kinds[i].heading, kinds[i].heading, out, &count);
  return count;
}

const char *option_what(const struct option_group *group, const struct option_row *row) {
  const size_t length = strlen(group->heading);
  const bool has_heading = strncmp(row->what, group->heading, length) == 0 && row->what[length] == ':';
  return has_heading ? row->what + length + strspn(row->what + length, ": ") : row->what;
}
