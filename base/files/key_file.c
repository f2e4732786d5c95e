/* key_file.c: makes and reads the files of keys. */
#include "base/files/key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium/utils.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/exchange.h"
#include "base/files/file.h"
#include "base/files/locked_files.h"
#include "base/files/own.h"
#include "base/files/path.h"
#include "base/files/place.h"
#include "base/system/pipe.h"
#include "base/system/transfer.h"

static const char private_word[] = "halotune-private-key", public_word[] = "halotune-public-key";

/* The longest line, with its end and a NUL. */
enum { LINE_BYTES = sizeof private_word + KEY_HEX_BYTES + 1 };

/* Open the folder of a key that is made. Behind a link of another user this user could exchange the public key. */
static halotune_status folder_open(const char *path, struct place *out) {
  char *folder = path_folder(path), *inside = NULL;
  *out = (struct place){.folder = -1};
  if (folder && asprintf(&inside, "%s/", folder) < 0) inside = NULL;
  const halotune_status status = inside ? exchange_open_place(inside, out) : fail_memory();
  free(inside);
  free(folder);
  return status;
}

/* Write a new file with one line. A file that exists is a failure. */
static halotune_status line_make(int folder, const char *path, mode_t mode, const char *word,
                                 const unsigned char key[32]) {
  char line[LINE_BYTES], hex[KEY_HEX_BYTES];
  const int fd = openat(folder, path_name(path), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (fd < 0 && errno == EEXIST)
    return fail(HALOTUNE_IO, "%s: this file exists, and Halotune never replaces a key; name another file", path);
  if (fd < 0) return fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
  key_hex(key, hex);
  const int length = snprintf(line, sizeof line, "%s %s\n", word, hex);
  const bool wrote = write_all(fd, line, (size_t)length) && fsync(fd) == 0;
  const int reason = errno;
  sodium_memzero(line, sizeof line);
  sodium_memzero(hex, sizeof hex);
  if (close(fd) == 0 && wrote) return HALOTUNE_OK;
  const int last = wrote ? errno : reason;
  unlinkat(folder, path_name(path), 0);
  return fail(HALOTUNE_IO, "%s: %s", path, strerror(last));
}

halotune_status key_file_make(const char *path, struct public_key *out) {
  struct private_key key;
  struct place place;
  char *public_path = NULL;
  if (asprintf(&public_path, "%s" KEY_FILE_PUBLIC_SUFFIX, path) < 0) return fail_memory();
  halotune_status status = folder_open(path, &place);
  if (status == HALOTUNE_OK) status = private_key_make(&key);
  if (status == HALOTUNE_OK) status = line_make(place.folder, path, 0600, private_word, key.seed);
  if (status == HALOTUNE_OK) {
    *out = public_key_of(&key);
    status = line_make(place.folder, public_path, 0644, public_word, out->bytes);
    if (status != HALOTUNE_OK) unlinkat(place.folder, path_name(path), 0);
  }
  private_key_forget(&key);
  place_close(&place);
  free(public_path);
  return status;
}

/* Open the file of a key to read it. A link of another user could lead to another key than the one that is meant.
 *   fd  for the caller to close; -1 on failure */
static halotune_status file_open(const char *path, int *fd) {
  struct place place;
  int code = access(path, F_OK) == 0 ? EACCES : errno; /* if the walk finds nothing */
  halotune_status status = exchange_open_place(path, &place);
  *fd = -1;
  if (status == HALOTUNE_OK) {
    *fd = pipe_open_at(place.folder, place.name, O_RDONLY | (place.is_descriptor ? 0 : O_NOFOLLOW));
    code = errno;
  }
  if (*fd < 0 && (status == HALOTUNE_OK || place.is_missing))
    status = fail(code == ENOENT ? HALOTUNE_NOT_FOUND : HALOTUNE_IO, "%s: %s", path, strerror(code));
  place_close(&place);
  return status;
}

/* The digits of a file's line, without the line's end; NULL if the line begins with another word. */
static const char *digits_of(char *line, const char *word) {
  const size_t length = strlen(word);
  if (strncmp(line, word, length) != 0 || line[length] != ' ') return NULL;
  line[strcspn(line, "\r\n")] = '\0';
  return line + length + 1;
}

static const struct own_kind private_file = {.what = "private key",
                                             .foreign_remedy = "copy it to a file of your own",
                                             .rights = S_IRWXG | S_IRWXO,
                                             .others_can = "read",
                                             .chmod = "600",
                                             .more = "make a new key"};

static halotune_status privacy_check(int fd, const char *path) {
  struct stat facts;
  if (fstat(fd, &facts) != 0) return fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
  if (!S_ISREG(facts.st_mode))
    return fail(HALOTUNE_IO, "%s: this is not a regular file; a private key must be in one", path);
  return own_check(&facts, path, &private_file);
}

halotune_status key_file_read(const char *path, struct private_key *out) {
  char line[LINE_BYTES] = "";
  int fd;
  halotune_status status = file_open(path, &fd);
  if (status != HALOTUNE_OK) return status;
  status = privacy_check(fd, path);
  if (status == HALOTUNE_OK && read(fd, line, sizeof line - 1) < 0)
    status = fail(HALOTUNE_IO, "%s: %s", path, strerror(errno));
  locked_files_close(fd);
  const char *digits = digits_of(line, private_word);
  if (status == HALOTUNE_OK && (!digits || !key_read(digits, out->seed)))
    status = fail(HALOTUNE_PARSE, "%s: this is not a private key of 'halotune key new'", path);
  sodium_memzero(line, sizeof line);
  return status;
}

halotune_status public_key_find(const char *digits_or_path, struct public_key *out) {
  enum { MOST_BYTES = 4096 };
  char *line = NULL;
  size_t length = 0;
  int fd;
  if (public_key_read(digits_or_path, out)) return HALOTUNE_OK;
  halotune_status status = file_open(digits_or_path, &fd);
  if (status == HALOTUNE_NOT_FOUND)
    return fail(status, "'%s' is neither a public key of 64 hexadecimal digits nor a file that contains one",
                digits_or_path);
  if (status == HALOTUNE_OK) status = file_read_open(fd, digits_or_path, MOST_BYTES, &line, &length);
  if (status != HALOTUNE_OK) return status;
  const char *digits = digits_of(line, public_word);
  if (!digits && digits_of(line, private_word))
    status = fail(HALOTUNE_PARSE, "%s: this is a private key, which only you may know; give others %s%s",
                  digits_or_path, digits_or_path, KEY_FILE_PUBLIC_SUFFIX);
  else if (!digits || !public_key_read(digits, out))
    status = fail(HALOTUNE_PARSE, "%s: this is not a public key of 'halotune key new'", digits_or_path);
  sodium_memzero(line, length);
  free(line);
  return status;
}
