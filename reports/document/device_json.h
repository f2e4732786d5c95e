/* device_json.h: a GPU of a database, and its two roofs. */
#ifndef REPORTS_DOCUMENT_DEVICE_JSON_H
#define REPORTS_DOCUMENT_DEVICE_JSON_H

#include "reports/rows/rows.h"
#include "stencil/file/stencil.h"

/* The rows of the devices that a report is about. Needs an open scope. ?1: whether the scope is the whole database. */
extern const char device_sql[];

/* Add the copy roof and the arithmetic roof to a row of device_sql: a `complete` of rows_json_completed.
 *   context  the database */
halotune_status device_complete(void *context, sqlite3_stmt *query, json_t **device);

/* The arithmetic roof of a GPU in GFLOP/s; a fused multiply-add counts two.
 *   capability  90 for sm_90
 * Returns NAN for a capability that is not in the table. */
double peak_gflops(int capability, int sm_count, long clock_khz, enum dtype dtype);

#endif
