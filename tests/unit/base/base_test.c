/* base_test.c: arenas, texts, files, hashes and threads. */
#include "tests/unit/unit.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "base/files/file.h"
#include "base/files/path.h"
#include "base/files/user_folder.h"
#include "base/identity/hash.h"
#include "base/identity/identity.h"
#include "base/memory/arena.h"
#include "base/system/parallel.h"
#include "base/text/nearest.h"
#include "base/text/text.h"

/* Pieces have sizes around that of a block, and each is filled completely. None overlaps another, and all begin as
 * zeros. */
TEST(an_arena_gives_pieces_of_their_own) {
  static const size_t sizes[] = {1, 3, 16, 17, 4000, 80, 4096, 1, 4097, 100000, 0, 2, 2047, 2049, 5};
  enum { PIECES = COUNT(sizes) };
  struct arena arena = {0};
  unsigned char *pieces[PIECES];
  for (size_t i = 0; i < PIECES; i++) {
    pieces[i] = arena_alloc(&arena, sizes[i]);
    CHECK(pieces[i], "piece %zu", i);
    CHECK_EQ(0, (uintptr_t)pieces[i] % alignof(max_align_t), "piece %zu is aligned", i);
    for (size_t k = 0; k < sizes[i]; k++) CHECK_EQ(0, pieces[i][k], "piece %zu, byte %zu", i, k);
    memset(pieces[i], (int)i + 1, sizes[i]);
  }
  for (size_t i = 0; i < PIECES; i++) {
    for (size_t k = 0; k < sizes[i]; k++) CHECK_EQ(i + 1, pieces[i][k], "piece %zu, byte %zu", i, k);
  }
  CHECK(!arena_alloc(&arena, SIZE_MAX), "more than there is");
  CHECK(!arena_alloc(&arena, SIZE_MAX - 8), "more than there is, once rounded up");
  CHECK_TEXT("ab", arena_text(&arena, "abc", 2), "a text is cut");
  CHECK_TEXT("", arena_text(&arena, "abc", 0), "to nothing");
  arena_free(&arena);
  CHECK(arena_alloc(&arena, 8), "an arena that was freed can be used again");
  arena_free(&arena);
  arena_free(&arena);
}

