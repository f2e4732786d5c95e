/* variant_columns.c: writes variants as columns, with static figures of each. */
#include "reports/figures/variant_columns.h"

#include <math.h>
#include <string.h>

enum { TIME_DIGITS = 7, FIGURE_DIGITS = 5, AT_DIGITS = 6 };

/* Set a parameter of a configuration to the value with this spelling. A parameter or value that the template does not
 * have is ignored: the default stays. */
static void choose_value(const struct template *template, struct configuration *configuration, const char *name,
                         size_t name_length, const char *value, size_t value_length) {
  int parameter = template_parameter(template, name, name_length);
  if (parameter < 0) return;
  const struct parameter *p = &template->parameters[parameter];
  for (int i = 0; i < p->value_count; i++) {
    if (strncmp(p->words[i], value, value_length) != 0 || p->words[i][value_length] != '\0') continue;
    configuration->choice[parameter] = (unsigned char)i;
    return;
  }
}

/* Read a configuration. Returns false if the text is not an object of plain members. */
static bool read_configuration(const struct template *template, const char *parameters, struct configuration *out) {
  struct json_member member;
  *out = configuration_default(template);
  while (json_member_next(&parameters, &member)) {
    choose_value(template, out, member.name, member.name_length, member.value, member.value_length);
  }
  return json_members_end(parameters);
}

static void bind_row(struct bindings *bindings, const struct variant_template *template,
                     const struct variant_row *row) {
  struct configuration configuration = configuration_default(bindings->template);
  for (int p = 0; p < template->parameters.count; p++) {
    if (row->values[p] == VALUE_NONE) continue;
    const char *name = template->parameters.list[p], *value = template->values[p].list[row->values[p]];
    choose_value(bindings->template, &configuration, name, strlen(name), value, strlen(value));
  }
  bindings_configure(bindings, &configuration);
}

static const struct access no_access = {NAN, NAN, NAN, NAN, NAN};

static void put_access(json_t **json, const struct access *access) {
  json_put(json, "loads_per_point", rounded_json(access->loads_per_point, FIGURE_DIGITS));
  json_put(json, "over_read", rounded_json(access->over_read, FIGURE_DIGITS));
  json_put(json, "computing_share", rounded_json(access->computing_share, FIGURE_DIGITS));
  json_put(json, "bank_conflicts", rounded_json(access->bank_conflicts, FIGURE_DIGITS));
  json_put(json, "shared_wavefronts", rounded_json(access->shared_wavefronts, FIGURE_DIGITS));
}

json_t *figures_json(struct setting *setting, const struct figures_subject *subject, const long grid[MAX_DIMS],
                     int blocks_per_sm) {
  json_t *json = json_object();
  struct bindings *bindings = setting_bindings(setting, subject->template);
  struct access access = no_access;
  struct configuration configuration;
  bool is_counted = false;
  if (bindings && subject->parameters && read_configuration(bindings->template, subject->parameters, &configuration)) {
    bindings_configure(bindings, &configuration);
    access = access_of(bindings);
    is_counted = subject->source_hash && setting_count(setting, subject->variant, subject->source_hash,
                                                       bindings->template, &configuration, &access);
  }
  put_access(&json, &access);
  json_put(&json, "is_counted", json_boolean(is_counted));
  json_put(&json, "waves", rounded_json(access_waves(grid, blocks_per_sm, setting->sm_count), FIGURE_DIGITS));
  return json;
}

static json_t *count_json(long number) { return number < 0 ? json_null() : json_integer(number); }

/* The values of a row by number; null for a parameter that it does not have. */
static json_t *values_json(const struct variant_table *table, const struct variant_row *row) {
  json_t *list = json_array();
  const struct texts *parameters = &table->templates[row->template].parameters;
  for (int p = 0; p < parameters->count; p++) {
    json_add(&list, row->values[p] == VALUE_NONE ? json_null() : json_integer(row->values[p]));
  }
  return list;
}

static double waves_of(const struct setting *setting, const struct variant_row *row) {
  long grid[MAX_DIMS] = {row->blocks, 1, 1};
  return row->blocks >= 0 && row->blocks_per_sm > 0 ? access_waves(grid, row->blocks_per_sm, setting->sm_count) : NAN;
}

/* Add one column: a list with an element for each row that is kept. */
#define COLUMN(json, name, table, value)                  \
  do {                                                    \
    json_t *column_ = json_array();                       \
    for (int i_ = 0; i_ < (table)->order_count; i_++) {   \
      const struct variant_row *row = (table)->order[i_]; \
      if (row->is_kept) json_add(&column_, value);        \
    }                                                     \
    json_put(json, name, column_);                        \
  } while (0)

