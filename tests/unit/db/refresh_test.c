/* refresh_test.c: variants of changed templates become those of the installed ones where these generate the same. */
#include <sys/wait.h>
#include <unistd.h>

#include "db/exchange/export.h"
#include "db/exchange/forget.h"
#include "db/exchange/import.h"
#include "db/exchange/merge.h"
#include "db/exchange/refresh.h"
#include "db/store/check.h"
#include "db/store/query.h"
#include "stencil/template/template_read.h"
#include "tests/unit/stores.h"

/* The "installed" zmarch: the texts of the repository, where `was` is replaced by `is`. */
static struct {
  const char *name, *yaml, *cuda; /* name: NULL, no template is installed */
  struct store *meddled;          /* not NULL: another program changes a variant while it is looked at */
  const char *meddling;           /* the statements with which it does */
} installed;

static halotune_status find_installed(const char *name, struct template **out) {
  *out = NULL;
  if (!installed.name) return HALOTUNE_OK;
  if (installed.meddled) CHECK_OK(query_script(store_connection(installed.meddled), installed.meddling));
  installed.meddled = NULL;
  const struct source yaml = source_of(name, installed.yaml, strlen(installed.yaml));
  return template_parse(&yaml, installed.cuda, out);
}

/* A copy of `text` with the first `was` replaced. The caller frees it. */
static char *replaced(const char *text, const char *was, const char *is) {
  const char *at = strstr(text, was);
  char *out = NULL;
  CHECK(at != NULL, "no '%s'", was);
  CHECK(asprintf(&out, "%.*s%s%s", (int)(at - text), text, is, at + strlen(was)) > 0, "memory");
  return out;
}

static void generate_configuration(struct bench_case *c, const char *assignment, struct generated *made) {
  c->configuration = configuration_default(c->template);
  CHECK_OK(configuration_set(c->template, assignment, &c->configuration));
  CHECK_OK(case_source_make(c, 512, made));
  source_strip_lines(made->source);
}

static void put_configuration(struct bench_case *c, struct store *store, const char *assignment, double time_ms) {
  struct generated made;
  int64_t winner = 0;
  generate_configuration(c, assignment, &made);
  const struct variant_key key = {c->stencil_id, c->template_id, c->template, &c->configuration, made.hash};
  const struct measurement measurement = case_measurement(1);
  const int64_t run = case_run(c, store, "580.1");
  CHECK_OK(store_measurement(store, run, &key, &measurement, &winner));
  const struct finalist finalist = {
      winner, 1, {3, time_ms, time_ms, time_ms, time_ms, case_samples}, 1, 1, 1, true, false, NAN, NAN, NAN};
  struct best best = case_best(c, run, winner, 0, time_ms);
  best.launch = &made.launch;
  best.source = made.source;
  CHECK_OK(store_final(store, run, &finalist, 1, &best, &case_end, NULL));
  generated_free(&made);
}

/* Store that a run found a configuration to be wrong. It is then no finalist. */
static void put_wrong(struct bench_case *c, struct store *store, const char *assignment) {
  struct generated made;
  int64_t variant = 0;
  generate_configuration(c, assignment, &made);
  const struct variant_key key = {c->stencil_id, c->template_id, c->template, &c->configuration, made.hash};
  struct measurement measurement = case_measurement(1);
  measurement.outcome = OUTCOME_WRONG;
  CHECK_OK(store_measurement(store, case_run(c, store, "580.1"), &key, &measurement, &variant));
  generated_free(&made);
}

/* A problem with three variants, one of which is only a finalist. */
static void fill(struct bench_case *c, struct store *store) {
  case_load(c);
  case_put(c, store, 512);
  put_configuration(c, store, "points_y=1", 0.32);
  put_configuration(c, store, "points_y=2", 0.31);
  put_configuration(c, store, "points_y=4", 0.3);
  CHECK_OK(query_script(store_connection(store),
                        "update run set started = '2026-11-21T12:00:0' || id || '.000Z';"
                        " update best set date = '2026-11-21T13:00:00.000Z'; delete from best where time_ms = 0.32"));
  installed.name = "zmarch";
  installed.yaml = c->template->yaml;
  installed.cuda = c->template->cuda;
}

static void keep_defect(void *context, const char *text) { snprintf(context, 512, "%s", text); }

