/* template_reader.h: functions with which the parts of a template's file are read; private to stencil/template. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_READER_H
#define STENCIL_TEMPLATE_TEMPLATE_READER_H

#include "stencil/file/yaml.h"
#include "stencil/template/template.h"

/* A text that is being read into a template. */
struct reader {
  const struct source *source;
  const struct yaml *root;
  struct template *template;
  bool is_file; /* a file of today, not a text that a database keeps */
  struct scope
      scope; /* facts, parameters, words and definitions; a variable's index is its position in bindings.variables */
};

#define reader_fail(r, place, ...) source_fail((r)->source, place, __VA_ARGS__)

/* Read an expression. Fails if the node is NULL or not a text. */
halotune_status reader_formula(struct reader *r, const struct yaml *node, struct formula *out);

/* Read three expressions, for x, y and z. */
halotune_status reader_axes(struct reader *r, const struct yaml *list, struct formula out[MAX_DIMS]);

/* Find a member of a map. Fails if it is missing or of another kind. */
halotune_status reader_need(const struct reader *r, const struct yaml *map, const char *key, enum yaml_kind kind,
                            const struct yaml **out);

/* Refuse a map that has other members than these. */
halotune_status reader_check_keys(const struct reader *r, const struct yaml *map, const char *const *known,
                                  size_t count);

/* Refuse a text that cannot be a comment in generated source. */
halotune_status reader_check_about(const struct reader *r, const struct yaml *about);

/* Add a name to the scope. Fails if the scope has it already. */
halotune_status reader_declare(struct reader *r, struct name name);

#endif
