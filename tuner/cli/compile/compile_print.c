/* compile_print.c: prints the columns and JSON members of a compiled variant. */
#include "tuner/cli/compile/compile_print.h"

#include <math.h>
#include <stdio.h>

#include "tuner/cli/output/terminal.h"
#include "tuner/cli/output/variant_text.h"

#define AS_NAME(name, text) text,
static const char *const resource_names[OCCUPANCY_RESOURCES] = {OCCUPANCY_LIST(AS_NAME)};
#undef AS_NAME

/* Append what limits the number of blocks: "registers and shared memory". */
static void add_limiters(struct text *text, unsigned limits) {
  for (int i = 0; i < OCCUPANCY_RESOURCES; i++) {
    if (limits & 1u << i) text_printf(text, "%s%s", text->length ? " and " : "", resource_names[i]);
  }
}

enum { LEFT_COLUMNS = 46, FIGURE_COLUMNS = 10, FIGURES = 6 };

/* The number of figures that fit into a line; all of them if the output is a file. */
static int figures_shown(void) {
  const int fit = (terminal_width() - LEFT_COLUMNS) / FIGURE_COLUMNS;
  return fit < 0 ? 0 : fit < FIGURES ? fit : FIGURES;
}

void compile_print_head(void) {
  static const char *const figures[FIGURES] = {"waves", "loads", "over-read", "computing", "conflicts", "compile"};
  const int shown = figures_shown();
  printf("%-15s %4s %5s %6s %6s %5s", "outcome", "regs", "spill", "shared", "blocks", "occ");
  for (int i = 0; i < shown; i++) printf(" %9s", figures[i]);
  terminal_last_column(LEFT_COLUMNS + shown * FIGURE_COLUMNS, "variant; limit of the blocks on a multiprocessor");
}

/* Returns the columns that were printed. */
static int print_figures(const struct compile_row *row) {
  char time[32];
  const double figures[FIGURES - 1] = {row->waves, row->access.loads_per_point, row->access.over_read,
                                       row->access.computing_share, row->access.bank_conflicts};
  const int shown = figures_shown();
  snprintf(time, sizeof time, "%.0f ms", row->compile_time_ms);
  printf(" %4d %5d %6d %6d %3.0f %%", row->needs.registers, row->spill_store_bytes + row->spill_load_bytes,
         row->needs.shared_bytes, row->occupancy.blocks, 100 * row->occupancy.fraction);
  for (int i = 0; i < shown && i < FIGURES - 1; i++) {
    if (isnan(figures[i])) printf(" %9s", "-"); /* the template has no formula for it */
    else printf(" %9.3g", figures[i]);
  }
  if (shown == FIGURES) printf(" %9s", row->is_cached ? "cached" : time);
  return LEFT_COLUMNS + shown * FIGURE_COLUMNS;
}

void compile_print_row(const struct compile_row *row) {
  struct text text = {0}, limiters = {0};
  const bool compiled = row->outcome == COMPILE_ROW_OK || row->outcome == COMPILE_ROW_NO_FIT;
  variant_text(row->template, &row->configuration, &text);
  add_limiters(&limiters, row->occupancy.limits);
  if (compiled) text_printf(&text, "; %s", text_string(&limiters));
  printf("%s%-15s%s", row->outcome == COMPILE_ROW_OK ? "" : ink(stdout, INK_WARNING), compile_row_names[row->outcome],
         row->outcome == COMPILE_ROW_OK ? "" : ink(stdout, INK_NONE));
  if (compiled) terminal_last_column(print_figures(row), text_string(&text));
  else printf(" %s\n", text_string(&text));
  if (row->detail) printf("%-15s %s\n", "", row->detail);
  text_free(&text);
  text_free(&limiters);
}

static void put_compiled(json_t **json, const struct compile_row *row) {
  struct text limiters = {0};
  char hex[HASH_HEX_BYTES];
  add_limiters(&limiters, row->occupancy.limits);
  hash_hex(row->cubin_hash, hex);
  json_put(json, "registers", json_integer(row->needs.registers));
  json_put(json, "spill_store_bytes", json_integer(row->spill_store_bytes));
  json_put(json, "spill_load_bytes", json_integer(row->spill_load_bytes));
  json_put(json, "stack_bytes", json_integer(row->stack_bytes));
  json_put(json, "static_shared_bytes", json_integer(row->static_shared_bytes));
  json_put(json, "dynamic_shared_bytes", json_integer(row->dynamic_shared_bytes));
  json_put(json, "threads_per_block", json_integer(row->needs.threads));
  json_put(json, "cluster_blocks", json_integer(row->cluster_blocks));
  json_put(json, "blocks_per_sm", json_integer(row->occupancy.blocks));
  json_put(json, "occupancy", number_json(row->occupancy.fraction));
  json_put(json, "limiter", text_json(text_string(&limiters)));
  json_put(json, "waves", number_json(row->waves));
  json_put(json, "loads_per_point", number_json(row->access.loads_per_point));
  json_put(json, "over_read", number_json(row->access.over_read));
  json_put(json, "computing_share", number_json(row->access.computing_share));
  json_put(json, "bank_conflicts", number_json(row->access.bank_conflicts));
  json_put(json, "cached", json_boolean(row->is_cached));
  json_put(json, "compile_time_ms", number_json(row->compile_time_ms));
  json_put(json, "cubin_bytes", json_integer(row->cubin_bytes));
  json_put(json, "cubin_hash", text_json(hex));
  text_free(&limiters);
}

json_t *compile_row_json(const struct compile_row *row) {
  json_t *json = json_object();
  json_put(&json, "template", text_json(row->template->name));
  json_put(&json, "parameters", variant_json(row->template, &row->configuration));
  json_put(&json, "outcome", text_json(compile_row_names[row->outcome]));
  json_put(&json, "detail", row->detail ? text_json(row->detail) : json_null());
  if (row->outcome == COMPILE_ROW_OK || row->outcome == COMPILE_ROW_NO_FIT) put_compiled(&json, row);
  return json;
}
