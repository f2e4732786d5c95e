/* bad_input_test.c: files that are not stencil files are refused, each with the message in the file beside it. */
#include "tests/unit/unit.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/text/text.h"
#include "stencil/file/stencil.h"

#define FOLDER "tests/data/bad"

static int is_stencil_file(const struct dirent *entry) {
  const char *dot = strrchr(entry->d_name, '.');
  return dot && strcmp(dot, ".yaml") == 0;
}

/* Whether reading tests/data/bad/NAME.yaml fails with "PATH:" and the text of NAME.expected, which ends in a
 * newline. */
static bool fails_as_expected(const char *name) {
  char path[512], expected_path[512], *expected = NULL;
  size_t length;
  struct stencil *stencil;
  struct text got = {0};
  snprintf(path, sizeof path, FOLDER "/%s", name);
  snprintf(expected_path, sizeof expected_path, FOLDER "/%.*s.expected", (int)strcspn(name, "."), name);
  CHECK_OK(file_read(expected_path, MAX_STENCIL_BYTES, &expected, &length));
  halotune_status status = stencil_read(path, &stencil);
  CHECK(!stencil || status == HALOTUNE_OK, "%s: a stencil beside a failure", path);
  if (status != HALOTUNE_OK) text_printf(&got, "%s\n", fail_text());
  const char *message = text_string(&got);
  bool begins_with_path = strncmp(message, path, strlen(path)) == 0 && message[strlen(path)] == ':';
  bool same = status == HALOTUNE_PARSE && begins_with_path && strcmp(message + strlen(path) + 1, expected) == 0;
  if (!same) print_error("# %s: want\n%s# got\n%s", path, expected, message);
  stencil_free(stencil);
  text_free(&got);
  free(expected);
  return same;
}

TEST(files_are_refused_with_their_messages) {
  struct dirent **entries = NULL;
  int count = scandir(FOLDER, &entries, is_stencil_file, alphasort), failed = 0;
  CHECK(count >= 40, "%d files in " FOLDER, count);
  for (int i = 0; i < count; i++) {
    failed += !fails_as_expected(entries[i]->d_name);
    free(entries[i]);
  }
  free(entries);
  CHECK_EQ(0, failed, "of %d files", count);
}

static char folder[] = "/tmp/halotune-bad-input-XXXXXX";

