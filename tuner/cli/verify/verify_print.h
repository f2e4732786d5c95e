/* verify_print.h: results of verification, as text and as JSON. docs/output.md explains the outcomes. */
#ifndef CLI_VERIFY_VERIFY_PRINT_H
#define CLI_VERIFY_VERIFY_PRINT_H

#include "base/text/json.h"
#include "tuner/verify/emulated_verify.h"

/* Print a variant's outcome, errors and parameters, and for a failure what is wrong. */
void verify_print_row(const struct verify_row *row);

/* The same as JSON, with the hashes of the outputs in each scene. A new reference; NULL when memory is out. */
json_t *verify_row_json(const struct verify_row *row);

#endif
