/* output_file_test.c: links that another user put into a folder of all users are not followed, and such pipes are not
 * written. */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/stores.h"
#include "tuner/cli/output/output.h"

enum { OTHER_USER = 4321 };

TEST(links_of_others_in_shared_folders_are_not_followed) {
  static const struct {
    mode_t mode;
    uid_t owner, link_owner;
    halotune_status want;
  } rows[] = {
      {01777, 0, OTHER_USER, HALOTUNE_IO},          {01777, 0, 0, HALOTUNE_OK},
      {01777, OTHER_USER, OTHER_USER, HALOTUNE_IO}, {01777, OTHER_USER, OTHER_USER + 1, HALOTUNE_IO},
      {01777, OTHER_USER, 0, HALOTUNE_OK},          {0777, 0, 0, HALOTUNE_OK},
      {0755, 0, OTHER_USER, HALOTUNE_OK},           {0777, 0, OTHER_USER, HALOTUNE_IO},
  };
  if (geteuid() != 0) skip(); /* only root makes files of others */
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct work work = work_begin();
    char folder[96], link[128], target[128];
    struct stat facts;
    snprintf(folder, sizeof folder, "%s/shared", work.folder);
    snprintf(link, sizeof link, "%s/link", folder);
    snprintf(target, sizeof target, "%s/target", work.folder);
    CHECK(mkdir(folder, 0700) == 0 && symlink(target, link) == 0, "row %zu", i);
    CHECK(lchown(link, rows[i].link_owner, (gid_t)-1) == 0 && chown(folder, rows[i].owner, (gid_t)-1) == 0 &&
              chmod(folder, rows[i].mode) == 0,
          "row %zu", i);
    FILE *stream;
    CHECK_EQ(rows[i].want, output_stream(link, &stream), "row %zu: stream: %s", i, fail_text());
    CHECK_EQ(rows[i].want == HALOTUNE_OK, stream != NULL, "row %zu: stream", i);
    CHECK_EQ(rows[i].want == HALOTUNE_OK, stat(target, &facts) == 0, "row %zu: opened", i);
    if (stream) CHECK(fclose(stream) == 0 && unlink(target) == 0, "row %zu", i);
    CHECK_EQ(rows[i].want, output_file(link, OUTPUT_FOR_ALL, "text", 4), "row %zu: %s", i, fail_text());
    CHECK_EQ(rows[i].want == HALOTUNE_OK, stat(target, &facts) == 0, "row %zu: written", i);
    if (rows[i].want != HALOTUNE_OK) CHECK(strstr(fail_text(), "belongs to user 432"), "row %zu: %s", i, fail_text());
    /* the link as a folder in a path */
    char within[192];
    snprintf(within, sizeof within, "%s/within", link);
    snprintf(target, sizeof target, "%s/within", work.folder);
    CHECK(unlink(link) == 0 && symlink(work.folder, link) == 0 && lchown(link, rows[i].link_owner, (gid_t)-1) == 0,
          "row %zu", i);
    CHECK_EQ(rows[i].want, output_file(within, OUTPUT_FOR_ALL, "text", 4), "row %zu: folder: %s", i, fail_text());
    CHECK_EQ(rows[i].want == HALOTUNE_OK, stat(target, &facts) == 0, "row %zu: written into the folder", i);
    work_end(&work);
  }
}

