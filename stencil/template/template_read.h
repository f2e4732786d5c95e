/* template_read.h: reads a template from its two files, or from texts. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_READ_H
#define STENCIL_TEMPLATE_TEMPLATE_READ_H

#include "stencil/template/template.h"

/* Read NAME.yaml and NAME.cu.
 *   yaml_path  path of NAME.yaml; NAME.cu is in the same folder
 *   out        receives the template, which the caller frees with template_free; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_PARSE with file, line, column and a caret; HALOTUNE_NOT_FOUND, HALOTUNE_IO or
 * HALOTUNE_MEMORY. */
halotune_status template_read(const char *yaml_path, struct template **out);

/* Like template_read, for files that were found without the user naming their folder. Each is refused with HALOTUNE_IO
 * if another user can have put it there (base/files/data_file.h). */
halotune_status template_read_found(const char *yaml_path, struct template **out);

/* Check the CUDA text of a template's file. JSON can hold UTF-8 only: an export of rows with another text would have
 * another template under the same identity. A database may hold such a text, which an older Halotune stored.
 * Returns HALOTUNE_OK, or HALOTUNE_PARSE with name, line, column and a caret. */
halotune_status template_check_cuda(const struct source *cuda);

/* Like template_read, for texts in memory, such as those in a database, with the same limit. The texts are copied.
 *   yaml  its name appears in error messages
 *   cuda  NUL-terminated
 * Returns HALOTUNE_OK; HALOTUNE_PARSE with name, line, column and a caret; or HALOTUNE_MEMORY. */
halotune_status template_parse(const struct source *yaml, const char *cuda, struct template **out);

void template_free(struct template *template);

#endif
