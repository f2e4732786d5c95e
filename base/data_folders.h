/* data_folders.h: where the stencils, the templates and the database lie that come with Halotune. */
#ifndef BASE_DATA_FOLDERS_H
#define BASE_DATA_FOLDERS_H

#include <limits.h>

enum { DATA_FOLDERS_MOST = 3 };

struct data_folders {
  char list[DATA_FOLDERS_MOST][PATH_MAX];
  int count;
};

/* The folders, the one to be looked into first in front: that of the installation which this code is part of, wherever it was
 * moved to or staged (PREFIX/share/halotune where program or shared library lie in PREFIX/bin, PREFIX/lib or
 * PREFIX/lib/ARCHITECTURE), where there is one, or those that it was built in: ROOT/build for the database and ROOT for the others
 * (ROOT is known as well to a program that links ROOT/build/lib/libhalotune.a, wherever that program lies); then the one that was
 * set when it was built, which need not be there. */
void data_folders_find(struct data_folders *out);

#endif