TEST(the_nearest_name_is_the_one_with_the_fewest_slips) {
  static const struct {
    const char *typed, *known[4], *want;
  } rows[] = {
      {"sta7", {"copy", "star7", "star13"}, "star7"},
      {"satr7", {"star7"}, "star7"},
      {"sstar7", {"star7"}, "star7"},
      {"STAR7", {"star13", "star7"}, "star7"},
      {"star8", {"star25", "star13", "star7"}, "star7"},
      {"derivativex", {"derivative_y", "derivative_x"}, "derivative_x"},
      {"wave", {"wave25"}, "wave25"},
      {"tnue", {"list", "tune", "query"}, "tune"},
      {"lst", {"list"}, "list"},
      {"ab", {"ba"}, NULL},
      {"copy", {"star7", "box27"}, NULL},
      {"x", {"y", ""}, NULL},
      {"star7", {"Star7", "star7", "STAR7"}, NULL},
      {"", {"", "a"}, NULL},
      {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", /* 63 letters, the longest */
       {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"},
       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    char want[128] = "";
    struct nearest nearest = nearest_to(rows[i].typed, strlen(rows[i].typed));
    for (int k = 0; rows[i].known[k]; k++) nearest_try(&nearest, rows[i].known[k]);
    if (rows[i].want) snprintf(want, sizeof want, "; did you mean '%s'?", rows[i].want);
    CHECK_TEXT(want, nearest.question, "row %zu, %s", i, rows[i].typed);
  }
  struct nearest nearest = nearest_to("blok_x=32", 6);
  nearest_try(&nearest, "block_x");
  CHECK_TEXT("; did you mean 'block_x'?", nearest.question, "a name within a text");
}

TEST(a_text_grows_and_is_always_a_string) {
  enum { TIMES = 5000 };
  struct text text = {0};
  CHECK_TEXT("", text_string(&text), "nothing written");
  text_add(&text, "", 0);
  CHECK(text.bytes, "written, if nothing");
  CHECK_TEXT("", text_string(&text), "written, if nothing");
  for (int i = 0; i < TIMES; i++) {
    text_printf(&text, "%c%s", 'a' + i % 26, i % 7 == 0 ? "!" : "");
    CHECK_EQ(0, text.bytes[text.length], "after %d", i);
    CHECK(text.length < text.capacity, "after %d", i);
  }
  CHECK_EQ(TIMES + (TIMES + 6) / 7, text.length, "length");
  CHECK_EQ(text.length, strlen(text_string(&text)), "length of the string");
  CHECK(strncmp(text_string(&text), "a!bcdefgh!i", 11) == 0, "%s", text_string(&text));
  text_add(&text, "x\0y", 3);
  CHECK_EQ(0, memcmp(text.bytes + text.length - 3, "x\0y", 4), "a NUL inside");
  CHECK(text_ok(&text), "all was written");
  text_free(&text);
  CHECK_TEXT("", text_string(&text), "freed");
}

TEST(what_cannot_be_printed_is_no_whole_text) {
  struct text text = {0};
  text_printf(&text, "%s", "before");
  text_printf(&text, "%lc", (wint_t)0x20AC); /* the locale "C" has no euro sign */
  CHECK(!text_ok(&text), "it lacks a part");
  CHECK_TEXT("before", text_string(&text), "what was there");
  text_free(&text);
}

TEST(a_word_is_quoted_for_the_shell) {
  static const struct {
    const char *word, *want;
  } rows[] = {
      {"star7", "star7"},
      {"a/b-c_d.db", "a/b-c_d.db"},
      {"", "''"},
      {"two words", "'two words'"},
      {"x'; touch y #'", "'x'\\''; touch y #'\\'''"},
      {"$HOME", "'$HOME'"},
      {"`x`", "'`x`'"},
      {"~", "'~'"},
      {"a\nb", "'a\nb'"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text text = {0};
    text_shell_word(&text, rows[i].word);
    CHECK_TEXT(rows[i].want, text_string(&text), "row %zu", i);
    text_free(&text);
  }
}

TEST(a_path_is_no_option) {
  static const struct {
    const char *path, *want;
  } rows[] = {{"a/-b", "a/-b"}, {"-R", "./-R"}, {"--db=x y", "./'--db=x y'"}, {"/-", "/-"}, {"", "''"}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text text = {0};
    text_shell_path(&text, rows[i].path);
    CHECK_TEXT(rows[i].want, text_string(&text), "row %zu", i);
    text_free(&text);
  }
}

TEST(a_text_without_memory_stays_as_it_was) {
  struct text text = {0};
  text_printf(&text, "before");
  text.out_of_memory = true;
  text_printf(&text, "after");
  text_add(&text, "after", 5);
  text_number(&text, 1);
  CHECK_TEXT("before", text_string(&text), "what came later is ignored");
  CHECK(!text_ok(&text), "and known to be missing");
  text_free(&text);
}

static char path[] = "/tmp/halotune-base-XXXXXX";

static void write_file(const void *bytes, size_t length) {
  FILE *file = fopen(path, "wb");
  CHECK(file, "%s", path);
  CHECK_EQ(length, fwrite(bytes, 1, length, file), "%s", path);
  CHECK_EQ(0, fclose(file), "%s", path);
}

/* File sizes: the longest allowed, one byte longer, and around the size of a chunk. */
static const struct {
  size_t bytes, most;
  halotune_status want;
} files[] = {
    {0, 0, HALOTUNE_OK},         {0, 10, HALOTUNE_OK},        {10, 10, HALOTUNE_OK},
    {11, 10, HALOTUNE_IO},       {16384, 16384, HALOTUNE_OK}, {16385, 16384, HALOTUNE_IO},
    {50000, 50000, HALOTUNE_OK}, {50000, 49999, HALOTUNE_IO}, {100000, 1, HALOTUNE_IO},
};

TEST(files_are_read_whole_or_refused) {
  char *want = malloc(100000);
  CHECK(want, "memory");
  for (size_t i = 0; i < 100000; i++) want[i] = (char)(i * 31 % 251);
  for (size_t i = 0; i < COUNT(files); i++) {
    char *bytes;
    size_t length;
    write_file(want, files[i].bytes);
    CHECK_EQ(files[i].want, file_read(path, files[i].most, &bytes, &length), "row %zu: %s", i, fail_text());
    CHECK_EQ(files[i].want == HALOTUNE_OK, bytes != NULL, "row %zu", i);
    if (!bytes) continue;
    CHECK_EQ(files[i].bytes, length, "row %zu", i);
    CHECK_EQ(0, memcmp(bytes, want, length), "row %zu", i);
    CHECK_EQ(0, bytes[length], "row %zu, the NUL behind", i);
    free(bytes);
  }
  free(want);
}

TEST(what_is_no_file_has_no_bytes) {
  static const struct {
    const char *path;
    halotune_status want;
    bool regular;
  } rows[] = {
      {"/no/such/file", HALOTUNE_NOT_FOUND, false},
      {"/tmp", HALOTUNE_IO, false},
      {path, HALOTUNE_OK, true},
      {"/dev/null", HALOTUNE_OK, false},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    char *bytes;
    size_t length;
    CHECK_EQ(rows[i].want, file_read(rows[i].path, 1 << 20, &bytes, &length), "%s: %s", rows[i].path, fail_text());
    CHECK_EQ(rows[i].want == HALOTUNE_OK, bytes != NULL, "%s", rows[i].path);
    CHECK_EQ(rows[i].regular, file_is_regular(rows[i].path), "%s", rows[i].path);
    free(bytes);
  }
}

/* Databases keep results under these hashes for years, so they must never change. */
static const struct {
  const char *text, *hex;
} hashes[] = {
    {"", "99aa06d3014798d86001c324468d497f"},
    {"a", "a96faf705af16834e6c632b61e964e1f"},
};

TEST(a_path_has_a_folder_and_a_name) {
  static const struct {
    const char *path, *folder, *name;
  } rows[] = {{"a", ".", "a"},   {"/a", "/", "a"}, {"a/b", "a", "b"}, {"/a/b", "/a", "b"},
              {"./a", ".", "a"}, {"a/", "a", ""},  {"//a", "/", "a"}, {"", ".", ""}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    char *folder = path_folder(rows[i].path);
    CHECK_TEXT(rows[i].folder, folder, "%s", rows[i].path);
    CHECK_TEXT(rows[i].name, path_name(rows[i].path), "%s", rows[i].path);
    free(folder);
  }
}

/* Make an executable file in a folder, or a folder of that name. */
static void make_program(const char *folder, const char *name, bool is_folder) {
  char file[256];
  snprintf(file, sizeof file, "%s/%s", folder, name);
  if (is_folder) CHECK_EQ(0, mkdir(file, 0700), "%s", file);
  else CHECK(fclose(fopen(file, "w")) == 0 && chmod(file, 0700) == 0, "%s", file);
}

TEST(a_program_is_not_looked_for_in_the_working_folder) {
  static const struct {
    const char *path, *name, *found; /* `found` is in the folder of the test; NULL: nothing is */
  } rows[] = {{"%s/b", "tool", "b/tool"},
              {":%s/b", "tool", "b/tool"},
              {".:b:%s/none:%s/b:", "tool", "b/tool"},
              {"%s/a:%s/b", "tool", "b/tool"}, /* a/tool is a folder */
              {"", "here", NULL},
              {":", "here", NULL},
              {".:./:b:../b", "here", NULL},
              {"%s/b", "here", NULL},
              {"", "./here", "./here"}, /* whoever writes a slash names the file */
              {"", "b/tool", "b/tool"},
              {"", "b/none", NULL},
              {"%s/b", "", NULL}};
  char before[4096], folder[] = "/tmp/halotune-test-XXXXXX", parts[512], want[256], *found;
  const char *old = getenv("PATH");
  char *kept = old ? strdup(old) : NULL;
  CHECK(getcwd(before, sizeof before) && mkdtemp(folder) && chdir(folder) == 0, "%s", folder);
  make_program(folder, "here", false);
  make_program(folder, "a", true);
  make_program(folder, "a/tool", true);
  make_program(folder, "b", true);
  make_program(folder, "b/tool", false);
  for (size_t i = 0; i < COUNT(rows); i++) {
    size_t length = 0;
    for (const char *at = rows[i].path; *at; at++) {
      const bool is_folder = at[0] == '%' && at[1] == 's';
      length +=
          (size_t)snprintf(parts + length, sizeof parts - length, is_folder ? "%s" : "%.1s", is_folder ? folder : at);
      at += is_folder;
    }
    parts[length] = '\0';
    setenv("PATH", parts, 1);
    snprintf(want, sizeof want, "%s/%s", folder, rows[i].found ? rows[i].found : "");
    found = path_of_program(rows[i].name);
    CHECK_TEXT(rows[i].found ? want : "none", found ? found : "none", "row %zu", i);
    free(found);
  }
  unsetenv("PATH");
  CHECK((found = path_of_program("true")) && *found == '/', "without PATH the system's folders are searched");
  free(found);
  if (kept) setenv("PATH", kept, 1);
  free(kept);
  static const char *const made[] = {"b/tool", "a/tool", "b", "a", "here"};
  for (size_t i = 0; i < COUNT(made); i++) CHECK_EQ(0, remove(made[i]), "%s", made[i]);
  CHECK(chdir(before) == 0 && rmdir(folder) == 0, "%s", folder);
}

TEST(variables_do_not_lead_to_the_working_folder) {
  static const char *const relative[] = {"", ".", "home", "../home"};
  static const char *const names[] = {"HOME", "XDG_DATA_HOME", "TMPDIR"};
  char *kept[COUNT(names)], *file;
  for (size_t i = 0; i < COUNT(names); i++) {
    const char *now = getenv(names[i]);
    kept[i] = now ? strdup(now) : NULL;
  }
  for (size_t i = 0; i < COUNT(relative); i++) {
    for (size_t j = 0; j < COUNT(names); j++) setenv(names[j], relative[i], 1);
    CHECK_EQ(HALOTUNE_NOT_FOUND, user_file_path("a", &file), "'%s'", relative[i]);
    CHECK_TEXT("/tmp", temporary_folder(), "'%s'", relative[i]);
    setenv("HOME", "/home", 1);
    CHECK_OK(user_file_path("a", &file));
    CHECK_TEXT("/home/.local/share/halotune/a", file, "'%s'", relative[i]);
    free(file);
  }
  setenv("TMPDIR", "/own", 1);
  CHECK_TEXT("/own", temporary_folder(), "an absolute path");
  for (size_t i = 0; i < COUNT(names); i++) {
    if (kept[i]) setenv(names[i], kept[i], 1);
    else unsetenv(names[i]);
    free(kept[i]);
  }
}

TEST(hashes_are_those_of_xxh3) {
  for (size_t i = 0; i < COUNT(hashes); i++) {
    char hex[HASH_HEX_BYTES];
    struct hash hash = hash_bytes(hashes[i].text, strlen(hashes[i].text));
    hash_hex(hash, hex);
    CHECK_EQ(HASH_HEX_BYTES - 1, strlen(hex), "row %zu", i);
    CHECK_TEXT(hashes[i].hex, hex, "row %zu", i);
    CHECK_EQ(0, hash_compare(hash, hash_bytes(hashes[i].text, strlen(hashes[i].text))), "row %zu, again", i);
  }
}

/* 256-bit BLAKE2b of "\x04\0\0\0\0\0\0\0kind" and the fields, each after its length in eight bytes. */
TEST(identities_are_those_of_blake2b) {
  char hex[IDENTITY_HEX_BYTES];
  struct identity read;
  identity_hex(identity_of("kind", "abc", 3), hex);
  CHECK_TEXT("5377bb0d938f2a5ccf84003be2ed75281fe84c1696d8ebfa63f655ed388397af", hex, "known from b2sum");
  CHECK(identity_read(hex, &read) && identity_compare(read, identity_of("kind", "abc", 3)) == 0, "read back");
  CHECK(!identity_read("abc", &read) && !identity_read("", &read), "too short");
  hex[7] = 'G';
  CHECK(!identity_read(hex, &read), "no digit");
}

/* No text can move from one field to the next. */
TEST(identities_tell_fields_apart) {
  static const char *const rows[][3] = {{"k", "ab", "c"}, {"k", "a", "bc"}, {"k", "abc", ""},
                                        {"k", "", "abc"}, {"ka", "b", "c"}, {"k", "ab", "C"}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    for (size_t k = 0; k < COUNT(rows); k++) {
      struct identity made[2];
      for (int which = 0; which < 2; which++) {
        struct identity_maker maker;
        const char *const *row = rows[which == 0 ? i : k];
        identity_begin(&maker, row[0]);
        identity_add_text(&maker, row[1]);
        identity_add_text(&maker, row[2]);
        made[which] = identity_end(&maker);
      }
      CHECK_EQ(i == k, identity_compare(made[0], made[1]) == 0, "rows %zu and %zu", i, k);
    }
  }
}

/* The rows ascend, so each is smaller than all later ones. The digits are in the same order. */
TEST(hashes_are_ordered_as_their_digits) {
  static const struct hash rows[] = {{0, 0},         {0, 1}, {0, UINT64_MAX}, {1, 0}, {1, 2}, {0xAB00000000000000, 7},
                                     {UINT64_MAX, 0}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    for (size_t k = 0; k < COUNT(rows); k++) {
      char one[HASH_HEX_BYTES], other[HASH_HEX_BYTES];
      int order = hash_compare(rows[i], rows[k]);
      hash_hex(rows[i], one);
      hash_hex(rows[k], other);
      int digits = strcmp(one, other);
      CHECK_EQ((i > k) - (i < k), (order > 0) - (order < 0), "rows %zu and %zu", i, k);
      CHECK_EQ((i > k) - (i < k), (digits > 0) - (digits < 0), "%s and %s", one, other);
    }
  }
}

enum { LONGEST_LOOP = 1000 };

struct tally {
  atomic_int times[LONGEST_LOOP];
  atomic_int bad_parts; /* parts that are empty, too large, or begin at a wrong index */
  long count, grain;
  int threads;
};

static void count_part(void *context, int thread, long first,
                       long end) { /* no CHECK here, since it would leave another thread */
  struct tally *tally = context;
  bool good = first % tally->grain == 0 && end > first && end <= tally->count && end - first <= tally->grain &&
              (end == tally->count || end - first == tally->grain) && thread >= 0 && thread < tally->threads;
  if (!good) atomic_fetch_add(&tally->bad_parts, 1);
  for (long i = first; i < end && i < LONGEST_LOOP; i++) atomic_fetch_add(&tally->times[i], 1);
}

TEST(loops_run_each_index_once) {
  static const struct {
    long count, grain;
    int threads;
  } rows[] = {
      {0, 1, 4},    {-3, 1, 2},     {1, 1, 1},      {1, 100, 4},  {1000, 1, 8},
      {1000, 7, 3}, {999, 1000, 2}, {1000, 500, 2}, {1000, 3, 1},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct tally tally = {.count = rows[i].count, .grain = rows[i].grain, .threads = rows[i].threads};
    parallel_for(rows[i].count, rows[i].grain, rows[i].threads, count_part, &tally);
    for (long k = 0; k < LONGEST_LOOP; k++) CHECK_EQ(k < rows[i].count, tally.times[k], "row %zu, index %ld", i, k);
    CHECK_EQ(0, tally.bad_parts, "row %zu", i);
  }
}

TEST(wishes_for_threads_have_bounds) {
  CHECK_EQ(1, parallel_threads(1), "one");
  CHECK_EQ(7, parallel_threads(7), "seven");
  CHECK_EQ(PARALLEL_MAX_THREADS, parallel_threads(PARALLEL_MAX_THREADS), "as many as there can be");
  CHECK_EQ(PARALLEL_MAX_THREADS, parallel_threads(1 << 30), "more than there can be");
  CHECK(parallel_threads(0) >= 1, "one for each CPU");
  CHECK_EQ(parallel_threads(0), parallel_threads(-5), "less than none");
}

static int make_file(void **state) {
  (void)state;
  int descriptor = mkstemp(path);
  return descriptor >= 0 ? close(descriptor) : -1;
}

static int remove_file(void **state) {
  (void)state;
  return unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_arena_gives_pieces_of_their_own),
      cmocka_unit_test(the_nearest_name_is_the_one_with_the_fewest_slips),
      cmocka_unit_test(a_text_grows_and_is_always_a_string),
      cmocka_unit_test(what_cannot_be_printed_is_no_whole_text),
      cmocka_unit_test(a_word_is_quoted_for_the_shell),
      cmocka_unit_test(a_path_is_no_option),
      cmocka_unit_test(a_text_without_memory_stays_as_it_was),
      cmocka_unit_test(files_are_read_whole_or_refused),
      cmocka_unit_test(what_is_no_file_has_no_bytes),
      cmocka_unit_test(a_path_has_a_folder_and_a_name),
      cmocka_unit_test(a_program_is_not_looked_for_in_the_working_folder),
      cmocka_unit_test(variables_do_not_lead_to_the_working_folder),
      cmocka_unit_test(hashes_are_those_of_xxh3),
      cmocka_unit_test(identities_are_those_of_blake2b),
      cmocka_unit_test(identities_tell_fields_apart),
      cmocka_unit_test(hashes_are_ordered_as_their_digits),
      cmocka_unit_test(loops_run_each_index_once),
      cmocka_unit_test(wishes_for_threads_have_bounds),
  };
  return cmocka_run_group_tests_name("base", tests, make_file, remove_file);
}
