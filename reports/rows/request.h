/* request.h: a database as one JSON document, and as one HTML page that shows it. */
#ifndef REPORTS_ROWS_REQUEST_H
#define REPORTS_ROWS_REQUEST_H

#include <sqlite3.h>

#include "base/fail.h"
#include "base/text.h"

/* What to report on. Texts are only read during the call. */
struct report_request {
  const char *database;  /* the file's path, as the report shows it */
  const char *stencil;   /* a stencil's name; NULL: all */
  const char *device;    /* a GPU's UUID, or a part of its name in any case; NULL: all */
  const char *generated; /* the date that the report shows */
  int most_variants; /* of all problems together; where there are more, each shows a choice of its own. 0: the default
                      */
};

enum { REPORT_MOST_VARIANTS = 100000 };

/* Append the document that docs/report-schema.json describes.
 *   db  only read
 * Returns HALOTUNE_OK, also for an empty database; HALOTUNE_NOT_FOUND where it has no such stencil or GPU; HALOTUNE_DB
 * or HALOTUNE_MEMORY. */
halotune_status report_document(sqlite3 *db, const struct report_request *request, struct text *out);

/* Append the page that shows a document. It needs no other file and no network.
 * Returns HALOTUNE_OK; HALOTUNE_IO where this program was built without the page, with what to do; HALOTUNE_MEMORY. */
halotune_status report_page(const struct text *document, struct text *out);

#endif
