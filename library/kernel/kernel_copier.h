/* kernel_copier.h: copies boxes of fields to dense arrays and back, behind halotune_pack and halotune_unpack. */
#ifndef LIBRARY_KERNEL_KERNEL_COPIER_H
#define LIBRARY_KERNEL_KERNEL_COPIER_H

#include "include/halotune.h"

/* Unload what the first copy of a kernel loaded, if there was one. The kernel's context is current. */
void kernel_copier_free(halotune_kernel *kernel);

#endif