TEST(pipes_of_others_in_shared_folders_are_not_written) {
  static const struct {
    mode_t mode;
    uid_t pipe_owner;
    bool is_written;
  } rows[] = {{01777, OTHER_USER, false}, {0777, OTHER_USER, false}, {01777, 0, true}, {0755, OTHER_USER, true}};
  if (geteuid() != 0) skip(); /* only root makes files of others */
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct work work = work_begin();
    char folder[96], pipe[128], text[8];
    FILE *stream;
    snprintf(folder, sizeof folder, "%s/shared", work.folder);
    snprintf(pipe, sizeof pipe, "%s/pipe", folder);
    CHECK(mkdir(folder, 0700) == 0 && mkfifo(pipe, 0600) == 0 && chmod(pipe, 0666) == 0, "row %zu", i);
    CHECK(chown(pipe, rows[i].pipe_owner, (gid_t)-1) == 0 && chmod(folder, rows[i].mode) == 0, "row %zu", i);
    const halotune_status want = rows[i].is_written ? HALOTUNE_OK : HALOTUNE_IO;
    /* without a reader it is refused at once, too */
    setenv("HALOTUNE_PIPE_TIMEOUT", "0", 1);
    CHECK_EQ(HALOTUNE_IO, output_file(pipe, OUTPUT_FOR_ALL, "text", 4), "row %zu", i);
    unsetenv("HALOTUNE_PIPE_TIMEOUT");
    CHECK_EQ(!rows[i].is_written, strstr(fail_text(), "belongs to user 4321") != NULL, "row %zu: %s", i, fail_text());
    const int reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    CHECK(reader >= 0, "row %zu: the reader", i);
    CHECK_EQ(want, output_file(pipe, OUTPUT_FOR_ALL, "text", 4), "row %zu: %s", i, fail_text());
    CHECK_EQ(rows[i].is_written ? 4 : 0, read(reader, text, sizeof text), "row %zu: what was written", i);
    CHECK_EQ(want, output_stream(pipe, &stream), "row %zu: stream: %s", i, fail_text());
    if (stream) CHECK_EQ(0, fclose(stream), "row %zu", i);
    close(reader);
    work_end(&work);
  }
}

/* A folder of a path, which is exchanged for a link while its file is written. */
struct exchange {
  const char *folder, *moved, *victim;
};

static halotune_status exchange_folder(void *context, int fd) {
  const struct exchange *exchange = context;
  CHECK(rename(exchange->folder, exchange->moved) == 0 && symlink(exchange->victim, exchange->folder) == 0, "exchange");
  CHECK_EQ(4, write(fd, "text", 4), "write");
  return HALOTUNE_OK;
}

TEST(a_file_comes_into_the_folder_that_was_checked) {
  const struct work work = work_begin();
  char folder[96], moved[96], victim[96], path[128];
  struct exchange exchange = {folder, moved, victim};
  struct stat facts;
  snprintf(folder, sizeof folder, "%s/folder", work.folder);
  snprintf(moved, sizeof moved, "%s/moved", work.folder);
  snprintf(victim, sizeof victim, "%s/victim", work.folder);
  CHECK(mkdir(folder, 0700) == 0 && mkdir(victim, 0700) == 0, "folders");
  snprintf(path, sizeof path, "%s/file", folder);
  CHECK_OK(output_pieces(path, OUTPUT_FOR_ALL, exchange_folder, &exchange));
  snprintf(path, sizeof path, "%s/file", moved);
  CHECK(stat(path, &facts) == 0 && facts.st_size == 4, "the file is in the folder that was checked");
  CHECK(rmdir(victim) == 0, "nothing is in the other folder");
  work_end(&work);
}

/* Links of the proc file system are followed by the kernel alone, also as folders. */
TEST(links_of_the_proc_file_system_are_left_to_the_kernel) {
  const struct work work = work_begin();
  char path[128], by_cwd[192], by_fd[64];
  struct stat facts;
  FILE *stream;
  snprintf(path, sizeof path, "%s/file", work.folder);
  snprintf(by_cwd, sizeof by_cwd, "/proc/self/cwd/../../../../../../../../%s", path);
  CHECK_OK(output_file(by_cwd, OUTPUT_FOR_ALL, "text", 4));
  CHECK(stat(path, &facts) == 0 && facts.st_size == 4, "a folder");
  FILE *file = fopen(path, "re");
  CHECK(file, "%s", path);
  snprintf(by_fd, sizeof by_fd, "/dev/fd/%d", fileno(file));
  CHECK_OK(output_stream(by_fd, &stream));
  CHECK(fputs("more", stream) >= 0 && fclose(stream) == 0 && fclose(file) == 0, "stream");
  CHECK(stat(path, &facts) == 0 && facts.st_size == 8, "%lld bytes", (long long)facts.st_size);
  work_end(&work);
}

