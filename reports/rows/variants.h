/* variants.h: the newest result of every variant of a problem. */
#ifndef REPORTS_ROWS_VARIANTS_H
#define REPORTS_ROWS_VARIANTS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/memory/texts.h"
#include "db/store/outcome.h"
#include "reports/rows/searches.h"
#include "stencil/template/template.h"

/* One result. Numbers that the database does not have are NAN, or -1 for integers. */
struct variant_row {
  int64_t variant, run;
  long number; /* number of the result in its run */
  double at_s;
  double median_ms, minimum_ms, low_ms, high_ms, occupancy, rms_error, max_error_units, compile_ms;
  long threads, blocks;
  int template; /* index in variant_table.templates */
  int reason;   /* index in variant_table.reasons; -1 for none */
  int sample_count, registers, shared_bytes, spill_bytes, blocks_per_sm, attempts;
  enum outcome outcome;
  bool is_marked;
  bool is_own;                           /* this user measured it */
  bool is_kept;                          /* the document shows it */
  unsigned short values[MAX_PARAMETERS]; /* indices in variant_template.values; VALUE_NONE for none */
};

enum { VALUE_NONE = 1024 }; /* a template of several versions has more values than one */

/* The parameters of a template's variants, at most MAX_PARAMETERS, and the values of each, at most VALUE_NONE, in order
 * of appearance. Those that appear later are left out. */
struct variant_template {
  int64_t id;
  struct texts parameters, values[MAX_PARAMETERS];
};

/* A point at which the best time of a run improved, or the run's end. Only for runs that have all results here. */
struct improvement {
  int64_t run;
  long number;
  double at_s, best_ms;
};

/* Start with {0}, end with variants_free. */
struct variant_table {
  struct variant_row *rows;
  int count, capacity;
  struct searches searches;
  struct variant_row **order; /* the newest row of each variant, by run and number */
  int shown_count;            /* how many of these the document shows */
  int order_count;
  struct variant_row **searched; /* the rows of `order` whose run has all its results here; statistics use them */
  int searched_count;
  struct variant_template *templates;
  int template_count, template_capacity;
  struct texts reasons;
  struct improvement *improvements;
  int improvement_count, improvement_capacity;
};

/* Read all results of a problem.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. Call variants_free in any case. */
halotune_status variants_read(sqlite3 *db, int64_t problem, struct variant_table *out);

void variants_free(struct variant_table *table);

/* Choose the rows of the document. If there are at most `most`, it shows all. Else it shows those for which
 * variants_keep was called, the fastest, failures of every kind and reason, and an even sample of the others. */
void variants_choose(struct variant_table *table, int most);

/* Keep the row of a variant, even if others are left out. */
void variants_keep(struct variant_table *table, int64_t variant);

#endif
