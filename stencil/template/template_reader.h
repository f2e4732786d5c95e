/* template_reader.h: what the parts of a template's file are read with; private to stencil/template. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_READER_H
#define STENCIL_TEMPLATE_TEMPLATE_READER_H

#include "stencil/file/yaml.h"
#include "stencil/template/template.h"

/* One text that is read into a template. */
struct reader {
  const struct source *source;
  const struct yaml *root;
  struct template *template;
  struct scope
      scope; /* facts, parameters, words and definitions; a variable's index is its place in bindings.variables */
};

#define reader_fail(r, place, ...) source_fail((r)->source, place, __VA_ARGS__)

/* Read an expression. A node that is NULL or no text is refused. */
halotune_status reader_formula(struct reader *r, const struct yaml *node, struct formula *out);

/* Read three expressions, for x, y and z. */
halotune_status reader_axes(struct reader *r, const struct yaml *list, struct formula out[MAX_DIMS]);

/* Find the member of a map that has to be there, and of this kind. */
halotune_status reader_need(const struct reader *r, const struct yaml *map, const char *key, enum yaml_kind kind,
                            const struct yaml **out);

/* Refuse a map that has other members than these. */
halotune_status reader_check_keys(const struct reader *r, const struct yaml *map, const char *const *known,
                                  size_t count);

/* Refuse a text that cannot stand in a comment of generated sources. */
halotune_status reader_check_about(const struct reader *r, const struct yaml *about);

/* Add a name to the scope, which has no such name yet. */
halotune_status reader_declare(struct reader *r, struct name name);

#endif
