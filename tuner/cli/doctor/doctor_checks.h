/* doctor_checks.h: the parts that Halotune can use, and the checks whether this machine has them. */
#ifndef CLI_DOCTOR_DOCTOR_CHECKS_H
#define CLI_DOCTOR_DOCTOR_CHECKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text/text.h"
#include "gpu/compile/nvrtc.h"
#include "gpu/workers/probe.h"

enum finding_state { STATE_OK, STATE_WARNING, STATE_MISSING };

/* The result of one check. End both texts with text_free. */
struct finding {
  enum finding_state state;
  struct text text, advice; /* advice: what the part is for, or what to do; "" if all is well */
};

/* Findings that later checks use. Start with {0}. The check of NVRTC opens `nvrtc`; end it with nvrtc_close. */
struct machine {
  struct probe gpus; /* device_count is 0 if there is no driver */
  struct nvrtc nvrtc;
  bool has_nvrtc;
};

/* The checks, in the order in which they must run: the check of NVRTC uses the result of the driver's check. */
struct doctor_piece {
  const char *key, *name; /* in JSON, in text */
  void (*look)(struct machine *m, struct finding *f);
};
extern const struct doctor_piece doctor_pieces[];
extern const size_t doctor_piece_count;

/* Report the facts of a GPU, and whether kernels can be compiled for it. */
void doctor_look_at_gpu(const struct machine *m, const struct device_facts *gpu, struct finding *f);

#endif