static void check_whole(struct store *store, const char *what) {
  char defect[512] = "";
  long found = -1;
  CHECK_OK(store_check(store, keep_defect, defect, &found));
  CHECK_EQ(0, found, "%s: %s", what, defect);
}

static void count_outcome(void *context, const struct refreshed *refreshed) {
  long *counts = context;
  CHECK_TEXT("zmarch", refreshed->template_name, "name");
  counts[refreshed->outcome] += refreshed->variants;
}

static bool is_tuned; /* whether a process tunes on the GPUs of the database */
static bool tunes(const char *database, const char *uuid) {
  (void)database, (void)uuid;
  return is_tuned;
}

/* Refresh. Returns the number of variants with this outcome. `all` receives the number of all variants. */
static long refresh(struct store *store, bool is_dry, enum refresh_outcome outcome, long *all) {
  long counts[REFRESH_OUTCOME_COUNT] = {0};
  CHECK_OK(store_refresh(store, find_installed, tunes, is_dry, count_outcome, counts));
  *all = 0;
  for (int i = 0; i < REFRESH_OUTCOME_COUNT; i++) *all += counts[i];
  return counts[outcome];
}

static const struct {
  const char *what, *yaml_was, *yaml_is, *cuda_was, *cuda_is;
  enum refresh_outcome outcome;
} changes[] = {
    {"a rule more", "rules:\n", "rules:\n  - {keep: block_x < 1000, otherwise: never}\n", "", "", REFRESH_SAME},
    {"a parameter more", "band: {", "spare: {values: [0, 1], default: 0, about: nothing}\n  band: {", "", "",
     REFRESH_SAME},
    {"a parameter at another place", "  band: {values: [0, 64, 128, 256], default: 0}\n",
     "  other: {values: [7], default: 7, about: nothing}\n  band: {default: 0, values: [0, 32, 64, 128, 256]}\n", "",
     "", REFRESH_SAME},
    {"other code", "", "", "__global__ void", "__device__ int spare;\n__global__ void", REFRESH_OTHER_CODE},
    {"another launch", "points_in_y/band_rows)]\n", "points_in_y/band_rows) + 1]\n", "", "", REFRESH_OTHER_LAUNCH},
    {"a rule against it", "rules:\n", "rules:\n  - {keep: block_x > 1000, otherwise: narrow}\n", "", "",
     REFRESH_REFUSED},
    {"an error", "rules:\n", "rules:\n  - {keep: nothing > 1, otherwise: narrow}\n", "", "", REFRESH_BROKEN},
    {"not installed", "", "", "", "", REFRESH_NOT_INSTALLED},
};

TEST(the_same_code_is_refreshed_and_other_code_stays_stale) {
  for (size_t i = 0; i < COUNT(changes); i++) {
    const char *what = changes[i].what;
    const bool is_same = changes[i].outcome == REFRESH_SAME;
    struct store *store;
    struct bench_case c;
    long all;
    CHECK_OK(store_open_memory(&store));
    fill(&c, store);
    CHECK_EQ(0, refresh(store, false, REFRESH_SAME, &all), "%s: unchanged", what);
    CHECK_EQ(0, all, "%s: unchanged", what);
    char *yaml = replaced(installed.yaml, changes[i].yaml_was, changes[i].yaml_is);
    char *cuda = replaced(installed.cuda, changes[i].cuda_was, changes[i].cuda_is);
    installed.yaml = yaml;
    installed.cuda = cuda;
    if (changes[i].outcome == REFRESH_NOT_INSTALLED) installed.name = NULL;
    CHECK_EQ(3, refresh(store, true, changes[i].outcome, &all), "%s: dry", what);
    CHECK_EQ(3, refresh(store, false, changes[i].outcome, &all), "%s", what);
    CHECK_EQ(3, all, "%s: nothing else", what);
    CHECK_EQ(is_same ? 0 : 3, refresh(store, false, changes[i].outcome, &all), "%s: twice changes nothing", what);
    CHECK_EQ(1, number_of(store, "select count(*) from template"), "%s: the old template", what);
    CHECK_EQ(3, number_of(store, "select count(*) from variant"), "%s", what);
    CHECK_EQ(2, number_of(store, "select count(*) from best where date = '2026-11-21T13:00:00.000Z'"), "%s: dates",
             what);
    CHECK_EQ(3,
             number_of(store, "select count(*) from variant v join origin o on o.id = v.origin_id where kind ="
                              " 'measured'"),
             "%s: origins", what);
    if (is_same) check_whole(store, what);
    free(yaml);
    free(cuda);
    case_free(&c);
    store_close(store);
  }
}

