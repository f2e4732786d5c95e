/* compile_print.h: the rows of `halotune compile`, as a table and as JSON; docs/output.md explains the columns. */
#ifndef CLI_COMPILE_COMPILE_PRINT_H
#define CLI_COMPILE_COMPILE_PRINT_H

#include "base/text/json.h"
#include "tuner/cli/compile/compile_row.h"

void compile_print_head(void);
void compile_print_row(const struct compile_row *row);

/* A new reference; NULL when memory is out. */
json_t *compile_row_json(const struct compile_row *row);

#endif
