/* store.c: the rows that say what is measured: devices, stencils, templates, problems, variants. */
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/identity/hash.h"
#include "base/text/date.h"
#include "base/text/utf8.h"
#include "db/store/launch_text.h"
#include "db/store/store_parts.h"

#define AS_NAME(name, text) text,
const char *const launch_mode_names[LAUNCH_MODE_COUNT] = {LAUNCH_MODE_LIST(AS_NAME)};
const char *const objective_names[OBJECTIVE_COUNT] = {OBJECTIVE_LIST(AS_NAME)};
const char *const cache_mode_names[CACHE_MODE_COUNT] = {CACHE_MODE_LIST(AS_NAME)};
#undef AS_NAME

struct identity stencil_text_identity(const char *text) {
  return identity_of("stencil text", text, strlen(text));
}

/* Write who measures here: user@host, in printable characters. The name service may ask another machine, and the
 * library never needs the name. */
static void name_user(char *out, size_t bytes) {
  char room[1024], host[128] = "", text[256];
  struct passwd entry, *found = NULL;
  gethostname(host, sizeof host - 1);
  if (getpwuid_r(geteuid(), &entry, room, sizeof room, &found) == 0 && found)
    snprintf(text, sizeof text, "%s@%s", entry.pw_name, host);
  else snprintf(text, sizeof text, "%u@%s", (unsigned)geteuid(), host);
  printable_name(out, bytes, text);
}

halotune_status store_bind(struct store *store, enum store_query query, struct binder *out) {
  halotune_status status = HALOTUNE_OK;
  if (!store->queries[query]) status = query_prepare(store->connection, store_sql[query], &store->queries[query]);
  *out = (struct binder){.query = store->queries[query]};
  const int who = out->query ? sqlite3_bind_parameter_index(out->query, ":who") : 0;
  if (who > 0 && !*store->who) name_user(store->who, sizeof store->who);
  if (who > 0) sqlite3_bind_text(out->query, who, store->who, -1, SQLITE_STATIC);
  return status;
}

/* Add the origin of this user, unless it is there. */
static halotune_status add_origin(struct store *store) {
  char date[DATE_TEXT_BYTES];
  struct binder binder;
  halotune_status status = store_bind(store, ADD_ORIGIN, &binder);
  if (status != HALOTUNE_OK) return status;
  date_now(date);
  sqlite3_bind_text(binder.query, 2, date, -1, SQLITE_STATIC);
  return query_run(binder.query, NULL);
}

int64_t store_own_origin(struct store *store) {
  struct binder binder;
  int64_t id = 0;
  halotune_status status = add_origin(store);
  if (status == HALOTUNE_OK) status = store_bind(store, FIND_ORIGIN, &binder);
  if (status == HALOTUNE_OK) status = query_run(binder.query, &id);
  return status == HALOTUNE_OK ? id : 0;
}

halotune_status store_begin(struct store *store) {
  if (store->is_in_burst) return HALOTUNE_OK;
  halotune_status status = query_script(store->connection, "begin immediate");
  if (status != HALOTUNE_OK) return status;
  status = add_origin(store);
  return status == HALOTUNE_OK ? status : query_finish(store->connection, status);
}

halotune_status store_end(struct store *store, halotune_status status) {
  return store->is_in_burst ? status : query_finish(store->connection, status);
}

halotune_status store_burst_begin(struct store *store) {
  halotune_status status = store_begin(store);
  store->is_in_burst = status == HALOTUNE_OK;
  return status;
}

halotune_status store_burst_end(struct store *store, halotune_status status) {
  store->is_in_burst = false;
  return store_end(store, status);
}

/* A kind of row to find or to add. Both statements have the same places; the first one needs fewer of them. */
struct row_kind {
  enum store_query find, add;
  void (*bind_key)(struct binder *binder, const void *row);
  void (*bind_rest)(struct binder *binder, const void *row); /* NULL: the row has only its key */
};

/* Run a statement that has the places of `kind->add`.
 *   found  receives the number in the first row and column, 0 without a row; may be NULL */
