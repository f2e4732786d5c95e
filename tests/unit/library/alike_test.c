/* alike_test.c: verdicts about variants that have a source or a configuration in common. Lookups serve configurations,
 * so the database and its lookups have to agree about what is wrong. */
#include "base/files/file.h"
#include "db/exchange/forget.h"
#include "db/exchange/merge.h"
#include "db/store/current_best.h"
#include "db/store/query.h"
#include "tests/unit/library/tuned.h"

#define FIRST "vector=4"
#define SECOND "vector=2"

static const char key[] = "0707070707070707070707070707070707070707070707070707070707070707";
static const struct merge_options signed_options = {.origin = {"imported", "m.json", "mallory", key, "1"}};
static const struct merge_options own_options = {.origin = {"measured", "me", "", "", ""}};
static const struct merge_options other_options = {.origin = {"imported", "n.json", "alice", "08", "2"}};

/* What a document says of its variant, so that the variant is not the user's. */
#define MADE_UP_SOURCE "update variant set source_hash = printf('%064x', 7);"
#define OTHER_TEMPLATE "update template set hash = printf('%064x', 7);"
#define OTHER_BOTH MADE_UP_SOURCE OTHER_TEMPLATE
#define OTHER_NAME "update stencil set name = 'heat7';"

/* Put a winner of a day, or a verdict. */
static void put(struct store *store, const char *set, double time_ms, enum cache_mode cache, bool is_wrong, int day) {
  const struct tuned row = {GPU_H200,        "star7",       "zmarch", set,   DTYPE_F32,
                            {512, 512, 512}, LAUNCH_STREAM, cache,    false, time_ms};
  char text[1024];
  tuned_put(store, &row);
  snprintf(text, sizeof text,
           "update run set started = '2026-01-%02dT00:00:00.000Z', ended = '2026-01-%02dT01:00:00.000Z', seed = %d"
           " where id = (select max(id) from run);"
           " update best set date = '2026-01-%02dT00:30:00.000Z' where id = (select max(id) from best)",
           day, day, day, day);
  CHECK_OK(query_script(store_connection(store), text));
  if (!is_wrong) return;
  CHECK_OK(query_script(store_connection(store),
                        "delete from best where run_id = (select max(id) from run);"
                        " delete from finalist where run_id = (select max(id) from run);"
                        " update measurement set outcome = 'wrong', reason = 'bad' where run_id ="
                        " (select max(id) from run)"));
  CHECK_OK(bests_choose(store, "problem"));
}

/* Something that this user or a document brings: a winner or a verdict about the first variant. */
struct part {
  enum { NOTHING, USER, MALLORY, ALICE } who;
  bool is_wrong;
  int day;
  const char *change; /* of a document; of this user's rows, if it is another name */
  enum cache_mode cache;
};

static void bring(struct store *ours, const struct part *part) {
  static const struct merge_options *const options[] = {NULL, &own_options, &signed_options, &other_options};
  struct store *theirs = ours;
  const bool is_own_name = part->who == USER && !*part->change;
  if (part->who == NOTHING) return;
  if (!is_own_name) CHECK_OK(store_open_memory(&theirs));
  put(theirs, FIRST, part->who == USER ? 0.3 : 0.1, part->cache, part->is_wrong, part->day);
  if (is_own_name) return;
  CHECK_OK(query_script(store_connection(theirs), part->change));
  CHECK_OK(query_script(store_connection(theirs), "update run set host = 'theirs'"));
  CHECK_OK(store_merge(ours, theirs, options[part->who], NULL));
  store_close(theirs);
}

/* Check the time that a lookup of a stencil says, in us; 0 for none that was measured.
 *   text  of the stencil, to be added; NULL: the databases have it */
