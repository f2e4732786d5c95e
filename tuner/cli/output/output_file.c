/* output_file.c: writes the file that --output names: a regular file in one step, devices and pipes by opening them. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/pipe.h"
#include "base/system/transfer.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/output/output_place.h"

/* Open an existing file, and write at its end. */
static halotune_status write_into(const struct output_place *place, file_writer *write, void *context) {
  const int links = place->is_descriptor ? 0 : O_NOFOLLOW;
  const int fd = pipe_open_at(place->folder, place->name, O_WRONLY | O_APPEND | links);
  if (fd < 0) return pipe_fail(place->path, "nobody has read this pipe");
  const halotune_status status = write(context, fd);
  if (close(fd) != 0 && status == HALOTUNE_OK) return fail(HALOTUNE_IO, "%s: %s", place->path, strerror(errno));
  return status;
}

/* Write to the file in its folder. */
static halotune_status write_place(const struct output_place *place, enum output_readers readers, file_writer *write,
                                   void *context) {
  struct stat facts;
  const bool exists = fstatat(place->folder, place->name, &facts, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && S_ISDIR(facts.st_mode)) return fail(HALOTUNE_IO, "%s: is a directory, not a file", place->path);
  if (exists && !S_ISREG(facts.st_mode)) return write_into(place, write, context);
  return file_replace_at(place->folder, place->name, place->path, readers == OUTPUT_FOR_ALL, write, context);
}

halotune_status output_target(const char *path, char **out) {
  struct output_place place;
  const halotune_status status = output_place_open(path, &place);
  *out = NULL;
  if (status == HALOTUNE_OK) {
    *out = place.path;
    place.path = NULL;
  }
  output_place_close(&place);
  return status;
}

halotune_status output_pieces(const char *path, enum output_readers readers, file_writer *write, void *context) {
  struct output_place place;
  halotune_status status = output_place_open(path, &place);
  if (status == HALOTUNE_OK) status = write_place(&place, readers, write, context);
  output_place_close(&place);
  return status;
}

halotune_status output_stream(const char *path, FILE **out) {
  const int always = O_WRONLY | O_CREAT | O_NOCTTY | O_CLOEXEC | O_NONBLOCK; /* opening a pipe must not wait */
  struct output_place place;
  *out = NULL;
  halotune_status status = output_place_open(path, &place);
  const int flags = always | (place.is_descriptor ? O_APPEND : O_TRUNC | O_NOFOLLOW);
  const int fd = status == HALOTUNE_OK ? openat(place.folder, place.name, flags, 0666) : -1;
  const int code = errno;
  output_place_close(&place);
  if (status != HALOTUNE_OK) return status;
  if (fd < 0) return fail(HALOTUNE_IO, "%s: %s", path, code == ENXIO ? "no program reads this pipe" : strerror(code));
  if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) == 0) *out = fdopen(fd, "w");
  if (*out) return HALOTUNE_OK;
  status = fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
  close(fd);
  return status;
}

/* A text to write. */
struct content {
  const char *path, *text;
  size_t length;
};

/* Whether a path is /dev/stdout, or another link to a descriptor that the program was started with. */
static bool is_inherited(const char *path) {
  struct output_place place;
  const bool is_link = output_place_open(path, &place) == HALOTUNE_OK && place.is_descriptor;
  output_place_close(&place);
  return is_link;
}

halotune_status output_bytes(const char *path, int fd, const char *bytes, size_t length) {
  const double limit_ms = is_inherited(path) ? INFINITY : pipe_limit_ms();
  return write_all_within(fd, bytes, length, limit_ms) ? HALOTUNE_OK : pipe_fail(path, "nobody has read this pipe");
}

static halotune_status write_content(void *context, int fd) {
  const struct content *content = context;
  return output_bytes(content->path, fd, content->text, content->length);
}

halotune_status output_file(const char *path, enum output_readers readers, const char *text, size_t length) {
  struct content content = {path, text, length};
  return output_pieces(path, readers, write_content, &content);
}
