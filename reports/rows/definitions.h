/* definitions.h: the stencils and templates of a database, read from the texts that it keeps. */
#ifndef REPORTS_ROWS_DEFINITIONS_H
#define REPORTS_ROWS_DEFINITIONS_H

#include <sqlite3.h>
#include <stdint.h>

#include "stencil/analysis/analysis.h"
#include "stencil/template/template.h"

/* One whose text this version cannot read has NULL for what would come of it: reports then show less, and say so. */
struct known_stencil {
  int64_t id;
  struct stencil *stencil;
  struct analysis *analysis;
};

struct known_template {
  int64_t id;
  char *name;
  struct template *template;
};

/* Start with {0}, end with definitions_free. */
struct definitions {
  struct known_stencil *stencils;
  int stencil_count, stencil_capacity;
  struct known_template *templates;
  int template_count, template_capacity;
};

/* Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY; definitions_free is due in any case. */
halotune_status definitions_read(sqlite3 *db, struct definitions *out);

void definitions_free(struct definitions *definitions);

/* By the row's id; NULL for an unknown one. */
const struct known_stencil *definitions_stencil(const struct definitions *definitions, int64_t id);
const struct known_template *definitions_template(const struct definitions *definitions, int64_t id);

#endif