static void check_lookup(const char *path, const char *stencil, const char *text, long want_us, const char *what) {
  const halotune_problem problem = {stencil, "NVIDIA H200", {512, 512, 512}, HALOTUNE_F32, 0, 0, 0, 0};
  halotune_ctx *ctx;
  halotune_config config;
  CHECK_OK(halotune_open(&path, 1, &ctx));
  if (text) CHECK_OK(halotune_stencil_add(ctx, text));
  const halotune_status status = halotune_lookup(ctx, &problem, &config);
  const bool is_measured =
      status == HALOTUNE_OK && (config.match == HALOTUNE_MATCH_EXACT || config.match == HALOTUNE_MATCH_STALE);
  CHECK_EQ(want_us, is_measured ? (long)(1000 * config.time_ms + 0.5) : 0, "%s: the lookup of %s", what, stencil);
  halotune_close(ctx);
}

/* Check what the database and a lookup of it say of star7: the time of the current best in us, 0 for none. */
static void check_both(const char *path, struct store *store, long want_us, const char *what) {
  CHECK_EQ(
      want_us,
      number_of(store,
                "select coalesce(sum(cast(1000 * time_ms + 0.5 as integer)), 0) from best b join problem p on"
                " p.id = b.problem_id join stencil s on s.id = p.stencil_id where is_current and p.cache = 'steady'"
                " and s.name = 'star7'"),
      "%s: the database", what);
  check_lookup(path, "star7", NULL, want_us, what);
}

/* The user has a slower winner of day 1 with the second variant. Each part is about the first one, which is faster. */
TEST(a_verdict_is_about_a_source_and_about_a_configuration) {
  static const struct {
    const char *what;
    struct part parts[3];
    long want_us; /* what answers in the end: the second variant in 400 us, or the first one */
  } rows[] = {
      {"nobody calls it wrong", {{MALLORY, false, 2, MADE_UP_SOURCE, 0}}, 100},
      {"the user's verdict, a winner with a made-up source",
       {{USER, true, 1, "", 0}, {MALLORY, false, 2, MADE_UP_SOURCE, 0}},
       400},
      {"the same in another mode", {{USER, true, 1, "", CACHE_COLD}, {MALLORY, false, 2, MADE_UP_SOURCE, 0}}, 400},
      {"a later verdict of the user, of an older winner",
       {{MALLORY, false, 2, MADE_UP_SOURCE, 0}, {USER, true, 5, "", 0}},
       400},
      {"a signer's verdict, another one's winner",
       {{ALICE, true, 3, "", 0}, {MALLORY, false, 2, MADE_UP_SOURCE, 0}},
       400},
      {"the other way round", {{MALLORY, false, 2, MADE_UP_SOURCE, 0}, {ALICE, true, 3, "", 0}}, 400},
      {"the user's verdict, a newer winner of another template",
       {{USER, true, 3, "", 0}, {MALLORY, false, 5, OTHER_TEMPLATE, 0}},
       400},
      {"an older one", {{USER, true, 3, "", 0}, {MALLORY, false, 2, OTHER_TEMPLATE, 0}}, 400},
      {"the other way round", {{MALLORY, false, 5, OTHER_TEMPLATE, 0}, {USER, true, 3, "", 0}}, 400},
      {"neither source nor configuration", {{USER, true, 3, "", 0}, {MALLORY, false, 5, OTHER_BOTH, 0}}, 100},
      {"a signer's verdict with a made-up source about the user's winner",
       {{USER, false, 1, "", 0}, {MALLORY, true, 2, MADE_UP_SOURCE, 0}},
       400},
      {"and the user finds it right later, in another mode",
       {{USER, false, 1, "", 0}, {MALLORY, true, 2, MADE_UP_SOURCE, 0}, {USER, false, 4, "", CACHE_COLD}},
       300},
      {"and found it right later before",
       {{USER, false, 1, "", 0}, {USER, false, 4, "", CACHE_COLD}, {MALLORY, true, 2, MADE_UP_SOURCE, 0}},
       300},
      {"the signer takes it back, with the true source",
       {{USER, false, 1, "", 0}, {MALLORY, true, 2, MADE_UP_SOURCE, 0}, {MALLORY, false, 3, "", CACHE_COLD}},
       300},
      {"another signer does not",
       {{USER, false, 1, "", 0}, {MALLORY, true, 2, MADE_UP_SOURCE, 0}, {ALICE, false, 3, "", CACHE_COLD}},
       400},
      {"a signer's verdict about another template",
       {{USER, false, 1, "", 0}, {MALLORY, true, 2, OTHER_TEMPLATE, 0}},
       400},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct work work = work_begin();
    struct store *ours;
    CHECK_OK(store_open(work.path, STORE_WRITE, &ours));
    put(ours, SECOND, 0.4, CACHE_STEADY, false, 1);
    for (size_t k = 0; k < COUNT(rows[i].parts); k++) bring(ours, &rows[i].parts[k]);
    check_both(work.path, ours, rows[i].want_us, rows[i].what);
    store_close(ours);
    work_end(&work);
  }
}

