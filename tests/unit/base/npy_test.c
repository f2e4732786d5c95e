/* npy_test.c: headers of NumPy's format: those that NumPy writes, and those that a damaged or hostile file has. */
#include <stdlib.h>
#include <unistd.h>

#include "base/files/npy.h"
#include "base/text/text.h"
#include "tests/unit/unit.h"

/* A file's beginning: version, then a text behind its length. */
static size_t header_make(int version, const char *text, char *out) {
  const size_t length = strlen(text), prefix = version == 1 ? 10 : 12;
  memcpy(out, "\x93NUMPY", 6);
  out[6] = (char)version, out[7] = 0;
  for (size_t i = 8; i < prefix; i++) out[i] = (char)(length >> 8 * (i - 8));
  memcpy(out + prefix, text, length);
  return prefix + length;
}

static const struct {
  int version;
  const char *text, *type;
  bool is_fortran;
  int dims;
  long long last;
} rows[] = {
    {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }       \n", "<f8", false, 2, 4},
    {2, "{'descr': '<f4', 'fortran_order': True, 'shape': (5,), }\n", "<f4", true, 1, 5},
    {3, "{'shape': (2, 3, 4), 'fortran_order': False, 'descr': '|u1'}", "|u1", false, 3, 4},
    {1, "{\"descr\":\">i2\",\"fortran_order\":False,\"shape\":(7L, 8L)}", ">i2", false, 2, 8},
    {1, "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", "|O", false, 1, 2}, /* of Python's objects */
    {1, "{'descr': '<c16', 'fortran_order': False, 'shape': (), }", "<c16", false, 0, 0},
    {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807,), }", "", false, 0, 0},
    {1, "{'descr': '<f8', 'fortran_order': False, 'shape': (922337203685477580,), }", "<f8", false, 1,
     922337203685477580},
};

TEST(headers_are_read) {
  char bytes[256];
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct npy got;
    size_t header_bytes = 0;
    const size_t length = header_make(rows[i].version, rows[i].text, bytes);
    const bool ok = *rows[i].type != '\0';
    CHECK_OK(npy_header_bytes(bytes, length, &header_bytes));
    CHECK_EQ(length, header_bytes, "row %zu", i);
    CHECK_EQ(ok ? HALOTUNE_OK : HALOTUNE_PARSE, npy_parse(bytes, length, &got), "row %zu: %s", i, fail_text());
    if (!ok) continue;
    CHECK_TEXT(rows[i].type, got.type, "row %zu", i);
    CHECK_EQ(rows[i].is_fortran, got.is_fortran, "row %zu", i);
    CHECK_EQ(rows[i].dims, got.dims, "row %zu", i);
    if (got.dims > 0) CHECK_EQ(rows[i].last, got.shape[got.dims - 1], "row %zu", i);
    CHECK_EQ(length, got.header_bytes, "row %zu", i);
  }
}

static const struct {
  const char *text, *message;
} refused[] = {
    {"", "the file ends in its header"},
    {"[]", "byte 11 is not '{'"},
    {"{}", "it has no 'descr'"},
    {"{'descr': '<f8', 'fortran_order': False}", "it has no 'shape'"},
    {"{'descr': '<f8', 'descr': '<f8'}", "by the key 'descr'"},
    {"{'type': '<f8'}", "by the key 'type'"},
    {"{'descr' '<f8'}", "is not ':'"},
    {"{'descr': <f8}", "is not a quote"},
    {"{'descr': '<f8}", "is not part of a name"},
    {"{'descr': '\x1b[2J'}", "is not part of a name"},
    {"{'descr': 'f8'}", "'f8' is not a type"},
    {"{'descr': '<'}", "'<' is not a type"},
    {"{'descr': [('x', '<f8')]}", "holds records"},
    {"{'descr': '<f8' 'shape': ()}", "is not ',' or '}'"},
    {"{'fortran_order': 1}", "is not True or False"},
    {"{'shape': 5}", "is not '('"},
    {"{'shape': (5 6)}", "is not ','"},
    {"{'shape': (-5,)}", "is not a digit"},
    {"{'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}", "more than 32 axes"},
    {"{'shape': (99999999999999999999,)}", "an axis is too long"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (5,)} x", "is not a space"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (5,)", "is not ',' or '}'"},
};

TEST(damaged_headers_are_refused) {
  char bytes[256];
  for (size_t i = 0; i < COUNT(refused); i++) {
    struct npy got;
    const size_t length = header_make(1, refused[i].text, bytes);
    CHECK_EQ(HALOTUNE_PARSE, npy_parse(bytes, length, &got), "%s", refused[i].text);
    CHECK(strstr(fail_text(), refused[i].message), "%s: %s", refused[i].text, fail_text());
  }
}

/* Every beginning of a file is refused, and so is every header that is longer than its file. */
TEST(cut_files_are_refused) {
  char bytes[256];
  const size_t length = header_make(1, rows[0].text, bytes);
  struct npy got;
  for (size_t cut = 0; cut < length; cut++) {
    char *copy = malloc(cut + 1); /* so that ASan sees a read beyond it */
    memcpy(copy, bytes, cut);
    CHECK_EQ(HALOTUNE_PARSE, npy_parse(copy, cut, &got), "%zu bytes", cut);
    free(copy);
  }
}

TEST(a_written_header_is_read) {
  static const long long shapes[][3] = {{7, 5, 3}, {1, 1, 1}, {1099511627776, 1, 2}};
  for (size_t i = 0; i < COUNT(shapes); i++) {
    for (int dims = 1; dims <= 3; dims++) {
      struct text text = {0};
      struct npy got;
      npy_write_header("<f4", dims, shapes[i], &text);
      CHECK_OK(npy_parse(text_string(&text), text.length, &got));
      CHECK_EQ(0, text.length % 64, "shape %zu", i);
      CHECK_EQ(dims, got.dims, "shape %zu", i);
      CHECK_EQ(0, memcmp(shapes[i], got.shape, (size_t)dims * sizeof *got.shape), "shape %zu", i);
      CHECK_EQ(text.length, got.header_bytes, "shape %zu", i);
      text_free(&text);
    }
  }
}

/* A file that shrinks while it is read is an error, and no signal. */
TEST(a_file_that_shrinks_is_an_error) {
  char path[] = "/tmp/npy_test.XXXXXX", values[16];
  const long long shape[] = {4};
  struct text text = {0};
  struct npy_file file;
  const int fd = mkstemp(path);
  npy_write_header("<f4", 1, shape, &text);
  text_add(&text, "0123456789abcdef", 16);
  CHECK_EQ((long long)text.length, write(fd, text_string(&text), text.length), "write");
  CHECK_OK(npy_open(path, &file));
  CHECK_OK(npy_read(&file, 8, 8, values));
  CHECK_EQ(0, memcmp(values, "89abcdef", 8), "the elements");
  CHECK_EQ(0, ftruncate(fd, (off_t)text.length - 4), "ftruncate");
  CHECK_EQ(HALOTUNE_IO, npy_read(&file, 8, 8, values), "shrunk");
  npy_close(&file);
  close(fd);
  unlink(path);
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(headers_are_read),
      cmocka_unit_test(damaged_headers_are_refused),
      cmocka_unit_test(cut_files_are_refused),
      cmocka_unit_test(a_written_header_is_read),
      cmocka_unit_test(a_file_that_shrinks_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
