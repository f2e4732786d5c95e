/* page.h: writes a report's document as one HTML page. */
#ifndef REPORTS_PAGE_PAGE_H
#define REPORTS_PAGE_PAGE_H

#include "base/fail.h"
#include "base/text/text.h"

/* Append the page that shows a document. The page needs no other file and no network.
 * Returns HALOTUNE_OK; HALOTUNE_IO if this program was built without the page; HALOTUNE_MEMORY. */
halotune_status report_page(const struct text *document, struct text *out);

#endif