TEST(paths_that_name_no_file_are_refused) {
  static const struct {
    const char *end, *message;
  } rows[] = {
      {"/", "is a directory"},
      {"/.", "is a directory"},
      {"/missing/file", "No such file or directory"},
      {"/file/within", "Not a directory"},
      {"/file/", "Not a directory"},
      {"/missing/", "No such file or directory"},
      {"/round", "Too many levels of symbolic links"},
  };
  const struct work work = work_begin();
  char path[128];
  snprintf(path, sizeof path, "%s/round", work.folder);
  CHECK(symlink("round", path) == 0, "%s", path);
  snprintf(path, sizeof path, "%s/file", work.folder);
  CHECK_OK(output_file(path, OUTPUT_FOR_ALL, "text", 4));
  for (size_t i = 0; i < COUNT(rows); i++) {
    snprintf(path, sizeof path, "%s%s", work.folder, rows[i].end);
    CHECK_EQ(HALOTUNE_IO, output_file(path, OUTPUT_FOR_ALL, "text", 4), "%s", rows[i].end);
    CHECK(strstr(fail_text(), rows[i].message), "%s: %s", rows[i].end, fail_text());
  }
  CHECK_EQ(HALOTUNE_IO, output_file("", OUTPUT_FOR_ALL, "text", 4), "no path");
  work_end(&work);
}

/* A text in a file. */
static void check_content(const char *path, const char *want) {
  char text[16] = "";
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  CHECK(fd >= 0 && read(fd, text, sizeof text - 1) >= 0 && close(fd) == 0, "%s", path);
  CHECK_TEXT(want, text, "%s", path);
}

/* In /tmp, another user can make a second name of a file where fs.protected_hardlinks is off. */
TEST(a_stream_leaves_the_other_names_of_a_file_alone) {
  const struct work work = work_begin();
  char precious[96], path[96];
  FILE *stream;
  snprintf(precious, sizeof precious, "%s/precious", work.folder);
  snprintf(path, sizeof path, "%s/file", work.folder);
  CHECK_OK(output_file(precious, OUTPUT_FOR_OWNER, "text", 4));
  CHECK(link(precious, path) == 0, "%s", path);
  CHECK_OK(output_stream(path, &stream));
  check_content(path, ""); /* it has its name from the beginning on */
  CHECK(fputs("lines", stream) >= 0 && fclose(stream) == 0, "stream");
  check_content(path, "lines");
  check_content(precious, "text");
  work_end(&work);
}

/* Root could remove a file of another user in a sticky folder, so root's output comes into a new file there. */
TEST(files_of_others_in_shared_folders_are_not_written) {
  if (geteuid() != 0) skip(); /* only root makes files of others */
  const struct work work = work_begin();
  char path[96];
  struct stat facts;
  FILE *stream;
  snprintf(path, sizeof path, "%s/file", work.folder);
  for (int is_stream = 0; is_stream < 2; is_stream++) {
    const int theirs = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    CHECK(theirs >= 0 && fchown(theirs, OTHER_USER, (gid_t)-1) == 0 && chmod(work.folder, 01777) == 0, "%s", path);
    if (is_stream) CHECK_OK(output_stream(path, &stream));
    if (is_stream) CHECK(fputs("text", stream) >= 0 && fclose(stream) == 0, "stream");
    if (!is_stream) CHECK_OK(output_file(path, OUTPUT_FOR_ALL, "text", 4));
    CHECK(fstat(theirs, &facts) == 0 && facts.st_size == 0, "stream %d: nothing comes into their file", is_stream);
    CHECK(stat(path, &facts) == 0 && facts.st_uid == 0, "stream %d: the file is ours", is_stream);
    CHECK(close(theirs) == 0 && unlink(path) == 0, "%s", path);
  }
  work_end(&work);
}

/* What openat() below does first: another user's rename. */
static const char *exchanged_from, *exchanged_to;

/* Stands before the function of the C library in this program: exchanges a file after it was looked at. */
int openat(int folder, const char *name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = flags & O_CREAT ? va_arg(rest, int) : 0;
  va_end(rest);
  if (exchanged_to && (flags & O_ACCMODE) == O_WRONLY) {
    CHECK(rename(exchanged_from, exchanged_to) == 0, "%s", exchanged_to);
    exchanged_to = NULL;
  }
  return (int)syscall(SYS_openat, folder, name, flags, mode);
}

static void make_socket(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof address) == 0 && close(fd) == 0, "%s", path);
}

