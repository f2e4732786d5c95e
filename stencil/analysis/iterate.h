/* iterate.h: which buffer holds which field in the next time step. No data moves; the buffers exchange their roles.
 *
 * A launch that makes T steps (fused steps) has the results of T launches of one step, if all buffers that exchange
 * roles have the same values at the points that no step computes: those that `skip` leaves out, and those outside the
 * box. The launch writes nothing to these points, and in its steps each input keeps its value there. It writes the
 * outputs of its last step. Where an input takes another input's old value, as u_prev does in {v: u, u: u_prev}, the
 * next launch also needs outputs of earlier steps: the launch carries them, each in an array of its own. */
#ifndef STENCIL_ANALYSIS_ITERATE_H
#define STENCIL_ANALYSIS_ITERATE_H

#include "stencil/file/stencil.h"

/* An array that a launch of several steps writes in addition to the outputs of its last step. */
struct carried {
  int output; /* computed in the step that has `later` steps after it in the launch */
  int later;  /* at least 1 */
  int input;  /* the input that it becomes */
};

/* Find the arrays that a launch of this number of steps carries, sorted by `later`; none for one step.
 *   out  receives at most MAX_FIELDS of them
 * Returns their number. */
int iterate_carried(const struct stencil *stencil, int steps, struct carried out[MAX_FIELDS]);

/* The largest number of steps, from 1 to `most`, of a launch that writes at most MAX_FIELDS arrays: outputs, and those
 * that it carries. Nothing has room for more. */
int iterate_most_steps(const struct stencil *stencil, int most);

/* Advance the fields by one launch of so many steps, as the stencil's `iterate` says. The buffer of an output becomes
 * that of an input. Each output whose buffer was taken gets a buffer that no input uses any more: one of the inputs
 * that take its values, in {v: u, u: u_prev} that of u_prev.
 *   inputs   number of the buffer that holds each field; all different; changed in place
 *   outputs  the same for the outputs, followed by the arrays that the launch carries. If an output has the buffer of
 *            the input that `in_place` names for it, it also has that input's buffer afterwards */
void iterate_advance(const struct stencil *stencil, int steps, int inputs[], int outputs[]);

/* Whether an input never takes another field's value. */
bool iterate_is_constant(const struct stencil *stencil, int input);

/* Whether the next step can do without the old values of an input. Otherwise no output may lie in its memory: the input
 * is constant, or another input takes its value. */
bool iterate_frees(const struct stencil *stencil, int input);

/* Find which fields exchange buffers with an output. Before the first step these buffers must have the same values at
 * the points that no step computes: those of the input that the output becomes.
 *   leader  receives for each input, then for each output, this input, or its own number if it exchanges buffers with
 *           no output (output o has the number input_count + o) */
void iterate_leaders(const struct stencil *stencil, int leader[2 * MAX_FIELDS]);

#endif