/* The file of star7 with the name mine7, for the caller to free. */
static char *text_of_mine7(void) {
  static const char name[] = "name: star7\n";
  char *text;
  size_t length;
  CHECK_OK(file_read("kernels/star7.yaml", 1 << 20, &text, &length));
  char *at = strstr(text, name);
  CHECK(at == text || (at && at[-1] == '\n'), "the name");
  memcpy(at, "name: mine7\n", sizeof name - 1);
  return text;
}

/* A file of the same meaning has another name, and a tolerance of its own. What is right for it need not be right for
 * star7, nor is what is wrong. Both names have the rows of each other until one of them calls a row of the other one
 * wrong. */
TEST(names_with_other_verdicts_answer_for_themselves) {
  static const struct {
    const char *what;
    struct part parts[3];
    long star7_us, heat7_us,
        other_us; /* of these names, and of others: the second variant in 400 us, or the first one */
  } rows[] = {
      {"nobody calls it wrong", {{USER, false, 2, OTHER_NAME, 0}}, 300, 300, 300},
      {"wrong, then right under another name",
       {{USER, true, 1, "", 0}, {USER, false, 2, OTHER_NAME, 0}},
       400,
       300,
       400},
      {"wrong, then right in another mode under another name",
       {{USER, false, 1, "", 0}, {USER, true, 2, "", 0}, {USER, false, 3, OTHER_NAME, CACHE_COLD}},
       400,
       300,
       400},
      {"wrong, then right", {{USER, true, 1, "", 0}, {USER, false, 2, "", 0}}, 300, 0, 300},
      {"wrong under another name, then right", {{USER, true, 1, OTHER_NAME, 0}, {USER, false, 2, "", 0}}, 300, 0, 0},
      {"right, then wrong under another name", {{USER, false, 1, "", 0}, {USER, true, 2, OTHER_NAME, 0}}, 300, 0, 0},
      {"and right there, too",
       {{USER, true, 1, OTHER_NAME, 0}, {USER, false, 2, "", 0}, {USER, false, 3, OTHER_NAME, CACHE_COLD}},
       300,
       300,
       300},
      {"a signer's, taken back under another name",
       {{USER, false, 1, "", 0}, {MALLORY, true, 2, "", 0}, {MALLORY, false, 3, OTHER_NAME, CACHE_COLD}},
       400,
       400,
       400},
      {"a signer's under another name, then right",
       {{MALLORY, true, 1, OTHER_NAME, 0}, {USER, false, 2, "", 0}},
       300,
       300,
       300},
      {"a signer's under another name, after a winner",
       {{USER, false, 1, "", 0}, {MALLORY, true, 2, OTHER_NAME, 0}},
       400,
       400,
       400},
      {"and right in another mode",
       {{USER, false, 1, "", 0}, {MALLORY, true, 2, OTHER_NAME, 0}, {USER, false, 3, "", CACHE_COLD}},
       300,
       300,
       300},
      {"a signer's winner under another name",
       {{USER, true, 1, "", 0}, {MALLORY, false, 2, OTHER_NAME, 0}},
       400,
       400,
       400},
  };
  char *text, *mine = text_of_mine7();
  size_t length;
  CHECK_OK(file_read("kernels/star7.yaml", 1 << 20, &text, &length));
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct work work = work_begin();
    struct store *ours;
    CHECK_OK(store_open(work.path, STORE_WRITE, &ours));
    put(ours, SECOND, 0.4, CACHE_STEADY, false, 1);
    for (size_t k = 0; k < COUNT(rows[i].parts); k++) bring(ours, &rows[i].parts[k]);
    check_lookup(work.path, "star7", NULL, rows[i].star7_us, rows[i].what);
    check_lookup(work.path, "star7", text, rows[i].star7_us, rows[i].what);
    check_lookup(work.path, "heat7", NULL, rows[i].heat7_us, rows[i].what);
    check_lookup(work.path, "mine7", mine, rows[i].other_us, rows[i].what);
    store_close(ours);
    work_end(&work);
  }
  free(mine);
  free(text);
}

