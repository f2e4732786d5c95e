/* template_names.c: checks the names, words and numbers of a template's file. It classifies characters itself, because
 * the C library's functions depend on the locale. */
#include "stencil/template/template_names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/memory/texts.h"
#include "base/numbers/number.h"

const char *const coefficient_words[3] = {"parameter", "literal", "constant"};
const char *const load_path_words[4] = {"plain", "readonly", "texture", "texture2d"};
const char *const extents_words[2] = {"runtime", "literal"};
const char *const streaming_words[4] = {"none", "stores", "all", "loads"};
const char *const weights_words[2] = {"each", "grouped"};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_control(unsigned char c) { return c < ' ' || c == 0x7F; }
static int capital_of(char c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; }

const char *parameter_name_error(const char *name, size_t length) {
  /* a stencil must not use this name, but a template may, because the prelude implements the parameter */
  static const char served[] = "coefficients";
  const char *error = name_error(name, length);
  if (length == strlen(served) && memcmp(name, served, length) == 0) return NULL;
  if (error) return error;
  return name[length - 1] == '_' ? "names that end in an underscore are reserved for the stencil" : NULL;
}

const char *parameter_word_error(const char *word, size_t length) { return name_error(word, length); }

const char *parameter_number_error(const char *spelled) {
  const char *digits = spelled + (*spelled == '-' || *spelled == '+');
  if (!isfinite(number_read(spelled, NULL))) return "it is not a finite number";
  if (strspn(spelled, "0123456789.eE+-") != strlen(spelled)) return "it is not written in decimal digits";
  return digits[0] == '0' && is_digit(digits[1]) ? "a number that begins with 0 is octal in C" : NULL;
}

const char *about_error(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '\\') return "it becomes a comment of one line, so it cannot contain a backslash";
    if (is_control((unsigned char)text[i])) return "it must be one line without control characters";
  }
  return NULL;
}

static const char *served_word_error(const struct parameter *parameter, int value, const char *const *words, int count,
                                     const char *error) {
  for (int i = 0; i < count && parameter->is_word; i++) {
    if (strcmp(parameter->words[value], words[i]) == 0) return NULL;
  }
  return error;
}

const char *served_value_error(const struct parameter *parameter, int value) {
  if (strcmp(parameter->name, "coefficients") == 0) {
    return served_word_error(parameter, value, coefficient_words, COUNT(coefficient_words),
                             "its values are parameter, literal and constant");
  }
  if (strcmp(parameter->name, "load_path") == 0) {
    return served_word_error(parameter, value, load_path_words, COUNT(load_path_words),
                             "its values are plain, readonly, texture and texture2d");
  }
  if (strcmp(parameter->name, "extents") == 0) {
    return served_word_error(parameter, value, extents_words, COUNT(extents_words),
                             "its values are runtime and literal");
  }
  if (strcmp(parameter->name, "streaming") == 0) {
    return served_word_error(parameter, value, streaming_words, COUNT(streaming_words),
                             "its values are none, stores, all and loads");
  }
  if (strcmp(parameter->name, "weights") == 0) {
    return served_word_error(parameter, value, weights_words, COUNT(weights_words), "its values are each and grouped");
  }
  if (strcmp(parameter->name, "min_blocks") == 0) {
    const char *spelled = parameter->words[value];
    size_t length = strlen(spelled);
    bool whole = !parameter->is_word && length <= 4 && strspn(spelled, "0123456789") == length;
    return whole ? NULL : "its values are whole numbers from 0 to 9999";
  }
  return NULL;
}

/* Macros that stand before a template in generated source, and names in capitals that a macro would break there. */
static const char *const taken_macros[] = {
    "DIMS",
    "INPUTS",
    "OUTPUTS",
    "AXIS",
    "LOW_X",
    "HIGH_X",
    "LOW_Y",
    "HIGH_Y",
    "LOW_Z",
    "HIGH_Z",
    "STAR",
    "STAGED",
    "IMAGES",
    "KERNEL",
    "KERNEL_PARAMETERS",
    "FIELDS",
    "LAUNCH_BOUNDS",
    "N",
    "T",
    "V",
    "BYTES",
    "PENDING_GROUPS",
    "COEFFICIENT_VALUES",
    "SHARED_MEMORY",
    "FORMS",
    "PLANES",
    "STAGE_BUFFERS",
    "STAGE_COUNT",
    "STAGES_ALIKE",
    "STAGE_LOW_X",
    "STAGE_LOW_Y",
    "STAGE_LOW_Z",
    "STAGE_HIGH_X",
    "STAGE_HIGH_Y",
    "STAGE_HIGH_Z",
    "STAGE_SPAN_X",
    "STAGE_SPAN_Y",
    "STAGE_SPAN_Z",
    "ALL_LOW_X",
    "ALL_LOW_Y",
    "ALL_LOW_Z",
    "ALL_HIGH_X",
    "ALL_HIGH_Y",
    "ALL_HIGH_Z",
    "ALL_SPAN_X",
    "ALL_SPAN_Y",
    "ALL_SPAN_Z",
    "CARRIED",
};
static const char own_prefix[] = "HALOTUNE_";

enum { MOST_NAME_LETTERS = 63 }; /* of name_error */

/* One macro of a parameter or of its word: BLOCK_X of "block_x", or STORAGE_PLANES of "storage" with "planes". */
struct macro {
  char name[2 * (MOST_NAME_LETTERS + 1)];
};

/*   word  NULL for the parameter itself */
static struct macro macro_of(const char *parameter, const char *word) {
  struct macro macro;
  snprintf(macro.name, sizeof macro.name, "%s%s%s", parameter, word ? "_" : "", word ? word : "");
  for (char *at = macro.name; *at; at++) *at = (char)capital_of(*at);
  return macro;
}

static bool is_taken(const struct macro *macro) {
  for (size_t i = 0; i < COUNT(taken_macros); i++) {
    if (strcmp(macro->name, taken_macros[i]) == 0) return true;
  }
  return strncmp(macro->name, own_prefix, strlen(own_prefix)) == 0;
}

/* Check a macro, and add it to those of earlier parameters and words.
 *   detail  receives what is wrong with it; NULL: nothing */
static halotune_status macro_add(struct texts *earlier, const struct macro *macro, const char **detail) {
  const int count = earlier->count, number = texts_add(earlier, macro->name, strlen(macro->name));
  *detail = NULL;
  if (number < 0) return fail_memory();
  if (is_taken(macro))
    *detail = "in capitals, its name or one of its words is the name of a macro that every template has";
  else if (number < count) *detail = "in capitals, its name or one of its words equals another parameter or word";
  return HALOTUNE_OK;
}

halotune_status template_macros_check(const struct template *template, int *wrong, const char **detail) {
  struct texts earlier = {.count = 0};
  halotune_status status = HALOTUNE_OK;
  *detail = NULL;
  for (int p = 0; p < template->parameter_count && status == HALOTUNE_OK && !*detail; p++) {
    const struct parameter *parameter = &template->parameters[p];
    const int words = parameter->is_word ? parameter->value_count : 0;
    *wrong = p;
    for (int i = -1; i < words && status == HALOTUNE_OK && !*detail; i++) {
      const struct macro macro = macro_of(parameter->name, i < 0 ? NULL : parameter->words[i]);
      status = macro_add(&earlier, &macro, detail);
    }
  }
  texts_free(&earlier);
  return status;
}
