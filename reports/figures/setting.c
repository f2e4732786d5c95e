/* setting.c: reads one problem of a database, and prepares its templates' formulas. */
#include "reports/figures/setting.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "reports/rows/rows.h"
#include "stencil/generate/generate.h"

static const char problem_sql[] =
    "select p.device_id, p.stencil_id, p.dtype, p.nx, p.ny, p.nz, d.capability, d.sm_count, p.is_reproducible"
    " from problem p join device d on d.id = p.device_id where p.id = ?1";

static void fill_facts(struct setting *s) {
  struct domain domain = domain_dense(s->subject->stencil, s->subject->analysis, &s->grid);
  struct device_limits limits = arch_device_limits(s->arch);
  facts_fill(s->subject->stencil, s->subject->analysis, s->dtype, &domain, &limits, s->reproducible, s->facts);
  s->facts[FACT_most_steps] = LAUNCH_MOST_STEPS;
}

halotune_status setting_open(sqlite3 *db, const struct definitions *definitions, int64_t problem,
                             const struct report_counter *counter, struct setting *out) {
  sqlite3_stmt *query;
  bool has_row = false;
  *out = (struct setting){.definitions = definitions, .problem = problem, .points = 1, .counter = counter};
  out->bindings = calloc((size_t)definitions->template_count + 1, sizeof *out->bindings);
  if (!out->bindings) return fail_memory();
  halotune_status status = rows_open(db, problem_sql, &problem, 1, &query);
  if (status == HALOTUNE_OK) status = rows_next(query, &has_row);
  if (status == HALOTUNE_OK && !has_row) status = fail(HALOTUNE_DB, "the database: a problem or its device is missing");
  if (status == HALOTUNE_OK) {
    out->device = sqlite3_column_int64(query, 0);
    out->stencil = sqlite3_column_int64(query, 1);
    out->dtype = strcmp(column_text(query, 2), dtype_names[DTYPE_F64]) == 0 ? DTYPE_F64 : DTYPE_F32;
    for (int axis = 0; axis < MAX_DIMS; axis++) {
      out->grid.n[axis] = (long)sqlite3_column_int64(query, 3 + axis);
      out->points *= (double)out->grid.n[axis];
    }
    int capability = sqlite3_column_int(query, 6);
    out->arch = arch_find(capability / 10, capability % 10);
    out->sm_count = sqlite3_column_int(query, 7);
    out->reproducible = sqlite3_column_int(query, 8) != 0;
    out->subject = definitions_stencil(definitions, out->stencil);
    if (out->arch && out->subject && out->subject->analysis) fill_facts(out);
  }
  sqlite3_finalize(query);
  return status;
}

void setting_close(struct setting *setting) {
  for (int i = 0; setting->bindings && i < setting->definitions->template_count; i++)
    bindings_free(&setting->bindings[i]);
  free(setting->bindings);
  free(setting->counted);
}

struct bindings *setting_bindings(struct setting *setting, int64_t template) {
  const struct known_template *found = definitions_template(setting->definitions, template);
  if (!found || !found->template || !setting->arch || !setting->subject || !setting->subject->analysis) return NULL;
  struct bindings *bindings = &setting->bindings[found - setting->definitions->templates];
  if (!bindings->template && bindings_make(found->template, setting->facts, bindings) != HALOTUNE_OK) return NULL;
  return bindings;
}

/* Remember the figures of a variant. If memory is out, only its row shows them. */
static void keep_counted(struct setting *setting, int64_t variant, const struct access *access) {
  if (!array_room(setting->counted, setting->counted_count, setting->counted_room)) return;
  setting->counted[setting->counted_count++] = (struct counted_variant){variant, *access};
}

bool setting_count(struct setting *setting, int64_t variant, const char *source_hash, const struct template *template,
                   const struct configuration *configuration, struct access *access) {
  const struct known_stencil *subject = setting->subject;
  double coefficients[MAX_COEFFICIENTS];
  if (!setting->counter || !setting->arch || !subject || !subject->analysis) return false;
  if (stencil_coefficients(subject->stencil, &setting->grid, coefficients) != HALOTUNE_OK) return false;
  const struct access *known = setting_counted(setting, variant);
  if (known) {
    *access = *known;
    return true;
  }
  struct variant_spec spec = {.stencil = subject->stencil,
                              .analysis = subject->analysis,
                              .template = template,
                              .configuration = *configuration,
                              .dtype = setting->dtype,
                              .domain = domain_dense(subject->stencil, subject->analysis, &setting->grid),
                              .coefficients = coefficients,
                              .limits = arch_device_limits(setting->arch),
                              .reproducible = setting->reproducible,
                              .most_steps = LAUNCH_MOST_STEPS};
  if (!setting->counter->count(setting->counter->context, &spec, source_hash, access)) return false;
  keep_counted(setting, variant, access);
  return true;
}

const struct access *setting_counted(const struct setting *setting, int64_t variant) {
  for (int i = 0; i < setting->counted_count; i++) {
    if (setting->counted[i].variant == variant) return &setting->counted[i].access;
  }
  return NULL;
}
