/* export_json.h: writes stored texts of JSON into an export. */
#ifndef DB_EXCHANGE_EXPORT_JSON_H
#define DB_EXCHANGE_EXPORT_JSON_H

#include <stdbool.h>

#include "base/fail.h"
#include "base/text/text.h"

/* Append a stored text, in one line, with its hidden characters as escapes. Refuse a text that is no JSON object: it
 * could end the row that is written, and add rows that are in no database.
 *   column       that holds the text, for the message
 *   may_be_list  accept a JSON list, too
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status export_json_add(struct text *out, const char *column, const char *text, bool may_be_list);

#endif