/* Whether a lookup serves a winner of one database, if another one has an older verdict about it.
 *   change_verdict, change_winner  statements that change all of a database
 *   text                           of a stencil, to be added; NULL: none */
static bool is_served(const char *change_verdict, const char *change_winner, bool winners_come_first,
                      const halotune_problem *problem, const char *text) {
  struct work verdicts = work_begin(), winners = work_begin();
  const char *paths[] = {winners_come_first ? winners.path : verdicts.path,
                         winners_come_first ? verdicts.path : winners.path};
  struct store *store;
  halotune_ctx *ctx;
  halotune_config config;
  CHECK_OK(store_open(verdicts.path, STORE_WRITE, &store));
  put(store, FIRST, 0.3, CACHE_STEADY, true, 1);
  CHECK_OK(query_script(store_connection(store), change_verdict));
  store_close(store);
  CHECK_OK(store_open(winners.path, STORE_WRITE, &store));
  put(store, FIRST, 0.3, CACHE_STEADY, false, 2);
  CHECK_OK(query_script(store_connection(store), change_winner));
  store_close(store);
  CHECK_OK(halotune_open(paths, 2, &ctx));
  if (text) CHECK_OK(halotune_stencil_add(ctx, text));
  const bool is_measured = halotune_lookup(ctx, problem, &config) == HALOTUNE_OK && config.time_ms > 0;
  halotune_close(ctx);
  work_end(&verdicts);
  work_end(&winners);
  return is_measured;
}

#define SHIPPED "update origin set kind = 'shipped';"
#define IMPORTED "update origin set kind = 'imported';"

/* One database has a verdict of this user, and the other one a newer winner. */
TEST(a_verdict_of_another_name_and_database) {
  static const halotune_problem problem = {"star7", "NVIDIA H200", {512, 512, 512}, HALOTUNE_F32, 0, 0, 0, 0};
  static const struct {
    const char *verdict, *winner;
    bool is_served;
  } rows[] = {
      {"", "", true},         {"", OTHER_NAME, false}, /* for star7 */
      {OTHER_NAME, "", true}, {"", SHIPPED, false},    {OTHER_NAME, SHIPPED, true}, {OTHER_NAME, IMPORTED, false}};
  for (size_t i = 0; i < 2 * COUNT(rows); i++) {
    CHECK_EQ(rows[i / 2].is_served, is_served(rows[i / 2].verdict, rows[i / 2].winner, i % 2, &problem, NULL),
             "row %zu", i / 2);
  }
}

/* A verdict about a grid on which the name that is asked for has no row, so that another grid answers. A strict file
 * under another name keeps neither the user's winners away there nor those of Halotune. */