static halotune_status run_with_row(struct store *store, const struct row_kind *kind, enum store_query query,
                                    const void *row, int64_t *found) {
  struct binder binder;
  const halotune_status status = store_bind(store, query, &binder);
  if (status != HALOTUNE_OK) return status;
  kind->bind_key(&binder, row);
  if (kind->bind_rest) kind->bind_rest(&binder, row);
  return query_run(binder.query, found);
}

static halotune_status find_or_add(struct store *store, const struct row_kind *kind, const void *row, int64_t *id) {
  struct binder binder;
  halotune_status status = store_bind(store, kind->find, &binder);
  *id = 0;
  if (status != HALOTUNE_OK) return status;
  kind->bind_key(&binder, row);
  status = query_run(binder.query, id);
  if (status != HALOTUNE_OK || *id > 0) return status;
  status = run_with_row(store, kind, kind->add, row, NULL);
  if (status == HALOTUNE_OK) *id = sqlite3_last_insert_rowid(store->connection);
  return status;
}

/* The same in a transaction of its own, so that two processes do not add the same row twice. */
static int64_t put_row(struct store *store, const struct row_kind *kind, const void *row) {
  int64_t id = 0;
  if (store_begin(store) != HALOTUNE_OK) return 0;
  halotune_status status = find_or_add(store, kind, row, &id);
  return store_end(store, status) == HALOTUNE_OK ? id : 0;
}

struct device_row {
  const struct device_facts *facts;
  const char *uuid;
  bool is_emulation;
};

static void bind_device_key(struct binder *binder, const void *row) {
  bind_text(binder, ((const struct device_row *)row)->uuid);
}

static void bind_device(struct binder *binder, const void *row) {
  const struct device_facts *facts = ((const struct device_row *)row)->facts;
  const struct device_limits *limits = &facts->limits;
  bind_text(binder, facts->name);
  bind_integer(binder, facts->capability);
  bind_integer(binder, facts->sm_count);
  bind_integer(binder, facts->clock_khz);
  bind_integer(binder, facts->memory_clock_khz);
  bind_integer(binder, facts->bus_bits);
  bind_integer(binder, facts->l2_bytes);
  bind_integer(binder, (int64_t)facts->memory_bytes);
  bind_integer(binder, limits->max_threads);
  bind_integer(binder, limits->max_threads_sm);
  bind_integer(binder, limits->max_registers);
  bind_integer(binder, limits->registers_sm);
  bind_integer(binder, limits->max_shared_bytes);
  bind_integer(binder, limits->warp_size);
  bind_integer(binder, ((const struct device_row *)row)->is_emulation);
}

/* Find or add a row. If a document brought it, `own` gives it the values of this program. */
static halotune_status put_owned(struct store *store, const struct row_kind *kind, enum store_query own,
                                 const void *row, int64_t *id) {
  const halotune_status status = find_or_add(store, kind, row, id);
  return status == HALOTUNE_OK ? run_with_row(store, kind, own, row, NULL) : status;
}

/* Whether this user's row of this UUID is another model. A driver can show fewer multiprocessors of a GPU to some
 * processes, and a recording names any GPU. Rows of others are renamed first. */
static halotune_status device_is_other(struct store *store, const struct row_kind *kind, const struct device_row *row,
                                       bool *out) {
  int64_t found = 0;
  halotune_status status = run_with_row(store, kind, PART_DEVICE, row, NULL);
  if (status == HALOTUNE_OK) status = run_with_row(store, kind, FIND_OTHER_DEVICE, row, &found);
  *out = found > 0;
  return status;
}

