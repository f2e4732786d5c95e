/* subject_json.h: the JSON of a stencil in a database. */
#ifndef REPORTS_DOCUMENT_SUBJECT_JSON_H
#define REPORTS_DOCUMENT_SUBJECT_JSON_H

#include "base/text/json.h"
#include "reports/rows/definitions.h"

/* Add facts of the stencil's text to the object `json`: taps, update, shape, bytes and flops per point. If this
 * version cannot read the text, is_readable is false and the other members are missing. */
void put_subject(json_t **json, const struct known_stencil *subject);

#endif
