/* compare.c: `halotune compare BEFORE AFTER`: shows which winners became faster or slower from one database to
 * another, or within one database from one GPU, driver or date to another. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/cli/compare/compare_rows.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/output/terminal.h"

/* Two winners of one problem. */
struct pair {
  const struct compare_row *before, *after;
  enum change change;
};

/* The command line, the winners of both sides, and their comparison. */
struct comparison {
  struct compare_side before, after;
  bool by_device;
  double tolerance;
  char *texts[2]; /* the values of --device and --driver, each cut in two */
  struct compare_rows rows[2];
  struct pair *pairs;
  int pair_count, counts[CHANGE_SLOWER + 1], alone[2]; /* alone: problems that only one side has */
};

/* Read "OLD,NEW" for two sides, or "NAME" for both. */
static halotune_status option_sides(const struct invocation *invocation, const char *name, char **owner,
                                    const char **before, const char **after) {
  const char *value = option_value(invocation, name);
  if (!value) return HALOTUNE_OK;
  if (!(*owner = strdup(value))) return fail_memory();
  char *comma = strchr(*owner, ',');
  if (comma) *comma = '\0';
  *before = *owner;
  *after = comma ? comma + 1 : *owner;
  if (**before == '\0' || **after == '\0')
    return fail(HALOTUNE_ARGUMENT, "--%s takes one name for both sides, or two, such as OLD,NEW; not '%s'", name,
                value);
  return HALOTUNE_OK;
}

static halotune_status options_read(const struct invocation *invocation, struct comparison *c) {
  const char *date = NULL;
  halotune_status status = option_tolerance(invocation, 0.02, &c->tolerance);
  if (status == HALOTUNE_OK) status = option_date(invocation, "date", &date);
  if (status == HALOTUNE_OK)
    status = option_sides(invocation, "device", &c->texts[0], &c->before.device, &c->after.device);
  if (status == HALOTUNE_OK)
    status = option_sides(invocation, "driver", &c->texts[1], &c->before.driver, &c->after.driver);
  if (status != HALOTUNE_OK) return status;
  c->by_device = c->before.device == c->after.device;
  c->before.before = c->after.since = date;
  c->before.stencil = c->after.stencil = option_value(invocation, "stencil");
  const bool differ = !c->by_device || c->before.driver != c->after.driver || date;
  if (invocation->argument_count == 1 && !differ)
    return fail(HALOTUNE_ARGUMENT, "compare takes two databases, or one with --device OLD,NEW, --driver OLD,NEW or "
                                   "--date DATE");
  return HALOTUNE_OK;
}

static halotune_status side_read(const char *path, const struct compare_side *side, bool by_device,
                                 struct compare_rows *out) {
  struct store *store;
  halotune_status status = store_open(path, STORE_READ, &store);
  if (status == HALOTUNE_OK) status = compare_rows_read(store, side, by_device, out);
  store_close(store);
  return status;
}

/* Pair the rows of both sides, which are sorted by their keys. */
static halotune_status rows_pair(struct comparison *c) {
  const struct compare_rows *before = &c->rows[0], *after = &c->rows[1];
  int i = 0, k = 0;
  c->pairs = calloc((size_t)before->count + 1, sizeof *c->pairs);
  if (!c->pairs) return fail_memory();
  while (i < before->count && k < after->count) {
    const int order = strcmp(before->list[i].key, after->list[k].key);
    if (order < 0) c->alone[0]++, i++;
    else if (order > 0) c->alone[1]++, k++;
    else {
      struct pair *pair = &c->pairs[c->pair_count++];
      pair->before = &before->list[i++], pair->after = &after->list[k++];
      pair->change = compare_times(pair->before, pair->after, c->tolerance);
      c->counts[pair->change]++;
    }
  }
  c->alone[0] += before->count - i;
  c->alone[1] += after->count - k;
  return c->pair_count > 0 ? HALOTUNE_OK
                           : fail(HALOTUNE_NOT_FOUND, "no problem has a winner on both sides: %d before, %d after",
                                  before->count, after->count);
}

static double ratio_of(const struct pair *pair) { return pair->after->time_ms / pair->before->time_ms; }

