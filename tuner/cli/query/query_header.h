/* query_header.h: writes a kernel as a C header, for programs that need no library at run time. */
#ifndef CLI_QUERY_QUERY_HEADER_H
#define CLI_QUERY_QUERY_HEADER_H

#include "tuner/cli/query/query_answer.h"

/* A variant that replaces the winner. */
struct query_choice {
  const char *template_name, *parameters;
};

/* Append a C header with the configuration, the machine code, and functions that load and launch it. The header
 * compiles as C99 and as C++, and needs only cuda.h.
 *   built            a variant without textures, compiled for the query's device
 *   chosen           the name of this variant if it replaces a winner that needs textures; NULL for the winner
 *   alignment_bytes  alignment of the fields' pointers that the kernel needs
 * Check text_ok(text) afterwards. */
void query_header(const struct query *query, const struct built *built, const struct query_choice *chosen,
                  int alignment_bytes, struct text *text);

#endif
