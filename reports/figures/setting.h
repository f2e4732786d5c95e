/* setting.h: one problem of a database, with the facts that static figures of its variants need. */
#ifndef REPORTS_FIGURES_SETTING_H
#define REPORTS_FIGURES_SETTING_H

#include "gpu/architecture/arch.h"
#include "reports/rows/definitions.h"
#include "reports/rows/request.h"
#include "stencil/template/access.h"

/* Figures of a variant whose accesses were counted. */
struct counted_variant {
  int64_t variant;
  struct access access;
};

/* Start with {0}, end with setting_close. */
struct setting {
  const struct definitions *definitions;
  int64_t problem, device, stencil;
  enum dtype dtype;
  bool reproducible;
  struct grid grid;
  double points; /* points of the grid */
  const struct known_stencil *subject;
  const struct arch_facts *arch; /* NULL for an architecture that this version does not know */
  int sm_count;
  /* facts for the templates' formulas; valid if `arch` and the stencil are known */
  double facts[FACT_COUNT];
  const struct report_counter *counter; /* NULL: nothing is counted */
  struct counted_variant *counted;
  int counted_count, counted_room;
  struct bindings *bindings; /* indexed by position in the definitions; each is made when it is first needed */
};

/* Read a problem's row.
 *   counter  counts accesses; may be NULL
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. Call setting_close in any case. */
halotune_status setting_open(sqlite3 *db, const struct definitions *definitions, int64_t problem,
                             const struct report_counter *counter, struct setting *out);

void setting_close(struct setting *setting);

/* Get the bindings of a template for this problem; the caller configures them. Returns NULL if the template or the
 * problem cannot be read. */
struct bindings *setting_bindings(struct setting *setting, int64_t template);

/* Count the accesses of a variant, and keep its figures.
 *   source_hash  the identity of its source, from the database
 *   access       receives the counted figures; the others do not change
 * Returns whether they were counted. */
bool setting_count(struct setting *setting, int64_t variant, const char *source_hash, const struct template *template,
                   const struct configuration *configuration, struct access *access);

/* Find the figures of a variant that setting_count counted. Returns NULL if there are none. */
const struct access *setting_counted(const struct setting *setting, int64_t variant);

#endif
