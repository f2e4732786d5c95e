/* catalog_read.c: reads the tables of a database into memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory/array.h"
#include "base/text/date.h"
#include "base/text/utf8.h"
#include "db/store/query.h"
#include "db/store/refuted.h"
#include "db/store/take_rows.h"
#include "gpu/driver/device.h"
#include "library/lookup/catalog_reader.h"
#include "library/lookup/stencil_kin.h"
#include "stencil/template/template_read.h"

static halotune_status id_places_add(struct id_places *map, int64_t id, int place) {
  int64_t *ids = array_grow(map->ids, map->count, &map->id_room, sizeof *ids);
  if (ids) map->ids = ids;
  int *places = array_grow(map->places, map->count, &map->place_room, sizeof *places);
  if (places) map->places = places;
  if (!ids || !places) return fail_memory();
  map->ids[map->count] = id;
  map->places[map->count++] = place;
  return HALOTUNE_OK;
}

int id_places_find(struct id_places *map, int64_t id) {
  int low = 0, high = map->count;
  if (map->last < high && map->ids[map->last] == id) return map->places[map->last];
  while (low < high) {
    int middle = (low + high) / 2;
    if (map->ids[middle] < id) low = middle + 1;
    else high = middle;
  }
  if (low == map->count || map->ids[low] != id) return -1;
  map->last = low;
  return map->places[low];
}

static void id_places_free(struct id_places *map) {
  free(map->ids);
  free(map->places);
}

static const char *keep_text(struct catalog *catalog, const char *text) {
  return arena_text(&catalog->arena, text, strlen(text));
}

static halotune_status take_stencil(void *context, sqlite3_stmt *query) {
  struct reader *r = context;
  struct catalog *c = r->catalog;
  const char *hash = column_text(query, 1), *name = column_text(query, 2);
  const enum giver giver = (enum giver)sqlite3_column_int(query, 3);
  const uint64_t key = set_hash(name, strlen(name)) + 3 * set_hash(hash, strlen(hash));
  int i;
  for (struct set_walk at = set_walk(&c->stencils_by_key, key); set_next(&at, &i);) {
    if (strcmp(c->stencils[i].hash, hash) == 0 && strcmp(c->stencils[i].name, name) == 0) {
      if (giver < c->stencils[i].giver) c->stencils[i].giver = giver;
      return id_places_add(&r->stencils, sqlite3_column_int64(query, 0), i);
    }
  }
  struct known_stencil *list = array_grow(c->stencils, c->stencil_count, &c->stencil_room, sizeof *list);
  if (!list) return fail_memory();
  c->stencils = list;
  struct known_stencil *added = &list[c->stencil_count];
  *added = (struct known_stencil){.name = keep_text(c, name), .text = "", .newest = "", .giver = giver};
  added->database = c->database_count;
  snprintf(added->hash, sizeof added->hash, "%s", hash);
  if (!added->name || !set_add(&c->stencils_by_key, key, c->stencil_count)) return fail_memory();
  return id_places_add(&r->stencils, sqlite3_column_int64(query, 0), c->stencil_count++);
}

/* A stencil without any row has the text that was stored last in the first database that has one. */
static halotune_status take_text(void *context, sqlite3_stmt *query) {
  struct reader *r = context;
  struct catalog *c = r->catalog;
  const int stencil = id_places_find(&r->stencils, sqlite3_column_int64(query, 1));
  const char *text = keep_text(c, column_text(query, 2));
  const char **list = array_grow(r->text_list, r->text_count, &r->text_room, sizeof *list);
  if (!list || !text) return fail_memory();
  r->text_list = list;
  list[r->text_count] = text;
  struct known_stencil *known = stencil >= 0 ? &c->stencils[stencil] : NULL;
  if (known && (known->database == c->database_count || !*known->text)) {
    known->text = text;
    known->database = c->database_count; /* the first that has a text */
  }
  return id_places_add(&r->texts, sqlite3_column_int64(query, 0), r->text_count++);
}

