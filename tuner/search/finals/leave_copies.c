/* leave_copies.c: compares the machine code of candidates. */
#include "tuner/search/finals/leave_copies.h"

#include <stdlib.h>

static bool has_code(const struct identity *codes, int count, struct identity code) {
  for (int i = 0; i < count; i++) {
    if (identity_compare(codes[i], code) == 0) return true;
  }
  return false;
}

halotune_status leave_copies(const struct timed_list *timed, const struct timed_variant *const *fastest,
                             struct trial *const *built, struct final_candidate *candidates, int *count) {
  struct identity *codes = calloc((size_t)timed->count + 1, sizeof *codes), code; /* of those that stay */
  int code_count = 0;
  *count = 0;
  if (!codes) return fail_memory();
  for (int pass = 0; pass < 2; pass++) { /* those that stay in any case come first */
    for (long i = 0; i < timed->count; i++) {
      const long at = fastest[i] - timed->list;
      struct final_candidate *candidate = &candidates[at];
      const bool stays = candidate->is_default || candidate->is_served;
      if (stays != (pass == 0) || !built[at] || candidate->outcome == OUTCOME_PRUNED) continue;
      if (!trial_code(built[at], &code)) continue;
      if (!has_code(codes, code_count, code)) {
        codes[code_count++] = code;
      } else if (!stays) {
        candidate->outcome = OUTCOME_PRUNED;
        ++*count;
      }
    }
  }
  free(codes);
  return HALOTUNE_OK;
}
