/* reference_print.h: outputs of the reference by their checksums, as text and as JSON. */
#ifndef CLI_REFERENCE_REFERENCE_PRINT_H
#define CLI_REFERENCE_REFERENCE_PRINT_H

#include "base/text/json.h"
#include "tuner/cli/options/loaded_stencil.h"
#include "tuner/verify/checksum.h"
#include "tuner/verify/exact.h"
#include "tuner/verify/inputs.h"

/* The options of the command, and its results. */
struct reference_task {
  struct loaded loaded;
  struct grid grid;
  long points, seed;
  /* steps of the command line, and steps that were made. These are fewer if the user stops the command */
  long asked_steps, steps;
  int threads;
  enum input_kind input;
  bool from_exact; /* inputs come from the file's formulas */
  double *coefficients;
  double *inputs[MAX_FIELDS], *outputs[MAX_FIELDS];
  double time_ms;
  struct checksum checksums[MAX_FIELDS];
  struct exact_error errors[MAX_FIELDS];
};

void reference_print(const struct reference_task *task);

/* A new reference; NULL when memory is out. */
json_t *reference_json(const struct reference_task *task);

#endif
