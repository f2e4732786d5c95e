/* device_json.h: the JSON of a GPU in a database, with its copy roof and its arithmetic roof. */
#ifndef REPORTS_DOCUMENT_DEVICE_JSON_H
#define REPORTS_DOCUMENT_DEVICE_JSON_H

#include "reports/rows/rows.h"
#include "stencil/file/stencil.h"

/* A query for the devices of a report. Needs an open scope. ?1: whether the scope is the whole database. */
extern const char device_sql[];

/* Add the copy roof and the arithmetic roof to a row of device_sql. It is a `complete` function of rows_json_completed.
 *   context  the database */
halotune_status device_complete(void *context, sqlite3_stmt *query, json_t **device);

/* The arithmetic roof of a GPU in GFLOP/s. A fused multiply-add counts as two operations.
 *   capability  90 for sm_90
 * Returns NAN for a capability whose rate is not known (arch.h). */
double peak_gflops(int capability, int sm_count, long clock_khz, enum dtype dtype);

#endif
