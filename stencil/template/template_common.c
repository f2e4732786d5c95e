/* template_common.c: finds sections and names in templates/common.yml. The assembler builds the file into the program;
 * it looks for the file from the root of the tree. */
#include "stencil/template/template_common.h"

#include <string.h>

#include "base/array.h"

__asm__(".pushsection .rodata\n"
        ".globl common_yaml\n"
        ".hidden common_yaml\n"
        "common_yaml: .incbin \"templates/common.yml\"\n"
        ".byte 0\n"
        ".popsection\n");

extern const char common_yaml[];

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

/* Make the formulas for the number of blocks in a cluster and for overlapping launches. They are 1 and 0 where the
 * template does not give them. */
static halotune_status optional_formulas(struct template *template, struct formula *cluster, struct formula *overlaps) {
  struct formula axes[MAX_DIMS];
  halotune_status status = number_formula(&template->exprs, 1, cluster);
  if (status == HALOTUNE_OK) status = number_formula(&template->exprs, 0, overlaps);
  if (template->overlap.is_given) *overlaps = template->overlap.formula;
  for (int axis = 0; axis < MAX_DIMS; axis++) axes[axis] = template->cluster[axis].formula;
  return status == HALOTUNE_OK && template->cluster[0].is_given ? product_formula(&template->exprs, axes, cluster)
                                                                : status;
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

/* Read the alignment that versions before the field alignment_bytes assumed. */
static halotune_status earlier_alignment(struct reader *r, struct reader *common) {
  const struct yaml *item = yaml_find(common->root, "alignment_bytes")->first;
  struct reader plain = {.source = common->source, .root = common->root, .template = r->template};
  struct token missing = {.kind = TOKEN_NAME};
  halotune_status status = add_names(&plain.scope, r->scope.names, r->template->variable_count);
  for (; status == HALOTUNE_OK; item = item->next) {
    status = common_missing_name(&plain, item, &missing);
    if (missing.kind == TOKEN_END) break;
  }
  if (status == HALOTUNE_OK) status = reader_formula(&plain, item, &r->template->alignment_bytes.formula);
  scope_free(&plain.scope);
  return status;
}

halotune_status common_names(struct reader *r, struct reader *common) {
  struct template *template = r->template;
  struct formula threads, cluster, overlaps;
  halotune_status status = product_formula(&template->exprs, template->block, &threads);
  if (status == HALOTUNE_OK && !template->alignment_bytes.is_given) status = earlier_alignment(r, common);
  if (status == HALOTUNE_OK) status = optional_formulas(template, &cluster, &overlaps);
  if (status != HALOTUNE_OK) return status;
  const struct name names[] = {
      {.text = "threads", .kind = NAME_DEFINITION, .is_used = true, .definition = threads},
      {.text = "blocks_x", .kind = NAME_DEFINITION, .is_used = true, .definition = template->grid[0]},
      {.text = "blocks_y", .kind = NAME_DEFINITION, .is_used = true, .definition = template->grid[1]},
      {.text = "blocks_z", .kind = NAME_DEFINITION, .is_used = true, .definition = template->grid[2]},
      {.text = "shared_bytes", .kind = NAME_DEFINITION, .is_used = true, .definition = template->shared_bytes},
      {.text = "cluster_blocks", .kind = NAME_DEFINITION, .is_used = true, .definition = cluster},
      {.text = "alignment_bytes",
       .kind = NAME_DEFINITION,
       .is_used = true,
       .definition = template->alignment_bytes.formula},
      {.text = "overlaps", .kind = NAME_DEFINITION, .is_used = true, .definition = overlaps},
  };
  status = add_names(&common->scope, names, COUNT(names));
  if (status == HALOTUNE_OK) status = add_names(&common->scope, r->scope.names, template->variable_count);
  return status == HALOTUNE_OK ? add_names(&r->scope, names, COUNT(names)) : status;
}
