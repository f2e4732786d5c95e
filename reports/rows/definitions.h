/* definitions.h: the stencils and templates of a database, parsed from the texts that it stores. */
#ifndef REPORTS_ROWS_DEFINITIONS_H
#define REPORTS_ROWS_DEFINITIONS_H

#include <sqlite3.h>
#include <stdint.h>

#include "stencil/analysis/analysis.h"
#include "stencil/template/template.h"

/* Pointers are NULL for a text that this version cannot read. Reports then show less, and say so. */
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

/* Read all stencils and templates. Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. Call definitions_free in any
 * case. */
halotune_status definitions_read(sqlite3 *db, struct definitions *out);

void definitions_free(struct definitions *definitions);

/* Find a stencil or template by its row id. Returns NULL for an unknown id. */
const struct known_stencil *definitions_stencil(const struct definitions *definitions, int64_t id);
const struct known_template *definitions_template(const struct definitions *definitions, int64_t id);

#endif
