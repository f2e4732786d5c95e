/* export_json.h: checks stored texts of JSON that an export writes as they are. */
#ifndef DB_EXCHANGE_EXPORT_JSON_H
#define DB_EXCHANGE_EXPORT_JSON_H

#include <stdbool.h>

#include "base/fail.h"

/* Refuse a text that is no JSON object. It could end the row that is written, and add rows that are in no database.
 *   column       that holds the text, for the message
 *   may_be_list  accept a JSON list, too
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status export_json_check(const char *column, const char *text, bool may_be_list);

#endif
