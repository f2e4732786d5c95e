/* catalog_unite.c: makes one template of those with one identity. The identity covers neither the order of a template's
 * parameters nor that of its definitions. But a row's parameters stand in that order, and so do the definitions of a
 * generated source. In two orders, one configuration would be two, and a verdict about it would not hold for the
 * other. */
#include <stdlib.h>
#include <string.h>

#include "db/store/launch_text.h"
#include "library/lookup/catalog.h"
#include "stencil/template/template_read.h"

static bool is_installed(const struct known_template *known) {
  return known->installed_yaml == known->yaml && known->installed_cuda == known->cuda;
}

/* The template whose text counts for a template: among those of its identity the installed one, else the first. */
static int find_united(const struct catalog *c, int template_at) {
  int first = -1;
  for (int i = 0; i < c->template_count; i++) {
    if (strcmp(c->templates[i].hash, c->templates[template_at].hash) != 0) continue;
    if (is_installed(&c->templates[i])) return i;
    if (first < 0) first = i;
  }
  return first;
}

/* Write a row's parameters in the words of a template. What the template cannot read stays as it is. */
static halotune_status reword_parameters(struct catalog *c, const struct template *template, const char **parameters) {
  struct text text = {0};
  struct fail_kept before;
  fail_keep(&before);
  halotune_status status = configuration_reword(template, *parameters, &text);
  const char *kept = status == HALOTUNE_OK ? texts_keep(&c->texts, text_string(&text)) : *parameters;
  text_free(&text);
  if (status == HALOTUNE_PARSE) {
    fail_put_back(&before);
    return HALOTUNE_OK;
  }
  if (status == HALOTUNE_OK && !kept) return fail_memory();
  *parameters = kept;
  return status;
}

/* Give the rows and verdicts of one template to another one of its identity. */
static halotune_status move_rows(struct catalog *c, int from, int to) {
  struct known_template *known = &c->templates[to];
  const struct source yaml = source_of(known->name, known->yaml, strlen(known->yaml));
  struct template *template = NULL;
  struct fail_kept before;
  fail_keep(&before);
  halotune_status status = template_parse(&yaml, known->cuda, &template);
  if (status == HALOTUNE_PARSE) { /* no row of this template can answer */
    fail_put_back(&before);
    status = HALOTUNE_OK;
  }
  for (int i = 0; i < c->row_count && status == HALOTUNE_OK; i++) {
    struct served *row = &c->rows[i];
    if (row->template_at != from) continue;
    row->template_at = to;
    if (template) status = reword_parameters(c, template, &row->parameters);
  }
  for (int i = 0; i < c->refuted.count && status == HALOTUNE_OK; i++) {
    struct refuted *refuted = &c->refuted.list[i];
    if (refuted->template_at != from) continue;
    refuted->template_at = to;
    if (template) status = reword_parameters(c, template, &refuted->parameters);
  }
  template_free(template);
  if (c->templates[to].wins == 0) known->parameter_count = c->templates[from].parameter_count;
  known->wins += c->templates[from].wins;
  if (c->templates[from].database < known->database) known->database = c->templates[from].database;
  return status;
}

/* Remove the templates whose place in `united` is not their own. */
static void remove_moved(struct catalog *c, int *united) {
  int kept = 0;
  for (int i = 0; i < c->template_count; i++) {
    if (united[i] != i) continue;
    c->templates[kept] = c->templates[i];
    united[i] = kept++; /* from here on: the new place */
  }
  for (int i = 0; i < c->row_count; i++) c->rows[i].template_at = united[c->rows[i].template_at];
  for (int i = 0; i < c->refuted.count; i++) c->refuted.list[i].template_at = united[c->refuted.list[i].template_at];
  c->template_count = kept;
}

halotune_status catalog_unite_templates(struct catalog *catalog) {
  int *united = calloc((size_t)catalog->template_count + 1, sizeof *united);
  bool is_any = false;
  halotune_status status = united ? HALOTUNE_OK : fail_memory();
  for (int i = 0; i < catalog->template_count && status == HALOTUNE_OK; i++) united[i] = find_united(catalog, i);
  for (int i = 0; i < catalog->template_count && status == HALOTUNE_OK; i++) {
    if (united[i] == i) continue;
    is_any = true;
    status = move_rows(catalog, i, united[i]);
  }
  if (status == HALOTUNE_OK && is_any) remove_moved(catalog, united);
  free(united);
  return status;
}
