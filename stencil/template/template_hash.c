/* template_hash.c: hashes the parts of a template one by one, and sorts the hashes of parts that have no order. */
#include "stencil/template/template_hash.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/text/text.h"
#include "stencil/cuda/cuda_tokens.h"
#include "stencil/cuda/definitions_hash.h"

enum { MOST_TAKEN = MAX_RULES + MAX_PARAMETERS };

/* Append a text after its length, so that different sequences of texts never read alike. */
static void add_string(struct text *text, const char *string) { text_printf(text, "%zu:%s ", strlen(string), string); }

/* Append a number. Its spelling does not depend on the locale. */
static void add_number(struct text *text, double number) {
  text_number(text, number);
  text_add(text, " ", 1);
}

static void add_identity(struct text *text, struct identity identity) {
  char hex[IDENTITY_HEX_BYTES];
  identity_hex(identity, hex);
  text_printf(text, "%s ", hex);
}

/* Append a fact or parameter by its name, and a word by its number. */
static void add_variable(struct text *text, const struct template *template, int index) {
  int parameter = index - FACT_COUNT, word = parameter - template->parameter_count;
  if (word >= 0) add_number(text, template->word_values[word]);
  else add_string(text, parameter >= 0 ? template->parameters[parameter].name : fact_rows[index].name);
}

/* Append a formula, operands before their operators. */
static void add_formula(struct text *text, const struct template *template, struct formula formula) {
  for (int i = formula.first; i <= formula.root; i++) {
    const struct expr *node = &template->exprs.nodes[i];
    if (node->kind == EXPR_NUMBER) add_number(text, node->number);
    else if (node->kind == EXPR_VARIABLE) add_variable(text, template, node->index);
    else if (node->kind == EXPR_CALL) add_string(text, functions[node->index].name);
    else text_printf(text, "#%d ", (int)node->kind);
  }
  text_printf(text, "; ");
}

static void add_axes(struct text *text, const struct template *template, const char *field,
                     const struct formula axes[MAX_DIMS]) {
  add_string(text, field);
  for (int axis = 0; axis < MAX_DIMS; axis++) add_formula(text, template, axes[axis]);
}

/* Append a field if the template has it. Omitted fields add nothing, so that templates from before the field keep their
 * hash. */
static void add_optional(struct text *text, const struct template *template, const char *field,
                         const struct optional_formula *formula) {
  if (!formula->is_given) return;
  add_string(text, field);
  add_formula(text, template, formula->formula);
}

static void add_maps(struct text *text, const struct template *template, const char *field,
                     const struct map_formulas *maps) {
  if (!maps->is_given) return;
  add_axes(text, template, field, maps->box);
  add_optional(text, template, "when", &maps->when);
  add_optional(text, template, "promotion_bytes", &maps->promotion_bytes);
}

static void add_parameter(struct text *text, const struct parameter *parameter) {
  add_string(text, parameter->name);
  for (int v = 0; v < parameter->value_count; v++) {
    add_string(text, parameter->words[v]);
    if (parameter->is_word) add_number(text, parameter->values[v]);
  }
  add_string(text, parameter->words[parameter->default_value]);
}

/* Whether a rule is part of what a template means. Rules of every template do not count. */
static bool is_counted(const struct rule *rule, bool with_common) {
  return rule->origin <= (with_common ? RULE_COMMON : RULE_OWN);
}

/* Append the sorted hashes of parameters, then those of rules. A rule that occurs twice counts once. */
static void add_sets(struct text *text, const struct template *template, bool with_common) {
  struct identity parts[MAX_RULES > MAX_PARAMETERS ? MAX_RULES : MAX_PARAMETERS];
  for (int kind = 0; kind < 2; kind++) {
    int all = kind == 0 ? template->parameter_count : template->rule_count, count = 0;
    for (int i = 0; i < all; i++) {
      struct text part = {0};
      if (kind == 0 && template->parameters[i].is_common && !with_common) continue;
      if (kind == 1 && !is_counted(&template->rules[i], with_common)) continue;
      if (kind == 0) add_parameter(&part, &template->parameters[i]);
      else add_formula(&part, template, template->rules[i].keep);
      if (text_ok(&part)) parts[count++] = identity_of(kind == 0 ? "parameter" : "rule", part.bytes, part.length);
      else text->out_of_memory = true;
      text_free(&part);
    }
    if (text->out_of_memory) return;
    qsort(parts, (size_t)count, sizeof *parts, identity_compare_items);
    add_string(text, kind == 0 ? "parameters" : "rules");
    for (int i = 0; i < count; i++) {
      if (i == 0 || identity_compare(parts[i - 1], parts[i]) != 0) add_identity(text, parts[i]);
    }
  }
}

