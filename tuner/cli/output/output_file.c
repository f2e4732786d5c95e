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

#include "base/files/exchange.h"
#include "base/system/pipe.h"
#include "base/system/transfer.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/output/output_place.h"

/* Find out how a file is written.
 *   is_replaced  receives whether a new file takes its place: it is regular or missing. Another one is opened */
static halotune_status find_way(const struct place *place, bool *is_replaced) {
  struct stat facts;
  const bool exists = fstatat(place->folder, place->name, &facts, AT_SYMLINK_NOFOLLOW) == 0;
  *is_replaced = !exists || S_ISREG(facts.st_mode);
  if (*is_replaced) return HALOTUNE_OK;
  if (S_ISDIR(facts.st_mode)) return fail(HALOTUNE_IO, "%s: is a directory, not a file", place->path);
  return output_place_check_pipe(place, &facts);
}

/* How a file that is not replaced is opened: what is written comes to its end. */
static int opening_flags(const struct place *place) {
  return O_WRONLY | O_APPEND | (place->is_descriptor ? 0 : O_NOFOLLOW);
}

/* Look at a file that find_way told to open: another user may have exchanged it in between. */
static halotune_status check_opened(const struct place *place, int fd) {
  struct stat facts;
  if (place->is_descriptor) return HALOTUNE_OK; /* a descriptor that the program was started with, of any kind */
  if (fstat(fd, &facts) != 0) return fail(HALOTUNE_IO, "%s: %s", place->path, strerror(errno));
  if (!S_ISREG(facts.st_mode)) return output_place_check_pipe(place, &facts);
  return fail(HALOTUNE_IO, "%s: a regular file came here while the output was opened; nothing is written to it",
              place->path);
}

/* Open an existing file, and write at its end. */
static halotune_status write_into(const struct place *place, file_writer *write, void *context) {
  const int fd = pipe_open_at(place->folder, place->name, opening_flags(place));
  if (fd < 0) return pipe_fail(place->path, "nobody has read this pipe");
  halotune_status status = check_opened(place, fd);
  if (status == HALOTUNE_OK) status = write(context, fd);
  if (close(fd) != 0 && status == HALOTUNE_OK) return fail(HALOTUNE_IO, "%s: %s", place->path, strerror(errno));
  return status;
}

/* Write to the file in its folder. */
static halotune_status write_place(const struct place *place, enum output_readers readers, file_writer *write,
                                   void *context) {
  bool is_replaced;
  const halotune_status status = find_way(place, &is_replaced);
  if (status != HALOTUNE_OK) return status;
  if (!is_replaced) return write_into(place, write, context);
  return file_replace_at(place->folder, place->name, place->path, readers == OUTPUT_FOR_ALL, write, context);
}

halotune_status output_target(const char *path, char **out) {
  struct place place;
  const halotune_status status = exchange_open_place(path, &place);
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
  halotune_status status = exchange_open_place(path, &place);
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

/* Keep the descriptor of a new file, which is empty and gets its name now. */
static halotune_status keep_open(void *context, int fd) {
  int *kept = context;
  *kept = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  return *kept >= 0 ? HALOTUNE_OK : fail(HALOTUNE_IO, "a file cannot be kept open: %s", strerror(errno));
}

/* Open an existing file at once: a pipe must have a reader. */
static halotune_status open_without_wait(const struct place *place, int *out) {
  const int flags = opening_flags(place) | O_NOCTTY | O_CLOEXEC | O_NONBLOCK; /* no call on a pipe must block */
  *out = openat(place->folder, place->name, flags);
  if (*out >= 0) return check_opened(place, *out);
  return fail(HALOTUNE_IO, "%s: %s", place->path, errno == ENXIO ? "no program reads this pipe" : strerror(errno));
}

halotune_status output_stream(const char *path, FILE **out) {
  struct place place;
  bool is_replaced = false;
  int fd = -1;
  *out = NULL;
  halotune_status status = exchange_open_place(path, &place);
  if (status == HALOTUNE_OK) status = find_way(&place, &is_replaced);
  if (status == HALOTUNE_OK && is_replaced)
    status = file_replace_at(place.folder, place.name, place.path, true, keep_open, &fd);
  else if (status == HALOTUNE_OK) status = open_without_wait(&place, &fd);
  const double limit_ms = place.is_descriptor ? INFINITY : pipe_limit_ms();
  place_close(&place);
  if (status == HALOTUNE_OK) return stream_make(fd, limit_ms, out);
  if (fd >= 0) close(fd);
  return status;
}

/* A text to write. */
struct content {
  const char *path, *text;
  size_t length;
};

/* Whether a path is /dev/stdout, or another link to a descriptor that the program was started with. */
static bool is_inherited(const char *path) {
  struct place place;
  const bool is_link = exchange_open_place(path, &place) == HALOTUNE_OK && place.is_descriptor;
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
