/* stored_weights.c: asks database after database. */
#include "tuner/search/hints/stored_weights.h"

#include "base/text/text.h"

const char stored_weights_remark[] =
    "the learnt weights of static costs make no sense, so the search uses the built-in ones: run 'halotune db fit'";

halotune_status stored_weights_find(const struct hint_sources *sources, const struct hint_target *target,
                                    enum static_stored *found, struct static_weights *out, struct text *warnings) {
  const struct device_facts *device = target->device;
  halotune_status status = HALOTUNE_OK;
  *found = STATIC_NONE;
  if (target->is_emulation) return HALOTUNE_OK;
  for (int i = -1; i < sources->other_count && *found == STATIC_NONE && status == HALOTUNE_OK; i++) {
    const struct store *store = i < 0 ? sources->own : sources->others[i];
    status = hint_source_end(
        sources, i, static_weights_read(store, device->name, device->capability, device->sm_count, found, out));
  }
  if (status != HALOTUNE_OK || *found != STATIC_NONSENSE) return status;
  text_printf(warnings, "%s\n", stored_weights_remark);
  return text_ok(warnings) ? HALOTUNE_OK : fail_memory();
}
