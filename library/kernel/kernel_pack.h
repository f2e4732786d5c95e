/* kernel_pack.h: copies boxes of fields to dense arrays and back, behind halotune_pack and halotune_unpack. */
#ifndef LIBRARY_KERNEL_KERNEL_PACK_H
#define LIBRARY_KERNEL_KERNEL_PACK_H

#include "include/halotune.h"

/* Unload what the first copy of a kernel loaded, if there was one. The kernel's context is current. */
void kernel_pack_free(halotune_kernel *kernel);

#endif