int64_t store_device(struct store *store, const struct device_facts *device, bool is_emulation) {
  static const struct row_kind kind = {FIND_DEVICE, ADD_DEVICE, bind_device_key, bind_device};
  struct device_row row = {device, device->uuid, is_emulation};
  char uuid[DEVICE_UUID_BYTES + DEVICE_NAME_BYTES + 64], hex[HASH_HEX_BYTES];
  int64_t id = 0;
  bool is_other = false;
  if (store_begin(store) != HALOTUNE_OK) return 0;
  halotune_status status = device_is_other(store, &kind, &row, &is_other);
  if (status == HALOTUNE_OK && is_other) {
    const int length =
        snprintf(uuid, sizeof uuid, "%s %d %d %d", device->name, device->capability, device->sm_count, is_emulation);
    hash_hex(hash_bytes(uuid, (size_t)length), hex);
    snprintf(uuid, sizeof uuid, "%s as model %.16s", device->uuid, hex);
    row.uuid = uuid;
    status = device_is_other(store, &kind, &row, &is_other);
  }
  if (status == HALOTUNE_OK) status = put_owned(store, &kind, OWN_DEVICE, &row, &id);
  return store_end(store, status) == HALOTUNE_OK ? id : 0;
}

struct stencil_row {
  char hash[IDENTITY_HEX_BYTES];
  const char *name;
};

static void bind_stencil_key(struct binder *binder, const void *row) {
  bind_text(binder, ((const struct stencil_row *)row)->hash);
  bind_text(binder, ((const struct stencil_row *)row)->name);
}

int64_t store_stencil(struct store *store, const struct stencil *stencil, const struct analysis *analysis) {
  static const struct row_kind kind = {FIND_STENCIL, ADD_STENCIL, bind_stencil_key, NULL};
  struct stencil_row row = {.name = stencil->name};
  identity_hex(analysis->hash, row.hash);
  return put_row(store, &kind, &row);
}

struct text_row {
  int64_t stencil;
  char hash[IDENTITY_HEX_BYTES];
  const char *text;
};

static void bind_text_key(struct binder *binder, const void *row) {
  bind_integer(binder, ((const struct text_row *)row)->stencil);
  bind_text(binder, ((const struct text_row *)row)->hash);
}

static void bind_stencil_text(struct binder *binder, const void *row) {
  bind_text(binder, ((const struct text_row *)row)->text);
}

int64_t store_stencil_text(struct store *store, int64_t stencil, const char *text) {
  static const struct row_kind kind = {FIND_TEXT, ADD_TEXT, bind_text_key, bind_stencil_text};
  struct text_row row = {.stencil = stencil, .text = text};
  identity_hex(stencil_text_identity(text), row.hash);
  return put_row(store, &kind, &row);
}

struct template_row {
  char hash[IDENTITY_HEX_BYTES], common_hash[IDENTITY_HEX_BYTES];
  const struct template *template;
};

static void bind_template_key(struct binder *binder, const void *row) {
  bind_text(binder, ((const struct template_row *)row)->hash);
}

static void bind_template(struct binder *binder, const void *row) {
  const struct template *template = ((const struct template_row *)row)->template;
  bind_text(binder, ((const struct template_row *)row)->common_hash);
  bind_text(binder, template->name);
  bind_text(binder, template->yaml);
  bind_text(binder, template->cuda);
}

/* Variants of the template with the identity ?1, if its stored text is another one than ?2. */
static const char worded_otherwise_sql[] =
    "select v.id, v.parameters from template t cross join variant v not indexed on v.template_id = t.id"
    " where t.hash = ?1 and t.yaml <> ?2";

static halotune_status reword_variant(struct store *store, const struct template *template, sqlite3_stmt *row) {
  struct text parameters = {0};
  struct binder binder;
  halotune_status status = configuration_reword(template, column_text(row, 1), &parameters);
  if (status == HALOTUNE_OK) status = store_bind(store, REWORD_VARIANT, &binder);
  if (status == HALOTUNE_OK) {
    bind_integer(&binder, sqlite3_column_int64(row, 0));
    bind_text(&binder, text_string(&parameters));
    status = query_run(binder.query, NULL);
  }
  text_free(&parameters);
  return status;
}

/* Before a template's text is replaced by one that has, for example, another order of parameters: write the parameters
 * of its variants in the words of the new text. Otherwise a tune would take the same variants for new ones. */
