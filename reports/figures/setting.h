/* setting.h: one problem of a database, with what static figures of its variants need. */
#ifndef REPORTS_FIGURES_SETTING_H
#define REPORTS_FIGURES_SETTING_H

#include "gpu/architecture/arch.h"
#include "reports/rows/definitions.h"
#include "stencil/template/access.h"

enum { MAX_SETTING_TEMPLATES = 64 };

/* Start with {0}, end with setting_close. */
struct setting {
  const struct definitions *definitions;
  int64_t problem, device, stencil;
  enum dtype dtype;
  bool reproducible;
  struct grid grid;
  double points; /* of the grid */
  const struct known_stencil *subject;
  const struct arch_facts *arch; /* NULL for an architecture that this version does not know */
  int sm_count;
  double facts[FACT_COUNT]; /* for the templates' formulas; valid if `arch` and the stencil are known */
  struct bindings bindings[MAX_SETTING_TEMPLATES]; /* by position in the definitions; made when they are first needed */
};

/* Read a problem's row. Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. Call setting_close in any case. */
halotune_status setting_open(sqlite3 *db, const struct definitions *definitions, int64_t problem, struct setting *out);

void setting_close(struct setting *setting);

/* Get the bindings of a template for this problem; the caller configures them. Returns NULL if the template or the
 * problem cannot be read. */
struct bindings *setting_bindings(struct setting *setting, int64_t template);

#endif