/* Install a zmarch that has a rule more. The caller frees it. */
static char *install_another_rule(void) {
  char *yaml = replaced(installed.yaml, "rules:\n", "rules:\n  - {keep: block_x < 1000, otherwise: never}\n");
  installed.yaml = yaml;
  return yaml;
}

/* Otherwise lookups would serve a configuration again that is known to be wrong. */
TEST(a_wrong_variant_goes_to_the_installed_template_with_the_others) {
  struct store *store;
  struct bench_case c;
  long all;
  CHECK_OK(store_open_memory(&store));
  fill(&c, store);
  put_wrong(&c, store, "block_y=4");
  char *yaml = install_another_rule();
  CHECK_EQ(4, refresh(store, true, REFRESH_SAME, &all), "dry");
  CHECK_EQ(4, refresh(store, false, REFRESH_SAME, &all), "refreshed");
  CHECK_EQ(1, number_of(store, "select count(*) from template"), "the verdict does not stay with the old template");
  CHECK_EQ(1, number_of(store, "select count(*) from measurement where outcome = 'wrong'"), "the verdict stays");
  free(yaml);
  case_free(&c);
  store_close(store);
}

/* Fill a database whose template gets another rule, and let another program run statements while it is refreshed. The
 * caller ends it with close_meddled. Returns the text of the template. */
static char *open_meddled(struct bench_case *c, struct store **store, const char *meddling) {
  CHECK_OK(store_open_memory(store));
  fill(c, *store);
  installed.meddled = *store;
  installed.meddling = meddling;
  return install_another_rule();
}

static void close_meddled(struct bench_case *c, struct store *store, char *yaml) {
  free(yaml);
  case_free(c);
  store_close(store);
}

TEST(a_variant_that_another_program_changes_is_not_called_refreshed) {
  static const char other_template[] =
      "insert into template (hash, common_hash, name, yaml, cuda, origin_id) select '0123', common_hash, name, yaml, cuda,"
      " origin_id from template; update variant set template_id = last_insert_rowid() where id = (select max(id) from variant)";
  struct store *store;
  struct bench_case c;
  long all;
  char *yaml = open_meddled(&c, &store, other_template);
  CHECK_EQ(1, refresh(store, false, REFRESH_CHANGED, &all), "changed");
  CHECK_EQ(3, all, "the others are refreshed");
  CHECK_EQ(1, refresh(store, false, REFRESH_SAME, &all), "the next refresh");
  close_meddled(&c, store, yaml);
}

