/* output_place.c: which pipes a result may go through. */
#include "tuner/cli/output/output_place.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/files/exchange.h"

halotune_status output_place_check_pipe(const struct place *place, const struct stat *file) {
  struct stat folder;
  if (!S_ISFIFO(file->st_mode)) return HALOTUNE_OK;
  if (fstat(place->folder, &folder) != 0) return fail(HALOTUNE_IO, "%s: %s", place->path, strerror(errno));
  if (!exchange_is_foreign(&folder, file)) return HALOTUNE_OK;
  return fail(HALOTUNE_IO, "%s: this pipe in a folder of all users belongs to user %u; nothing is written to it",
              place->path, (unsigned)file->st_uid);
}