TEST(a_file_that_is_exchanged_while_it_is_opened_is_not_written) {
  static const char *const names[] = {"file", "pipe"};
  if (geteuid() != 0) skip(); /* only root makes files of others */
  for (int i = 0; i < 4; i++) {
    const struct work work = work_begin();
    const bool is_pipe = i & 1, is_stream = i & 2;
    char path[96], theirs[96], text[8];
    FILE *stream = NULL;
    snprintf(path, sizeof path, "%s/out", work.folder);
    snprintf(theirs, sizeof theirs, "%s/%s", work.folder, names[is_pipe]);
    make_socket(path);
    CHECK(is_pipe ? mkfifo(theirs, 0666) == 0 : close(open(theirs, O_CREAT | O_WRONLY | O_CLOEXEC, 0666)) == 0, "%s",
          theirs);
    CHECK(chown(theirs, OTHER_USER, (gid_t)-1) == 0 && chmod(work.folder, 01777) == 0, "%s", theirs);
    const int reader = open(theirs, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    exchanged_from = theirs;
    exchanged_to = path;
    const halotune_status status =
        is_stream ? output_stream(path, &stream) : output_file(path, OUTPUT_FOR_ALL, "text", 4);
    CHECK(!exchanged_to, "row %d: the file was opened", i);
    CHECK_EQ(HALOTUNE_IO, status, "row %d: %s", i, fail_text());
    CHECK(!stream, "row %d", i);
    CHECK(strstr(fail_text(), is_pipe ? "belongs to user 4321" : "a regular file came here"), "row %d: %s", i,
          fail_text());
    CHECK_EQ(0, read(reader, text, sizeof text), "row %d: what was written", i);
    close(reader);
    work_end(&work);
  }
}

TEST(a_stream_empties_files_and_does_not_wait_for_a_reader_of_a_pipe) {
  const struct work work = work_begin();
  char path[128], pipe[128];
  struct stat facts;
  FILE *stream;
  snprintf(path, sizeof path, "%s/file", work.folder);
  snprintf(pipe, sizeof pipe, "%s/pipe", work.folder);
  CHECK_OK(output_file(path, OUTPUT_FOR_ALL, "text", 4));
  CHECK_OK(output_stream(path, &stream));
  CHECK(fclose(stream) == 0 && stat(path, &facts) == 0, "file");
  CHECK_EQ(0, facts.st_size, "file");
  CHECK(mkfifo(pipe, 0600) == 0, "pipe");
  CHECK_EQ(HALOTUNE_IO, output_stream(pipe, &stream), "pipe");
  CHECK(strstr(fail_text(), "no program reads this pipe"), "%s", fail_text());
  CHECK_EQ(HALOTUNE_IO, output_stream(work.folder, &stream), "folder");
  work_end(&work);
}

/* Somebody has opened the pipe, and does not read, or has gone. Each line is longer than what a pipe holds. */
TEST(a_stream_to_a_pipe_that_is_not_read_fails) {
  enum { LINE_BYTES = 1 << 20 };
  static char line[LINE_BYTES + 1];
  static const char *const names[] = {"waits", "gone"};
  const struct work work = work_begin();
  memset(line, 'x', LINE_BYTES);
  for (int is_gone = 0; is_gone < 2; is_gone++) {
    char pipe[128];
    FILE *stream;
    snprintf(pipe, sizeof pipe, "%s/%s", work.folder, names[is_gone]);
    CHECK(mkfifo(pipe, 0600) == 0, "%s", pipe);
    const int reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    CHECK(reader >= 0, "%s: the reader", pipe);
    setenv("HALOTUNE_PIPE_TIMEOUT", "0.05", 1);
    CHECK_OK(output_stream(pipe, &stream));
    unsetenv("HALOTUNE_PIPE_TIMEOUT");
    if (is_gone) close(reader);
    for (int i = 0; i < 20; i++) CHECK_EQ(EOF, fputs(line, stream), "%s: line %d", pipe, i);
    CHECK(ferror(stream), "%s: the stream has failed", pipe);
    fclose(stream);
    if (!is_gone) close(reader);
  }
  work_end(&work);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(links_of_others_in_shared_folders_are_not_followed),
      cmocka_unit_test(pipes_of_others_in_shared_folders_are_not_written),
      cmocka_unit_test(a_file_comes_into_the_folder_that_was_checked),
      cmocka_unit_test(links_of_the_proc_file_system_are_left_to_the_kernel),
      cmocka_unit_test(paths_that_name_no_file_are_refused),
      cmocka_unit_test(a_stream_leaves_the_other_names_of_a_file_alone),
      cmocka_unit_test(files_of_others_in_shared_folders_are_not_written),
      cmocka_unit_test(a_file_that_is_exchanged_while_it_is_opened_is_not_written),
      cmocka_unit_test(a_stream_empties_files_and_does_not_wait_for_a_reader_of_a_pipe),
      cmocka_unit_test(a_stream_to_a_pipe_that_is_not_read_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