/* Compare for sorting: the slowest comes first. */
static int by_ratio(const void *a, const void *b) {
  const double x = ratio_of(a), y = ratio_of(b);
  return x < y ? 1 : x > y ? -1 : 0;
}

/* Whether the table has to say which GPU a row is about. */
static bool has_several_devices(const struct comparison *c) {
  for (int i = 1; i < c->pair_count && c->by_device; i++) {
    if (strcmp(c->pairs[i].before->device, c->pairs[0].before->device) != 0) return true;
  }
  return false;
}

/* The columns of the table that vary. */
struct table {
  int name_columns;
  bool has_before, has_device; /* has_before: there is room for the time before; has_device: rows name their GPUs */
};

/* Append "zmarch -> scatter, NVIDIA H200". */
static void add_winners(struct text *text, const struct pair *pair, bool has_device) {
  const struct compare_row *before = pair->before, *after = pair->after;
  const bool is_new = strcmp(before->winner, after->winner) != 0;
  text_printf(text, "%s%s%s", before->winner, is_new ? " -> " : "", is_new ? after->winner : "");
  if (has_device) text_printf(text, ", %s", before->device);
}

static void pair_print(const struct pair *pair, const struct table *table) {
  static const char *const words[] = {"same", "faster", "slower"};
  static const enum ink inks[] = {INK_NONE, INK_WINNER, INK_FAILURE};
  struct text winners = {0};
  const struct compare_row *before = pair->before, *after = pair->after;
  int columns = printf("%-*s ", table->name_columns, before->problem);
  if (table->has_before) columns += printf("%10.5g ", before->time_ms);
  columns += printf("%10.5g %+7.1f %%  ", after->time_ms, 100 * (ratio_of(pair) - 1));
  printf("%s", pair->change == CHANGE_NONE ? "" : ink(stdout, inks[pair->change]));
  columns += printf("%-6s", words[pair->change]);
  printf("%s", pair->change == CHANGE_NONE ? "" : ink(stdout, INK_NONE));
  add_winners(&winners, pair, table->has_device);
  terminal_last_column(columns, text_string(&winners));
  text_free(&winners);
}

/* Find the columns of the table. The time before is left out if it does not fit but the winners fit without it. */
static struct table table_of(const struct comparison *c, bool all) {
  enum { TIME = 11, FIGURES = 40, GAP = 2 }; /* FIGURES: both times, the change, its word */
  struct table table = {.name_columns = (int)strlen("problem"), .has_device = has_several_devices(c)};
  int winner_columns = (int)strlen("winner"), width = terminal_width();
  for (int i = 0; i < c->pair_count; i++) {
    struct text winners = {0};
    if (!all && c->pairs[i].change == CHANGE_NONE) continue;
    const int columns = (int)strlen(c->pairs[i].before->problem);
    if (columns > table.name_columns) table.name_columns = columns;
    add_winners(&winners, &c->pairs[i], table.has_device);
    if ((int)winners.length > winner_columns) winner_columns = (int)winners.length;
    text_free(&winners);
  }
  const int figures = table.name_columns + FIGURES, whole = figures + GAP + winner_columns;
  table.has_before = whole <= width || (figures <= width && whole - TIME > width);
  return table;
}

static void side_name(struct text *text, const char *path, const struct compare_side *side) {
  text_printf(text, "%s", path);
  if (side->device) text_printf(text, ", %s", side->device);
  if (side->driver) text_printf(text, ", driver %s", side->driver);
  if (side->before) text_printf(text, ", before %s", side->before);
  if (side->since) text_printf(text, ", since %s", side->since);
}

static void comparison_print(const struct comparison *c, char *const *paths, bool all) {
  struct text names = {0};
  const struct table table = table_of(c, all);
  side_name(&names, paths[0], &c->before);
  text_printf(&names, " -> ");
  side_name(&names, paths[1], &c->after);
  printf("%s\n", text_string(&names));
  text_free(&names);
  if (all || c->counts[CHANGE_NONE] < c->pair_count) {
    int columns = printf("%-*s ", table.name_columns, "problem");
    if (table.has_before) columns += printf("%10s ", "before_ms");
    columns += printf("%10s %9s  %-6s", "after_ms", "change", "");
    terminal_last_column(columns, table.has_device ? "winner, GPU" : "winner");
  }
  for (int i = 0; i < c->pair_count; i++) {
    if (all || c->pairs[i].change != CHANGE_NONE) pair_print(&c->pairs[i], &table);
  }
  printf(
      "%d compared: %d faster, %d slower, %d the same within %g %% and their 95 %% intervals; %d only before, %d only "
      "after\n",
      c->pair_count, c->counts[CHANGE_FASTER], c->counts[CHANGE_SLOWER], c->counts[CHANGE_NONE], 100 * c->tolerance,
      c->alone[0], c->alone[1]);
}

