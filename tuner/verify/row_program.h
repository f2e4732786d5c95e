/* row_program.h: an update as a list of instructions. Each instruction computes a row of up to ROW_POINTS points.
 *
 * Rows are numbered in this order: constants, taps, outputs, buffers. Constants are the same at every point and
 * computed once. Taps and outputs are in fields. Buffers hold values between two instructions. They are reused after
 * their last use, so that they stay in the first-level cache. */
#ifndef TUNER_VERIFY_ROW_PROGRAM_H
#define TUNER_VERIFY_ROW_PROGRAM_H

#include "stencil/analysis/analysis.h"
#include "tuner/verify/row_operations.h"

enum { INDEX_INPUT = MAX_FIELDS };

struct row_instruction {
  enum row_operation operation;
  int result, args[ROW_MAX_ARGS]; /* rows; unused arguments are 0 */
  bool carried;                   /* see row_magnitudes */
  double doubt;
};

struct row_program {
  struct row_instruction *instructions;
  int instruction_count;
  int constant_count, output_count, buffer_count;
  /* in the order of the update; a tap may occur twice. An input of INDEX_INPUT + axis is the number of the point */
  struct tap *taps;
  int tap_count;
  struct row *constants; /* their values and magnitudes */
};

/* The number of the first row that instructions write. */
static inline int row_program_first_result(const struct row_program *program) {
  return program->constant_count + program->tap_count;
}

static inline int row_program_result_count(const struct row_program *program) {
  return program->output_count + program->buffer_count;
}

/* The run of a kernel whose errors the magnitudes allow for. */
struct kernel_run {
  enum dtype dtype;
  struct grid grid;
  int steps;    /* fields that a step replaces are exact only in the first step */
  double doubt; /* the error that a kernel's values may have, over their magnitudes; see row_magnitudes */
};

/* Translate the update of a stencil.
 *   coefficients  their values, from stencil_coefficients
 *   arena         receives all that the program points to
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status row_program_make(const struct stencil *stencil, const double *coefficients,
                                 const struct kernel_run *run, struct arena *arena, struct row_program *out);

/* Run the program for a row of `count` points.
 *   rows        every row by its number
 *   results     outputs and buffers again, for writing
 *   magnitudes  whether to compute magnitudes, too */
void row_program_run(const struct row_program *program, int count, const struct row rows[],
                     const struct result_row results[], bool magnitudes);

#endif