TEST(a_verdict_about_another_grid) {
#define HERE "update problem set nx = 384;"
  static const struct {
    const char *verdict, *winner, *asked;
    bool is_served;
  } rows[] = {{HERE, "", "star7", false},
              {HERE OTHER_NAME, "", "star7", true},
              {HERE OTHER_NAME, SHIPPED, "star7", true},
              {HERE OTHER_NAME, IMPORTED, "star7", false},
              {HERE OTHER_NAME, "", "heat7", false},
              {HERE, OTHER_NAME, "heat7", true},
              {HERE, "", "mine7", false}, /* a third name, which no database knows */
              {HERE OTHER_NAME, "", "mine7", true},
              {HERE OTHER_NAME, OTHER_NAME, "mine7", false}};
  char *mine = text_of_mine7();
  for (size_t i = 0; i < 2 * COUNT(rows); i++) {
    const halotune_problem problem = {rows[i / 2].asked, "NVIDIA H200", {384, 512, 512}, HALOTUNE_F32, 0, 0, 0, 0};
    CHECK_EQ(rows[i / 2].is_served, is_served(rows[i / 2].verdict, rows[i / 2].winner, i % 2, &problem, mine),
             "row %zu", i / 2);
  }
  free(mine);
#undef HERE
}

/* Copy the hash of the only meaning in a database. */
static void keep_hash(struct store *store, char hash[IDENTITY_HEX_BYTES]) {
  sqlite3_stmt *query = NULL;
  CHECK_OK(query_prepare(store_connection(store), "select max(hash) from stencil", &query));
  CHECK_EQ(SQLITE_ROW, sqlite3_step(query), "a stencil");
  snprintf(hash, IDENTITY_HEX_BYTES, "%s", column_text(query, 0));
  sqlite3_finalize(query);
}

/* Check the name of the stencil that a hash means. */
static void check_name_of_hash(const char *const *paths, int count, const char *hash, const char *why, int number) {
  const halotune_problem problem = {hash, "NVIDIA H200", {512, 512, 512}, HALOTUNE_F32, 0, 0, 0, 0};
  halotune_ctx *ctx;
  halotune_config config;
  CHECK_OK(halotune_open(paths, count, &ctx));
  CHECK_OK(halotune_lookup(ctx, &problem, &config));
  CHECK_TEXT("star7", config.stencil, "%s %d", why, number);
  halotune_close(ctx);
}

/* The user measured two names of one meaning. A document has a newer row, maybe on a GPU that the user does not have.
 * It does not decide which of the names the hash means. */
TEST(a_document_does_not_decide_what_a_hash_means) {
  for (int is_brought = 0; is_brought < 2; is_brought++) {
    struct work work = work_begin();
    const char *paths[] = {work.path};
    struct store *ours, *theirs;
    char hash[IDENTITY_HEX_BYTES];
    CHECK_OK(store_open(work.path, STORE_WRITE, &ours));
    put(ours, FIRST, 0.3, CACHE_STEADY, false, 2);
    bring(ours, &(struct part){USER, false, 1, OTHER_NAME, CACHE_STEADY});
    if (is_brought) {
      CHECK_OK(store_open_memory(&theirs));
      put(theirs, FIRST, 0.1, CACHE_STEADY, false, 3);
      CHECK_OK(query_script(store_connection(theirs), OTHER_NAME "update run set host = 'theirs';"
                                                                 " update device set uuid = 'X', name = 'NVIDIA X'"));
      CHECK_OK(store_merge(ours, theirs, &signed_options, NULL));
      store_close(theirs);
    }
    keep_hash(ours, hash);
    store_close(ours);
    check_name_of_hash(paths, 1, hash, "documents:", is_brought);
    work_end(&work);
  }
}

