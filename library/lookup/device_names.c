/* device_names.c: compares names of GPUs with the databases and with the table of GPUs. */
#include "library/lookup/device_names.h"

#include <string.h>
#include <strings.h>

#include "base/text/text.h"
#include "gpu/architecture/arch.h"

enum { BYTES_PER_KIB = 1024 };

struct known_device device_of_row(const struct gpu_row *row) {
  struct known_device device = {.name = row->name,
                                .uuid = "",
                                .model = -1,
                                .capability = row->capability,
                                .sm_count = row->multiprocessors,
                                .memory_gbs = row->memory_gbs,
                                .l2_bytes = row->l2_kib * BYTES_PER_KIB};
  device.limits = arch_device_limits(arch_find(row->capability / 10, row->capability % 10));
  device.limits.multiprocessors = row->multiprocessors;
  return device;
}

bool device_of_arch(const char *name, struct known_device *out) {
  struct arch arch;
  if (strncmp(name, "sm_", 3) != 0 || arch_parse(name, &arch) != HALOTUNE_OK) return false;
  const struct arch_facts *facts = arch_find(arch.major, arch.minor);
  if (!facts) return false;
  const struct gpu_row *row = gpu_row_of(10 * arch.major + arch.minor);
  if (row) *out = device_of_row(row);
  else *out = (struct known_device){.uuid = "", .model = -1, .capability = 10 * arch.major + arch.minor};
  out->name = name;
  if (!row) out->sm_count = facts->multiprocessors;
  out->limits = arch_device_limits(facts);
  return true;
}

void device_names_write(const struct catalog *catalog, struct text *text) {
  const char *separator = "";
  for (int i = 0; i < catalog->device_count; i++) {
    const struct known_device *device = &catalog->devices[i];
    if (device->model != i) continue;
    text_printf(text, "%s'%s'", separator, device->name);
    separator = ", ";
  }
}

/* An error message names so many GPUs at most. */
enum { MOST_TOLD = 4 };

/* The best fit so far, and the names of those that fit as well. */
struct best_fit {
  int misfit, count;
  struct named_device device;
  struct text names;
};

static void try_name(struct best_fit *best, int misfit, const char *name, struct named_device device) {
  if (misfit == GPU_NO_FIT || misfit > best->misfit) return;
  if (misfit < best->misfit) {
    text_free(&best->names);
    *best = (struct best_fit){.misfit = misfit, .device = device};
  }
  if (best->count < MOST_TOLD) text_printf(&best->names, "%s'%s'", best->count ? " or " : "", name);
  best->count++;
}

bool device_is_known_gpu(const struct known_device *device) {
  if (device->is_emulation || device->giver != GIVER_OTHERS) return !device->is_emulation;
  const struct gpu_row *row = gpu_row_named(device->name);
  return row && strcmp(row->name, device->name) == 0 && row->capability == device->capability &&
         row->multiprocessors == device->sm_count;
}

static bool has_known_gpu(const struct catalog *catalog, const char *name) {
  for (int i = 0; i < catalog->device_count; i++) {
    if (catalog->devices[i].is_known_gpu && strcasecmp(catalog->devices[i].name, name) == 0) return true;
  }
  return false;
}

/* Two models of one name differ in their multiprocessors only. The first stands for both, as for the exact name.
 *   seen   the devices that were first so far; the next one is added
 *   is_ok  receives false when memory is out */
static bool is_first_of_name(const struct catalog *catalog, int at, struct set *seen, bool *is_ok) {
  const char *name = catalog->devices[at].name;
  const uint64_t key = set_hash(name, strlen(name));
  int i;
  for (struct set_walk walk = set_walk(seen, key); set_next(&walk, &i);) {
    if (strcmp(catalog->devices[i].name, name) == 0) return false;
  }
  *is_ok = *is_ok && set_add(seen, key, at);
  return true;
}

static halotune_status fail_unknown(const struct catalog *catalog, const char *asked) {
  struct text names = {0};
  device_names_write(catalog, &names);
  halotune_status status =
      fail(HALOTUNE_NOT_FOUND,
           "no database and no row of 'halotune list gpus' has a GPU '%s': name an architecture such as sm_90%s%s",
           asked, names.length ? ", or a device that the databases know: " : "", text_string(&names));
  text_free(&names);
  return status;
}

/* Try the GPUs of the databases whose is_known_gpu is `is_known`.
 *   is_ok  receives false when memory is out */
static void try_devices(const struct catalog *catalog, const char *asked, bool is_known, struct best_fit *best,
                        bool *is_ok) {
  struct set seen = {0};
  for (int i = 0; i < catalog->device_count; i++) {
    const struct known_device *device = &catalog->devices[i];
    if (device->is_emulation || device->is_known_gpu != is_known || !is_first_of_name(catalog, i, &seen, is_ok))
      continue;
    const struct gpu_row *row = gpu_row_named(device->name);
    try_name(best, gpu_misfit(asked, device->name, row ? row->short_name : NULL), device->name,
             (struct named_device){i, NULL});
  }
  set_free(&seen);
}

/* The imported device with exactly this name or UUID; -1 if there is none. A GPU comes before an emulation, and a UUID
 * before a name: a document can give its GPU the UUID of another one as a name. */
static int find_imported(const struct catalog *catalog, const char *asked) {
  enum { IS_NAME = 1, IS_EMULATION = 2, NONE = 4 };
  int best = -1, best_rank = NONE;
  for (int i = 0; i < catalog->device_count; i++) {
    const struct known_device *device = &catalog->devices[i];
    const bool is_uuid = strcmp(device->uuid, asked) == 0;
    const int rank = IS_EMULATION * device->is_emulation + IS_NAME * !is_uuid;
    if (device->giver != GIVER_OTHERS || rank >= best_rank || !(is_uuid || strcmp(device->name, asked) == 0)) continue;
    best = i;
    best_rank = rank;
  }
  return best;
}

halotune_status device_find(const struct catalog *catalog, const char *asked, struct named_device *out) {
  struct best_fit best = {.misfit = GPU_NO_FIT};
  bool is_ok = true;
  halotune_status status = HALOTUNE_OK;
  try_devices(catalog, asked, true, &best, &is_ok);
  for (int i = 0; i < gpu_row_count; i++) {
    const struct gpu_row *row = &gpu_rows[i];
    if (has_known_gpu(catalog, row->name)) continue;
    try_name(&best, gpu_misfit(asked, row->name, row->short_name), row->name, (struct named_device){-1, row});
  }
  if (best.count == 0) {
    const int imported = find_imported(catalog, asked);
    if (imported < 0) try_devices(catalog, asked, false, &best, &is_ok);
    else best = (struct best_fit){.count = 1, .device = {imported, NULL}};
  }
  if (!is_ok || !text_ok(&best.names)) status = fail_memory();
  else if (best.count == 0) status = fail_unknown(catalog, asked);
  else if (best.count > 1)
    status = fail(HALOTUNE_ARGUMENT, "'%s' can mean %s%s: name one of them", asked, text_string(&best.names),
                  best.count > MOST_TOLD ? " or others" : "");
  else *out = best.device;
  text_free(&best.names);
  return status;
}