static halotune_status take_template(void *context, sqlite3_stmt *query) {
  struct reader *r = context;
  struct catalog *c = r->catalog;
  const char *hash = column_text(query, 1), *yaml = column_text(query, 3), *cuda = column_text(query, 4);
  for (int i = 0; i < c->template_count; i++) { /* catalog_unite_templates unites those that have another text */
    const struct known_template *known = &c->templates[i];
    if (strcmp(known->hash, hash) == 0 && strcmp(known->yaml, yaml) == 0 && strcmp(known->cuda, cuda) == 0)
      return id_places_add(&r->templates, sqlite3_column_int64(query, 0), i);
  }
  struct known_template *list = array_grow(c->templates, c->template_count, &c->template_room, sizeof *list);
  if (!list) return fail_memory();
  c->templates = list;
  struct known_template *added = &list[c->template_count];
  *added = (struct known_template){.name = keep_text(c, column_text(query, 2)),
                                   .yaml = keep_text(c, yaml),
                                   .cuda = keep_text(c, cuda),
                                   .database = c->database_count};
  snprintf(added->hash, sizeof added->hash, "%s", hash);
  if (!added->name || !added->yaml || !added->cuda) return fail_memory();
  return id_places_add(&r->templates, sqlite3_column_int64(query, 0), c->template_count++);
}

/* Find the first device of the same model, with equal name, capability and multiprocessors, and note one that is the
 * first. A time on one device of a model holds for the others. Returns -1 when memory is out. */
static int model_of(struct catalog *c, const struct known_device *device) {
  const int numbers[] = {device->capability, device->sm_count};
  const uint64_t key = set_hash(device->name, strlen(device->name)) + 3 * set_hash(numbers, sizeof numbers);
  int i;
  for (struct set_walk at = set_walk(&c->models_by_key, key); set_next(&at, &i);) {
    const struct known_device *other = &c->devices[i];
    if (strcmp(other->name, device->name) == 0 && other->capability == device->capability &&
        other->sm_count == device->sm_count && other->is_emulation == device->is_emulation) {
      return i;
    }
  }
  return set_add(&c->models_by_key, key, c->device_count) ? c->device_count : -1;
}

static halotune_status take_device(void *context, sqlite3_stmt *query) {
  struct reader *r = context;
  struct catalog *c = r->catalog;
  struct known_device *list = array_grow(c->devices, c->device_count, &c->device_room, sizeof *list);
  if (!list) return fail_memory();
  c->devices = list;
  struct known_device *added = &list[c->device_count];
  int numbers[13];
  for (int i = 0; i < (int)COUNT(numbers); i++) numbers[i] = sqlite3_column_int(query, 3 + i);
  *added = (struct known_device){.name = keep_text(c, column_text(query, 1)),
                                 .uuid = keep_text(c, column_text(query, 2)),
                                 .capability = numbers[0],
                                 .sm_count = numbers[1],
                                 .memory_gbs = device_memory_gbs(numbers[2], numbers[3]),
                                 .l2_bytes = numbers[4],
                                 .is_emulation = numbers[5] != 0,
                                 .giver = (enum giver)numbers[12],
                                 .fitted_by = -1};
  added->limits = (struct device_limits){.capability = numbers[0],
                                         .max_threads = numbers[6],
                                         .max_threads_sm = numbers[7],
                                         .max_registers = numbers[8],
                                         .registers_sm = numbers[9],
                                         .max_shared_bytes = numbers[10],
                                         .warp_size = numbers[11],
                                         .multiprocessors = numbers[1]};
  if (!added->name || !added->uuid) return fail_memory();
  added->model = model_of(c, added);
  if (added->model < 0) return fail_memory();
  return id_places_add(&r->devices, sqlite3_column_int64(query, 0), c->device_count++);
}

/* The coefficient of this name. Returns -1 for a weight of static costs, which lookups do not use, and for a name of
 * another version. */
static int coefficient_of(const char *name) {
  for (int i = 0; i < PREDICT_COEFFICIENTS; i++) {
    if (strcmp(predict_names[i], name) == 0) return i;
  }
  return -1;
}

