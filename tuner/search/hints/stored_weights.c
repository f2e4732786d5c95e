/* stored_weights.c: asks database after database. */
#include "tuner/search/hints/stored_weights.h"

#include "base/text/text.h"

const char stored_weights_remark[] =
    "learnt weights of static costs make no sense, and are not used: run 'halotune db fit' for their database";

halotune_status stored_weights_find(const struct hint_sources *sources, const struct hint_target *target,
                                    enum static_stored *found, struct static_weights *out, struct text *warnings) {
  const struct device_facts *device = target->device;
  halotune_status status = HALOTUNE_OK;
  bool has_nonsense = false;
  *found = STATIC_NONE;
  if (target->is_emulation) return HALOTUNE_OK;
  for (int i = -1; i < sources->other_count && *found != STATIC_STORED && status == HALOTUNE_OK; i++) {
    const struct store *store = i < 0 ? sources->own : sources->others[i];
    status = hint_source_end(
        sources, i, static_weights_read(store, device->name, device->capability, device->sm_count, found, out));
    if (*found != STATIC_NONSENSE) continue;
    has_nonsense = true;
    text_printf(warnings, "%s: %s\n", store_path(store), stored_weights_remark);
  }
  if (status != HALOTUNE_OK || !has_nonsense) return status;
  if (*found != STATIC_STORED) *found = STATIC_NONSENSE;
  return text_ok(warnings) ? HALOTUNE_OK : fail_memory();
}
