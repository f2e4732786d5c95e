/* iterate.c: exchanges buffers between time steps. */
#include "stencil/analysis/iterate.h"

#include <string.h>

static bool is_input(const struct stencil *stencil, const int inputs[], int buffer) {
  for (int i = 0; i < stencil->input_count; i++) {
    if (inputs[i] == buffer) return true;
  }
  return false;
}

void iterate_advance(const struct stencil *stencil, int inputs[], int outputs[]) {
  int old_inputs[MAX_FIELDS] = {0}, old_outputs[MAX_FIELDS] = {0};
  memcpy(old_inputs, inputs, (size_t)stencil->input_count * sizeof *inputs);
  memcpy(old_outputs, outputs, (size_t)stencil->output_count * sizeof *outputs);
  for (int i = 0; i < stencil->iterate_count; i++) {
    const struct iterate *entry = &stencil->iterate[i];
    inputs[entry->to] = entry->from_output ? old_outputs[entry->from] : old_inputs[entry->from];
  }
  int free_input = 0;
  for (int o = 0; o < stencil->output_count; o++) {
    if (!is_input(stencil, inputs, old_outputs[o])) continue;
    while (is_input(stencil, inputs, old_inputs[free_input])) free_input++;
    outputs[o] = old_inputs[free_input++];
  }
}
