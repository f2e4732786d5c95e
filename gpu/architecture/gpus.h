/* gpus.h: NVIDIA's GPUs by name, with the numbers that limit their speed, for GPUs that no database knows. What a
 * multiprocessor holds follows from the capability: see arch.h. */
#ifndef GPU_ARCHITECTURE_GPUS_H
#define GPU_ARCHITECTURE_GPUS_H

#include <stdbool.h>

struct gpu_row {
  const char *name;       /* the driver's name: "NVIDIA H100 80GB HBM3" */
  const char *short_name; /* the name that people use: "H100" */
  int capability;         /* compute capability times ten: 90 for sm_90 */
  int multiprocessors;
  double memory_gbs; /* peak rate of the memory, in GB/s */
  int memory_gb;     /* as it is sold, in GB */
  int l2_kib;
  const char *source; /* address of the public document with these numbers */
};

/* The rows, in the order of capability. */
extern const struct gpu_row gpu_rows[];
extern const int gpu_row_count;

/* The row that stands for a capability; NULL if the table has none. */
const struct gpu_row *gpu_row_of(int capability);

/* The row with this name, in upper or lower case; NULL if the table has none. */
const struct gpu_row *gpu_row_named(const char *name);

/* How badly a name fits a GPU. Case does not matter, and any character that is neither a letter nor a digit separates
 * words.
 *   asked       what the user typed; without a letter or digit it fits nothing
 *   short_name  NULL: the name without "NVIDIA"
 * Returns 0 for the GPU's name, or its short name with or without "NVIDIA"; 1 more than the words of the short name
 * that were not asked for, if all words that were asked for are words of the name or of the short name;
 * GPU_PART_OF_A_WORD if three or more letters were asked for, which occur in a name as they stand ("rtx4090");
 * GPU_NO_FIT otherwise. */
enum { GPU_PART_OF_A_WORD = 1000, GPU_NO_FIT = 1 << 30 };
int gpu_misfit(const char *asked, const char *name, const char *short_name);

#endif
