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

void iterate_advance(const struct stencil *stencil, int steps, int inputs[], int outputs[]) {
  struct carried carried[MAX_FIELDS] = {{0}};
  int old_inputs[MAX_FIELDS] = {0}, free_input = 0;
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
    while (is_input(stencil, inputs, old_inputs[free_input])) free_input++;
    outputs[o] = old_inputs[free_input++];
  }
}

void iterate_leaders(const struct stencil *stencil, int leader[2 * MAX_FIELDS]) {
  const int field_count = stencil->input_count + stencil->output_count;
  for (int i = 0; i < field_count; i++) leader[i] = i;
  for (int pass = 0; pass < stencil->iterate_count; pass++) { /* as many passes as the longest chain may need */
    for (int i = 0; i < stencil->iterate_count; i++) {
      const struct iterate *entry = &stencil->iterate[i];
      int from = entry->from + (entry->from_output ? stencil->input_count : 0);
      int first = leader[from] < leader[entry->to] ? leader[from] : leader[entry->to];
      leader[from] = leader[entry->to] = first;
    }
  }
}
