/* show.c: `halotune show STENCIL`: prints what the program knows about a stencil. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stencil/file/grid_text.h"
#include "stencil/file/update_text.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/output/stencil_json.h"
#include "tuner/cli/show/tap_picture.h"

static void print_fields(const struct stencil *stencil) {
  struct text rules = {0};
  boundary_write(&rules, stencil);
  printf("boundary   %s", text_string(&rules));
  text_free(&rules);
  printf("\nnext step  ");
  for (int i = 0; i < stencil->iterate_count; i++) {
    const struct iterate *entry = &stencil->iterate[i];
    printf("%s%s becomes %s", i > 0 ? ", " : "",
           entry->from_output ? stencil->outputs[entry->from] : stencil->inputs[entry->from],
           stencil->inputs[entry->to]);
  }
  printf(stencil->iterate_count == 0 ? "none: the update is not iterated\n" : "\n");
  for (int i = 0; i < stencil->in_place_count; i++) {
    const struct in_place *entry = &stencil->in_place[i];
    printf("%s%s may lie in the memory of %s%s", i == 0 ? "in place   " : ", ", stencil->outputs[entry->output],
           stencil->inputs[entry->input], i == stencil->in_place_count - 1 ? "\n" : "");
  }
}

static void print_grids(const struct stencil *stencil) {
  printf("grids      ");
  for (int i = 0; i < stencil->grid_count; i++) {
    struct text text = {0};
    grid_text(&stencil->grids[i], stencil->dims, &text);
    printf("%s%s", i > 0 ? ", " : "", text_string(&text));
    text_free(&text);
  }
  printf("\n");
}

static void print_weights(const struct loaded *loaded) {
  enum { MOST = 32 };
  const struct analysis *analysis = loaded->analysis;
  int shown = analysis->weight_count <= MOST ? analysis->weight_count : MOST;
  for (int i = 0; i < shown; i++) {
    const struct weight *weight = &analysis->weights[i];
    char tap[64];
    const int *o = weight->tap.offset;
    const char *input = loaded->stencil->inputs[weight->tap.input];
    if (loaded->stencil->dims == 1) snprintf(tap, sizeof tap, "%s[%d]", input, o[0]);
    else if (loaded->stencil->dims == 2) snprintf(tap, sizeof tap, "%s[%d,%d]", input, o[0], o[1]);
    else snprintf(tap, sizeof tap, "%s[%d,%d,%d]", input, o[0], o[1], o[2]);
    printf("%-11s%-14s %12.6g  %s", i == 0 ? "weights" : "", tap, weight->value, weight->text);
    if (loaded->stencil->output_count > 1) printf(", in %s", loaded->stencil->outputs[weight->output]);
    printf("\n");
  }
  if (shown < analysis->weight_count) printf("           ... %d more, see --json\n", analysis->weight_count - shown);
}

/* Print the values of the coefficients on the first grid. Linear stencils print their weights instead, which tell
 * more. */
static halotune_status print_coefficients(const struct loaded *loaded) {
  enum { MOST = 32 };
  const struct stencil *stencil = loaded->stencil;
  int count = stencil->coefficient_count;
  if (loaded->analysis->is_linear || count == 0) return HALOTUNE_OK;
  double *values = malloc((size_t)count * sizeof *values);
  halotune_status status = values ? stencil_coefficients(stencil, &stencil->grids[0], values) : fail_memory();
  if (status == HALOTUNE_OK) printf("coefficients\n");
  for (int i = 0; i < count && i < MOST && status == HALOTUNE_OK; i++) {
    printf("           %-14s %12.6g\n", stencil->coefficients[i].name, values[i]);
  }
  if (count > MOST && status == HALOTUNE_OK) printf("           ... %d more, see --json\n", count - MOST);
  free(values);
  return status;
}

static halotune_status print_exact(const struct stencil *stencil) {
  for (int i = 0; i < stencil->exact_count; i++) {
    struct text text = {0};
    halotune_status status = describe_formula(&text, stencil, stencil->exact[i].value);
    printf("%-11s%s = %s\n", i == 0 ? "exact" : "", exact_name(stencil, &stencil->exact[i]), text_string(&text));
    text_free(&text);
    if (status != HALOTUNE_OK) return status;
  }
  const char *head = "inputs     ";
  for (int i = 0; i < stencil->input_count; i++) {
    if (stencil->values[i].low == stencil->values[i].high) continue;
    printf("%s%s from %g to %g, in tests\n", head, stencil->inputs[i], stencil->values[i].low, stencil->values[i].high);
    head = "           ";
  }
  if (stencil->tolerance > 0)
    printf("tolerance  %g unit%s of rounding for each step\n", stencil->tolerance, PLURAL(stencil->tolerance));
  return HALOTUNE_OK;
}

