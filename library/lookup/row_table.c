/* row_table.c: a hash set for exact answers, and distances between grids for the others.
 *
 * The best configuration depends on the geometry of a grid rather than on its volume: whether rows begin at multiples
 * of a vector, how long a row and how large a plane is, whether the fields fit into the L2 cache, and how many waves
 * of blocks there are. */
#include "library/lookup/row_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Mix two numbers: both halves of the product depend on all bits of the factors. */
static uint64_t mix(uint64_t a, uint64_t b) {
  __uint128_t product = (__uint128_t)a * b;
  return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

/* The hash leaves out the modes, so that one chain has the rows of all modes. */
static uint64_t problem_hash(const uint32_t n[MAX_DIMS], int stencil, int model, unsigned char dtype) {
  static const uint64_t odd[] = {0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u,
                                 0x94d049bb133111ebu}; /* as in base/random.h */
  uint64_t low = (uint64_t)n[0] << 32 | n[1], high = (uint64_t)n[2] << 32 | (uint32_t)stencil;
  return mix(mix(low ^ odd[0], high ^ odd[1]) ^ ((uint64_t)model << 1 | dtype), odd[2]);
}

static bool is_of_problem(const struct served *row, const struct lookup_key *key) {
  return row->n[0] == key->n[0] && row->n[1] == key->n[1] && row->n[2] == key->n[2] && row->stencil == key->stencil &&
         row->model == key->model && row->dtype == key->dtype && row->steps == key->steps;
}

static bool is_in_mode(const struct served *row, const struct lookup_key *key) {
  return (!key->launch || key->launch == row->launch + 1) && (!key->cache || key->cache == row->cache + 1) &&
         (!key->reproducible || row->reproducible);
}

static uint64_t key_hash(const struct lookup_key *key) {
  return problem_hash(key->n, key->stencil, key->model, key->dtype);
}

/* Add a row, unless the table has one for the same problem: catalog_finish has sorted the row to use to the front. */
static halotune_status table_add(struct lookup_table *table, int number) {
  const struct served *rows = table->catalog->rows, *row = &rows[number];
  struct lookup_key key = {.n = {row->n[0], row->n[1], row->n[2]},
                           .stencil = row->stencil,
                           .model = row->model,
                           .dtype = row->dtype,
                           .steps = row->steps,
                           .launch = (unsigned char)(row->launch + 1),
                           .cache = (unsigned char)(row->cache + 1)};
  const uint64_t hash = key_hash(&key);
  int other;
  for (struct set_walk at = set_walk(&table->by_problem, hash); set_next(&at, &other);) {
    if (is_of_problem(&rows[other], &key) && is_in_mode(&rows[other], &key) &&
        rows[other].reproducible == row->reproducible)
      return HALOTUNE_OK;
  }
  return set_add(&table->by_problem, hash, number) ? HALOTUNE_OK : fail_memory();
}

const struct served *lookup_exact(const struct lookup_table *table, const struct lookup_key *key) {
  const struct served *best = NULL;
  int best_rank = 8, number;
  for (struct set_walk at = set_walk(&table->by_problem, key_hash(key)); best_rank > 0 && set_next(&at, &number);) {
    const struct served *row = &table->catalog->rows[number];
    const int rank = 4 * row->reproducible + 2 * row->cache + row->launch;
    if (rank >= best_rank || !is_of_problem(row, key) || !is_in_mode(row, key)) continue;
    best_rank = rank;
    best = row;
  }
  return best;
}

enum { ALIGNMENT, ROW, PLANE, DEPTH, CACHE, WAVES };

/* The distance for a difference of one, which is a factor of two in alignment, length, size or number. */
static const float weights[LOOKUP_FEATURES] = {
    [ALIGNMENT] = 0.5f, [ROW] = 0.5f, [PLANE] = 0.5f, [DEPTH] = 0.25f, [CACHE] = 1, [WAVES] = 0.5f};

/* Distances for another mode than the wanted one. A row in another mode is still better than one for half the points.
 */
static const float other_launch = 0.25f, other_cache = 0.75f, fewer_variants = 0.25f;

static float clamp(float value, float low, float high) { return value < low ? low : value > high ? high : value; }

static void find_features(const uint32_t n[MAX_DIMS], double bytes, const struct known_device *device,
                          float out[LOOKUP_FEATURES]) {
  enum { WIDEST = 5 }; /* at 32 elements, rows are whole transactions; more alignment changes nothing */
  float cells = (float)n[0] * (float)n[1] * (float)n[2];
  float sms = device->sm_count > 0 ? (float)device->sm_count : 1,
        l2 = device->l2_bytes > 0 ? (float)device->l2_bytes : 32e6f;
  int shift = n[0] ? __builtin_ctz(n[0]) : 0;
  out[ALIGNMENT] = (float)(shift < WIDEST ? shift : WIDEST);
  out[ROW] = log2f((float)n[0]);
  out[PLANE] = log2f((float)n[0] * (float)n[1]);
  out[DEPTH] = log2f((float)n[2]);
  /* Far inside and far outside of the cache, sizes no longer matter. The same holds for many waves. */
  out[CACHE] = clamp(log2f((float)bytes / l2), -3, 3);
  out[WAVES] = clamp(log2f(cells / (sms * 2048)), -3, 5);
}

void lookup_near_start(const struct lookup_table *table, const struct lookup_key *key,
                       const struct known_device *device, double bytes_per_point, bool other_models,
                       struct lookup_near *out) {
  *out = (struct lookup_near){.table = table,
                              .key = *key,
                              .device = device,
                              .other_models = other_models,
                              .emulated = !other_models,
                              .distance = -1,
                              .row = -1};
  double cells = (double)key->n[0] * key->n[1] * key->n[2];
  find_features(key->n, cells * bytes_per_point, device, out->features);
}

/* Find the nearest row of a family behind the row that was found last. Distances are computed for a piece of the rows
 * at a time, without branches, so that the compiler vectorizes the loop. */
static void search_family(const struct lookup_near *near, const struct lookup_family *family, float *best,
                          int *best_row) {
  enum { PIECE = 256 };
  const struct catalog *catalog = near->table->catalog;
  float distances[PIECE];
  for (int first = family->first; first < family->end; first += PIECE) {
    int count = family->end - first < PIECE ? family->end - first : PIECE;
    for (int i = 0; i < count; i++) distances[i] = 0;
    for (int f = 0; f < LOOKUP_FEATURES; f++) {
      const float *list = near->table->features + (size_t)f * (size_t)catalog->row_count + first;
      float wanted = near->features[f], weight = weights[f];
      for (int i = 0; i < count; i++) distances[i] += weight * fabsf(list[i] - wanted);
    }
    for (int i = 0; i < count; i++) {
      const struct served *row = &catalog->rows[first + i];
      float distance = distances[i];
      if (distance > *best) continue; /* other modes only increase the distance */
      if (row->steps != near->key.steps || (near->key.reproducible && !row->reproducible)) continue;
      if (near->key.launch ? row->launch + 1 != near->key.launch : row->launch != LAUNCH_STREAM)
        distance += other_launch;
      if (near->key.cache ? row->cache + 1 != near->key.cache : row->cache != CACHE_STEADY) distance += other_cache;
      if (row->reproducible && !near->key.reproducible) distance += fewer_variants; /* it won among fewer variants */
      bool is_behind = distance > near->distance || (distance == near->distance && first + i > near->row);
      if (!is_behind || distance >= *best) continue;
      *best = distance;
      *best_row = first + i;
    }
  }
}

static bool is_searched(const struct lookup_near *near, const struct lookup_family *family) {
  if (family->dtype != near->key.dtype) return false;
  if (!near->other_models) return family->model == near->key.model;
  const struct known_device *device = &near->table->catalog->devices[family->model];
  return family->model != near->key.model && device->capability == near->device->capability &&
         (near->emulated || !device->is_emulation);
}

const struct served *lookup_near_next(struct lookup_near *near) {
  const struct lookup_table *table = near->table;
  float best = INFINITY;
  int best_row = -1;
  for (int i = table->first_family[near->key.stencil]; i < table->first_family[near->key.stencil + 1]; i++) {
    if (is_searched(near, &table->families[i])) search_family(near, &table->families[i], &best, &best_row);
  }
  if (best_row < 0) return NULL;
  near->distance = best;
  near->row = best_row;
  return &table->catalog->rows[best_row];
}

static halotune_status make_families(struct lookup_table *table) {
  const struct catalog *c = table->catalog;
  table->families = calloc((size_t)c->row_count + 1, sizeof *table->families);
  table->first_family = calloc((size_t)c->stencil_room + 2, sizeof *table->first_family);
  if (!table->families || !table->first_family) return fail_memory();
  for (int i = 0; i < c->row_count; i++) {
    const struct served *row = &c->rows[i];
    struct lookup_family *last = table->family_count ? &table->families[table->family_count - 1] : NULL;
    if (!last || last->stencil != row->stencil || last->model != row->model || last->dtype != row->dtype) {
      last = &table->families[table->family_count++];
      *last = (struct lookup_family){row->stencil, row->model, i, i, row->dtype};
      table->first_family[row->stencil + 1] = table->family_count;
    }
    last->end = i + 1;
  }
  for (int i = 0; i < c->stencil_room; i++) { /* a stencil without rows has no families */
    if (table->first_family[i + 1] < table->first_family[i]) table->first_family[i + 1] = table->first_family[i];
  }
  return HALOTUNE_OK;
}

static halotune_status make_features(struct lookup_table *table) {
  const struct catalog *c = table->catalog;
  float features[LOOKUP_FEATURES];
  table->features = malloc(((size_t)c->row_count * LOOKUP_FEATURES + 1) * sizeof *table->features);
  if (!table->features) return fail_memory();
  for (int i = 0; i < c->row_count; i++) {
    find_features(c->rows[i].n, (double)c->rows[i].bytes, &c->devices[c->rows[i].device], features);
    for (int f = 0; f < LOOKUP_FEATURES; f++)
      table->features[(size_t)f * (size_t)c->row_count + (size_t)i] = features[f];
  }
  return HALOTUNE_OK;
}

halotune_status lookup_table_make(const struct catalog *catalog, struct lookup_table *out) {
  *out = (struct lookup_table){.catalog = catalog};
  halotune_status status =
      set_reserve(&out->by_problem, (size_t)catalog->row_count) ? make_families(out) : fail_memory();
  if (status == HALOTUNE_OK) status = make_features(out);
  for (int i = 0; i < catalog->row_count && status == HALOTUNE_OK; i++) status = table_add(out, i);
  if (status != HALOTUNE_OK) lookup_table_free(out);
  return status;
}

void lookup_table_free(struct lookup_table *table) {
  set_free(&table->by_problem);
  free(table->families);
  free(table->first_family);
  free(table->features);
  *table = (struct lookup_table){0};
}
