/* lookup_catalog.c: a database's tables, read into memory. */
#include "db/lookup_catalog.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "db/query.h"

/* Ids of a table, ascending, and where the catalog keeps each. */
struct id_map {
  int64_t *ids;
  int *places;
  int count, id_room, place_room;
};

struct reader {
  struct catalog *catalog;
  sqlite3 *connection;
  struct id_map stencils, templates, devices;
  const char *driver, *nvrtc; /* of the row before, since they seldom change */
};

static halotune_status map_add(struct id_map *map, int64_t id, int place) {
  int64_t *ids = array_grow(map->ids, map->count, &map->id_room, sizeof *ids);
  if (ids) map->ids = ids;
  int *places = array_grow(map->places, map->count, &map->place_room, sizeof *places);
  if (places) map->places = places;
  if (!ids || !places) return fail_memory();
  map->ids[map->count] = id;
  map->places[map->count++] = place;
  return HALOTUNE_OK;
}

static int map_find(const struct id_map *map, int64_t id) {
  int low = 0, high = map->count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (map->ids[middle] < id) low = middle + 1;
    else high = middle;
  }
  return low < map->count && map->ids[low] == id ? map->places[low] : -1;
}

static void map_free(struct id_map *map) {
  free(map->ids);
  free(map->places);
}

static const char *keep(struct catalog *catalog, const char *text) { return arena_text(&catalog->arena, text, strlen(text)); }

/* Call `take` for each row of a statement. */
static halotune_status read_rows(struct reader *r, const char *sql, halotune_status (*take)(struct reader *, sqlite3_stmt *)) {
  sqlite3_stmt *query = NULL;
  halotune_status status = query_prepare(r->connection, sql, &query);
  int code = SQLITE_DONE;
  while (status == HALOTUNE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) status = take(r, query);
  if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(r->connection);
  sqlite3_finalize(query);
  return status;
}

/* --- what rows refer to ------------------------------------------------------------------------------------------------- */

static halotune_status take_stencil(struct reader *r, sqlite3_stmt *query) {
  struct catalog *c = r->catalog;
  const char *hash = column_text(query, 1), *name = column_text(query, 2);
  for (int i = 0; i < c->stencil_count; i++) {
    if (strcmp(c->stencils[i].hash, hash) == 0 && strcmp(c->stencils[i].name, name) == 0) {
      return map_add(&r->stencils, sqlite3_column_int64(query, 0), i);
    }
  }
  struct known_stencil *list = array_grow(c->stencils, c->stencil_count, &c->stencil_room, sizeof *list);
  if (!list) return fail_memory();
  c->stencils = list;
  struct known_stencil *added = &list[c->stencil_count];
  *added = (struct known_stencil){.name = keep(c, name), .text = keep(c, column_text(query, 3)), .newest = ""};
  added->database = c->database_count;
  snprintf(added->hash, sizeof added->hash, "%s", hash);
  if (!added->name || !added->text) return fail_memory();
  return map_add(&r->stencils, sqlite3_column_int64(query, 0), c->stencil_count++);
}

static halotune_status take_template(struct reader *r, sqlite3_stmt *query) {
  struct catalog *c = r->catalog;
  const char *hash = column_text(query, 1);
  for (int i = 0; i < c->template_count; i++) {
    if (strcmp(c->templates[i].hash, hash) == 0) return map_add(&r->templates, sqlite3_column_int64(query, 0), i);
  }
  struct known_template *list = array_grow(c->templates, c->template_count, &c->template_room, sizeof *list);
  if (!list) return fail_memory();
  c->templates = list;
  struct known_template *added = &list[c->template_count];
  *added = (struct known_template){.name = keep(c, column_text(query, 2)), .yaml = keep(c, column_text(query, 3)),
                                   .cuda = keep(c, column_text(query, 4)), .database = c->database_count};
  snprintf(added->hash, sizeof added->hash, "%s", hash);
  if (!added->name || !added->yaml || !added->cuda) return fail_memory();
  return map_add(&r->templates, sqlite3_column_int64(query, 0), c->template_count++);
}