/* The coefficients of the first database that has any for a model count. */
static halotune_status take_prediction(void *context, sqlite3_stmt *query) {
  struct reader *r = context;
  struct catalog *c = r->catalog;
  const int device = id_places_find(&r->devices, sqlite3_column_int64(query, 0)),
            coefficient = coefficient_of(column_text(query, 1));
  if (coefficient < 0) return HALOTUNE_OK;
  if (device < 0) return HALOTUNE_OK; /* `halotune db check` reports this */
  struct known_device *model = &c->devices[c->devices[device].model];
  if (model->fitted_by < 0) {
    model->fitted_by = c->database_count;
    model->prediction = predict_default();
  }
  if (model->fitted_by == c->database_count)
    model->prediction.coefficients[coefficient] = sqlite3_column_double(query, 2);
  return HALOTUNE_OK;
}

/* Keep a text as one printable line. This is faster than printable() in the SQL of a table with many rows. */
static const char *keep_line(struct catalog *catalog, const char *text) {
  const size_t length = strlen(text);
  char *kept = arena_text(&catalog->arena, text, length);
  if (kept && !is_printable_line(kept)) printable_name(kept, length + 1, text);
  return kept;
}

/* Keep a text as one printable line. Mostly it equals the text of the row before. */
static const char *keep_again(struct catalog *catalog, const char *text, const char **before) {
  if (!*before || strcmp(text, *before) != 0) *before = keep_line(catalog, text);
  return *before;
}

static unsigned char mode_number(const char *const names[], int count, const char *name) {
  for (int i = 0; i < count; i++) {
    if (strcmp(names[i], name) == 0) return (unsigned char)i;
  }
  return (unsigned char)count;
}

/* Read the points of a grid. Returns false for a number that does not fit 32 bits: cut off, it would be the number of
 * another grid. */
static bool read_grid(const int64_t points[MAX_DIMS], uint32_t out[MAX_DIMS]) {
  double all = 1;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (points[axis] < 1 || points[axis] > GRID_MOST_AXIS_POINTS) return false;
    out[axis] = (uint32_t)points[axis];
    all *= (double)points[axis];
  }
  return all <= (double)GRID_MOST_POINTS;
}

unsigned char count_members(const char *json) {
  unsigned count = 0;
  for (const char *c = json; *c; c++) count += *c == ':'; /* no name and no word contains a colon */
  return (unsigned char)count;
}

static halotune_status refer_fail(const struct reader *r, const char *table, int64_t id, const char *other,
                                  int64_t other_id) {
  return fail(HALOTUNE_DB, "%s: row %lld of `%s` names %s %lld, which does not exist; run 'halotune db check'", r->path,
              (long long)id, table, other, (long long)other_id);
}

unsigned char occupancy_in_64ths(double share) {
  return share > 0 && share <= 1 ? (unsigned char)(64 * share + 0.5) : 0;
}

/* Pass 1 of 3: read the columns of `best`, and remember the ids of the problem and the variant of each row. Passes 2
 * and 3 (take_problem, take_variant) fill in the rest. Each pass scans one table in file order, which is several
 * times as fast as one query for each row. */
static halotune_status take_best(void *context, sqlite3_value **values) {
  struct reader *r = context;
  struct catalog *c = r->catalog;
  struct served *list = array_grow(c->rows, c->row_count, &c->row_room, sizeof *list);
  if (!list) return fail_memory();
  c->rows = list;
  struct reference *references = array_grow(r->references, r->reference_count, &r->reference_room, sizeof *references);
  if (!references) return fail_memory();
  r->references = references;
  r->references[r->reference_count] = (struct reference){sqlite3_value_int64(values[1]), sqlite3_value_int64(values[2]),
                                                         sqlite3_value_int64(values[11]), r->reference_count};
  r->reference_count++;
  struct served *row = &list[c->row_count++];
  *row = (struct served){.id = sqlite3_value_int64(values[0]),
                         .is_foreign = !r->has_own,
                         .database = c->database_count,
                         .time_ms = sqlite3_value_double(values[3]),
                         .low_ms = sqlite3_value_double(values[4]),
                         .high_ms = sqlite3_value_double(values[5]),
                         .bytes = sqlite3_value_int64(values[6]),
                         .roof_share = value_real(values[10]),
                         .occupancy_64 = occupancy_in_64ths(sqlite3_value_double(values[12]))};
  row->date_s = date_seconds(value_text(values[7]));
  row->date = isnan(row->date_s) ? keep_line(c, value_text(values[7])) : keep_text(c, value_text(values[7]));
  row->driver = keep_again(c, value_text(values[8]), &r->driver);
  row->nvrtc = keep_again(c, value_text(values[9]), &r->nvrtc);
  return row->date && row->driver && row->nvrtc ? HALOTUNE_OK : fail_memory();
}

