/* definitions.c: reads the stencils and templates of a database. */
#include "reports/rows/definitions.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "db/store/sql_parts.h"
#include "reports/rows/rows.h"
#include "stencil/template/template_read.h"

static halotune_status definitions_add_stencil(struct definitions *definitions, sqlite3_stmt *query) {
  if (!array_room(definitions->stencils, definitions->stencil_count, definitions->stencil_capacity))
    return fail_memory();
  struct known_stencil *new = &definitions->stencils[definitions->stencil_count++];
  *new = (struct known_stencil){.id = sqlite3_column_int64(query, 0)};
  const char *text = column_text(query, 1);
  struct source source = source_of("stencil", text, strlen(text));
  const halotune_status status = stencil_parse(&source, &new->stencil);
  if (status != HALOTUNE_OK) return status == HALOTUNE_MEMORY ? status : HALOTUNE_OK;
  return analysis_make(new->stencil, &new->analysis);
}

static halotune_status definitions_add_template(struct definitions *definitions, sqlite3_stmt *query) {
  if (!array_room(definitions->templates, definitions->template_count, definitions->template_capacity)) {
    return fail_memory();
  }
  struct known_template *new = &definitions->templates[definitions->template_count++];
  *new = (struct known_template){.id = sqlite3_column_int64(query, 0), .name = strdup(column_text(query, 1))};
  if (!new->name) return fail_memory();
  const char *yaml = column_text(query, 2);
  struct source source = source_of(new->name, yaml, strlen(yaml));
  const halotune_status status = template_parse(&source, column_text(query, 3), &new->template);
  return status == HALOTUNE_MEMORY ? status : HALOTUNE_OK; /* NULL if it cannot be read */
}

static halotune_status definitions_read_each(sqlite3 *db, struct definitions *definitions, const char *sql,
                                             halotune_status (*add)(struct definitions *definitions,
                                                                    sqlite3_stmt *query)) {
  sqlite3_stmt *query;
  bool has_row = false;
  halotune_status status = rows_open(db, sql, NULL, 0, &query);
  while (status == HALOTUNE_OK && (status = rows_next(query, &has_row)) == HALOTUNE_OK && has_row) {
    status = add(definitions, query);
  }
  sqlite3_finalize(query);
  return status;
}

halotune_status definitions_read(sqlite3 *db, struct definitions *out) {
  halotune_status status = definitions_read_each(db, out, "select id, " SQL_STENCIL_TEXT("stencil.id") " from stencil",
                                                 definitions_add_stencil);
  return status == HALOTUNE_OK
             ? definitions_read_each(db, out, "select id, name, yaml, cuda from template", definitions_add_template)
             : status;
}

void definitions_free(struct definitions *definitions) {
  for (int i = 0; i < definitions->stencil_count; i++) {
    analysis_free(definitions->stencils[i].analysis);
    stencil_free(definitions->stencils[i].stencil);
  }
  for (int i = 0; i < definitions->template_count; i++) {
    template_free(definitions->templates[i].template);
    free(definitions->templates[i].name);
  }
  free(definitions->stencils);
  free(definitions->templates);
  *definitions = (struct definitions){0};
}

const struct known_stencil *definitions_stencil(const struct definitions *definitions, int64_t id) {
  for (int i = 0; i < definitions->stencil_count; i++) {
    if (definitions->stencils[i].id == id) return &definitions->stencils[i];
  }
  return NULL;
}

const struct known_template *definitions_template(const struct definitions *definitions, int64_t id) {
  for (int i = 0; i < definitions->template_count; i++) {
    if (definitions->templates[i].id == id) return &definitions->templates[i];
  }
  return NULL;
}
