/* template_names.c: checks the names, words and numbers of a template's file. It classifies characters itself, because
 * the C library's functions depend on the locale. */
#include "stencil/template/template_names.h"

#include <math.h>
#include <string.h>

#include "base/memory/array.h"
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

/* One macro of a parameter or of its word, in the file's spelling, for example "block_x", or "storage" with
 * "planes". */
struct macro {
  const char *name, *word; /* word: NULL for the parameter itself */
};

/* Character i of the macro's name, in capitals; 0 after the end. */
static int macro_character(const struct macro *macro, size_t i) {
  size_t length = strlen(macro->name);
  if (i < length) return capital_of(macro->name[i]);
  if (!macro->word || i > length + 1 + strlen(macro->word)) return 0;
  return i == length ? '_' : capital_of(macro->word[i - length - 1]);
}

static bool is_same(const struct macro *left, const struct macro *right) {
  size_t i = 0;
  while (macro_character(left, i) && macro_character(left, i) == macro_character(right, i)) i++;
  return macro_character(left, i) == macro_character(right, i);
}

static bool is_taken(const struct macro *macro) {
  for (size_t i = 0; i < COUNT(taken_macros); i++) {
    if (is_same(macro, &(struct macro){taken_macros[i], NULL})) return true;
  }
  for (size_t i = 0; own_prefix[i]; i++) {
    if (macro_character(macro, i) != own_prefix[i]) return false;
  }
  return true;
}

/* A parameter has one macro of its own, then one for each of its words. */
static int macro_count(const struct parameter *parameter) {
  return 1 + (parameter->is_word ? parameter->value_count : 0);
}

static struct macro macro_of(const struct parameter *parameter, int number) {
  return (struct macro){parameter->name, number > 0 ? parameter->words[number - 1] : NULL};
}

/* Whether an earlier parameter, or an earlier word of this one, has the same macro. */
static bool is_earlier(const struct template *template, int parameter, int number) {
  struct macro macro = macro_of(&template->parameters[parameter], number);
  for (int p = 0; p <= parameter; p++) {
    int count = p < parameter ? macro_count(&template->parameters[p]) : number;
    for (int i = 0; i < count; i++) {
      struct macro other = macro_of(&template->parameters[p], i);
      if (is_same(&macro, &other)) return true;
    }
  }
  return false;
}

bool template_macros_are_free(const struct template *template, int *parameter, const char **detail) {
  for (*parameter = 0; *parameter < template->parameter_count; ++*parameter) {
    for (int i = 0; i < macro_count(&template->parameters[*parameter]); i++) {
      struct macro macro = macro_of(&template->parameters[*parameter], i);
      *detail = is_taken(&macro)
                    ? "in capitals, its name or one of its words is the name of a macro that every template has"
                    : "in capitals, its name or one of its words equals another parameter or word";
      if (is_taken(&macro) || is_earlier(template, *parameter, i)) return false;
    }
  }
  return true;
}
