/* step_roof.c: the roofs of memory, arithmetic and shared memory for a step of a launch that makes several. */
#include "reports/figures/step_roof.h"

#include <math.h>

struct step_roof step_roof(const struct analysis *analysis, const struct fused_launch *launch) {
  const double read = analysis->read_bytes_per_point[launch->dtype], all = analysis->bytes_per_point[launch->dtype];
  const double moved = (all - read + read * launch->over_read) / all;
  const double instructions = launch->points * (launch->groups_weights ? analysis->grouped_instructions_per_point
                                                                       : analysis->instructions_per_point);
  return (struct step_roof){.memory_ms = launch->copy_ms * moved / launch->steps,
                            .arithmetic_ms = instructions / (launch->peak_gflops / 2 * 1e6),
                            .shared_ms =
                                launch->shared_wavefronts * launch->points / launch->passes_per_ms / launch->steps};
}

static bool is_known(const struct step_roof *roof) {
  return isfinite(roof->memory_ms) && isfinite(roof->arithmetic_ms);
}

double step_roof_ms(const struct step_roof *roof) {
  return is_known(roof) ? fmax(fmax(roof->memory_ms, roof->arithmetic_ms), roof->shared_ms) : NAN;
}

const char *step_roof_binding(const struct step_roof *roof) {
  if (!is_known(roof)) return NULL;
  if (step_roof_ms(roof) == roof->shared_ms) return "shared memory"; /* fmax passes over NAN */
  return roof->memory_ms >= roof->arithmetic_ms ? "memory" : "arithmetic";
}