/* Another program removes a variant and stores another one. SQLite gives it the id of the first. */
TEST(a_variant_with_the_id_of_a_removed_one_keeps_its_parameters) {
  static const struct {
    const char *what, *meddling;
  } rows[] = {
      {"a source", "update variant set source_hash = printf('%064d', 7) where id = (select max(id) from variant)"},
      {"parameters",
       "update variant set parameters = replace(parameters, '\"points_y\":4', '\"points_y\":8') where id ="
       " (select max(id) from variant)"},
      {"a template", "update template set hash = printf('%064d', 7)"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct store *store;
    struct bench_case c;
    long all;
    char *yaml = open_meddled(&c, &store, rows[i].meddling);
    CHECK_EQ(i < 2 ? 1 : 3, refresh(store, false, REFRESH_CHANGED, &all), "%s", rows[i].what);
    CHECK_EQ(3, all, "%s", rows[i].what);
    CHECK_EQ(i < 2 ? 1 : 3, number_of(store, "select count(*) from variant where template_id = 1"), "%s stays",
             rows[i].what);
    close_meddled(&c, store, yaml);
  }
}

/* A database from before the refresh was merged again: both have the same rows then, with two templates. No document of
 * another giver adds to a run. */
TEST(rows_that_come_again_with_the_old_template_are_one_row_after_it) {
  static const struct merge_options options = {.origin = {"measured", "old.json", "", "", ""}};
  struct store *store, *old;
  struct bench_case c;
  struct text document = {0};
  long all;
  CHECK_OK(store_open_memory(&store));
  fill(&c, store);
  CHECK_OK(store_export(store, &(struct choice){.stencil = NULL}, true, &document));
  char *yaml = install_another_rule();
  CHECK_EQ(3, refresh(store, false, REFRESH_SAME, &all), "first");
  const int64_t current = number_of(store, "select id from best where is_current");
  CHECK_OK(import_parse(text_string(&document), document.length, "old.json", &old));
  CHECK_OK(store_merge(store, old, &options, NULL));
  CHECK_EQ(5, number_of(store, "select count(*) from variant"), "merged: those of bests come");
  CHECK_EQ(3, number_of(store, "select count(*) from finalist"), "merged: no finalist comes");
  /* a run that says that it measured both counts one result afterwards */
  CHECK_OK(query_script(
      store_connection(store),
      "create temp table m as select m.* from measurement m join variant v on v.id = m.variant_id where"
      " v.source_hash in (select source_hash from variant group by source_hash having count(*) > 1) limit 1;"
      "update m set id = 99, variant_id = (select max(id) from variant where source_hash ="
      " (select source_hash from variant v where v.id = m.variant_id));"
      "insert into measurement select * from m;"
      "update run set outcomes = '{\"measured\":' || (select count(*) from measurement where run_id ="
      " run.id) || '}' where id = (select run_id from m)"));
  CHECK_EQ(4, number_of(store, "select count(*) from measurement"), "one more");
  CHECK_EQ(2, refresh(store, false, REFRESH_SAME, &all), "again");
  CHECK_EQ(3, number_of(store, "select count(*) from variant"), "variants");
  CHECK_EQ(1, number_of(store, "select count(*) from template"), "templates");
  CHECK_EQ(2, number_of(store, "select count(*) from best"), "bests");
  CHECK_EQ(3, number_of(store, "select count(*) from finalist"), "finalists");
  CHECK_EQ(3, number_of(store, "select count(*) from measurement"), "measurements");
  CHECK_EQ(current, number_of(store, "select id from best where is_current"), "the same best is current");
  check_whole(store, "again");

  /* With another result of one run in the old document, both stay. */
  CHECK_OK(
      query_script(store_connection(old), "update measurement set median_ms = 7, number = 2 where variant_id = 2"));
  CHECK_OK(store_merge(store, old, &options, NULL));
  CHECK_EQ(1, refresh(store, false, REFRESH_TWICE, &all), "another result");
  CHECK_EQ(2, all, "the other one is refreshed");
  CHECK_EQ(2, number_of(store, "select count(*) from template"), "the old template stays");
  free(yaml);
  store_close(old);
  text_free(&document);
  case_free(&c);
  store_close(store);
}

/* Fill a database, and make a copy of it that another person refreshed. The caller frees the installed template. */
static char *begin_two(struct bench_case *c, struct store **ours, struct store **theirs) {
  struct text document = {0};
  long all;
  CHECK_OK(store_open_memory(ours));
  fill(c, *ours);
  CHECK_OK(store_export(*ours, &(struct choice){.stencil = NULL}, true, &document));
  CHECK_OK(import_parse(text_string(&document), document.length, "theirs.json", theirs));
  text_free(&document);
  char *yaml = install_another_rule();
  CHECK_EQ(3, refresh(*theirs, false, REFRESH_SAME, &all), "theirs");
  return yaml;
}

static void end_two(struct bench_case *c, struct store *ours, struct store *theirs, char *yaml) {
  free(yaml);
  case_free(c);
  store_close(ours);
  store_close(theirs);
}

/* The document of somebody who refreshed has finalists and measurements of the same run under other variants. Each is
 * taken once, so that no rank is that of two finalists. */
TEST(results_of_a_run_that_come_with_the_installed_template_are_not_taken_twice) {
  static const struct merge_options options = {.origin = {"measured", "theirs.json", "", "", ""}};
  struct store *ours, *theirs;
  struct bench_case c;
  long all;
  char *yaml = begin_two(&c, &ours, &theirs);
  CHECK_OK(store_merge(ours, theirs, &options, NULL));
  CHECK_EQ(5, number_of(ours, "select count(*) from variant"), "variants come with their bests alone");
  CHECK_EQ(3, number_of(ours, "select count(*) from finalist"), "finalists");
  CHECK_EQ(3, number_of(ours, "select count(*) from measurement"), "measurements");
  check_whole(ours, "merged");
  CHECK_EQ(3, refresh(ours, false, REFRESH_SAME, &all), "ours");
  CHECK_EQ(3, number_of(ours, "select count(*) from variant"), "variants");
  CHECK_EQ(3, number_of(ours, "select count(*) from finalist"), "finalists");
  CHECK_EQ(2, number_of(ours, "select count(*) from best"), "bests");
  check_whole(ours, "refreshed");
  end_two(&c, ours, theirs, yaml);
}

/* A tune keeps ids of variants and templates until its run ends. */
TEST(a_refresh_beside_a_tune_removes_no_row) {
  static const struct merge_options options = {.origin = {"measured", "theirs.json", "", "", ""}};
  struct store *ours, *theirs;
  struct bench_case c;
  long all;
  char *yaml = begin_two(&c, &ours, &theirs);
  const int64_t run = case_run(&c, ours, "580.1");
  is_tuned = true;
  CHECK_EQ(3, refresh(ours, false, REFRESH_SAME, &all), "variants that become those of the installed template");
  CHECK_EQ(2, number_of(ours, "select count(*) from template"), "the old template stays");
  CHECK_OK(query_script(store_connection(ours), "update variant set template_id = 1"));
  CHECK_OK(store_merge(ours, theirs, &options, NULL));
  CHECK_EQ(5, number_of(ours, "select count(*) from variant"), "merged");
  CHECK_EQ(2, refresh(ours, true, REFRESH_TUNED, &all), "what it would do");
  CHECK_EQ(2, refresh(ours, false, REFRESH_TUNED, &all), "variants that the installed template has already");
  CHECK_EQ(5, number_of(ours, "select count(*) from variant"), "all stay");
  is_tuned = false;
  CHECK_EQ(2, refresh(ours, false, REFRESH_SAME, &all), "the tune has ended");
  CHECK_EQ(3, number_of(ours, "select count(*) from variant"), "variants");
  CHECK_EQ(1, number_of(ours, "select count(*) from template"), "templates");
  CHECK_OK(store_run_end(ours, run, &case_end));
  end_two(&c, ours, theirs, yaml);
}

/* A signed document has the user's result with the installed template. When the user refreshes, too, the row stays the
 * user's own: forgetting the signer does not remove it. */
TEST(a_result_of_the_user_stays_one_where_a_document_has_it_with_the_installed_template) {
  static const char key[] = "0707070707070707070707070707070707070707070707070707070707070707",
                    own_sql[] =
                        "select count(*) from best b join origin o on o.id = b.origin_id where kind = 'measured'",
                    current_sql[] = "select count(*) from best where is_current and time_ms = 0.3";
  static const struct merge_options options = {.origin = {"imported", "m.json", "mallory", key, ""}};
  struct store *ours, *theirs;
  struct bench_case c;
  long all;
  char *yaml = begin_two(&c, &ours, &theirs);
  CHECK_OK(store_merge(ours, theirs, &options, NULL));
  CHECK_EQ(6, number_of(ours, "select count(*) from variant"), "merged");
  CHECK_EQ(3, refresh(ours, false, REFRESH_SAME, &all), "ours");
  CHECK_EQ(2, number_of(ours, "select count(*) from best"), "bests");
  CHECK_EQ(2, number_of(ours, own_sql), "they are the user's own");
  CHECK_EQ(1, number_of(ours, current_sql), "the current one");
  check_whole(ours, "refreshed");
  CHECK_OK(store_forget(ours, &(struct choice){.signer = "mallory"}, NULL));
  CHECK_EQ(2, number_of(ours, own_sql), "the signer is forgotten");
  CHECK_EQ(1, number_of(ours, current_sql), "the current one");
  check_whole(ours, "forgotten");
  end_two(&c, ours, theirs, yaml);
}

/* The user found a variant to be wrong. A signed document has the same source with the installed template, as another
 * variant. The verdict is about it, too. After the refresh they are one. */
TEST(a_variant_that_the_user_calls_wrong_is_not_served_after_a_refresh) {
  static const char current_sql[] = "select count(*) from best where is_current and time_ms = 0.3";
  static const struct merge_options options = {.origin = {"imported", "m.json", "mallory", "07", ""}};
  struct store *ours, *theirs;
  struct bench_case c;
  long all;
  char *yaml = begin_two(&c, &ours, &theirs);
  put_wrong(&c, ours, "points_y=4");
  CHECK_OK(query_script(store_connection(ours),
                        "update run set started = '2026-11-22T12:00:00.000Z' where id = (select max(id) from run);"
                        " update best set is_current = time_ms = 0.31"));
  CHECK_OK(store_merge(ours, theirs, &options, NULL));
  CHECK_EQ(6, number_of(ours, "select count(*) from variant"), "the document's variants are others");
  CHECK_EQ(0, number_of(ours, current_sql), "its source is wrong");
  CHECK_EQ(3, refresh(ours, false, REFRESH_SAME, &all), "refreshed");
  CHECK_EQ(0, number_of(ours, current_sql), "it is wrong");
  CHECK_EQ(1, number_of(ours, "select count(*) from best where is_current and time_ms = 0.31"), "the next best");
  end_two(&c, ours, theirs, yaml);
}

/* The user measured a variant of an older template, which lost. A signer claims a time for the variant of the installed
 * template. When both are one, the user's time counts, whether the refresh comes before the merge or after it. */
TEST(a_claimed_time_counts_nothing_once_the_variants_are_one) {
  static const struct merge_options options = {.origin = {"imported", "m.json", "mallory", "07", ""}};
  static const char current_sql[] = "select count(*) from best where is_current and time_ms = 0.3";
  for (int is_after = 0; is_after < 2; is_after++) {
    struct store *ours, *theirs;
    struct bench_case c;
    long all;
    char *yaml = begin_two(&c, &ours, &theirs);
    CHECK_OK(query_script(store_connection(theirs), "update best set time_ms = 0.1, low_ms = 0.1, high_ms = 0.1, date ="
                                                    " '2026-11-22T13:00:00.000Z' where time_ms = 0.31;"
                                                    " delete from best where time_ms > 0.1; delete from finalist;"
                                                    " update run set host = 'theirs'"));
    if (!is_after) refresh(ours, false, REFRESH_SAME, &all);
    CHECK_OK(store_merge(ours, theirs, &options, NULL));
    if (is_after) CHECK_EQ(0, number_of(ours, current_sql), "another variant, with the claimed time");
    if (is_after) refresh(ours, false, REFRESH_SAME, &all);
    CHECK_EQ(1, number_of(ours, current_sql), "the user's winner, refreshed after the merge: %d", is_after);
    end_two(&c, ours, theirs, yaml);
  }
}

/* A database has a variant of the installed template in two orders of its parameters, and only one is known to be
 * wrong. After the refresh they are one, in the order of the installed text. */
TEST(a_variant_in_two_orders_of_parameters_becomes_one) {
  struct store *store;
  struct bench_case c;
  char defect[512] = "";
  long all, found = 0;
  CHECK_OK(store_open_memory(&store));
  fill(&c, store);
  put_wrong(&c, store, "points_y=4");
  CHECK_OK(query_script(
      store_connection(store),
      "insert into variant (source_hash, template_id, stencil_id, parameters, origin_id) select source_hash, template_id,"
      " stencil_id, json_patch(json_remove(parameters, '$.vector'), json_object('vector', parameters ->> '$.vector')),"
      " origin_id from variant where id = 3; update measurement set variant_id = 4 where outcome = 'wrong';"
      " update run set started = '2026-11-22T12:00:00.000Z' where id = 4; update best set is_current = 0;"
      " update best set is_current = 1 where time_ms = 0.3"));
  CHECK_OK(store_check(store, keep_defect, defect, &found));
  CHECK(found == 1 && strstr(defect, "variant 4"), "%ld: %s", found, defect);
  CHECK_EQ(1, refresh(store, true, REFRESH_SAME, &all), "a dry run");
  CHECK_EQ(1, refresh(store, false, REFRESH_SAME, &all), "one variant");
  CHECK_EQ(1, all, "one variant");
  CHECK_EQ(3, number_of(store, "select count(*) from variant"), "variants");
  CHECK_EQ(1, number_of(store, "select time_ms = 0.31 from best where is_current"), "the next best");
  check_whole(store, "refreshed");
  CHECK_EQ(0, refresh(store, false, REFRESH_SAME, &all), "again");
  case_free(&c);
  store_close(store);
}

/* A document can have a best of the same problem and date with another content. As bests of one variant they would be
 * two rows with one key, so that no database could take an export of them. */
TEST(bests_of_one_date_that_differ_stay_apart) {
  static const char *const contents[] = {"time_ms = 0.29, low_ms = 0.29",    "low_ms = 0.2",   "energy_mj = 5",
                                         "objective = 'edp', energy_mj = 5", "driver = '999'", "second_grid = '9x9x9'"};
  static const struct merge_options options = {.origin = {"imported", "m.json", "", "", ""}};
  for (size_t i = 0; i < COUNT(contents); i++) {
    struct store *ours, *theirs, *copy, *read;
    struct bench_case c;
    struct text document = {0};
    char sql[160];
    long all;
    char *yaml = begin_two(&c, &ours, &theirs);
    snprintf(sql, sizeof sql, "update best set %s where time_ms = 0.3", contents[i]);
    CHECK_OK(query_script(store_connection(theirs), sql));
    CHECK_OK(query_script(store_connection(theirs), "update run set seed = seed + 1"));
    CHECK_OK(store_merge(ours, theirs, &options, NULL));
    CHECK_EQ(1, refresh(ours, false, REFRESH_TWICE, &all), "%s", contents[i]);
    CHECK_EQ(3, number_of(ours, "select count(*) from best"), "%s: none is lost", contents[i]);
    CHECK_OK(store_export(ours, &(struct choice){.stencil = NULL}, true, &document));
    CHECK_OK(import_parse(text_string(&document), document.length, "ours.json", &read));
    CHECK_OK(store_open_memory(&copy));
    CHECK_OK(store_merge(copy, read, &options, NULL));
    text_free(&document);
    store_close(read);
    store_close(copy);
    end_two(&c, ours, theirs, yaml);
  }
}

static int kill_here(void *context) {
  int *left = context;
  if (--*left == 0) _exit(9);
  return 0;
}

/* Refresh in a process of its own, which ends in the middle of its transaction number `at`. Returns its exit code. */
static int refresh_killed(const char *path, int at) {
  const pid_t child = fork();
  int state = 0;
  if (child == 0) {
    struct store *store;
    long all;
    if (store_open(path, STORE_WRITE, &store) != HALOTUNE_OK) _exit(1);
    sqlite3_commit_hook(store_connection(store), kill_here, &at);
    refresh(store, false, REFRESH_SAME, &all);
    _exit(0);
  }
  CHECK(child > 0 && waitpid(child, &state, 0) == child && WIFEXITED(state), "fork");
  return WEXITSTATUS(state);
}

TEST(a_kill_loses_nothing) {
  int code = 9;
  for (int at = 1; code == 9; at++) {
    const struct work work = work_begin();
    struct store *store;
    struct bench_case c;
    long all;
    CHECK_OK(store_open(work.path, STORE_WRITE, &store));
    fill(&c, store);
    store_close(store);
    char *yaml = install_another_rule();
    code = refresh_killed(work.path, at);
    CHECK(code == 9 || (code == 0 && at > 3), "moment %d: exit code %d", at, code);
    CHECK_OK(store_open(work.path, STORE_WRITE, &store));
    check_whole(store, "after the kill");
    CHECK_EQ(3, number_of(store, "select count(*) from variant"), "moment %d", at);
    refresh(store, false, REFRESH_SAME, &all);
    CHECK_EQ(0, refresh(store, false, REFRESH_SAME, &all), "moment %d: all are refreshed", at);
    CHECK_EQ(1, number_of(store, "select count(*) from template"), "moment %d", at);
    CHECK_EQ(2, number_of(store, "select count(*) from best"), "moment %d", at);
    check_whole(store, "at the end");
    store_close(store);
    free(yaml);
    case_free(&c);
    work_end(&work);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_code_is_refreshed_and_other_code_stays_stale),
      cmocka_unit_test(a_wrong_variant_goes_to_the_installed_template_with_the_others),
      cmocka_unit_test(a_variant_that_another_program_changes_is_not_called_refreshed),
      cmocka_unit_test(a_variant_with_the_id_of_a_removed_one_keeps_its_parameters),
      cmocka_unit_test(rows_that_come_again_with_the_old_template_are_one_row_after_it),
      cmocka_unit_test(results_of_a_run_that_come_with_the_installed_template_are_not_taken_twice),
      cmocka_unit_test(a_refresh_beside_a_tune_removes_no_row),
      cmocka_unit_test(a_result_of_the_user_stays_one_where_a_document_has_it_with_the_installed_template),
      cmocka_unit_test(a_variant_that_the_user_calls_wrong_is_not_served_after_a_refresh),
      cmocka_unit_test(a_claimed_time_counts_nothing_once_the_variants_are_one),
      cmocka_unit_test(a_variant_in_two_orders_of_parameters_becomes_one),
      cmocka_unit_test(bests_of_one_date_that_differ_stay_apart),
      cmocka_unit_test(a_kill_loses_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
