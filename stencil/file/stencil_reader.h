/* stencil_reader.h: functions with which the fields of a stencil file are read; private to stencil/file. */
#ifndef STENCIL_FILE_STENCIL_READER_H
#define STENCIL_FILE_STENCIL_READER_H

#include "stencil/file/stencil.h"
#include "stencil/file/yaml.h"

struct stencil_reader {
  const struct source *source;
  const struct yaml *root;
  struct stencil *stencil;
  struct scope scope;         /* what an update may name: inputs, outputs, coefficients */
  struct scope formula_scope; /* what a formula may name: nx, ny, nz, pi, coefficients, and for `exact` also x, y, z */
};

#define reader_fail(r, place, ...) source_fail((r)->source, place, __VA_ARGS__)

/* Each function reads one value. It fails with HALOTUNE_PARSE at the value's place, and a message that says what is
 * expected. */

/* A text. */
halotune_status entry_text(const struct stencil_reader *r, const struct yaml *node, const char *what, const char **out);

/* A text of one line, for people to read. The line end of a YAML block is dropped. */
halotune_status entry_line(const struct stencil_reader *r, const struct yaml *node, const char **out);

/* A whole number from `low` to `high`. */
halotune_status entry_whole(const struct stencil_reader *r, const struct yaml *node, const char *what, long low,
                            long high, long *out);

/* One of `count` words; `out` receives its position. */
halotune_status entry_word(const struct stencil_reader *r, const struct yaml *node, const char *what,
                           const char *const *words, int count, int *out);

/* A formula of the names in formula_scope. */
halotune_status entry_formula(struct stencil_reader *r, const struct yaml *node, const char *what, struct formula *out);

/* Whether the node is one number, with or without a sign. */
bool entry_is_number(const struct stencil_reader *r, const struct yaml *node, double *out);

/* Check that the node is a list or map of at most `most` entries. */
halotune_status entry_check_list(const struct stencil_reader *r, const struct yaml *node, enum yaml_kind kind,
                                 const char *what, int most);

/* Declare a name of the file. It must be well formed and new. */
halotune_status reader_declare_name(struct stencil_reader *r, const char *text, enum name_kind kind, int index,
                                    struct place place);

/* Allow formulas to use a variable such as nx. */
halotune_status reader_allow_variable(struct stencil_reader *r, int variable);

/* Find the input or output with this name. */
halotune_status reader_find_field(const struct stencil_reader *r, const char *text, struct place place,
                                  const struct name **out);

#endif