/* Get the catalog's first row of this database. */
static struct served *own_rows(const struct reader *r) {
  return r->catalog->rows + r->catalog->row_count - r->reference_count;
}

/* References are walked in step with the rows of a scan, which come in the order of ids. SQLite does not promise this
 * order; if an id is smaller than the one before, the walk begins again. */
static void turn_to(struct reader *r, int64_t id) {
  if (id < r->last_id) r->at = 0;
  r->last_id = id;
}

static halotune_status take_problem(void *context, sqlite3_value **values) {
  struct reader *r = context;
  int64_t id = sqlite3_value_int64(values[0]);
  turn_to(r, id);
  while (r->at < r->reference_count && r->references[r->at].problem < id) r->at++;
  if (r->at == r->reference_count || r->references[r->at].problem != id) return HALOTUNE_OK; /* no winner */
  struct catalog *c = r->catalog;
  struct served *row = own_rows(r) + r->references[r->at].row;
  const int text = id_places_find(&r->texts, r->references[r->at].text);
  if (text < 0) return refer_fail(r, "problem", id, "stencil_text", r->references[r->at].text);
  int64_t device_id = sqlite3_value_int64(values[1]), stencil_id = sqlite3_value_int64(values[2]);
  const int device = id_places_find(&r->devices, device_id);
  row->named = row->stencil = id_places_find(&r->stencils, stencil_id);
  if (device < 0) return refer_fail(r, "problem", id, "device", device_id);
  if (row->stencil < 0) return refer_fail(r, "problem", id, "stencil", stencil_id);
  row->dtype = mode_number(dtype_names, DTYPE_COUNT, value_text(values[3]));
  const int64_t points[MAX_DIMS] = {sqlite3_value_int64(values[4]), sqlite3_value_int64(values[5]),
                                    sqlite3_value_int64(values[6])};
  row->launch = mode_number(launch_mode_names, LAUNCH_MODE_COUNT, value_text(values[7]));
  row->cache = mode_number(cache_mode_names, CACHE_MODE_COUNT, value_text(values[8]));
  row->reproducible = sqlite3_value_int(values[9]) != 0;
  const int64_t steps = sqlite3_value_int64(values[10]);
  const bool is_problem = read_grid(points, row->n) && row->dtype < DTYPE_COUNT && row->launch < LAUNCH_MODE_COUNT &&
                          row->cache < CACHE_MODE_COUNT && steps >= 1 && steps <= LAUNCH_MOST_STEPS;
  row->steps = is_problem ? (unsigned short)steps : 0; /* 0: catalog_finish drops the row */
  c->devices[device].has_rows = true;
  row->model = c->devices[device].model;
  row->has_problem = true;
  if (!is_problem) return HALOTUNE_OK;
  struct known_stencil *stencil = &c->stencils[row->stencil];
  if (!*stencil->newest) stencil->database = c->database_count;
  const char *date = date_decides(c->refuted.now, row->date);
  if (stencil->database == c->database_count && strcmp(stencil->newest, date) < 0) {
    stencil->newest = date;
    stencil->text = r->text_list[text];
  }
  return HALOTUNE_OK;
}

