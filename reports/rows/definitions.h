/* definitions.h: the stencils and templates of a database, read from the texts that it keeps. */
#ifndef REPORTS_ROWS_DEFINITIONS_H
#define REPORTS_ROWS_DEFINITIONS_H

#include <sqlite3.h>
#include <stdint.h>

#include "stencil/analysis/analysis.h"
#include "stencil/template/template.h"

/* One whose text this version cannot read has NULL for what would come of it: reports then show less, and say so. */
struct library_stencil {
  int64_t id;
  struct stencil *stencil;
  struct analysis *analysis;
};

struct library_template {
  int64_t id;
  char *name;
  struct template *template;
};

/* Start with {0}, end with library_close. */
struct library {
  struct library_stencil *stencils;
  int stencil_count, stencil_capacity;
  struct library_template *templates;
  int template_count, template_capacity;
};

/* Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY; library_close is due in any case. */
halotune_status library_open(sqlite3 *db, struct library *out);

void library_close(struct library *library);

/* By the row's id; NULL for an unknown one. */
const struct library_stencil *library_stencil(const struct library *library, int64_t id);
const struct library_template *library_template(const struct library *library, int64_t id);

#endif
