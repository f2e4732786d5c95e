/* template_common.c: finds sections and names in templates/common.yml. The assembler builds the file into the program;
 * it looks for the file from the root of the tree. */
#include "stencil/template/template_common.h"

#include <string.h>

#include "base/memory/array.h"
#include "stencil/cuda/cuda_tokens.h"

__asm__(".pushsection .rodata\n"
        ".globl common_yaml\n"
        ".hidden common_yaml\n"
        "common_yaml: .incbin \"templates/common.yml\"\n"
        ".byte 0\n"
        ".globl common_cuda\n"
        ".hidden common_cuda\n"
        "common_cuda: .incbin \"templates/common.cuh\"\n"
        ".byte 0\n"
        ".popsection\n");

extern const char common_yaml[], common_cuda[];

/* A comment that names the file decides nothing: a template's identity does not cover comments. */
const char *template_common_cuda(const char *cuda) {
  struct cuda_reader reader = cuda_reader_of(cuda, strlen(cuda));
  bool is_behind_include = false;
  for (struct cuda_token token; (token = cuda_next(&reader)).kind != CUDA_END;) {
    if (token.kind == CUDA_COMMENT) continue;
    if (is_behind_include && cuda_is(&token, "\"common.cuh\"")) return common_cuda;
    is_behind_include = cuda_is(&token, "include");
  }
  return "";
}

halotune_status common_open(struct template *template, struct source *source, struct reader *out) {
  struct yaml *root;
  *source = source_of("templates/common.yml", common_yaml, strlen(common_yaml));
  *out = (struct reader){.source = source, .template = template};
  halotune_status status = yaml_parse(source, &template->arena, &root);
  out->root = root;
  return status;
}

const struct yaml *common_find(const struct reader *common, const char *section, const char *name) {
  const struct yaml *members = yaml_find(common->root, section);
  return members ? yaml_find(members, name) : NULL;
}

/* Make a formula that is one number. */
static halotune_status number_formula(struct exprs *exprs, double number, struct formula *out) {
  int node = exprs_add(exprs, (struct expr){.kind = EXPR_NUMBER, .number = number, .is_constant = true});
  *out = (struct formula){node, node};
  return node < 0 ? fail_memory() : HALOTUNE_OK;
}

/* Make the product of three formulas, for x, y and z. */
static halotune_status product_formula(struct exprs *exprs, const struct formula factors[MAX_DIMS],
                                       struct formula *out) {
  int first = exprs->count, product = exprs_copy(exprs, factors[0]);
  for (int axis = 1; axis < MAX_DIMS && product >= 0; axis++) {
    int factor = exprs_copy(exprs, factors[axis]);
    if (factor < 0) return fail_memory();
    product = exprs_add(exprs, (struct expr){.kind = EXPR_MULTIPLY, .args = {product, factor}, .arg_count = 2});
  }
  *out = (struct formula){first, product};
  return product < 0 ? fail_memory() : HALOTUNE_OK;
}

/* Make the formulas for the number of blocks in a cluster, for overlapping launches and for the steps of a launch. They
 * are 1, 0 and 1 where the template does not give them. */
static halotune_status optional_formulas(struct template *template, struct formula *cluster, struct formula *overlaps,
                                         struct formula *steps) {
  struct formula axes[MAX_DIMS];
  halotune_status status = number_formula(&template->exprs, 1, cluster);
  if (status == HALOTUNE_OK) status = number_formula(&template->exprs, 0, overlaps);
  if (status == HALOTUNE_OK) status = number_formula(&template->exprs, 1, steps);
  if (template->overlap.is_given) *overlaps = template->overlap.formula;
  if (template->steps.is_given) *steps = template->steps.formula;
  for (int axis = 0; axis < MAX_DIMS; axis++) axes[axis] = template->cluster[axis].formula;
  return status == HALOTUNE_OK && template->cluster[0].is_given ? product_formula(&template->exprs, axes, cluster)
                                                                : status;
}

/* Check that no name of the template's file hides a name of the launch, which rules would then not see. Databases keep
 * templates in which one does. */
static halotune_status check_hidden(const struct reader *r, const struct name *names, int count) {
  for (int i = 0; i < count; i++) {
    const struct name *other = scope_find(&r->scope, names[i].text, strlen(names[i].text));
    if (!other) continue;
    return reader_fail(r, other->place, "'%s' already means something else: rules know it as a figure of the launch",
                       names[i].text);
  }
  return HALOTUNE_OK;
}

static halotune_status add_names(struct scope *scope, const struct name *names, int count) {
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) status = scope_add(scope, names[i]);
  return status;
}

halotune_status common_missing_name(const struct reader *common, const struct yaml *expression, struct token *out) {
  struct snippet snippet;
  halotune_status status = yaml_snippet(common->source, expression, &snippet);
  struct scanner scanner = scanner_at_start(&snippet);
  scanner.is_rule = true;
  while (status == HALOTUNE_OK && (status = scan(&scanner, out)) == HALOTUNE_OK && out->kind != TOKEN_END) {
    if (out->kind != TOKEN_NAME || scope_find(&common->scope, out->text, out->length)) continue;
    bool is_function = false;
    for (int i = 0; i < function_count; i++) is_function = is_function || token_is(out, functions[i].name);
    if (!is_function) break;
  }
  return status;
}

