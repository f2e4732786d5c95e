/* output_file.c: writes the file that --output names: a regular file in one step, devices and pipes by opening them. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/system/pipe.h"
#include "base/system/transfer.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/output/output_place.h"

/* Open an existing file, and write at its end. */
static halotune_status write_into(const struct place *place, file_writer *write, void *context) {
  const int links = place->is_descriptor ? 0 : O_NOFOLLOW;
  const int fd = pipe_open_at(place->folder, place->name, O_WRONLY | O_APPEND | links);
  if (fd < 0) return pipe_fail(place->path, "nobody has read this pipe");
  const halotune_status status = write(context, fd);
  if (close(fd) != 0 && status == HALOTUNE_OK) return fail(HALOTUNE_IO, "%s: %s", place->path, strerror(errno));
  return status;
}

/* Write to the file in its folder. */
static halotune_status write_place(const struct place *place, enum output_readers readers, file_writer *write,
                                   void *context) {
  struct stat facts;
  const bool exists = fstatat(place->folder, place->name, &facts, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && S_ISDIR(facts.st_mode)) return fail(HALOTUNE_IO, "%s: is a directory, not a file", place->path);
  if (exists && !S_ISREG(facts.st_mode)) {
    const halotune_status status = output_place_check_pipe(place, &facts);
    return status == HALOTUNE_OK ? write_into(place, write, context) : status;
  }
  return file_replace_at(place->folder, place->name, place->path, readers == OUTPUT_FOR_ALL, write, context);
}

halotune_status output_target(const char *path, char **out) {
  struct place place;
  const halotune_status status = output_place_open(path, &place);
  *out = NULL;
  if (status == HALOTUNE_OK) {
    *out = place.path;
    place.path = NULL;
  }
  place_close(&place);
  return status;
}

halotune_status output_pieces(const char *path, enum output_readers readers, file_writer *write, void *context) {
  struct place place;
  halotune_status status = output_place_open(path, &place);
  if (status == HALOTUNE_OK) status = write_place(&place, readers, write, context);
  place_close(&place);
  return status;
}

/* A file of output_stream. */
struct stream {
  int fd;
  double limit_ms; /* for a pipe that nobody reads */
  bool has_failed;
};

/* Write without the signal of a pipe whose reader has gone, which would end the program. */
static bool write_without_signal(const struct stream *stream, const char *bytes, size_t length) {
  const struct timespec at_once = {0};
  sigset_t pipe, before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  const bool wrote = write_all_within(stream->fd, bytes, length, stream->limit_ms);
  if (!wrote) sigtimedwait(&pipe, NULL, &at_once); /* the signal waits for this thread, if there was one */
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return wrote;
}

/* Once a pipe was not read until the limit, no further call waits for it. */
static ssize_t stream_write(void *context, const char *bytes, size_t length) {
  struct stream *stream = context;
  stream->has_failed = stream->has_failed || !write_without_signal(stream, bytes, length);
  return stream->has_failed ? 0 : (ssize_t)length; /* 0 is a failure here */
}

static int stream_close(void *context) {
  struct stream *stream = context;
  const int result = close(stream->fd);
  free(stream);
  return result;
}

/* Make a stream of a descriptor. Takes over the descriptor. */
static halotune_status stream_make(int fd, double limit_ms, FILE **out) {
  struct stream *stream = malloc(sizeof *stream);
  if (stream) *stream = (struct stream){.fd = fd, .limit_ms = limit_ms};
  *out =
      stream ? fopencookie(stream, "w", (cookie_io_functions_t){.write = stream_write, .close = stream_close}) : NULL;
  if (*out) return HALOTUNE_OK;
  free(stream);
  close(fd);
  return fail_memory();
}

halotune_status output_stream(const char *path, FILE **out) {
  const int always = O_WRONLY | O_CREAT | O_NOCTTY | O_CLOEXEC | O_NONBLOCK; /* no call on a pipe must block */
  struct place place;
  *out = NULL;
  halotune_status status = output_place_open(path, &place);
  const double limit_ms = place.is_descriptor ? INFINITY : pipe_limit_ms();
  const int flags = always | (place.is_descriptor ? O_APPEND : O_TRUNC | O_NOFOLLOW);
  const int fd = status == HALOTUNE_OK ? openat(place.folder, place.name, flags, 0666) : -1;
  const int code = errno;
  struct stat facts;
  if (fd >= 0 && !place.is_descriptor && fstat(fd, &facts) == 0) status = output_place_check_pipe(&place, &facts);
  place_close(&place);
  if (status != HALOTUNE_OK && fd >= 0) close(fd);
  if (status != HALOTUNE_OK) return status;
  if (fd < 0) return fail(HALOTUNE_IO, "%s: %s", path, code == ENXIO ? "no program reads this pipe" : strerror(code));
  return stream_make(fd, limit_ms, out);
}

/* A text to write. */
struct content {
  const char *path, *text;
  size_t length;
};

/* Whether a path is /dev/stdout, or another link to a descriptor that the program was started with. */
static bool is_inherited(const char *path) {
  struct place place;
  const bool is_link = output_place_open(path, &place) == HALOTUNE_OK && place.is_descriptor;
  place_close(&place);
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
