/* query_header.h: a kernel as a C header, for programs that want no library at run time. */
#ifndef CLI_QUERY_QUERY_HEADER_H
#define CLI_QUERY_QUERY_HEADER_H

#include "tuner/cli/query/query_answer.h"

/* A variant that stands in for another one. */
struct query_choice {
  const char *template_name, *parameters;
};

/* Append a C header with the configuration, the machine code and functions that load and launch it. It compiles as C99 and C++
 * with cuda.h alone.
 *   built   compiled for the query's device; a variant without textures
 *   chosen  the parameters of this variant where it stands in for a winner that needs textures; NULL: it is the winner
 * Ask text_ok(text). */
void query_header(const struct query *query, const struct built *built, const struct query_choice *chosen,
                  int alignment_bytes, struct text *text);

#endif