static halotune_status add_variant(struct reader *r, int64_t id, int64_t template_id, const char *text) {
  struct catalog *c = r->catalog;
  turn_to(r, id);
  while (r->at < r->reference_count && r->references[r->at].variant < id) r->at++;
  if (r->at == r->reference_count || r->references[r->at].variant != id) return HALOTUNE_OK; /* no winner */
  const char *parameters = texts_keep(&c->texts, text);
  int template_at = id_places_find(&r->templates, template_id);
  if (template_at < 0) return refer_fail(r, "variant", id, "template", template_id);
  if (!parameters) return fail_memory();
  struct known_template *template = &c->templates[template_at];
  if (template->wins == 0)
    template->parameter_count = count_members(parameters); /* all variants of a template have all parameters */
  for (int i = r->at; i < r->reference_count && r->references[i].variant == id; i++) {
    struct served *row = own_rows(r) + r->references[i].row;
    row->template_at = template_at;
    row->parameters = parameters;
    row->parameter_count = template->parameter_count;
    template->wins++;
  }
  return HALOTUNE_OK;
}

/* Find the winner of a problem; NULL if there is none. The references are sorted by problem. */
static struct served *winner_of(struct reader *r, int64_t problem) {
  int low = 0, high = r->reference_count;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (r->references[middle].problem < problem) low = middle + 1;
    else high = middle;
  }
  const bool is_found = low < r->reference_count && r->references[low].problem == problem;
  return is_found ? own_rows(r) + r->references[low].row : NULL;
}

/* Mark the winner of a run that was cut short. */
static halotune_status take_partial(void *context, sqlite3_stmt *query) {
  struct reader *r = context;
  struct served *winner = winner_of(r, sqlite3_column_int64(query, 0));
  if (winner) winner->is_partial = true;
  return HALOTUNE_OK;
}

/* Mark a winner that a document brought. */
static halotune_status take_imported(void *context, sqlite3_stmt *query) {
  struct reader *r = context;
  struct served *winner = winner_of(r, sqlite3_column_int64(query, 0));
  if (winner) winner->is_imported = true;
  return HALOTUNE_OK;
}

/* Mark a winner that others gave. */
static halotune_status take_foreign(void *context, sqlite3_stmt *query) {
  struct reader *r = context;
  struct served *winner = winner_of(r, sqlite3_column_int64(query, 0));
  if (winner) winner->is_foreign = true;
  return HALOTUNE_OK;
}

static halotune_status take_variant(void *context, sqlite3_value **values) {
  return add_variant(context, sqlite3_value_int64(values[0]), sqlite3_value_int64(values[1]), value_text(values[2]));
}

static int compare_problems(const void *left, const void *right) {
  const struct reference *a = left, *b = right;
  return a->problem < b->problem ? -1 : a->problem > b->problem;
}

static int compare_variants(const void *left, const void *right) {
  const struct reference *a = left, *b = right;
  return a->variant < b->variant ? -1 : a->variant > b->variant;
}

static halotune_status take_refuted(void *context, sqlite3_stmt *query) {
  struct reader *r = context;
  struct catalog *c = r->catalog;
  struct refuted refuted = {.date = keep_text(c, column_text(query, 0)),
                            .parameters = texts_keep(&c->texts, column_text(query, 8))};
  int device = id_places_find(&r->devices, sqlite3_column_int64(query, 1));
  refuted.named = refuted.stencil = id_places_find(&r->stencils, sqlite3_column_int64(query, 2));
  refuted.dtype = mode_number(dtype_names, DTYPE_COUNT, column_text(query, 3));
  const int64_t points[MAX_DIMS] = {sqlite3_column_int64(query, 4), sqlite3_column_int64(query, 5),
                                    sqlite3_column_int64(query, 6)};
  const bool is_problem = read_grid(points, refuted.n) && refuted.dtype < DTYPE_COUNT;
  refuted.template_at = id_places_find(&r->templates, sqlite3_column_int64(query, 7));
  refuted.is_own = sqlite3_column_int(query, 9) != 0;
  if (!refuted.date || !refuted.parameters) return fail_memory();
  if (device < 0 || refuted.stencil < 0 || refuted.template_at < 0) {
    return fail(HALOTUNE_DB, "%s: a wrong measurement names a row that does not exist; run 'halotune db check'",
                r->path);
  }
  refuted.model = c->devices[device].model;
  refuted.first = refuted.last = c->database_count;
  return is_problem ? refuted_add(&c->refuted, &refuted) : HALOTUNE_OK;
}

