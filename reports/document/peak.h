/* peak.h: the arithmetic roof of a GPU. */
#ifndef REPORTS_DOCUMENT_PEAK_H
#define REPORTS_DOCUMENT_PEAK_H

#include "stencil/file/stencil.h"

/* The most additions and multiplications that a GPU can do, a fused multiply-add counting two, in GFLOP/s: results of
 * one multiprocessor and clock, times multiprocessors, times the highest clock. capability  90 for sm_90 NAN for a
 * capability that is not in the table. */
double peak_gflops(int capability, int sm_count, long clock_khz, enum dtype dtype);

#endif