/* Same name and size: their times may be taken for each other's. */
static int model_of(const struct catalog *c, const struct known_device *device) {
  for (int i = 0; i < c->device_count; i++) {
    const struct known_device *other = &c->devices[i];
    if (strcmp(other->name, device->name) == 0 && other->capability == device->capability && other->sm_count == device->sm_count &&
        other->is_emulation == device->is_emulation) {
      return i;
    }
  }
  return c->device_count;
}

static halotune_status take_device(struct reader *r, sqlite3_stmt *query) {
  struct catalog *c = r->catalog;
  struct known_device *list = array_grow(c->devices, c->device_count, &c->device_room, sizeof *list);
  if (!list) return fail_memory();
  c->devices = list;
  struct known_device *added = &list[c->device_count];
  int numbers[14];
  for (int i = 0; i < 14; i++) numbers[i] = sqlite3_column_int(query, 3 + i);
  *added = (struct known_device){.name = keep(c, column_text(query, 1)), .uuid = keep(c, column_text(query, 2)),
                                 .capability = numbers[0], .sm_count = numbers[1], .memory_clock_khz = numbers[2],
                                 .bus_bits = numbers[3], .l2_bytes = numbers[4], .is_emulation = numbers[5] != 0};
  added->limits = (struct device_limits){.capability = numbers[0], .max_threads = numbers[6], .max_threads_sm = numbers[7],
                                         .max_registers = numbers[8], .registers_sm = numbers[9],
                                         .max_shared_bytes = numbers[10], .warp_size = numbers[11]};
  if (!added->name || !added->uuid) return fail_memory();
  added->model = model_of(c, added);
  return map_add(&r->devices, sqlite3_column_int64(query, 0), c->device_count++);
}

/* --- rows --------------------------------------------------------------------------------------------------------------- */

/* Days from the civil calendar: years begin in March, so that leap days come last. */
double date_seconds(const char *date) {
  int year, month, day, hour, minute, second;
  if (sscanf(date, "%4d-%2d-%2dT%2d:%2d:%2d", &year, &month, &day, &hour, &minute, &second) != 6) return NAN;
  long y = month <= 2 ? year - 1 : year, shifted = (month + 9) % 12;
  long days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * shifted + 2) / 5 + day - 1 - 719468;
  return (double)days * 86400 + hour * 3600 + minute * 60 + second;
}

/* A text that is mostly the same as in the row before. */
static const char *keep_again(struct catalog *catalog, const char *text, const char **before) {
  if (!*before || strcmp(text, *before) != 0) *before = keep(catalog, text);
  return *before;
}

static unsigned char mode_number(const char *const names[], int count, const char *name) {
  for (int i = 0; i < count; i++) {
    if (strcmp(names[i], name) == 0) return (unsigned char)i;
  }
  return (unsigned char)count;
}

static unsigned char count_parameters(const char *json) {
  unsigned count = 0;
  for (const char *c = json; *c; c++) count += *c == ':'; /* names and words are identifiers */
  return (unsigned char)count;
}

static halotune_status take_best(struct reader *r, sqlite3_stmt *query) {
  struct catalog *c = r->catalog;
  struct served *list = array_grow(c->rows, c->row_count, &c->row_room, sizeof *list);
  if (!list) return fail_memory();
  c->rows = list;
  struct served *row = &list[c->row_count];
  *row = (struct served){.id = sqlite3_column_int64(query, 0), .database = c->database_count,
                         .device = map_find(&r->devices, sqlite3_column_int64(query, 1)),
                         .stencil = map_find(&r->stencils, sqlite3_column_int64(query, 2)),
                         .template_at = map_find(&r->templates, sqlite3_column_int64(query, 9)),
                         .dtype = mode_number(dtype_names, DTYPE_COUNT, column_text(query, 3)),
                         .launch = mode_number(launch_mode_names, LAUNCH_MODE_COUNT, column_text(query, 7)),
                         .cache = mode_number(cache_mode_names, CACHE_MODE_COUNT, column_text(query, 8)),
                         .time_ms = column_real(query, 11), .low_ms = column_real(query, 12),
                         .high_ms = column_real(query, 13), .bytes = sqlite3_column_int64(query, 14),
                         .roof_share = column_real(query, 18)};
  if (row->device < 0 || row->stencil < 0 || row->template_at < 0) {
    return fail(HALOTUNE_DB, "%s: a best row refers to what is not there; see 'halotune db check'",
                sqlite3_db_filename(r->connection, "main"));
  }
  for (int axis = 0; axis < MAX_DIMS; axis++) row->n[axis] = (uint32_t)sqlite3_column_int64(query, 4 + axis);
  row->model = c->devices[row->device].model;
  row->parameters = keep(c, column_text(query, 10));
  row->date = keep(c, column_text(query, 15));
  row->driver = keep_again(c, column_text(query, 16), &r->driver);
  row->nvrtc = keep_again(c, column_text(query, 17), &r->nvrtc);
  if (!row->parameters || !row->date || !row->driver || !row->nvrtc) return fail_memory();
  row->parameter_count = count_parameters(row->parameters);
  row->date_s = date_seconds(row->date);
  struct known_stencil *stencil = &c->stencils[row->stencil];
  if (stencil->database == c->database_count && strcmp(stencil->newest, row->date) < 0) stencil->newest = row->date;
  c->templates[row->template_at].wins++;
  c->row_count++;
  return HALOTUNE_OK;
}