static const char *in_folder(const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void repeat(struct text *text, const char *what, int times) {
  for (int i = 0; i < times; i++) text_add(text, what, strlen(what));
}

/* Add all fields except those that the rows below add. */
static void add_head(struct text *text) {
  static const char head[] =
      "name: heat\ndims: 1\ninputs: [u]\noutputs: [v]\nboundary: skip\ndtypes: [f32]\ngrids: [[64]]\n";
  text_add(text, head, strlen(head));
}

static void make_empty(struct text *text) { text_add(text, "", 0); }
static void make_ten_megabytes(struct text *text) { repeat(text, "# ten bytes\n", 10 << 20 >> 3); }
static void make_byte_too_many(struct text *text) { repeat(text, "\n", MAX_STENCIL_BYTES + 1); }
static void make_newlines(struct text *text) { repeat(text, "\n", MAX_STENCIL_BYTES); }
static void make_zeros(struct text *text) {
  for (int i = 0; i < 4096; i++) text_add(text, "", 1);
}

static void make_parentheses(struct text *text) {
  add_head(text);
  text_printf(text, "update: v = ");
  repeat(text, "(", 10000);
  text_printf(text, "u[0]");
  repeat(text, ")", 10000);
}

static void make_signs(struct text *text) {
  add_head(text);
  text_printf(text, "update: v = ");
  repeat(text, "-", 10000);
  text_printf(text, "u[0]\n");
}

static void make_calls(struct text *text) {
  add_head(text);
  text_printf(text, "update: v = ");
  repeat(text, "fabs(", 10000);
}

static void make_brackets(struct text *text) {
  add_head(text);
  text_printf(text, "exact: ");
  repeat(text, "[", 10000);
}

static void make_fields(struct text *text) {
  add_head(text);
  text_printf(text, "exact:\n");
  for (int i = 0; i < 50000; i++) text_printf(text, "  field%d: 1\n", i);
}

static void make_temporaries(struct text *text) {
  add_head(text);
  text_printf(text, "update: |\n  t0 = u[0]\n");
  for (int i = 1; i < 40000; i++) text_printf(text, "  t%d = t%d\n", i, i - 1);
}

static void make_long_name(struct text *text) {
  repeat(text, "n", 100000);
  text_printf(text, ": 1\n");
}

static const struct {
  const char *name;
  void (*make)(struct text *text);
  halotune_status status;
  const char *message; /* the beginning of the message, after the path */
} generated[] = {
    {"empty", make_empty, HALOTUNE_PARSE, ":1:1: the file is empty"},
    {"ten_megabytes", make_ten_megabytes, HALOTUNE_IO, ": the file is larger than the limit of 1048576 bytes"},
    {"byte_too_many", make_byte_too_many, HALOTUNE_IO, ": the file is larger than the limit of 1048576 bytes"},
    {"newlines", make_newlines, HALOTUNE_PARSE, ":1:1: the file is empty"},
    {"zeros", make_zeros, HALOTUNE_PARSE, ":1:1: control characters are not allowed"},
    {"parentheses", make_parentheses, HALOTUNE_PARSE, ":8:214: nested more than 200 deep\n  ...((("},
    {"signs", make_signs, HALOTUNE_PARSE, ":8:214: nested more than 200 deep\n  ...---"},
    {"calls", make_calls, HALOTUNE_PARSE, ":8:1018: nested more than 200 deep\n"},
    {"brackets", make_brackets, HALOTUNE_PARSE, ":8:23: nested more than 16 deep\n"},
    {"fields", make_fields, HALOTUNE_PARSE, ":4105:3: more than 4096 fields\n"},
    {"temporaries", make_temporaries, HALOTUNE_PARSE, ":4105:3: more than 4096 assignments\n"},
    {"long_name", make_long_name, HALOTUNE_PARSE, ":1:100001: unexpected ':'"},
};

/* Check that reading the path fails with this status, and a message of the path and this text. */
static void check_refused(const char *path, halotune_status want, const char *message) {
  struct stencil *stencil;
  CHECK_EQ(want, stencil_read(path, &stencil), "%s: %s", path, fail_text());
  CHECK(!stencil, "%s", path);
  const char *got = fail_text();
  CHECK(strncmp(got, path, strlen(path)) == 0, "%s: %s", path, got);
  got += strlen(path);
  CHECK(strncmp(got, message, strlen(message)) == 0, "%s\n# want %s\n# got  %s", path, message, got);
}

TEST(large_and_deep_files_are_refused) {
  for (size_t i = 0; i < COUNT(generated); i++) {
    struct text text = {0};
    generated[i].make(&text);
    FILE *file = fopen(in_folder(generated[i].name), "wb");
    CHECK(text_ok(&text) && file, "row %zu", i);
    CHECK_EQ(text.length, fwrite(text_string(&text), 1, text.length, file), "row %zu", i);
    fclose(file);
    text_free(&text);
    check_refused(in_folder(generated[i].name), generated[i].status, generated[i].message);
    CHECK_EQ(0, unlink(in_folder(generated[i].name)), "row %zu", i);
  }
}

TEST(what_is_no_readable_file_is_refused) {
  check_refused(FOLDER, HALOTUNE_IO, ": is a directory, not a file");
  check_refused(FOLDER "/no_such_file.yaml", HALOTUNE_NOT_FOUND, ": No such file or directory");
  check_refused("kernels/star7.yaml/deeper", HALOTUNE_IO, ": Not a directory");
}

/* Root may read every file, so root becomes another user during this test. */
TEST(a_file_without_permission_is_refused) {
  const uid_t nobody = 65534;
  char path[256];
  snprintf(path, sizeof path, "%s", in_folder("secret"));
  FILE *file = fopen(path, "wb");
  CHECK(file, "%s", path);
  fclose(file);
  CHECK_EQ(0, chmod(path, 0), "%s", path);
  CHECK_EQ(0, chmod(folder, 0755), "%s", folder);
  bool root = geteuid() == 0;
  if (root) CHECK_EQ(0, seteuid(nobody), "becoming nobody");
  check_refused(path, HALOTUNE_IO, ": Permission denied");
  if (root) CHECK_EQ(0, seteuid(0), "becoming root again");
  CHECK_EQ(0, unlink(path), "%s", path);
}

static int make_folder(void **state) {
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_are_refused_with_their_messages),
      cmocka_unit_test(large_and_deep_files_are_refused),
      cmocka_unit_test(what_is_no_readable_file_is_refused),
      cmocka_unit_test(a_file_without_permission_is_refused),
  };
  return cmocka_run_group_tests_name("bad_input", tests, make_folder, remove_folder);
}