static void put_access_columns(json_t **json, struct setting *setting, const struct variant_table *table) {
  json_t *loads = json_array(), *over = json_array(), *share = json_array(), *conflicts = json_array();
  for (int i = 0; i < table->order_count; i++) {
    const struct variant_row *row = table->order[i];
    const struct variant_template *template = &table->templates[row->template];
    if (!row->is_kept) continue;
    struct bindings *bindings = setting_bindings(setting, template->id);
    if (bindings) bind_row(bindings, template, row);
    const struct access *counted = setting_counted(setting, row->variant);
    struct access access = counted ? *counted : bindings ? access_of(bindings) : no_access;
    json_add(&loads, rounded_json(access.loads_per_point, FIGURE_DIGITS));
    json_add(&over, rounded_json(access.over_read, FIGURE_DIGITS));
    json_add(&share, rounded_json(access.computing_share, FIGURE_DIGITS));
    json_add(&conflicts, rounded_json(access.bank_conflicts, FIGURE_DIGITS));
  }
  json_put(json, "loads_per_point", loads);
  json_put(json, "over_read", over);
  json_put(json, "computing_share", share);
  json_put(json, "bank_conflicts", conflicts);
}

json_t *columns_json(struct setting *setting, const struct variant_table *table) {
  json_t *json = json_object();
  COLUMN(&json, "variant", table, json_integer(row->variant));
  COLUMN(&json, "run", table, json_integer(row->run));
  COLUMN(&json, "number", table, json_integer(row->number));
  COLUMN(&json, "at_s", table, rounded_json(row->at_s, AT_DIGITS));
  COLUMN(&json, "template", table, json_integer(row->template));
  COLUMN(&json, "values", table, values_json(table, row));
  COLUMN(&json, "outcome", table, json_integer((json_int_t)row->outcome));
  COLUMN(&json, "reason", table, count_json(row->reason));
  COLUMN(&json, "sample_count", table, count_json(row->sample_count));
  COLUMN(&json, "median_ms", table, rounded_json(row->median_ms, TIME_DIGITS));
  COLUMN(&json, "minimum_ms", table, rounded_json(row->minimum_ms, TIME_DIGITS));
  COLUMN(&json, "low_ms", table, rounded_json(row->low_ms, TIME_DIGITS));
  COLUMN(&json, "high_ms", table, rounded_json(row->high_ms, TIME_DIGITS));
  COLUMN(&json, "registers", table, count_json(row->registers));
  COLUMN(&json, "shared_bytes", table, count_json(row->shared_bytes));
  COLUMN(&json, "spill_bytes", table, count_json(row->spill_bytes));
  COLUMN(&json, "occupancy", table, rounded_json(row->occupancy, FIGURE_DIGITS));
  COLUMN(&json, "blocks_per_sm", table, count_json(row->blocks_per_sm));
  COLUMN(&json, "threads", table, count_json(row->threads));
  COLUMN(&json, "blocks", table, count_json(row->blocks));
  COLUMN(&json, "waves", table, rounded_json(waves_of(setting, row), FIGURE_DIGITS));
  COLUMN(&json, "rms_error", table, rounded_json(row->rms_error, FIGURE_DIGITS));
  COLUMN(&json, "max_error_units", table, rounded_json(row->max_error_units, FIGURE_DIGITS));
  COLUMN(&json, "attempts", table, count_json(row->attempts));
  COLUMN(&json, "is_marked", table, json_integer(row->is_marked));
  COLUMN(&json, "is_counted", table, json_integer(setting_counted(setting, row->variant) != NULL));
  put_access_columns(&json, setting, table);
  return json;
}

json_t *variant_templates_json(const struct setting *setting, const struct variant_table *table) {
  json_t *list = json_array();
  for (int i = 0; i < table->template_count; i++) {
    const struct variant_template *template = &table->templates[i];
    const struct known_template *known = definitions_template(setting->definitions, template->id);
    json_t *entry = json_object(), *parameters = json_array();
    for (int p = 0; p < template->parameters.count; p++) {
      json_t *parameter = json_object(), *values = json_array();
      for (int v = 0; v < template->values[p].count; v++) json_add(&values, text_json(template->values[p].list[v]));
      json_put(&parameter, "name", text_json(template->parameters.list[p]));
      json_put(&parameter, "values", values);
      json_add(&parameters, parameter);
    }
    json_put(&entry, "id", json_integer(template->id));
    json_put(&entry, "name", text_json(known ? known->name : ""));
    json_put(&entry, "parameters", parameters);
    json_add(&list, entry);
  }
  return list;
}
