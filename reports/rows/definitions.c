/* definitions.c: the stencils and templates of a database. */
#include "reports/rows/definitions.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "reports/rows/rows.h"

static halotune_status add_stencil(struct library *library, sqlite3_stmt *query) {
  struct library_stencil *list =
      array_grow(library->stencils, library->stencil_count, &library->stencil_capacity, sizeof *list);
  if (!list) return fail_memory();
  library->stencils = list;
  struct library_stencil *new = &list[library->stencil_count++];
  *new = (struct library_stencil){.id = sqlite3_column_int64(query, 0)};
  const char *text = column_text(query, 1);
  struct source source = source_of("stencil", text, strlen(text));
  if (stencil_parse(&source, &new->stencil) != HALOTUNE_OK) return HALOTUNE_OK;
  return analysis_make(new->stencil, &new->analysis);
}

static halotune_status add_template(struct library *library, sqlite3_stmt *query) {
  struct library_template *list =
      array_grow(library->templates, library->template_count, &library->template_capacity, sizeof *list);
  if (!list) return fail_memory();
  library->templates = list;
  struct library_template *new = &list[library->template_count++];
  *new = (struct library_template){.id = sqlite3_column_int64(query, 0), .name = strdup(column_text(query, 1))};
  if (!new->name) return fail_memory();
  const char *yaml = column_text(query, 2);
  struct source source = source_of(new->name, yaml, strlen(yaml));
  (void)template_parse(&source, column_text(query, 3), &new->template); /* NULL where it cannot be read */
  return HALOTUNE_OK;
}

static halotune_status read_each(sqlite3 *db, struct library *library, const char *sql,
                                 halotune_status (*add)(struct library *library, sqlite3_stmt *query)) {
  sqlite3_stmt *query;
  bool has_row = false;
  halotune_status status = rows_open(db, sql, NULL, 0, &query);
  while (status == HALOTUNE_OK && (status = rows_next(query, &has_row)) == HALOTUNE_OK && has_row) {
    status = add(library, query);
  }
  sqlite3_finalize(query);
  return status;
}

halotune_status library_open(sqlite3 *db, struct library *out) {
  halotune_status status = read_each(db, out, "select id, text from stencil", add_stencil);
  return status == HALOTUNE_OK ? read_each(db, out, "select id, name, yaml, cuda from template", add_template) : status;
}

void library_close(struct library *library) {
  for (int i = 0; i < library->stencil_count; i++) {
    analysis_free(library->stencils[i].analysis);
    stencil_free(library->stencils[i].stencil);
  }
  for (int i = 0; i < library->template_count; i++) {
    template_free(library->templates[i].template);
    free(library->templates[i].name);
  }
  free(library->stencils);
  free(library->templates);
  *library = (struct library){0};
}

const struct library_stencil *library_stencil(const struct library *library, int64_t id) {
  for (int i = 0; i < library->stencil_count; i++) {
    if (library->stencils[i].id == id) return &library->stencils[i];
  }
  return NULL;
}

const struct library_template *library_template(const struct library *library, int64_t id) {
  for (int i = 0; i < library->template_count; i++) {
    if (library->templates[i].id == id) return &library->templates[i];
  }
  return NULL;
}
