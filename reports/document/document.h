/* document.h: a database as one JSON document. */
#ifndef REPORTS_DOCUMENT_DOCUMENT_H
#define REPORTS_DOCUMENT_DOCUMENT_H

#include <sqlite3.h>

#include "base/fail.h"
#include "base/text/text.h"
#include "reports/rows/request.h"

/* Append the document that docs/report-schema.json describes.
 *   db  only read
 * Returns HALOTUNE_OK, also for an empty database; HALOTUNE_NOT_FOUND if it has no such stencil or GPU; HALOTUNE_DB or
 * HALOTUNE_MEMORY. */
halotune_status report_document(sqlite3 *db, const struct report_request *request, struct text *out);

#endif
