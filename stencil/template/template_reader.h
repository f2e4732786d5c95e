/* template_reader.h: what the parts of a template's file are read with; private to stencil/. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_READER_H
#define STENCIL_TEMPLATE_TEMPLATE_READER_H

#include "stencil/file/yaml.h"
#include "stencil/template/template.h"

struct reader {
  const struct source *source;
  const struct yaml *root;
  struct template *template;
  struct scope scope; /* facts, parameters, words; a name's index is its place in bindings.variables */
  double words[MAX_PARAMETERS * MAX_VALUES];
};

#define read_fail(r, place, ...) source_fail((r)->source, place, __VA_ARGS__)

/* Read an expression; NULL is none. */
halotune_status template_read_formula(struct reader *r, const struct yaml *node, struct formula *out);

/* Three of them, for x, y and z. */
halotune_status template_read_axes(struct reader *r, const struct yaml *list, struct formula out[MAX_DIMS]);

/* The member of a map that has to be there, and of this kind. */
halotune_status template_need(const struct reader *r, const struct yaml *map, const char *key, enum yaml_kind kind,
                              const struct yaml **out);

/* Every member of a map is one of these fields. */
halotune_status template_check_keys(const struct reader *r, const struct yaml *map, const char *const *known,
                                    size_t count);

/* The fields of template_launch.c, none of which a file has to have. */
halotune_status template_read_launch(struct reader *r);

#endif
