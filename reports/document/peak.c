/* peak.c: the arithmetic roof. */
#include "reports/document/peak.h"

#include <math.h>

#include "base/array.h"

/* Fused multiply-adds that a multiprocessor completes in a clock, by element type: the table "Throughput of Native
 * Arithmetic Instructions" of NVIDIA's CUDA C++ Programming Guide. */
static const struct {
  int capability, fma[DTYPE_COUNT];
} table[] = {
    {70, {64, 32}}, {72, {64, 32}},  {75, {64, 2}},    {80, {64, 32}},  {86, {128, 2}},  {87, {128, 2}},
    {89, {128, 2}}, {90, {128, 64}}, {100, {128, 64}}, {103, {128, 2}}, {120, {128, 2}}, {121, {128, 2}},
};

double peak_gflops(int capability, int sm_count, long clock_khz, enum dtype dtype) {
  for (size_t i = 0; i < COUNT(table); i++) {
    if (table[i].capability == capability) return 2.0 * table[i].fma[dtype] * sm_count * (double)clock_khz * 1e-6;
  }
  return NAN;
}
