/* iterate.c: exchanges buffers between time steps. */
#include "stencil/analysis/iterate.h"

#include <string.h>

/* The value of a field in one of the steps of a launch. */
struct value {
  bool is_output;
  int field;
  int later; /* for an output, the number of steps after the one that computes it */
};

static const struct iterate *entry_of(const struct stencil *stencil, int input) {
  for (int i = 0; i < stencil->iterate_count; i++) {
    if (stencil->iterate[i].to == input) return &stencil->iterate[i];
  }
  return NULL;
}

/* The value of an input after this number of steps: an output of one of them, or an earlier value of an input. */
static struct value value_after(const struct stencil *stencil, int steps, int input) {
  for (int later = 0; later < steps; later++) {
    const struct iterate *entry = entry_of(stencil, input);
    if (!entry) break;
    if (entry->from_output) return (struct value){true, entry->from, later};
    input = entry->from;
  }
  return (struct value){false, input, 0};
}

int iterate_carried(const struct stencil *stencil, int steps, struct carried out[MAX_FIELDS]) {
  int count = 0;
  for (int later = 1; later < steps && later <= stencil->input_count; later++) {
    for (int i = 0; i < stencil->input_count; i++) {
      struct value value = value_after(stencil, steps, i);
      if (value.is_output && value.later == later) out[count++] = (struct carried){value.field, later, i};
    }
  }
  return count;
}

int iterate_most_steps(const struct stencil *stencil, int most) {
  struct carried carried[MAX_FIELDS];
  if (stencil->output_count + stencil->input_count <= MAX_FIELDS) return most; /* an input takes one array at most */
  while (most > 1 && stencil->output_count + iterate_carried(stencil, most, carried) > MAX_FIELDS) most--;
  return most;
}

static bool is_input(const struct stencil *stencil, const int inputs[], int buffer) {
  for (int i = 0; i < stencil->input_count; i++) {
    if (inputs[i] == buffer) return true;
  }
  return false;
}

/* The input whose buffer an output shares, as `in_place` allows it; -1 for none. */
static int input_below(const struct stencil *stencil, const int inputs[], int buffer, int output) {
  const int input = stencil_in_place(stencil, output);
  return input >= 0 && inputs[input] == buffer ? input : -1;
}

/* The buffer that holds a value at the end of the launch. */
static int buffer_of(const struct stencil *stencil, const struct carried carried[], struct value value,
                     const int inputs[], const int outputs[]) {
  if (!value.is_output) return inputs[value.field];
  if (value.later == 0) return outputs[value.field];
  int c = 0;
  while (carried[c].output != value.field || carried[c].later != value.later) c++;
  return outputs[stencil->output_count + c];
}

/* The input that takes a field's value in the next step; -1 for none. */
static int next_input(const struct stencil *stencil, bool from_output, int from) {
  for (int i = 0; i < stencil->iterate_count; i++) {
    const struct iterate *entry = &stencil->iterate[i];
    if (entry->from_output == from_output && entry->from == from) return entry->to;
  }
  return -1;
}

/* Whether a buffer has no field after the launch. */
static bool is_free(const struct stencil *stencil, const int inputs[], const int outputs[], int written, int buffer) {
  for (int o = 0; o < written; o++) {
    if (outputs[o] == buffer) return false;
  }
  return !is_input(stencil, inputs, buffer);
}

/* An old buffer of an input that holds no field any more. The inputs that take this output's values one after the other
 * come first, so that no step writes points of another field there. Otherwise, as in place, it is any input's. */
static int free_buffer(const struct stencil *stencil, const int old_inputs[], const int inputs[], const int outputs[],
                       int written, int output) {
  int input = next_input(stencil, true, output), any = 0;
  for (int i = 0; i < stencil->input_count && input >= 0; i++) {
    if (is_free(stencil, inputs, outputs, written, old_inputs[input])) return old_inputs[input];
    input = next_input(stencil, false, input);
  }
  while (!is_free(stencil, inputs, outputs, written, old_inputs[any])) any++;
  return old_inputs[any];
}

void iterate_advance(const struct stencil *stencil, int steps, int inputs[], int outputs[]) {
  struct carried carried[MAX_FIELDS] = {{0}};
  int old_inputs[MAX_FIELDS] = {0};
  const int written = stencil->output_count + iterate_carried(stencil, steps, carried);
  memcpy(old_inputs, inputs, (size_t)stencil->input_count * sizeof *inputs);
  int same[2 * MAX_FIELDS]; /* the input in whose buffer an output lies; -1: in none */
  for (int o = 0; o < written; o++) same[o] = input_below(stencil, inputs, outputs[o], o);
  for (int i = 0; i < stencil->input_count; i++) {
    inputs[i] = buffer_of(stencil, carried, value_after(stencil, steps, i), old_inputs, outputs);
  }
  for (int o = 0; o < written; o++) {
    if (same[o] >= 0) outputs[o] = inputs[same[o]];
    if (same[o] >= 0 || !is_input(stencil, inputs, outputs[o])) continue;
    const int output = o < stencil->output_count ? o : carried[o - stencil->output_count].output;
    outputs[o] = free_buffer(stencil, old_inputs, inputs, outputs, written, output);
  }
}

bool iterate_is_constant(const struct stencil *stencil, int input) {
  for (int i = 0; i < stencil->iterate_count; i++) {
    if (stencil->iterate[i].to == input) return false;
  }
  return true;
}

bool iterate_frees(const struct stencil *stencil, int input) {
  for (int i = 0; i < stencil->iterate_count; i++) {
    if (!stencil->iterate[i].from_output && stencil->iterate[i].from == input) return false;
  }
  return !iterate_is_constant(stencil, input);
}

void iterate_leaders(const struct stencil *stencil, int leader[2 * MAX_FIELDS]) {
  for (int i = 0; i < stencil->input_count + stencil->output_count; i++) leader[i] = i;
  for (int o = 0; o < stencil->output_count; o++) {
    const int first = next_input(stencil, true, o);
    if (first >= 0) leader[stencil->input_count + o] = first;
    for (int input = first; input >= 0; input = next_input(stencil, false, input)) leader[input] = first;
  }
}
