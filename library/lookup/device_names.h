/* device_names.h: finds the GPU that a user means: a device of the databases, a row of the table of GPUs, or an
 * architecture. */
#ifndef LIBRARY_LOOKUP_DEVICE_NAMES_H
#define LIBRARY_LOOKUP_DEVICE_NAMES_H

#include "gpu/architecture/gpus.h"
#include "library/lookup/catalog.h"

/* What a name means: one of the two is set. */
struct named_device {
  int device;                /* in the catalog; -1 for a row of the table */
  const struct gpu_row *row; /* NULL for a device of the catalog */
};

/* Find the GPU whose name fits best (see gpu_misfit), for what is not exactly the name or UUID of a device in
 * catalog->device_names. A GPU that a document brought may have any name, such as "h200". So it counts only where no
 * known GPU fits: one on which this user or Halotune measured, or one of the table. An imported GPU that is as the
 * table has it is known. An emulated device has to be named exactly. Takes some 20 microseconds.
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND if none fits; HALOTUNE_ARGUMENT if several fit equally well; the
 * detail names the first four. */
halotune_status device_find(const struct catalog *catalog, const char *asked, struct named_device *out);

/* Whether a GPU is what its name says: this user or Halotune measured on it, or it is as the table of GPUs has it. */
bool device_is_known_gpu(const struct known_device *device);

/* Describe a GPU that is known only from a row of the table. */
struct known_device device_of_row(const struct gpu_row *row);

/* Read an architecture such as "sm_90". The table's first GPU of that architecture stands for it.
 * Returns false if `name` is no architecture of arch.h. */
bool device_of_arch(const char *name, struct known_device *out);

/* Append the names of the devices in the databases: "'NVIDIA A100', 'NVIDIA H200'". */
void device_names_write(const struct catalog *catalog, struct text *text);

#endif
