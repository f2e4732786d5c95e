/* find_plugin.h: finds and loads libhalotune-mpi.so. There is one for each MPI, in its own folder. */
#ifndef FLEET_MPI_FIND_PLUGIN_H
#define FLEET_MPI_FIND_PLUGIN_H

#include <limits.h>

#include "base/fail.h"
#include "tuner/fleet/mpi/plugin.h"

/* Start with {0}; end with found_plugin_free. */
struct found_plugin {
  const struct fleet_mpi_plugin *plugin;
  void *library;
  char path[PATH_MAX];
};

/* Load the plug-in of this kind: "openmpi", "mpich", or a path.
 *   launcher, ranks  what started how many ranks, for messages
 * Folders, in this order, of which D is that of this program and K
 * openmpi or mpich: D/mpi/K (the build), D/../lib/halotune/K, D/../lib64/halotune/K, D/../lib/ARCHITECTURE/halotune/K.
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND if there is none, or if the libraries of its MPI are missing; HALOTUNE_IO if
 * it has another version, or lies where other users can write. A plug-in that HALOTUNE_MPI names may lie anywhere. */
halotune_status find_plugin(const char *kind, const char *launcher, int ranks, struct found_plugin *out);

/* The library stays loaded, because MPI cannot be unloaded. */
void found_plugin_free(struct found_plugin *found);

#endif