/* Append the meaning of the template's own files, without the parts of common.yml that they name. */
static void add_own(struct text *text, const struct template *template, struct identity tokens) {
  add_string(text, template->name);
  add_sets(text, template, false);
  add_axes(text, template, "block", template->block);
  add_axes(text, template, "grid", template->grid);
  add_string(text, "shared_bytes");
  add_formula(text, template, template->shared_bytes);
  for (int axis = 0; axis < MAX_DIMS; axis++) add_optional(text, template, "cluster", &template->cluster[axis]);
  add_optional(text, template, "overlap", &template->overlap);
  add_optional(text, template, "cooperative", &template->cooperative);
  add_optional(text, template, "workspace_bytes", &template->workspace_bytes);
  add_optional(text, template, "alignment_bytes", &template->alignment_bytes);
  add_optional(text, template, "steps", &template->steps);
  add_maps(text, template, "tensor_inputs", &template->input_maps);
  add_maps(text, template, "tensor_outputs", &template->output_maps);
  add_identity(text, tokens);
}

/* Append a part of a file as it is written, without its layout. */
static void add_yaml(struct text *text, const struct yaml *item) {
  if (item->kind == YAML_TEXT) {
    add_string(text, item->text);
    return;
  }
  text_printf(text, "%c%d ", item->kind == YAML_MAP ? '{' : '[', item->count);
  for (const struct yaml *member = item->first; member; member = member->next) {
    if (item->kind == YAML_MAP) add_string(text, member->key);
    add_yaml(text, member);
  }
}

/* Append the hashes of the members of a list.
 *   names_only  leave out what is no text: rules that the file writes out */
static halotune_status hash_members(const struct yaml *list, bool names_only, struct identity *parts, int *count) {
  for (const struct yaml *item = list ? list->first : NULL; item; item = item->next) {
    struct text text = {0};
    if (names_only && item->kind != YAML_TEXT) continue;
    if (*count == MOST_TAKEN) return fail(HALOTUNE_PARSE, "a template takes more than %d common parts", MOST_TAKEN);
    add_yaml(&text, item);
    const bool is_whole = text_ok(&text);
    if (is_whole) parts[(*count)++] = identity_of("common part", text.bytes, text.length);
    text_free(&text);
    if (!is_whole) return fail_memory();
  }
  return HALOTUNE_OK;
}

halotune_status template_hash_taken(struct template *template, const struct yaml *root) {
  struct identity parts[MOST_TAKEN];
  struct text all = {0};
  int count = 0;
  halotune_status status = hash_members(yaml_find(root, "common"), false, parts, &count);
  if (status == HALOTUNE_OK) status = hash_members(yaml_find(root, "rules"), true, parts, &count);
  qsort(parts, (size_t)count, sizeof *parts, identity_compare_items);
  for (int i = 0; i < count; i++) {
    if (i == 0 || identity_compare(parts[i - 1], parts[i]) != 0) add_identity(&all, parts[i]);
  }
  template->takes_any = count > 0;
  if (status == HALOTUNE_OK && !text_ok(&all)) status = fail_memory();
  if (status == HALOTUNE_OK && count > 0) template->taken_hash = identity_of("common parts", all.bytes, all.length);
  text_free(&all);
  return status;
}

struct identity template_identity(struct identity own, struct identity common) {
  struct identity_maker maker;
  identity_begin(&maker, "template");
  identity_add_identity(&maker, own);
  identity_add_identity(&maker, common);
  return identity_end(&maker);
}

/* Macros of the prelude that some definitions of common.cuh need. */
static const char known_macros[] = "#define FORMS 1\n";

halotune_status template_identify(struct template *template, const char *cuda) {
  struct text own = {0}, common = {0};
  struct identity tokens, shared;
  halotune_status status = cuda_hash(cuda, &tokens);
  /* assemble() cuts a definition at a directive, so that #line is not a comment in a template */
  if (source_has_lines(cuda)) tokens = identity_of("CUDA with #line", cuda, strlen(cuda));
  if (status == HALOTUNE_OK) status = used_definitions_hash(known_macros, template_common_cuda(cuda), cuda, &shared);
  if (status != HALOTUNE_OK) return status;
  add_own(&own, template, tokens);
  add_sets(&common, template, true);
  add_identity(&common, shared);
  if (text_ok(&own) && text_ok(&common)) {
    template->own_hash = template->old_own_hash = identity_of("files of a template", own.bytes, own.length);
    if (template->takes_any) add_identity(&own, template->taken_hash);
  }
  if (text_ok(&own) && text_ok(&common)) {
    if (template->takes_any) template->own_hash = identity_of("files of a template", own.bytes, own.length);
    template->common_hash = identity_of("common parts of a template", common.bytes, common.length);
    template->hash = template_identity(template->own_hash, template->common_hash);
  } else {
    status = fail_memory();
  }
  text_free(&common);
  text_free(&own);
  return status;
}
