/* verify_print.h: what came of the variants that were verified, as text and as JSON; docs/output.md explains the outcomes. */
#ifndef CLI_VERIFY_VERIFY_PRINT_H
#define CLI_VERIFY_VERIFY_PRINT_H

#include "base/json.h"
#include "tuner/verify/emulated_verify.h"

/* One variant: outcome, errors, template and parameters; and what is wrong, where something is. */
void verify_print_row(const struct verify_row *row);

/* The same, with the hashes of the outputs in each scene. A new reference; NULL when memory is out. */
json_t *verify_row_json(const struct scenes *scenes, const struct verify_row *row);

#endif
