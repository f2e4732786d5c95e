/* held_folder.c: opens the folder of a database, and names the file through it. */
#include "db/store/held_folder.h"

#include <stdio.h>
#include <unistd.h>

#include "base/files/exchange.h"
#include "base/files/held_path.h"
#include "base/files/place.h"

halotune_status held_open(const char *path, struct held_file *out) {
  struct place place;
  char link[HELD_PATH_BYTES];
  *out = (struct held_file){.path = path, .folder = -1};
  halotune_status status = exchange_find_place(path, &place);
  int length;
  if (status == HALOTUNE_OK && !place.is_missing && held_path_of_thread(place.folder, link)) {
    length = snprintf(out->name, sizeof out->name, "%s/%s", link, place.name);
    out->folder = place.folder;
    place.folder = -1; /* moved */
  } else {
    length = snprintf(out->name, sizeof out->name, "%s", place.is_missing || !place.path ? path : place.path);
  }
  place_close(&place);
  if (status == HALOTUNE_OK && length >= (int)sizeof out->name) status = fail(HALOTUNE_DB, "%s: too long a path", path);
  return status == HALOTUNE_IO ? fail(HALOTUNE_DB, "%s; name another file", fail_text()) : status;
}

void held_close(struct held_file *held) {
  if (held->folder >= 0) close(held->folder);
  held->folder = -1;
}