static const char sql_stencils[] = "select id, hash, name, text from stencil order by id";
static const char sql_templates[] = "select id, hash, name, yaml, cuda from template order by id";
static const char sql_devices[] =
    "select id, name, uuid, capability, sm_count, memory_clock_khz, bus_bits, l2_bytes, is_emulation, max_threads, max_threads_sm,"
    " max_registers, registers_sm, max_shared_bytes, warp_size, clock_khz, memory_bytes from device order by id";
static const char sql_rows[] =
    "select b.id, p.device_id, p.stencil_id, p.dtype, p.nx, p.ny, p.nz, p.launch, p.cache, v.template_id, v.parameters, b.time_ms,"
    " b.low_ms, b.high_ms, b.bytes, b.date, b.driver, b.nvrtc, b.roof_ratio"
    " from best b cross join problem p on p.id = b.problem_id cross join variant v on v.id = b.variant_id"
    " where b.is_current and b.is_trusted";

halotune_status catalog_add(struct catalog *catalog, const char *path) {
  struct store *store = NULL;
  struct reader r = {.catalog = catalog};
  char **paths = realloc(catalog->paths, ((size_t)catalog->database_count + 1) * sizeof *paths);
  if (!paths) return fail_memory();
  catalog->paths = paths;
  char *absolute = realpath(path, NULL); /* machine code is fetched later, perhaps from another working directory */
  if (!absolute && !(absolute = strdup(path))) return fail_memory();
  halotune_status status = store_open(absolute, STORE_READ, &store);
  if (status == HALOTUNE_OK) {
    r.connection = store_connection(store);
    status = query_script(r.connection, "begin"); /* one moment of the database for all tables */
  }
  if (status == HALOTUNE_OK) status = read_rows(&r, sql_stencils, take_stencil);
  if (status == HALOTUNE_OK) status = read_rows(&r, sql_templates, take_template);
  if (status == HALOTUNE_OK) status = read_rows(&r, sql_devices, take_device);
  if (status == HALOTUNE_OK) status = read_rows(&r, sql_rows, take_best);
  store_close(store);
  map_free(&r.stencils);
  map_free(&r.templates);
  map_free(&r.devices);
  if (status != HALOTUNE_OK) {
    free(absolute);
    return status;
  }
  catalog->paths[catalog->database_count++] = absolute;
  return HALOTUNE_OK;
}

void catalog_free(struct catalog *catalog) {
  for (int i = 0; i < catalog->database_count; i++) free(catalog->paths[i]);
  free(catalog->paths);
  for (int i = 0; i < catalog->stencil_count; i++) {
    struct parsed_stencil *parsed = atomic_load(&catalog->stencils[i].parsed);
    if (!parsed) continue;
    analysis_free(parsed->analysis);
    stencil_free(parsed->stencil);
    free(parsed);
  }
  for (int i = 0; i < catalog->template_count; i++) template_free(atomic_load(&catalog->templates[i].parsed));
  free(catalog->stencils);
  free(catalog->templates);
  free(catalog->devices);
  free(catalog->rows);
  names_free(&catalog->stencil_names);
  names_free(&catalog->device_names);
  arena_free(&catalog->arena);
  *catalog = (struct catalog){0};
}
