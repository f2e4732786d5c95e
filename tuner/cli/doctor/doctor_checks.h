/* doctor_checks.h: the pieces that Halotune can use, and for each of them what this machine has. */
#ifndef CLI_DOCTOR_DOCTOR_CHECKS_H
#define CLI_DOCTOR_DOCTOR_CHECKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "gpu/compile/nvrtc.h"
#include "gpu/workers/probe.h"

enum finding_state { STATE_OK, STATE_WARNING, STATE_MISSING };

/* What was found out about one piece. Texts end with text_free. */
struct finding {
  enum finding_state state;
  struct text text, advice; /* advice: what it would be good for, or what to do; "" where all is well */
};

/* What several checks ask for. Start with {0}; the check of NVRTC opens it, and nvrtc_close ends it. */
struct machine {
  struct probe gpus; /* device_count 0 where there is no driver */
  struct nvrtc nvrtc;
  bool has_nvrtc;
};

/* The checks, to be made in this order: that of NVRTC asks what the driver's found. */
struct doctor_piece {
  const char *key, *name; /* in JSON, in text */
  void (*look)(struct machine *m, struct finding *f);
};
extern const struct doctor_piece doctor_pieces[];
extern const size_t doctor_piece_count;

/* Whether kernels can be made for a GPU. */
void doctor_look_at_gpu(const struct machine *m, const struct device_facts *gpu, struct finding *f);

#endif