/* Sort the references. Mostly they are in order already. */
static void sort_references(struct reader *r, int (*compare)(const void *, const void *)) {
  r->at = 0;
  r->last_id = 0;
  for (int i = 1; i < r->reference_count; i++) {
    if (compare(&r->references[i - 1], &r->references[i]) <= 0) continue;
    qsort(r->references, (size_t)r->reference_count, sizeof *r->references, compare);
    return;
  }
}

/* Each page is read only once, so a large cache would not help. */
static const char small_cache_sql[] = "pragma cache_size = 32";
/* A number of `enum giver`. */
_Static_assert(GIVER_USER == 0 && GIVER_HALOTUNE == 1 && GIVER_OTHERS == 2, "the numbers of SQL_GIVER_NUMBER");
#define SQL_GIVER_NUMBER \
  "(select case o.kind when 'imported' then 2 when 'shipped' then 1 else 0 end from origin o where o.id = origin_id)"
static const char sql_stencils[] =
    "select id, printable(hash), printable(name), " SQL_GIVER_NUMBER " from stencil order by id";
static const char sql_texts[] = "select id, stencil_id, text from stencil_text order by id";
static const char sql_templates[] = "select id, printable(hash), printable(name), yaml, cuda from template order by id";
static const char sql_devices[] =
    "select id, printable(name), printable(uuid), capability, sm_count, memory_clock_khz, bus_bits, l2_bytes, is_emulation, max_threads, max_threads_sm,"
    " max_registers, registers_sm, max_shared_bytes, warp_size,"
    " " SQL_GIVER_NUMBER " from device order by id";
static const char sql_predictions[] = "select device_id, coefficient, value from prediction order by id";
static const char sql_best[] =
    "select take(id, problem_id, variant_id, time_ms, low_ms, high_ms, bytes, date, driver, nvrtc, roof_ratio,"
    " text_id, occupancy) from best indexed by best_served where is_current"; /* the index contains all these columns */
static const char sql_sample_count[] = "select sample_count from best where id = ?1";
static const char sql_problems[] =
    "select take(id, device_id, stencil_id, dtype, nx, ny, nz, launch, cache, is_reproducible, steps) from problem not indexed";
static const char sql_variants[] = "select take(id, template_id, parameters) from variant not indexed";
static const char sql_refuted[] =
    "select k.wrong, k.device_id, k.stencil_id, k.dtype, k.nx, k.ny, k.nz, v.template_id, v.parameters, k.giver = ''"
    " from (" SQL_REFUTED_CONFIGURATIONS ") k join variant v on v.id = k.variant_id";
/* Few runs are cut short, so that few rows of `best` are looked up. */
static const char sql_partial[] =
    "select r.problem_id from run r not indexed cross join best b on b.problem_id = r.problem_id and b.is_current and b.run_id = r.id"
    " where r.state = 'partial'";
/* Who gave rows of this database: 1 for this user, 2 for others, and 4 for documents of others. */
static const char sql_givers[] =
    "select exists (select 1 from origin where kind = 'measured') + 2 * exists (select 1 from origin where kind <> 'measured')"
    " + 4 * exists (select 1 from origin where kind = 'imported')";
static const char sql_foreign[] = "select b.problem_id from best b where b.is_current and not " SQL_IS_OWN("b");
static const char sql_imported[] =
    "select b.problem_id from best b join origin o on o.id = b.origin_id where b.is_current and o.kind = 'imported'";
static const char sql_variant[] = "select template_id, parameters from variant where id = ?1";

/* Check that each row has its problem and its variant. One is missing only if something other than SQLite changed the
 * file. */
static halotune_status check_rows(struct reader *r) {
  for (int i = 0; i < r->reference_count; i++) {
    const struct reference *reference = &r->references[i];
    const struct served *row = own_rows(r) + reference->row;
    if (!row->has_problem) return refer_fail(r, "best", row->id, "problem", reference->problem);
    if (!row->parameters) return refer_fail(r, "best", row->id, "variant", reference->variant);
  }
  return HALOTUNE_OK;
}