/* Print the bytes that the effective bandwidth of an iterated stencil counts. */
static void print_effective(const struct stencil *stencil, const struct analysis *analysis) {
  const char *separator = "T_eff      (2 D_u + D_k) / time of a step, of bytes a point: ";
  for (int i = 0; i < DTYPE_COUNT; i++) {
    if (!stencil->dtypes[i] || analysis->unknown_bytes_per_point[i] == 0) continue;
    printf("%s%s D_u %d, D_k %d", separator, dtype_names[i], analysis->unknown_bytes_per_point[i],
           analysis->known_bytes_per_point[i]);
    separator = "; ";
  }
  if (*separator == ';') printf("\n");
}

/* Print what a step costs at least if a launch makes several: the roofs that step_roof() computes for a GPU. */
static void print_fused_steps(const struct stencil *stencil, const struct analysis *analysis) {
  const char *separator = "T steps    a launch of T steps moves, for each point and step, ";
  if (analysis->unknown_bytes_per_point[DTYPE_F32] == 0) return;
  for (int i = 0; i < DTYPE_COUNT; i++) {
    if (!stencil->dtypes[i]) continue;
    printf("%s%d/T bytes in %s", separator, analysis->bytes_per_point[i], dtype_names[i]);
    separator = ", ";
  }
  printf(", and the halos of blocks; it takes at least %d instructions\n", analysis->grouped_instructions_per_point);
}

static void print_numbers(const struct stencil *stencil, const struct analysis *analysis) {
  char hex[IDENTITY_HEX_BYTES];
  printf("shape      %s, %d tap%s, radius %d %d %d in x y z\n", shape_names[analysis->shape], analysis->tap_count,
         PLURAL(analysis->tap_count), analysis->radius[0], analysis->radius[1], analysis->radius[2]);
  printf("linear     %s\n", analysis->is_linear ? "yes" : "no");
  printf("flops      %d a point as written, %d with nothing computed twice, %d instruction%s with fused multiply-adds",
         analysis->flops_per_point, analysis->unique_flops_per_point, analysis->instructions_per_point,
         PLURAL(analysis->instructions_per_point));
  if (analysis->grouped_instructions_per_point < analysis->instructions_per_point)
    printf(", %d where weights that repeat are grouped", analysis->grouped_instructions_per_point);
  printf("\n");
  for (int i = 0; i < DTYPE_COUNT; i++) {
    if (!stencil->dtypes[i]) continue;
    enum dtype dtype = (enum dtype)i;
    const double of_read = analysis_read_intensity(analysis, dtype);
    printf("%-11s%d bytes a point (%d read once, %d written once); %.4g flops a byte", dtype_names[i],
           analysis->bytes_per_point[i], analysis->read_bytes_per_point[i],
           analysis->bytes_per_point[i] - analysis->read_bytes_per_point[i], analysis_intensity(analysis, dtype));
    if (isfinite(of_read)) printf(", %.4g a byte read", of_read);
    printf("\n");
  }
  print_effective(stencil, analysis);
  print_fused_steps(stencil, analysis);
  identity_hex(analysis->hash, hex);
  printf("hash       %s\n", hex);
}

static halotune_status print_stencil(const struct loaded *loaded) {
  const struct stencil *stencil = loaded->stencil;
  struct text text = {0};
  halotune_status status = HALOTUNE_OK;
  printf("%s%s%s\n\n", stencil->name, *stencil->about ? ": " : "", stencil->about);
  if (*stencil->origin) printf("source     %s\n", stencil->origin);
  printf("file       %s\n", loaded->path);
  if (stencil->kind == STENCIL_SCAN) {
    printf("scan       the inclusive sum of %s along %c, in %d dimension%s\n", stencil->inputs[0],
           axis_names[stencil->axis], stencil->dims, PLURAL(stencil->dims));
  } else {
    tap_picture(loaded, &text);
    text_printf(&text, "update\n");
    status = describe_update(&text, stencil, "           ");
    if (status == HALOTUNE_OK) printf("%s", text_string(&text));
    print_fields(stencil);
  }
  print_grids(stencil);
  if (status == HALOTUNE_OK) status = print_exact(stencil);
  if (status == HALOTUNE_OK) status = print_coefficients(loaded);
  print_weights(loaded);
  print_numbers(stencil, loaded->analysis);
  text_free(&text);
  return status;
}

static enum exit_code show_run(const struct invocation *invocation) {
  struct loaded loaded;
  halotune_status status = loaded_open(invocation->arguments[0], &loaded);
  if (status != HALOTUNE_OK) return report_file_failure(status);
  status = option_value(invocation, "json") ? print_json(stencil_json(loaded.path, loaded.stencil, loaded.analysis))
                                            : print_stencil(&loaded);
  loaded_free(&loaded);
  return status == HALOTUNE_OK ? HALOTUNE_EXIT_SUCCESS : report_failure(status);
}

static const struct option_row options[] = {{"json", NULL, "print a JSON document"}, {0}};

const struct command command_show = {
    "show", "STENCIL", 1, 1, "show what a stencil reads, computes and costs", options, show_run,
};