static json_t *row_json(const struct compare_row *row) {
  json_t *json = json_object();
  json_put(&json, "time_ms", number_json(row->time_ms));
  json_put(&json, "low_ms", number_json(row->low_ms));
  json_put(&json, "high_ms", number_json(row->high_ms));
  json_put(&json, "template", text_json(row->winner));
  json_put(&json, "device", text_json(row->device));
  json_put(&json, "driver", text_json(row->driver));
  json_put(&json, "date", text_json(row->date));
  return json;
}

static halotune_status comparison_print_json(const struct comparison *c) {
  static const char *const words[] = {"same", "faster", "slower"};
  json_t *json = json_object(), *list = json_array();
  for (int i = 0; i < c->pair_count; i++) {
    const struct pair *pair = &c->pairs[i];
    json_t *entry = json_object();
    json_put(&entry, "problem", text_json(pair->before->problem));
    json_put(&entry, "change", text_json(words[pair->change]));
    json_put(&entry, "ratio", number_json(ratio_of(pair)));
    json_put(&entry, "before", row_json(pair->before));
    json_put(&entry, "after", row_json(pair->after));
    json_add(&list, entry);
  }
  json_put(&json, "tolerance", number_json(c->tolerance));
  json_put(&json, "problems", list);
  json_put(&json, "only_before", json_integer(c->alone[0]));
  json_put(&json, "only_after", json_integer(c->alone[1]));
  return print_json(json);
}

static enum exit_code compare_run(const struct invocation *invocation) {
  struct comparison c = {.tolerance = 0};
  char *const *arguments = invocation->arguments;
  char *const paths[2] = {arguments[0], arguments[invocation->argument_count - 1]};
  halotune_status status = options_read(invocation, &c);
  if (status == HALOTUNE_OK) status = side_read(paths[0], &c.before, c.by_device, &c.rows[0]);
  if (status == HALOTUNE_OK) status = side_read(paths[1], &c.after, c.by_device, &c.rows[1]);
  if (status == HALOTUNE_OK) status = rows_pair(&c);
  if (status == HALOTUNE_OK) {
    qsort(c.pairs, (size_t)c.pair_count, sizeof *c.pairs, by_ratio);
    if (option_given(invocation, "json")) status = comparison_print_json(&c);
    else comparison_print(&c, paths, option_given(invocation, "all"));
  }
  enum exit_code code = status != HALOTUNE_OK         ? report_failure(status)
                        : c.counts[CHANGE_SLOWER] > 0 ? HALOTUNE_EXIT_FAILURE
                                                      : HALOTUNE_EXIT_SUCCESS;
  for (int i = 0; i < 2; i++) {
    compare_rows_free(&c.rows[i]);
    free(c.texts[i]);
  }
  free(c.pairs);
  return code;
}

static const struct option_row options[] = {
    {"device", "OLD,NEW", "GPUs, by UUID or by a part of their names; one name holds for both sides"},
    {"driver", "OLD,NEW", "drivers, such as 570,580"},
    {"date", "DATE", "winners that were measured before this date, and since, such as 2026-11-22"},
    {"stencil", "NAME", "only this stencil"},
    {"tolerance", "SHARE", "smaller changes of the time do not count; 2% by default"},
    {"all", NULL, "also print winners that did not change"},
    {"json", NULL, "print a JSON document"},
    {0},
};

const struct command command_compare = {
    .name = "compare",
    .arguments = "FILE [FILE]",
    .least_arguments = 1,
    .most_arguments = 2,
    .what = "tell which winners became faster or slower, between databases, GPUs, drivers or dates",
    .options = options,
    .run = compare_run,
};