/* Read the variants one after the other: this is faster if few of the measured variants are winners. */
static halotune_status read_few_variants(struct reader *r) {
  sqlite3_stmt *query = NULL;
  halotune_status status = query_prepare(r->connection, sql_variant, &query);
  for (int i = 0; i < r->reference_count && status == HALOTUNE_OK; i++) {
    int64_t id = r->references[i].variant;
    if (i > 0 && r->references[i - 1].variant == id) continue;
    sqlite3_bind_int64(query, 1, id);
    int code = sqlite3_step(query);
    if (code == SQLITE_ROW) status = add_variant(r, id, sqlite3_column_int64(query, 0), column_text(query, 1));
    else if (code != SQLITE_DONE) status = query_fail(r->connection);
    sqlite3_reset(query);
  }
  sqlite3_finalize(query);
  return status;
}

static halotune_status read_variants(struct reader *r) {
  enum { SCAN_UP_TO = 4 }; /* a query for one row takes about as long as a scan over so many rows */
  int64_t last = 0;
  halotune_status status = query_number(r->connection, "select max(id) from variant", &last);
  if (status != HALOTUNE_OK) return status;
  return last <= (int64_t)SCAN_UP_TO * r->reference_count ? take_rows(r->connection, sql_variants, take_variant, r)
                                                          : read_few_variants(r);
}

/* An interval without width comes from equal samples, or from a single sample; then the interval is unknown. Few rows
 * have such an interval, so the number of samples is not in the index. */
static halotune_status judge_intervals(struct reader *r) {
  sqlite3_stmt *query = NULL;
  halotune_status status = query_prepare(r->connection, sql_sample_count, &query);
  for (int i = 0; i < r->reference_count && status == HALOTUNE_OK; i++) {
    struct served *row = &own_rows(r)[i];
    int64_t count = 0;
    if (row->low_ms < row->high_ms) continue;
    sqlite3_bind_int64(query, 1, row->id);
    status = query_run(query, &count);
    if (count == 1) row->low_ms = row->high_ms = NAN;
  }
  sqlite3_finalize(query);
  return status;
}

static halotune_status read_best(struct reader *r) {
  int64_t givers = 0;
  halotune_status status = query_number(r->connection, sql_givers, &givers);
  r->has_own = givers & 1;
  r->has_others = givers & 2;
  r->has_imported = givers & 4;
  if (status == HALOTUNE_OK) status = take_rows(r->connection, sql_best, take_best, r);
  if (status == HALOTUNE_OK) status = judge_intervals(r);
  if (status != HALOTUNE_OK || r->reference_count == 0) return status;
  sort_references(r, compare_problems);
  status = take_rows(r->connection, sql_problems, take_problem, r);
  sort_references(r, compare_variants);
  if (status == HALOTUNE_OK) status = read_variants(r);
  if (status == HALOTUNE_OK) status = check_rows(r);
  sort_references(r, compare_problems);
  if (status == HALOTUNE_OK) status = query_rows(r->connection, sql_partial, take_partial, r);
  if (status == HALOTUNE_OK && r->has_own && r->has_others)
    status = query_rows(r->connection, sql_foreign, take_foreign, r);
  if (status == HALOTUNE_OK && r->has_imported) status = query_rows(r->connection, sql_imported, take_imported, r);
  r->first_row = r->catalog->row_count - r->reference_count;
  return status == HALOTUNE_OK ? catalog_read_finalists(r) : status;
}

/* Mostly nothing is wrong. That is known before the statement is prepared. */
static halotune_status read_refuted(struct reader *r) {
  int64_t is_any = 0;
  const halotune_status status = query_number(r->connection, "select " SQL_IS_ANY_WRONG, &is_any);
  return status != HALOTUNE_OK || !is_any ? status : query_rows(r->connection, sql_refuted, take_refuted, r);
}

/* Read all of a database.
 *   path  absolute; the catalog takes it over on success */
