/* variants.h: the newest result of every variant of a problem. */
#ifndef REPORTS_ROWS_VARIANTS_H
#define REPORTS_ROWS_VARIANTS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "db/store/outcome.h"
#include "reports/rows/names.h"
#include "reports/rows/searches.h"
#include "stencil/template/template.h"

/* One result. Numbers that the database does not have are NAN, or -1 for whole ones. */
struct variant_row {
  int64_t variant, run;
  long number; /* in its run */
  double at_s;
  double median_ms, minimum_ms, low_ms, high_ms, occupancy, rms_error, max_error_units, compile_ms;
  long threads, blocks;
  int template; /* place in variant_table.templates */
  int reason;   /* place in variant_table.reasons; -1 for none */
  int sample_count, registers, shared_bytes, spill_bytes, blocks_per_sm, attempts;
  enum outcome outcome;
  bool is_marked;
  bool is_kept;                         /* goes into the document */
  unsigned char values[MAX_PARAMETERS]; /* places in variant_template.values; VALUE_NONE for none */
};

enum { VALUE_NONE = 255 };

/* The parameters that a template's variants have, and their values, in order of appearance. */
struct variant_template {
  int64_t id;
  struct names parameters, values[MAX_PARAMETERS];
};

/* The best so far of a run that has all of its results here: where it improved, and its end. */
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
  int shown_count;            /* how many of them are kept */
  int order_count;
  struct variant_row **searched; /* those of `order` whose run has all of its results here: what statistics are about */
  int searched_count;
  struct variant_template *templates;
  int template_count, template_capacity;
  struct names reasons;
  struct improvement *improvements;
  int improvement_count, improvement_capacity;
};

/* Read all results of a problem.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY; variants_free is due in any case. */
halotune_status variants_read(sqlite3 *db, int64_t problem, struct variant_table *out);

void variants_free(struct variant_table *table);

/* Choose what goes into the document: all where there are no more than `most`; else those that variants_keep was called
 * for, the fastest, failures of every kind and reason, and an even sample of the others. */
void variants_choose(struct variant_table *table, int most);

/* Keep the row of a variant whatever else is left out. */
void variants_keep(struct variant_table *table, int64_t variant);

#endif