/* Whether the kernel takes tensor maps of this kind. */
static halotune_status maps_formula(struct exprs *exprs, const struct map_formulas *maps, struct formula *out) {
  if (maps->is_given && maps->when.is_given) {
    *out = maps->when.formula;
    return HALOTUNE_OK;
  }
  return number_formula(exprs, maps->is_given, out);
}

/* Whether the kernel takes any tensor maps. */
static halotune_status all_maps_formula(struct template *template, struct formula *out) {
  struct exprs *exprs = &template->exprs;
  struct formula of_inputs, of_outputs;
  halotune_status status = maps_formula(exprs, &template->input_maps, &of_inputs);
  if (status == HALOTUNE_OK) status = maps_formula(exprs, &template->output_maps, &of_outputs);
  if (status != HALOTUNE_OK) return status;
  const int first = exprs->count, inputs = exprs_copy(exprs, of_inputs), outputs = exprs_copy(exprs, of_outputs);
  if (inputs < 0 || outputs < 0) return fail_memory();
  *out = (struct formula){first,
                          exprs_add(exprs, (struct expr){.kind = EXPR_OR, .args = {inputs, outputs}, .arg_count = 2})};
  return out->root < 0 ? fail_memory() : HALOTUNE_OK;
}

/* Read the first formula of a list for which the template has all names. Every template has the names of the last
 * formula. */
static halotune_status read_first_known(struct reader *common, const struct yaml *list, struct formula *out) {
  const struct yaml *item = list->first;
  struct token missing = {.kind = TOKEN_NAME};
  halotune_status status = HALOTUNE_OK;
  for (; item; item = item->next) {
    status = common_missing_name(common, item, &missing);
    if (status != HALOTUNE_OK || missing.kind == TOKEN_END) break;
  }
  return status == HALOTUNE_OK ? reader_formula(common, item, out) : status;
}

/* Read `define` of the common text, and put its names after the first `field_count` of the scope. A name that is there
 * already is a field of the template's file. */
static halotune_status read_definitions(struct reader *common, int field_count) {
  halotune_status status = HALOTUNE_OK;
  int at = field_count;
  for (const struct yaml *item = yaml_find(common->root, "define")->first; item && status == HALOTUNE_OK;
       item = item->next) {
    const struct name *known = scope_find(&common->scope, item->key, strlen(item->key));
    struct name name = {.text = item->key, .kind = NAME_DEFINITION, .is_used = true};
    if (known && known < common->scope.names + field_count) continue;
    status = read_first_known(common, item, &name.definition);
    if (status == HALOTUNE_OK) status = scope_insert(&common->scope, at++, name);
  }
  return status;
}

halotune_status common_names(struct reader *r, struct reader *common) {
  static const char pointer_alignment[] = "pointer_alignment";
  struct template *template = r->template;
  struct formula threads, cluster, overlaps, steps, maps;
  halotune_status status = product_formula(&template->exprs, template->block, &threads);
  if (status == HALOTUNE_OK) status = optional_formulas(template, &cluster, &overlaps, &steps);
  if (status == HALOTUNE_OK) status = all_maps_formula(template, &maps);
  if (status != HALOTUNE_OK) return status;
  const struct name names[] = {
      {.text = "threads", .kind = NAME_DEFINITION, .is_used = true, .definition = threads},
      {.text = "blocks_x", .kind = NAME_DEFINITION, .is_used = true, .definition = template->grid[0]},
      {.text = "blocks_y", .kind = NAME_DEFINITION, .is_used = true, .definition = template->grid[1]},
      {.text = "blocks_z", .kind = NAME_DEFINITION, .is_used = true, .definition = template->grid[2]},
      {.text = "shared_bytes", .kind = NAME_DEFINITION, .is_used = true, .definition = template->shared_bytes},
      {.text = "cluster_blocks", .kind = NAME_DEFINITION, .is_used = true, .definition = cluster},
      {.text = "overlaps", .kind = NAME_DEFINITION, .is_used = true, .definition = overlaps},
      {.text = "launch_steps", .kind = NAME_DEFINITION, .is_used = true, .definition = steps},
      {.text = "takes_maps", .kind = NAME_DEFINITION, .is_used = true, .definition = maps},
      {.text = "alignment_bytes",
       .kind = NAME_DEFINITION,
       .is_used = true,
       .definition = template->alignment_bytes.formula},
  };
  const int field_count = (int)COUNT(names) - !template->alignment_bytes.is_given;
  if (r->is_file) status = check_hidden(r, names, field_count);
  if (status == HALOTUNE_OK) status = add_names(&common->scope, names, field_count);
  if (status == HALOTUNE_OK) status = add_names(&common->scope, r->scope.names, template->variable_count);
  if (status == HALOTUNE_OK) status = read_definitions(common, field_count);
  if (status != HALOTUNE_OK) return status;
  template->pointer_alignment = scope_find(&common->scope, pointer_alignment, strlen(pointer_alignment))->definition;
  return add_names(&r->scope, names, field_count);
}