static halotune_status read_store(struct catalog *catalog, struct store *store, char *path) {
  struct reader r = {.catalog = catalog, .path = path, .connection = store_connection(store)};
  if (!array_room(catalog->databases, catalog->database_count, catalog->database_room)) return fail_memory();
  refuted_set_now(&catalog->refuted);
  halotune_status status = query_script(r.connection, "begin"); /* so that all tables are of one moment */
  if (status == HALOTUNE_OK) status = query_rows(r.connection, sql_stencils, take_stencil, &r);
  if (status == HALOTUNE_OK) status = query_rows(r.connection, sql_texts, take_text, &r);
  if (status == HALOTUNE_OK) status = query_rows(r.connection, sql_templates, take_template, &r);
  if (status == HALOTUNE_OK) status = query_rows(r.connection, sql_devices, take_device, &r);
  if (status == HALOTUNE_OK) status = query_rows(r.connection, sql_predictions, take_prediction, &r);
  if (status == HALOTUNE_OK) status = read_best(&r);
  if (status == HALOTUNE_OK) status = read_refuted(&r);
  status = query_finish(r.connection, status);
  id_places_free(&r.stencils);
  id_places_free(&r.templates);
  id_places_free(&r.devices);
  id_places_free(&r.texts);
  free(r.text_list);
  free(r.references);
  if (status == HALOTUNE_OK)
    catalog->databases[catalog->database_count++] = (struct known_database){path, store_file_of(store)};
  return status;
}

/* Read all of a database that nobody else uses, and close it. Its path is that by which it was opened: machine code is
 * read later, maybe from another working directory. */
static halotune_status read_and_close(struct catalog *catalog, struct store *store) {
  char *path = store_opened_path(store);
  halotune_status status = path ? query_script(store_connection(store), small_cache_sql) : fail_memory();
  if (status == HALOTUNE_OK) status = read_store(catalog, store, path);
  store_close(store);
  if (status != HALOTUNE_OK) free(path);
  return status;
}

halotune_status catalog_add(struct catalog *catalog, const char *path) {
  struct store *store;
  const halotune_status status = store_open(path, STORE_READ, &store);
  return status == HALOTUNE_OK ? read_and_close(catalog, store) : status;
}

halotune_status catalog_add_starter(struct catalog *catalog) {
  struct store *store;
  const halotune_status status = store_open_starter(&store);
  return status == HALOTUNE_OK && store ? read_and_close(catalog, store) : status;
}

halotune_status catalog_add_store(struct catalog *catalog, struct store *store) {
  char *path = strdup(store_path(store));
  const halotune_status status = path ? read_store(catalog, store, path) : fail_memory();
  if (status != HALOTUNE_OK) free(path);
  return status;
}

halotune_status catalog_open_again(const struct catalog *catalog, int database, struct store **out) {
  const struct known_database *known = &catalog->databases[database];
  halotune_status status = store_open(known->path, STORE_READ, out);
  if (status != HALOTUNE_OK) return status;
  const struct store_file now = store_file_of(*out);
  if (now.inode != 0 && store_file_is_same(&now, &known->file)) return HALOTUNE_OK;
  store_close(*out);
  *out = NULL;
  return fail(HALOTUNE_NOT_FOUND, "%s: another file has taken the place of the database", known->path);
}

void catalog_free(struct catalog *catalog) {
  for (int i = 0; i < catalog->database_count; i++) free(catalog->databases[i].path);
  free(catalog->databases);
  for (int i = 0; i < catalog->stencil_count; i++) {
    parsed_stencil_free(atomic_load(&catalog->stencils[i].parsed));
    kin_free(atomic_load(&catalog->stencils[i].kin));
  }
  for (int i = 0; i < catalog->template_count; i++) template_free(atomic_load(&catalog->templates[i].parsed));
  free(catalog->stencils);
  free(catalog->templates);
  free(catalog->devices);
  free(catalog->row_block ? catalog->row_block : catalog->rows);
  refuted_free(&catalog->refuted);
  set_free(&catalog->stencils_by_key);
  set_free(&catalog->models_by_key);
  names_free(&catalog->stencil_names);
  names_free(&catalog->device_names);
  texts_free(&catalog->texts);
  arena_free(&catalog->arena);
  *catalog = (struct catalog){0};
}