static halotune_status reword_variants(struct store *store, const struct template_row *row) {
  sqlite3_stmt *query = NULL;
  int code = SQLITE_DONE;
  halotune_status status = query_prepare(store->connection, worded_otherwise_sql, &query);
  if (status == HALOTUNE_OK) {
    sqlite3_bind_text(query, 1, row->hash, -1, SQLITE_STATIC);
    sqlite3_bind_text(query, 2, row->template->yaml, -1, SQLITE_STATIC);
  }
  while (status == HALOTUNE_OK && (code = sqlite3_step(query)) == SQLITE_ROW)
    status = reword_variant(store, row->template, query);
  if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(store->connection);
  sqlite3_finalize(query);
  return status;
}

static halotune_status put_template(struct store *store, const struct template *template, int64_t *id) {
  static const struct row_kind kind = {FIND_TEMPLATE, ADD_TEMPLATE, bind_template_key, bind_template};
  struct template_row row = {.template = template};
  identity_hex(template->hash, row.hash);
  identity_hex(template->common_hash, row.common_hash);
  const halotune_status status = reword_variants(store, &row);
  return status == HALOTUNE_OK ? put_owned(store, &kind, OWN_TEMPLATE, &row, id) : status;
}

int64_t store_template(struct store *store, const struct template *template) {
  int64_t id = 0;
  if (store_begin(store) != HALOTUNE_OK) return 0;
  const halotune_status status = put_template(store, template, &id);
  return store_end(store, status) == HALOTUNE_OK ? id : 0;
}

halotune_status store_template_replace(struct store *store, const struct template *template) {
  return put_template(store, template, &(int64_t){0});
}

static void bind_problem(struct binder *binder, const void *row) {
  const struct problem_key *key = row;
  bind_integer(binder, key->stencil);
  bind_integer(binder, key->device);
  bind_text(binder, dtype_names[key->dtype]);
  for (int axis = 0; axis < MAX_DIMS; axis++) bind_integer(binder, key->grid.n[axis]);
  bind_text(binder, launch_mode_names[key->launch]);
  bind_text(binder, cache_mode_names[key->cache]);
  bind_integer(binder, key->reproducible);
  bind_integer(binder, key->steps > 1 ? key->steps : 1);
}

int64_t store_problem(struct store *store, const struct problem_key *key) {
  static const struct row_kind kind = {FIND_PROBLEM, ADD_PROBLEM, bind_problem, NULL};
  return put_row(store, &kind, key);
}

struct variant_row {
  char source[IDENTITY_HEX_BYTES];
  const struct variant_key *key;
  const char *parameters;
};

static void bind_variant(struct binder *binder, const void *row) {
  bind_text(binder, ((const struct variant_row *)row)->source);
  bind_integer(binder, ((const struct variant_row *)row)->key->template_id);
  bind_integer(binder, ((const struct variant_row *)row)->key->stencil);
  bind_text(binder, ((const struct variant_row *)row)->parameters);
}

/* Refuse a variant whose template another process has removed: another template may have its id now. */
static halotune_status require_template(struct store *store, const struct variant_key *key) {
  char hash[IDENTITY_HEX_BYTES];
  struct binder binder;
  int64_t found = 0;
  halotune_status status = store_bind(store, FIND_TEMPLATE, &binder);
  if (status != HALOTUNE_OK) return status;
  identity_hex(key->template->hash, hash);
  bind_text(&binder, hash);
  status = query_run(binder.query, &found);
  if (status == HALOTUNE_OK && found != key->template_id)
    status = fail(HALOTUNE_DB, "%s: another process has removed the template %s while this one tunes", store->path,
                  key->template->name);
  return status;
}

halotune_status store_variant(struct store *store, const struct variant_key *key, int64_t *id) {
  static const struct row_kind kind = {FIND_VARIANT, ADD_VARIANT, bind_variant, NULL};
  struct text parameters = {0};
  struct variant_row row = {.key = key};
  identity_hex(key->source, row.source);
  configuration_write(key->template, key->configuration, &parameters);
  row.parameters = text_string(&parameters);
  halotune_status status = text_ok(&parameters) ? require_template(store, key) : fail_memory();
  if (status == HALOTUNE_OK) status = find_or_add(store, &kind, &row, id);
  text_free(&parameters);
  return status;
}
