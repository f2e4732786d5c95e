/* stencil_json.h: a stencil of a database, as the report shows it. */
#ifndef REPORTS_DOCUMENT_STENCIL_JSON_H
#define REPORTS_DOCUMENT_STENCIL_JSON_H

#include "base/json.h"
#include "reports/rows/definitions.h"

/* Append to `json`, an object, what the stencil's text says: taps, update, shape, bytes and flops a point. is_readable
 * is false, and the others are missing, where this version cannot read the text. */
void put_subject(json_t **json, const struct known_stencil *subject);

#endif