/* The user tuned a file of another name, and no variant was right. The hash still means the stencil of Halotune. */
TEST(a_name_without_a_right_result_takes_no_hash) {
  for (int i = 0; i < 2; i++) {
    struct work verdicts = work_begin(), winners = work_begin();
    const char *paths[] = {i ? winners.path : verdicts.path, i ? verdicts.path : winners.path};
    char hash[IDENTITY_HEX_BYTES];
    struct store *store;
    CHECK_OK(store_open(verdicts.path, STORE_WRITE, &store));
    put(store, FIRST, 0.3, CACHE_STEADY, true, 1);
    CHECK_OK(query_script(store_connection(store), "update problem set nx = 384;" OTHER_NAME));
    store_close(store);
    CHECK_OK(store_open(winners.path, STORE_WRITE, &store));
    put(store, FIRST, 0.3, CACHE_STEADY, false, 2);
    CHECK_OK(query_script(store_connection(store), SHIPPED));
    keep_hash(store, hash);
    store_close(store);
    check_name_of_hash(paths, 2, hash, "order", i);
    work_end(&verdicts);
    work_end(&winners);
  }
}

/* A document's variant has the source of one variant of the user and the configuration of another one. What holds for
 * one of these two does not pass to the other one through it. */
TEST(a_made_up_variant_joins_no_two_variants) {
  static const struct {
    const char *what;
    bool is_second_right; /* else the second variant is the wrong one */
    long want_us;
  } rows[] = {
      {"a verdict about another source", false, 300},
      {"a right result of another source", true, 400},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct work work = work_begin();
    struct store *ours, *theirs;
    CHECK_OK(store_open(work.path, STORE_WRITE, &ours));
    CHECK_OK(store_open_memory(&theirs));
    put(ours, FIRST, 0.3, CACHE_STEADY, rows[i].is_second_right, 1);
    put(ours, SECOND, 0.4, CACHE_STEADY, !rows[i].is_second_right, 3);
    put(theirs, SECOND, 0.1, CACHE_STEADY, false, 2);
    CHECK_OK(
        query_script(store_connection(theirs), "update variant set parameters = json_set(parameters, '$.vector', 4)"));
    CHECK_OK(query_script(store_connection(theirs), "update run set host = 'theirs'"));
    CHECK_OK(store_merge(ours, theirs, &signed_options, NULL));
    CHECK_EQ(3, number_of(ours, "select count(*) from variant"), "variants");
    CHECK_EQ(2, number_of(ours, "select count(distinct parameters) from variant"), "configurations");
    CHECK_EQ(2, number_of(ours, "select count(distinct source_hash) from variant"), "sources");
    check_both(work.path, ours, rows[i].want_us, rows[i].what);
    store_close(theirs);
    store_close(ours);
    work_end(&work);
  }
}

/* A verdict about a variant without a best decides about others, and so does its end. */
TEST(a_forgotten_verdict_frees_what_is_alike) {
  struct work work = work_begin();
  struct store *ours;
  const struct part own = {USER, false, 1, "", CACHE_STEADY}, verdict = {MALLORY, true, 2, OTHER_TEMPLATE, CACHE_COLD};
  CHECK_OK(store_open(work.path, STORE_WRITE, &ours));
  bring(ours, &own);
  bring(ours, &verdict);
  check_both(work.path, ours, 0, "called wrong");
  CHECK_OK(store_forget(ours, &(struct choice){.signer = "mallory"}, NULL));
  check_both(work.path, ours, 300, "forgotten");
  store_close(ours);
  work_end(&work);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_verdict_is_about_a_source_and_about_a_configuration),
      cmocka_unit_test(names_with_other_verdicts_answer_for_themselves),
      cmocka_unit_test(a_verdict_of_another_name_and_database),
      cmocka_unit_test(a_verdict_about_another_grid),
      cmocka_unit_test(a_document_does_not_decide_what_a_hash_means),
      cmocka_unit_test(a_name_without_a_right_result_takes_no_hash),
      cmocka_unit_test(a_made_up_variant_joins_no_two_variants),
      cmocka_unit_test(a_forgotten_verdict_frees_what_is_alike),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
