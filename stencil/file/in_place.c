/* in_place.c: reads which outputs may lie in the memory of inputs. The field is read after the update, because it
 * depends on the taps: only this output may read the input in whose memory it lies, and only at the computed point. The
 * field is also read after `margins`, which say whether another output keeps its points. */
#include <stdlib.h>
#include <string.h>

#include "stencil/file/stencil_fields.h"

/* Check that no tap of the input lies beside the point. */
static halotune_status check_taps(const struct stencil_reader *r, int input, struct place place) {
  const struct stencil *stencil = r->stencil;
  for (int i = stencil->update.first; i < stencil->update.end; i++) {
    const struct expr *node = &stencil->exprs.nodes[i];
    if (node->kind != EXPR_TAP || node->index != input) continue;
    if (node->offset[0] == 0 && node->offset[1] == 0 && node->offset[2] == 0) continue;
    return reader_fail(r, place, "the input '%s' is read at neighbours, where the output may already be written",
                       stencil->inputs[input]);
  }
  return HALOTUNE_OK;
}

/* Whether an expression reads an input. `reads` has room for each node of the update. */
static bool reads_input(const struct stencil *stencil, int root, int input, bool *reads) {
  const int first = stencil->update.first;
  for (int i = first; i <= root; i++) {
    const struct expr *node = &stencil->exprs.nodes[i];
    bool any = node->kind == EXPR_TAP && node->index == input;
    for (int k = 0; k < node->arg_count; k++) any = any || reads[node->args[k] - first];
    reads[i - first] = any;
  }
  return reads[root - first];
}

/* Check that no other output reads the input: a kernel may compute outputs one after the other. */
static halotune_status check_readers(const struct stencil_reader *r, struct in_place entry, struct place place) {
  const struct stencil *stencil = r->stencil;
  bool *reads = malloc((size_t)(stencil->update.end - stencil->update.first) * sizeof *reads);
  if (!reads) return fail_memory();
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < stencil->update.count && status == HALOTUNE_OK; i++) {
    const struct assignment *assignment = &stencil->update.assignments[i];
    if (assignment->output < 0 || assignment->output == entry.output) continue;
    if (!reads_input(stencil, assignment->root, entry.input, reads)) continue;
    status = reader_fail(r, place, "the output '%s' also reads the input '%s', in whose memory '%s' would be written",
                         assignment->name, stencil->inputs[entry.input], stencil->outputs[entry.output]);
  }
  free(reads);
  return status;
}

/* Check that no other output keeps values of the input: a kernel may store outputs one after the other. */
static halotune_status check_keepers(const struct stencil_reader *r, struct in_place entry, struct place place) {
  const struct stencil *stencil = r->stencil;
  int by;
  if (!stencil_is_kept_by_another(stencil, entry.input, entry.output, &by)) return HALOTUNE_OK;
  return reader_fail(r, place, "the output '%s' keeps points of the input '%s', in whose memory '%s' would be written",
                     stencil->outputs[by], stencil->inputs[entry.input], stencil->outputs[entry.output]);
}

static halotune_status read_entry(struct stencil_reader *r, const struct yaml *item) {
  struct stencil *stencil = r->stencil;
  const struct name *output, *input;
  halotune_status status = reader_find_field(r, item->key, item->key_place, &output);
  if (status != HALOTUNE_OK) return status;
  if (item->kind != YAML_TEXT) return reader_fail(r, item->place, "expected the name of an input");
  if ((status = reader_find_field(r, item->text, item->place, &input)) != HALOTUNE_OK) return status;
  if (output->kind != NAME_OUTPUT) return reader_fail(r, item->key_place, "'%s' is not an output", output->text);
  if (input->kind != NAME_INPUT) return reader_fail(r, item->place, "'%s' is not an input", input->text);
  if (!input_is_whole(stencil, input->index)) {
    return reader_fail(r, item->place, "'%s' %s: its memory holds no output", input->text,
                       input_is_thin(stencil, input->index) ? "lies along some axes only" : "is a mask");
  }
  for (int i = 0; i < stencil->in_place_count; i++) {
    if (stencil->in_place[i].input != input->index) continue;
    return reader_fail(r, item->place, "two outputs would lie in the memory of '%s'", input->text);
  }
  const struct in_place entry = {output->index, input->index};
  stencil->in_place[stencil->in_place_count++] = entry;
  status = check_taps(r, input->index, item->place);
  if (status == HALOTUNE_OK) status = check_readers(r, entry, item->place);
  return status == HALOTUNE_OK ? check_keepers(r, entry, item->place) : status;
}

halotune_status field_in_place(struct stencil_reader *r, const struct yaml *node) {
  halotune_status status = entry_check_list(
      r, node, YAML_MAP, "which output may lie in the memory of which input, such as {v: u_prev}", MAX_FIELDS);
  if (status != HALOTUNE_OK) return status;
  if (node->count == 0)
    return reader_fail(r, node->place, "expected at least one output and input, such as {v: u_prev}");
  for (const struct yaml *item = node->first; item && status == HALOTUNE_OK; item = item->next) {
    status = read_entry(r, item);
  }
  return status;
}
