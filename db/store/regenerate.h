/* regenerate.h: generates the variant of a stored best again. */
#ifndef DB_STORE_REGENERATE_H
#define DB_STORE_REGENERATE_H

#include <sqlite3.h>

#include "db/store/device_row.h"
#include "stencil/generate/generate.h"

/* Whether a status says that this program cannot read the texts of a row, or does not generate its variant. All other
 * failures end what reads the rows. */
bool row_is_refused(halotune_status status);

/* A text that this program cannot read. */
struct refused_text {
  int64_t id;             /* in the database */
  halotune_status status; /* HALOTUNE_OK: there is no such text */
  struct fail_kept detail;
};

/* What is parsed from the texts of a row. It is kept for the next row, which often has the same texts: a text may be
 * long, and many rows may name it. Begins as {0}; end it with subject_free. */
struct subject {
  int64_t text_id, template_id; /* in the database, of the stencil and of the template */
  struct stencil *stencil;      /* NULL: no text is parsed */
  struct analysis *analysis;
  struct template *template;                             /* NULL likewise */
  struct refused_text refused_stencil, refused_template; /* the last ones: they are not parsed again for the next row */
  int64_t stencil_bytes;                                 /* of the stencil's text */
  int64_t work; /* bytes that were parsed and generated since the beginning, as regenerate.c counts them */
};

/* Parse a stencil's text, unless the subject has it already. Returns HALOTUNE_OK; HALOTUNE_PARSE or HALOTUNE_ARGUMENT
 * if this program cannot read it; HALOTUNE_DB; HALOTUNE_MEMORY. */
halotune_status subject_stencil(struct subject *subject, sqlite3 *connection, int64_t text_id);

void subject_free(struct subject *subject);

/* The columns that regenerate() reads, from its first one on, and the tables that they are of. REGENERATE_JOINS adds
 * the other tables to a `b` that has variant_id, problem_id, text_id and steps. */
#define REGENERATE_COLUMNS \
  "x.id, t.id, t.name, v.parameters, p.dtype, p.nx, p.ny, p.nz, p.is_reproducible, b.steps, " SQL_DEVICE_LIMITS("d")
#define REGENERATE_TABLES " best b" REGENERATE_JOINS
#define REGENERATE_JOINS                                                                                     \
  " join stencil_text x on x.id = b.text_id join variant v on v.id = b.variant_id join template t on t.id =" \
  " v.template_id join problem p on p.id = b.problem_id join device d on d.id = p.device_id "

/* Generate the variant that a row names, from its stencil's text, its template's texts and what this program has in
 * common.yml and common.cuh.
 *   at        the first of REGENERATE_COLUMNS in the row
 *   subject   of the row before; receives that of this row
 *   template  one with the identity of the row's template; NULL: its texts are read
 *   out       filled on success, for the caller to end with generated_free; empty after a failure
 * Returns HALOTUNE_OK; HALOTUNE_PARSE or HALOTUNE_ARGUMENT if this program generates nothing for this row;
 * HALOTUNE_DB; HALOTUNE_MEMORY. */
halotune_status regenerate(sqlite3_stmt *row, int at, struct subject *subject, const struct template *template,
                           struct generated *out);

/* The same with another version of the row's template. Parameters that this version does not have are ignored.
 * Parameters that the row does not have take their defaults.
 *   configuration  receives the configuration that was generated */
halotune_status regenerate_with(sqlite3_stmt *row, int at, struct subject *subject, const struct template *template,
                                struct configuration *configuration, struct generated *out);

#endif
