/* store_trust_test.c: what no document may do: hide what it brings, name what the user measures later, stay when its
 * signer is forgotten, and keep a check busy. */
#include "db/exchange/content.h"
#include "db/exchange/forget.h"
#include "db/exchange/merge.h"
#include "db/exchange/varying_rows.h"
#include "db/store/check.h"
#include "db/store/query.h"
#include "db/store/refuted.h"
#include "stencil/template/template_read.h"
#include "tests/unit/stores.h"

static const char key[] = "0707070707070707070707070707070707070707070707070707070707070707";
static const struct choice of_signer = {.signer = "mallory"};

static void sql(struct store *store, const char *text) { CHECK_OK(query_script(store_connection(store), text)); }

static void merge_signed(struct store *to, struct store *from) {
  const struct merge_options options = {.origin = {"imported", "m.json", "mallory", key, ""}};
  CHECK_OK(store_merge(to, from, &options, NULL));
}

static void keep_text(void *context, const char *text) {
  char *kept = context;
  if (!*kept) snprintf(kept, 512, "%s", text);
}

static void check_whole(struct store *store) {
  char first[512] = "";
  long found = -1;
  CHECK_OK(store_check(store, keep_text, first, &found));
  CHECK_EQ(0, found, "%s", first);
}

static struct store *begin_store(struct bench_case *c) {
  struct store *store;
  CHECK_OK(store_open_memory(&store));
  case_load(c);
  case_put(c, store, 512);
  return store;
}

static void end_store(struct store *store, struct bench_case *c) {
  store_close(store);
  case_free(c);
}

/* The times of all current bests, in us: 0 if there is none. */
static int64_t current_us(struct store *store) {
  return number_of(store, "select coalesce(sum(cast(1000 * time_ms as integer)), 0) from best where is_current");
}

/* Store a result of a variant in a run of its own. */
static void put_result(struct store *store, struct bench_case *c, uint64_t variant, enum outcome outcome,
                       const char *started) {
  const int64_t run = case_run(c, store, "580.1");
  const struct variant_key variant_key = case_variant(c, variant);
  struct measurement measurement = case_measurement(1);
  char text[128];
  measurement.outcome = outcome;
  CHECK_OK(store_measurement(store, run, &variant_key, &measurement, NULL));
  CHECK_OK(store_run_end(store, run, &case_end));
  snprintf(text, sizeof text, "update run set started = '%s', host = 'theirs' where id = %lld", started,
           (long long)run);
  sql(store, text);
}

/* A document can say that other parameters generate a source, because it need not hold the source of a variant that is
 * no best. What the user measures of this source has the parameters that generated it, all the same. */
TEST(a_document_names_no_variant_of_the_user) {
  struct bench_case mine, other;
  struct store *theirs = begin_store(&other), *ours = begin_store(&mine);
  struct measurement found;
  put_result(theirs, &other, 1, OUTCOME_MEASURED, "2026-01-01T00:00:00.000Z");
  sql(theirs, "update variant set parameters = json_set(parameters, '$.vector', 2)");
  CHECK_EQ(1, number_of(theirs, "select count(*) from variant where parameters ->> '$.vector' = 2"), "its parameters");
  merge_signed(ours, theirs);
  const struct variant_key variant = case_variant(&mine, 1);
  CHECK_EQ(HALOTUNE_NOT_FOUND, store_find_measurement(ours, case_run(&mine, ours, "580.1"), &variant, &found, NULL),
           "nobody measured this variant");
  case_tune(&mine, ours, 1, 2, 0.3);
  CHECK_EQ(0,
           number_of(ours, "select count(*) from best b join variant v on v.id = b.variant_id"
                           " where v.parameters ->> '$.vector' = 2"),
           "the winner has its own parameters");
  CHECK_OK(store_forget(ours, &of_signer, NULL));
  CHECK_EQ(0, number_of(ours, "select count(*) from variant where parameters ->> '$.vector' = 2"),
           "and theirs are gone");
  check_whole(ours);
  end_store(theirs, &other);
  end_store(ours, &mine);
}

/* What a document says of variants does not decide what this user's searches measure. What this user measured counts,
 * in a database that hosts share, too. */
TEST(only_own_results_are_those_of_earlier_runs) {
  static const struct {
    const char *kind, *name, *signer;
    halotune_status want;
  } rows[] = {
      {"measured", "user@host", "", HALOTUNE_OK},
      {"measured", "user@node7", "", HALOTUNE_OK},
      {"imported", "m.json", "mallory", HALOTUNE_NOT_FOUND},
      {"imported", "node7.db", "", HALOTUNE_NOT_FOUND},
      {"shipped", "starter.json", "", HALOTUNE_NOT_FOUND},
      {"unknown", "version 4", "", HALOTUNE_NOT_FOUND},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct bench_case c;
    struct store *store = begin_store(&c);
    struct measurement failed = case_measurement(1), found;
    const struct variant_key variant = case_variant(&c, 1);
    int64_t theirs = case_run(&c, store, "580.1"), id = 0;
    failed.outcome = OUTCOME_COMPILE_FAILED;
    CHECK_OK(store_measurement(store, theirs, &variant, &failed, NULL));
    char text[512];
    snprintf(text, sizeof text,
             "insert or ignore into origin (id, kind, name, signer, date) values (99, '%s', '%s', '%s', '2026-01-01');"
             " update run set origin_id = 99",
             rows[i].kind, rows[i].name, rows[i].signer);
    sql(store, text);
    CHECK_EQ(rows[i].want, store_find_measurement(store, case_run(&c, store, "580.1"), &variant, &found, NULL), "%s %s",
             rows[i].kind, rows[i].name);
    /* A result of this user counts, although theirs is newer. */
    sql(store, "update measurement set id = 1000000");
    struct measurement own = case_measurement(2);
    CHECK_OK(store_measurement(store, case_run(&c, store, "580.1"), &variant, &own, &id));
    sql(store, "update measurement set id = 2000000 where id = 1000000");
    int64_t now = case_run(&c, store, "580.1");
    CHECK_OK(store_find_measurement(store, now, &variant, &found, NULL));
    CHECK_EQ(rows[i].want == HALOTUNE_OK ? OUTCOME_COMPILE_FAILED : OUTCOME_MEASURED, found.outcome, "%s %s",
             rows[i].kind, rows[i].name);
    end_store(store, &c);
  }
}

/* Whether the user measured something, several parameters of which generate one source, is the user's to say. */
TEST(own_parameters_of_one_source_share_a_variant) {
  struct bench_case c;
  struct store *store = begin_store(&c);
  struct measurement found;
  int64_t run = case_run(&c, store, "580.1"), first = 0, second = 0;
  struct variant_key variant = case_variant(&c, 1);
  const struct measurement measurement = case_measurement(1);
  CHECK_OK(store_measurement(store, run, &variant, &measurement, &first));
  c.configuration.choice[0] = c.configuration.choice[0] == 0; /* another value of the first parameter */
  CHECK_OK(store_find_measurement(store, run, &variant, &found, &second));
  CHECK_EQ(first, second, "measured already");
  CHECK_OK(store_measurement(store, case_run(&c, store, "580.1"), &variant, &measurement, &second));
  CHECK_EQ(first, second, "one row");
  end_store(store, &c);
}

/* Several parameters generate one source. A row with the very parameters goes before a row of the user with others. */
TEST(a_variant_of_the_same_parameters_goes_first) {
  struct bench_case mine, other;
  struct store *theirs = begin_store(&other), *ours = begin_store(&mine);
  const struct measurement measurement = case_measurement(1);
  int64_t first = 0, second = 0;
  struct variant_key variant = case_variant(&mine, 1), their_variant = case_variant(&other, 1);
  CHECK_OK(store_measurement(ours, case_run(&mine, ours, "580.1"), &variant, &measurement, &first));
  other.configuration.choice[0] = other.configuration.choice[0] == 0; /* another value of the first parameter */
  CHECK_OK(store_measurement(theirs, case_run(&other, theirs, "580.1"), &their_variant, &measurement, NULL));
  sql(theirs, "update run set host = 'theirs'");
  merge_signed(ours, theirs);
  mine.configuration = other.configuration;
  CHECK_OK(store_measurement(ours, case_run(&mine, ours, "580.2"), &variant, &measurement, &second));
  CHECK(first != second, "variant %lld for other parameters", (long long)second);
  end_store(theirs, &other);
  end_store(ours, &mine);
}

/* A document says that the user's GPU is an emulation, or another model. Then no result of the user would answer for
 * the GPU, or an emulation's would answer for a GPU. Nor are the document's results about another model those of the
 * user's GPU: the list of the import showed them as that model's. */
TEST(the_driver_says_what_a_gpu_is) {
  static const struct {
    const char *lie;
    int devices;
  } lies[] = {{"is_emulation = 1", 2},      {"sm_count = 7, max_threads_sm = 64", 2},
              {"name = 'NVIDIA H100'", 2},  {"capability = 80", 2},
              {"max_shared_bytes = 64", 2}, {"memory_clock_khz = 7, clock_khz = 1", 1}};
  for (size_t i = 0; i < COUNT(lies); i++) {
    struct bench_case mine, other;
    struct store *theirs = begin_store(&other), *ours;
    char text[256];
    case_tune(&other, theirs, 1, 1, 0.1);
    snprintf(text, sizeof text, "update device set %s", lies[i].lie);
    sql(theirs, text);
    CHECK_OK(store_open_memory(&ours));
    case_load(&mine);
    merge_signed(ours, theirs);
    for (int time = 0; time < 2; time++) case_put(&mine, ours, 512);
    CHECK_EQ(lies[i].devices, number_of(ours, "select count(*) from device"), "%s", lies[i].lie);
    CHECK_EQ(1,
             number_of(ours, "select count(*) from device d join origin o on o.id = d.origin_id where d.name ="
                             " 'NVIDIA H200' and capability = 90 and sm_count = 132 and max_threads_sm = 2048 and"
                             " clock_khz > 1 and not is_emulation and o.kind = 'measured'"),
             "%s", lies[i].lie);
    snprintf(
        text, sizeof text,
        "select count(*) from best b join problem p on p.id = b.problem_id join device d on d.id = p.device_id"
        " where d.uuid %s (select uuid from device d join origin o on o.id = d.origin_id where o.kind = 'measured')",
        lies[i].devices == 2 ? "like '% claimed %' and d.uuid <>" : "=");
    CHECK_EQ(1, number_of(ours, text), "%s: whose result", lies[i].lie);
    check_whole(ours);
    end_store(theirs, &other);
    end_store(ours, &mine);
  }
}

/* A driver shows fewer multiprocessors to a process that may use a part of the GPU, and a recording names any GPU.
 * Results of one model do not become those of another one. */
TEST(another_model_of_a_uuid_is_another_device) {
  struct bench_case mine;
  struct store *ours = begin_store(&mine);
  struct device_facts part = case_device;
  const int64_t whole_id = store_device(ours, &case_device, false);
  part.sm_count = 66;
  const int64_t part_id = store_device(ours, &part, false), emulation_id = store_device(ours, &part, true);
  CHECK(whole_id > 0 && part_id > 0 && emulation_id > 0, "%s", fail_text());
  CHECK(part_id != whole_id && emulation_id != whole_id && emulation_id != part_id, "ids of their own");
  CHECK_EQ(part_id, store_device(ours, &part, false), "the part again");
  CHECK_EQ(whole_id, store_device(ours, &case_device, false), "the whole again");
  CHECK_EQ(132, number_of(ours, "select sm_count from device order by id limit 1"), "the whole stays");
  CHECK_EQ(3, number_of(ours, "select count(distinct sm_count || ' ' || is_emulation) from device"), "three models");
  check_whole(ours);
  end_store(ours, &mine);
}

struct counted {
  const char *kind;
  int fresh, known;
};

static void count_kind(void *context, const struct content *content) {
  struct counted *counted = context;
  if (strcmp(content->kind, counted->kind) != 0) return;
  if (content->is_known) counted->known++;
  else counted->fresh++;
}

/* Give a case the template in another order. */
static void reorder_template(struct bench_case *c) {
  struct template *reordered = zmarch_in_another_order(c->template);
  template_free(c->template);
  c->template = reordered;
  c->configuration = configuration_default(reordered);
}

/* A document has the template with its parameters in another order. Its variants are the user's all the same: a verdict
 * holds, and so does a time. */
TEST(another_order_of_parameters_makes_no_other_variant) {
  for (int is_wrong = 0; is_wrong < 2; is_wrong++) {
    struct bench_case mine, other;
    struct store *theirs, *ours = begin_store(&mine);
    struct content_known *known;
    struct counted counted = {"right", 0, 0};
    case_tune(&mine, ours, 1, 1, 0.4);
    case_tune(&mine, ours, 2, 1, 0.3);
    sql(ours,
        "update run set seed = id, started = '2026-01-01T00:00:00.000Z'; update best set date = '2026-01-01T01:00:00.000Z'");
    if (is_wrong) put_result(ours, &mine, 1, OUTCOME_WRONG, "2026-01-02T00:00:00.000Z");
    CHECK_OK(store_open_memory(&theirs));
    case_load(&other);
    reorder_template(&other);
    case_put(&other, theirs, 512);
    case_tune(&other, theirs, 1, 1, 0.1);
    sql(theirs, "update run set host = 'theirs', started = '2026-01-03T00:00:00.000Z';"
                " update best set date = '2026-01-03T01:00:00.000Z'");
    check_whole(theirs);
    CHECK_OK(content_known_read(ours, &known));
    CHECK_OK(content_each(theirs, known, "imported ", count_kind, &counted));
    content_known_free(known);
    CHECK_EQ(is_wrong, counted.fresh, "shown: a wrong variant that the document calls right");
    merge_signed(ours, theirs);
    CHECK_EQ(2, number_of(ours, "select count(*) from variant"), "no other variant");
    CHECK_EQ(300, current_us(ours), "the user's winner, wrong %d", is_wrong);
    check_whole(ours);
    end_store(theirs, &other);
    end_store(ours, &mine);
  }
}

/* The installed template. */
static halotune_status find_zmarch(const char *name, struct template **out) {
  (void)name;
  return template_read("templates/zmarch.yaml", out);
}

/* A document brings an installed template with its parameters in another order. The installed text counts, so that
 * nothing changes for rows of others that come later. */
TEST(a_document_gives_an_installed_template_no_other_order) {
  for (int is_installed = 0; is_installed < 2; is_installed++) {
    struct bench_case c;
    struct store *ours, *theirs = begin_store(&c);
    const struct merge_options options = {.origin = {"imported", "m.json", "mallory", key, ""},
                                          .find = is_installed ? find_zmarch : NULL};
    reorder_template(&c);
    case_put(&c, theirs, 512);
    case_tune(&c, theirs, 1, 2, 0.3);
    CHECK_OK(store_open_memory(&ours));
    CHECK_OK(store_merge(ours, theirs, &options, NULL));
    CHECK_EQ(is_installed ? 0 : 2,
             number_of(ours, "select count(*) from variant where parameters like '%\"band\":%\"vector\":%'"),
             "the document's order, installed %d", is_installed);
    check_whole(ours);
    store_close(ours);
    end_store(theirs, &c);
  }
}

/* The installed template has its parameters in another order since. The user's variants stay what they were. */
TEST(variants_follow_the_order_of_an_installed_template) {
  struct bench_case c;
  struct store *store = begin_store(&c);
  struct measurement found;
  case_tune(&c, store, 1, 2, 0.3);
  reorder_template(&c);
  case_put(&c, store, 512);
  check_whole(store);
  const struct variant_key variant = case_variant(&c, 1);
  CHECK_OK(store_find_measurement(store, case_run(&c, store, "580.1"), &variant, &found, NULL));
  case_tune(&c, store, 1, 2, 0.3);
  CHECK_EQ(2, number_of(store, "select count(*) from variant"), "no other variant");
  CHECK_EQ(2, number_of(store, "select count(*) from variant where parameters like '%\"band\":%\"vector\":%'"),
           "the new order");
  check_whole(store);
  end_store(store, &c);
}

/* A result of another variant with the same source, or with the same template and parameters, is a verdict about a
 * winner at once. */
TEST(a_result_is_about_all_variants_that_are_alike) {
  for (int has_source = 0; has_source < 2; has_source++) {
    struct bench_case c;
    struct store *store = begin_store(&c);
    case_tune(&c, store, 1, 1, 0.3);
    const struct variant_key source = case_variant(&c, has_source ? 1 : 2),
                             configuration = case_variant(&c, has_source ? 2 : 1);
    struct variant_key alike = configuration;
    struct measurement measurement = case_measurement(1);
    alike.source = source.source;
    struct template other = *c.template;
    other.hash.bytes[0] ^= 1;
    if (has_source) {
      alike.template = &other;
      alike.template_id = store_template(store, &other);
    }
    measurement.outcome = OUTCOME_WRONG;
    const int64_t run = case_run(&c, store, "580.1");
    CHECK_OK(store_measurement(store, run, &alike, &measurement, NULL));
    CHECK_OK(store_run_end(store, run, &case_end));
    CHECK_EQ(2, number_of(store, "select count(*) from variant"), "another variant");
    CHECK_EQ(0, current_us(store), "wrong, source %d", has_source);
    measurement.outcome = OUTCOME_MEASURED;
    CHECK_OK(store_measurement(store, case_run(&c, store, "580.1"), &alike, &measurement, NULL));
    CHECK_EQ(300, current_us(store), "right again, source %d", has_source);
    end_store(store, &c);
  }
}

/* A winner that a signer called wrong is back when the signer is forgotten, unless the user found the same. */
TEST(forget_takes_back_what_a_signer_called_wrong) {
  static const struct {
    const char *what;
    bool is_own_verdict, has_second;
    int want; /* the time of the current best in the end, in us; 0: none */
  } rows[] = {
      {"the only winner", false, false, 300},
      {"the user found the same", true, false, 0},
      {"a slower one answered meanwhile", false, true, 300},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct bench_case mine, other;
    struct store *theirs = begin_store(&other), *ours = begin_store(&mine);
    if (rows[i].has_second) case_tune(&mine, ours, 2, 1, 0.4);
    case_tune(&mine, ours, 1, 1, 0.3);
    sql(ours, "update run set seed = id, started = '2026-01-01T00:00:00.000Z', ended = '2026-01-01T01:00:00.000Z';"
              " update best set date = '2026-01-01T01:00:00.000Z'");
    if (rows[i].is_own_verdict) put_result(ours, &mine, 1, OUTCOME_WRONG, "2026-01-02T00:00:00.000Z");
    put_result(theirs, &other, 1, OUTCOME_WRONG, "2026-01-03T00:00:00.000Z");
    merge_signed(ours, theirs);
    CHECK_EQ(rows[i].has_second ? 400 : 0, current_us(ours), "%s: called wrong", rows[i].what);
    CHECK_OK(store_forget(ours, &of_signer, NULL));
    CHECK_EQ(rows[i].want, current_us(ours), "%s: forgotten", rows[i].what);
    check_whole(ours);
    end_store(theirs, &other);
    end_store(ours, &mine);
  }
}

/* A signer calls the user's winner wrong. The user measures the variant in another mode, and it is right. So the winner
 * is current at once, and stays it when the signer is forgotten. */
TEST(a_right_result_in_another_mode_brings_a_winner_back) {
  struct bench_case mine, other;
  struct store *theirs = begin_store(&other), *ours = begin_store(&mine);
  case_tune(&mine, ours, 2, 1, 0.4);
  case_tune(&mine, ours, 1, 1, 0.3);
  sql(ours, "update run set seed = id, started = '2026-01-01T00:00:00.000Z', ended = '2026-01-01T01:00:00.000Z';"
            " update best set date = '2026-01-01T01:00:00.000Z'");
  put_result(theirs, &other, 1, OUTCOME_WRONG, "2026-01-03T00:00:00.000Z");
  merge_signed(ours, theirs);
  CHECK_EQ(400, current_us(ours), "called wrong");
  const struct problem_key cold = {mine.device,   mine.stencil_id, DTYPE_F32, {{512, 256, 128}},
                                   LAUNCH_STREAM, CACHE_COLD,      false,     1};
  mine.problem = store_problem(ours, &cold);
  const int64_t run = case_run(&mine, ours, "580.1");
  const struct variant_key variant = case_variant(&mine, 1);
  const struct measurement right = case_measurement(1);
  CHECK_OK(store_measurement(ours, run, &variant, &right, NULL));
  CHECK_EQ(300, current_us(ours), "right in another mode");
  CHECK_OK(store_run_end(ours, run, &case_end));
  CHECK_OK(store_forget(ours, &of_signer, NULL));
  CHECK_EQ(300, current_us(ours), "and without the verdict");
  check_whole(ours);
  end_store(theirs, &other);
  end_store(ours, &mine);
}

/* To forget the run that found a variant to be wrong is to forget the verdict, also for other problems. */
TEST(a_verdict_is_forgotten_with_its_run) {
  struct bench_case c;
  struct device_facts second = case_device;
  struct store *store = begin_store(&c);
  case_tune(&c, store, 2, 1, 0.4);
  case_tune(&c, store, 1, 1, 0.3);
  snprintf(second.uuid, sizeof second.uuid, "GPU-2");
  const struct problem_key elsewhere = {store_device(store, &second, false),
                                        c.stencil_id,
                                        DTYPE_F32,
                                        {{512, 256, 128}},
                                        LAUNCH_STREAM,
                                        CACHE_STEADY,
                                        false,
                                        1};
  c.problem = store_problem(store, &elsewhere);
  put_result(store, &c, 1, OUTCOME_WRONG, "2099-01-01T00:00:00.000Z");
  CHECK_EQ(400, current_us(store), "wrong on another GPU of the model");
  CHECK_OK(store_forget(store, &(struct choice){.device = "GPU-2"}, NULL));
  CHECK_EQ(300, current_us(store), "the GPU is forgotten");
  check_whole(store);
  end_store(store, &c);
}

/* A winner that was wrong here stays wrong, whatever a signer's run says. */
TEST(a_signer_takes_back_no_verdict_of_the_user) {
  for (int has_second = 0; has_second < 2; has_second++) {
    struct bench_case mine, other;
    struct store *theirs = begin_store(&other), *ours = begin_store(&mine);
    if (has_second) case_tune(&mine, ours, 2, 1, 0.4);
    case_tune(&mine, ours, 1, 1, 0.3);
    sql(ours, "update run set seed = id, started = '2026-01-01T00:00:00.000Z', ended = '2026-01-01T01:00:00.000Z';"
              " update best set date = '2026-01-01T01:00:00.000Z'");
    put_result(ours, &mine, 1, OUTCOME_WRONG, "2026-01-02T00:00:00.000Z");
    case_tune(&other, theirs, 3, 1, 0.5);
    put_result(theirs, &other, 1, OUTCOME_MEASURED, "2026-01-03T00:00:00.000Z");
    sql(theirs, "update run set host = 'theirs', seed = id");
    merge_signed(ours, theirs);
    CHECK_EQ(has_second ? 400 : 500, current_us(ours), "still wrong, second %d", has_second);
    CHECK_OK(store_forget(ours, &of_signer, NULL));
    CHECK_EQ(has_second ? 400 : 0, current_us(ours), "forgotten, second %d", has_second);
    check_whole(ours);
    end_store(theirs, &other);
    end_store(ours, &mine);
  }
}

/* Somebody calls the user's winner wrong. Only the giver of this verdict and the user can take it back. */
TEST(who_takes_back_a_wrong_verdict) {
  enum who { NOBODY, USER, ALICE, ALICE_AGAIN, MALLORY, UNSIGNED, UNSIGNED_AGAIN };
  static const struct {
    const char *what;
    enum who giver, judge; /* who calls the winner wrong, who calls it right later */
    bool has_best;         /* a newer winner, not only a result */
    int64_t want;          /* whether the variant answers in the end */
  } rows[] = {
      {"nobody", ALICE, NOBODY, false, 0},
      {"the user measures it", ALICE, USER, false, 1},
      {"the user's newer winner", ALICE, USER, true, 1},
      {"Alice, in the same document", ALICE, ALICE, false, 1},
      {"Alice, in another document", ALICE, ALICE_AGAIN, false, 1},
      {"Alice's newer winner", ALICE, ALICE_AGAIN, true, 1},
      {"another signer", ALICE, MALLORY, false, 0},
      {"another signer's newer winner", ALICE, MALLORY, true, 0},
      {"a document that nobody signed", ALICE, UNSIGNED, false, 0},
      {"a newer winner that nobody signed", ALICE, UNSIGNED, true, 0},
      {"another document that nobody signed", UNSIGNED, UNSIGNED_AGAIN, false, 1},
      {"another newer winner that nobody signed", UNSIGNED, UNSIGNED_AGAIN, true, 1},
      {"a signer, of a document that nobody signed", UNSIGNED, MALLORY, false, 0},
  };
  static const struct merge_options options[] = {
      [ALICE] = {.origin = {"imported", "a.json", "alice", "0a", "1"}},
      [ALICE_AGAIN] = {.origin = {"imported", "a.json", "alice", "0a", "2"}},
      [MALLORY] = {.origin = {"imported", "m.json", "mallory", key, "3"}},
      [UNSIGNED] = {.origin = {"imported", "a.json", "", "", "4"}},
      [UNSIGNED_AGAIN] = {.origin = {"imported", "b.json", "", "", "5"}},
  };
  for (size_t i = 0; i < 2 * COUNT(rows); i++) {
    const bool is_judge_first = i >= COUNT(rows); /* the order of merges changes nothing */
    const size_t row = i % COUNT(rows);
    struct bench_case mine, alices, others;
    struct store *ours = begin_store(&mine), *alice = begin_store(&alices), *other = begin_store(&others);
    struct store *judge = rows[row].judge == USER ? ours : rows[row].judge == ALICE ? alice : other;
    struct bench_case *judges = rows[row].judge == USER ? &mine : rows[row].judge == ALICE ? &alices : &others;
    case_tune(&mine, ours, 1, 1, 0.3);
    sql(ours, "update run set started = '2026-01-01T00:00:00.000Z', ended = '2026-01-01T01:00:00.000Z';"
              " update best set date = '2026-01-01T01:00:00.000Z'");
    put_result(alice, &alices, 1, OUTCOME_WRONG, "2026-01-02T00:00:00.000Z");
    sql(alice, "update run set host = 'alice', seed = 70 + id");
    if (rows[row].judge != NOBODY && rows[row].has_best) {
      case_tune(judges, judge, 1, 1, 0.3);
      sql(judge, "delete from measurement where run_id = (select max(id) from run)");
      if (judge != ours)
        sql(judge, "update run set host = 'judge', seed = 80 + id, started = '2026-01-03T00:00:00.000Z';"
                   " update best set date = '2026-01-03T01:00:00.000Z'");
    } else if (rows[row].judge != NOBODY) {
      put_result(judge, judges, 1, OUTCOME_MEASURED, "2026-01-03T00:00:00.000Z");
      if (judge == other) sql(judge, "update run set host = 'judge', seed = 80 + id");
    }
    const bool has_judge = judge == other && rows[row].judge != NOBODY;
    if (has_judge && is_judge_first) CHECK_OK(store_merge(ours, other, &options[rows[row].judge], NULL));
    CHECK_OK(store_merge(ours, alice, &options[rows[row].giver], NULL));
    if (has_judge && !is_judge_first) CHECK_OK(store_merge(ours, other, &options[rows[row].judge], NULL));
    CHECK_EQ(rows[row].want, number_of(ours, "select count(*) from best where is_current and time_ms = 0.3"), "%s",
             rows[row].what);
    CHECK_EQ(
        rows[row].want,
        number_of(ours, "select count(*) from best b where is_current and time_ms = 0.3 and not " SQL_IS_REFUTED("b")),
        "%s: and it is not known to be wrong", rows[row].what);
    check_whole(ours);
    end_store(other, &others);
    end_store(alice, &alices);
    end_store(ours, &mine);
  }
}

/* A document claims the user's host, a later date, a complete run, an objective or an energy. None of these claims
 * takes the winner of the user, or of another signer, away. */
TEST(claims_take_no_winner_away) {
  static const char complete[] = "update run set state = 'complete'";
  static const struct {
    const char *what, *ours, *theirs;
    uint64_t variant; /* of the document; the winner is variant 1 */
    double time_ms;
    bool is_of_user_alone; /* only the user has an objective that counts first */
  } rows[] = {
      {"this host, with another driver", complete, "update best set driver = '2'; update run set driver = '2'", 2, 0.4,
       false},
      {"this host, with another NVRTC", complete, "update best set nvrtc = '14'; update run set nvrtc = '14'", 2, 0.4,
       false},
      {"this host, for another objective", complete, "update best set objective = 'energy', energy_mj = 1", 2, 0.4,
       false},
      {"the same variant, for another objective", complete, "update best set objective = 'energy', energy_mj = 1", 1,
       0.4, false},
      {"a complete run", "update run set state = 'partial'", complete, 2, 0.4, false},
      {"time, where the user ranks by energy", "update best set objective = 'energy', energy_mj = 100", complete, 2,
       0.1, true},
      {"another objective than that of the user", "update best set objective = 'energy', energy_mj = 100",
       "update best set objective = 'edp', energy_mj = 1", 2, 0.1, true},
  };
  static const struct merge_options alice = {.origin = {"imported", "a.json", "alice", "0a", ""}};
  for (size_t i = 0; i < 2 * COUNT(rows); i++) {
    const bool is_of_user = i < COUNT(rows);
    const size_t row = i % COUNT(rows);
    if (!is_of_user && rows[row].is_of_user_alone) continue;
    struct bench_case mine, other;
    struct store *theirs = begin_store(&other), *ours = begin_store(&mine), *to = ours;
    case_tune(&mine, ours, 1, 1, 0.3);
    sql(ours, "update run set started = '2026-01-01T00:00:00.000Z', host = 'mine';"
              " update best set date = '2026-01-01T01:00:00.000Z'");
    sql(ours, rows[row].ours);
    case_tune(&other, theirs, rows[row].variant, 1, rows[row].time_ms);
    sql(theirs, "update run set started = '2026-01-02T00:00:00.000Z', host = 'mine';"
                " update best set date = '2026-01-02T01:00:00.000Z'");
    sql(theirs, rows[row].theirs);
    if (!is_of_user) {
      CHECK_OK(store_open_memory(&to));
      CHECK_OK(store_merge(to, ours, &alice, NULL));
    }
    merge_signed(to, theirs);
    CHECK_EQ(1, number_of(to, "select count(*) from best where is_current and date like '2026-01-01%'"), "%s, %s",
             rows[row].what, is_of_user ? "against the user" : "against another signer");
    if (!is_of_user) store_close(to);
    end_store(theirs, &other);
    end_store(ours, &mine);
  }
}

/* The user measured the energy of variant 2, and later its time alone. A document claims less energy. */
TEST(a_claimed_energy_does_not_count_where_the_user_measured_it) {
  struct bench_case mine, other;
  struct store *theirs = begin_store(&other), *ours = begin_store(&mine);
  struct merge_counts counts;
  const struct merge_options options = {.origin = {"imported", "m.json", "mallory", key, ""}};
  case_tune(&mine, ours, 2, 1, 0.3);
  sql(ours, "update best set objective = 'energy', energy_mj = 120; update finalist set energy_mj = 120,"
            " energy_low_mj = 120, energy_high_mj = 120; update run set objective = 'energy', seed = 70,"
            " started = '2026-01-01T00:00:00.000Z'; update best set date = '2026-01-01T01:00:00.000Z'");
  case_tune(&mine, ours, 2, 1, 0.3);
  sql(ours, "delete from best where id = (select max(id) from best); update run set started ="
            " '2026-01-02T00:00:00.000Z', seed = 71 where seed <> 70");
  case_tune(&mine, ours, 1, 1, 0.4);
  sql(ours, "update best set objective = 'energy', energy_mj = 100, date = '2026-01-03T01:00:00.000Z' where"
            " id = (select max(id) from best); update best set is_current = energy_mj = 100");
  case_tune(&other, theirs, 2, 1, 0.3);
  sql(theirs, "update best set objective = 'energy', energy_mj = 1, date = '2026-01-04T01:00:00.000Z';"
              " update run set host = 'theirs', started = '2026-01-04T00:00:00.000Z'");
  CHECK_OK(store_merge(ours, theirs, &options, &counts));
  CHECK_EQ(1, number_of(ours, "select count(*) from best where is_current and energy_mj = 100"), "the user's winner");
  CHECK_EQ(0, counts.taken, "taken");
  end_store(theirs, &other);
  end_store(ours, &mine);
}

/* A document claims that its run was complete. The user's next run is cut short, but its winner is faster. */
TEST(a_claimed_complete_run_keeps_no_winner_of_the_user_away) {
  for (int is_own = 0; is_own < 2; is_own++) {
    struct bench_case mine, other;
    struct store *theirs = begin_store(&other), *ours = begin_store(&mine);
    const struct run_end cut_short = {false, "deadline", 0.002, 0.26, 0.27, "", NAN};
    const struct measurement measurement = case_measurement(1);
    int64_t winner = 0;
    if (is_own) case_tune(&mine, ours, 2, 1, 0.4);
    else case_tune(&other, theirs, 2, 1, 0.4);
    if (!is_own) merge_signed(ours, theirs);
    const int64_t run = case_run(&mine, ours, "580.1");
    const struct variant_key variant = case_variant(&mine, 1);
    CHECK_OK(store_measurement(ours, run, &variant, &measurement, &winner));
    const struct finalist finalist = {winner, 1,  {3, 0.3, 0.3, 0.3, 0.3, case_samples}, 1, 1, 1, true, false, NAN,
                                      NAN,    NAN};
    const struct best best = case_best(&mine, run, winner, 1, 0.3);
    CHECK_OK(store_final(ours, run, &finalist, 1, &best, &cut_short, NULL));
    CHECK_EQ(is_own ? 400 : 300, current_us(ours), "%s", is_own ? "the user's complete run" : "the claim");
    end_store(theirs, &other);
    end_store(ours, &mine);
  }
}

/* Where a signer's winner is removed, the user's last winner is back, not an older and faster one of another driver. */
TEST(forget_chooses_as_a_merge_does) {
  struct bench_case mine, other;
  struct store *theirs = begin_store(&other), *ours = begin_store(&mine);
  case_tune(&mine, ours, 1, 1, 0.3);
  sql(ours, "update best set date = '2026-01-01T00:00:00.000Z', driver = '570.1'; update run set driver = '570.1',"
            " started = '2026-01-01T00:00:00.000Z'");
  case_tune(&mine, ours, 2, 1, 0.4);
  CHECK_EQ(400, current_us(ours), "another driver");
  case_tune(&other, theirs, 3, 1, 0.1);
  sql(theirs, "update run set host = 'theirs'");
  merge_signed(ours, theirs);
  CHECK_EQ(100, current_us(ours), "faster");
  CHECK_OK(store_forget(ours, &of_signer, NULL));
  CHECK_EQ(400, current_us(ours), "as before");
  end_store(theirs, &other);
  end_store(ours, &mine);
}

/* A signer's newer result of this user's winner does not take the winner's place, whatever its time: a lookup would
 * then say the time that the signer claims, and no winner of this user would hide the signer's other rows. */
TEST(a_signers_newer_row_of_the_winner_is_history) {
  struct bench_case mine, other;
  struct store *theirs = begin_store(&other), *ours = begin_store(&mine);
  case_tune(&mine, ours, 2, 1, 0.4);
  case_tune(&mine, ours, 1, 1, 0.3);
  sql(ours, "update best set date = '2026-01-01T00:00:00.000Z'");
  CHECK_EQ(300, current_us(ours), "the winner");
  case_tune(&other, theirs, 1, 1, 0.9);
  sql(theirs, "update best set date = '2026-01-02T00:00:00.000Z'; update run set host = 'theirs'");
  merge_signed(ours, theirs);
  CHECK_EQ(3, number_of(ours, "select count(*) from best"), "the signer's row is there");
  CHECK_EQ(300, current_us(ours), "the winner");
  CHECK_OK(store_forget(ours, &of_signer, NULL));
  CHECK_EQ(300, current_us(ours), "the winner still");
  end_store(theirs, &other);
  end_store(ours, &mine);
}

/* A signer's rows without results go with the signer. A GPU, a stencil or a text changes answers by name on its own. */
TEST(forget_takes_what_a_signer_brought_without_results) {
  static const char *const left[] = {"device", "stencil", "stencil_text", "template", "variant", "problem"};
  struct bench_case mine, other;
  struct store *theirs = begin_store(&other), *ours = begin_store(&mine);
  struct forget_counts counts;
  case_tune(&mine, ours, 1, 1, 0.3);
  case_tune(&other, theirs, 1, 1, 0.3);
  sql(theirs, "delete from finalist; delete from measurement; delete from best; delete from run; delete from problem;"
              " update device set uuid = 'GPU-h200', name = 'h200'; update stencil set name = 'star7b';"
              " update template set hash = 'other'; update variant set source_hash = 'other'");
  merge_signed(ours, theirs);
  CHECK_EQ(2, number_of(ours, "select count(*) from device"), "their GPU came");
  CHECK_OK(store_forget_count(ours, &of_signer, NULL, &counts));
  CHECK_EQ(0, counts.runs + counts.bests + counts.predictions, "no results");
  CHECK_EQ(true, counts.alone > 0, "rows without results");
  CHECK_OK(store_forget(ours, &of_signer, NULL));
  for (size_t i = 0; i < COUNT(left); i++) {
    char text[128];
    snprintf(text, sizeof text, "select count(*) from %s", left[i]);
    CHECK_EQ(1, number_of(ours, text), "%s: the user's alone", left[i]);
  }
  CHECK_OK(store_forget_count(ours, &of_signer, NULL, &counts));
  CHECK_EQ(0, counts.alone, "nothing is left");
  check_whole(ours);
  end_store(theirs, &other);
  end_store(ours, &mine);
}

struct told {
  long varying;
};

static void keep_varying(void *context, const struct merge_met *met) {
  ((struct told *)context)->varying = met->varying;
}

static long merge_from_bob(struct store *to, struct store *from) {
  struct told told = {0};
  const struct merge_options options = {
      .origin = {"imported", "b.json", "bob", "08", ""}, .met = keep_varying, .context = &told};
  CHECK_OK(store_merge(to, from, &options, NULL));
  return told.varying;
}

/* A signer gives other clocks for a GPU, or another text of a template, than bob, who has results there. These do not
 * stay when the signer is forgotten. */
TEST(what_a_signer_says_of_a_gpu_or_template_can_be_forgotten) {
  enum { ALONE = 1, WITH_RESULTS, AFTER_BOB, AFTER_THE_USER };
  static const struct {
    const char *what;
    int when;
    bool is_template;
    long told, left; /* when bob's document comes; GPUs and templates that stay when the signer is forgotten */
    bool is_bobs_first, is_bobs_then;
  } rows[] = {
      {"a GPU without results", ALONE, false, 0, 1, true, true},
      {"a GPU with results", WITH_RESULTS, false, 1, 2, false, true},
      {"a GPU that bob gave before", AFTER_BOB, false, 0, 0, true, true},
      {"a GPU of the user", AFTER_THE_USER, false, 0, 0, false, false},
      {"a template without results", ALONE, true, 0, 1, true, true},
      {"a template with results", WITH_RESULTS, true, 1, 2, false, true},
      {"a template that bob gave before", AFTER_BOB, true, 0, 0, true, true},
      {"a template of the user", AFTER_THE_USER, true, 0, 0, false, false},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct bench_case of_bob, other, mine;
    struct store *bob = begin_store(&of_bob), *theirs, *ours;
    long left = -1;
    const char *const is_bobs = rows[i].is_template
                                    ? "select instr(yaml, ' vector: {') < instr(yaml, ' block_x: {') from template"
                                    : "select memory_clock_khz = 7 from device";
    case_load(&other);
    CHECK_OK(store_open_memory(&theirs));
    if (rows[i].is_template) reorder_template(&other);
    case_put(&other, theirs, 512);
    case_tune(&other, theirs, 2, 1, 0.2);
    sql(theirs, "update run set host = 'theirs'");
    if (!rows[i].is_template) sql(bob, "update device set memory_clock_khz = 7");
    if (rows[i].when == ALONE)
      sql(theirs, "delete from finalist; delete from measurement; delete from best; delete from run");
    case_tune(&of_bob, bob, 1, 1, 0.3);
    CHECK_OK(store_open_memory(&ours));
    case_load(&mine);
    if (rows[i].when == AFTER_THE_USER) {
      if (rows[i].is_template) reorder_template(&mine);
      case_put(&mine, ours, 512);
      case_tune(&mine, ours, 3, 1, 0.5);
    }
    if (rows[i].when == AFTER_BOB) merge_from_bob(ours, bob);
    merge_signed(ours, theirs);
    CHECK_EQ(rows[i].told, merge_from_bob(ours, bob), "%s: told", rows[i].what);
    CHECK_EQ(rows[i].is_bobs_first, number_of(ours, is_bobs), "%s", rows[i].what);
    check_whole(ours);
    CHECK_OK(store_forget(ours, &of_signer, NULL));
    CHECK_OK(varying_count_left(ours, "mallory", &left));
    CHECK_EQ(rows[i].left, left, "%s: left", rows[i].what);
    CHECK_EQ(0, merge_from_bob(ours, bob), "%s: told again", rows[i].what);
    CHECK_EQ(rows[i].is_bobs_then, number_of(ours, is_bobs), "%s: then", rows[i].what);
    CHECK_EQ(1, number_of(ours, "select count(distinct template_id) from variant"), "%s: one template", rows[i].what);
    check_whole(ours);
    case_free(&mine);
    store_close(ours);
    end_store(bob, &of_bob);
    end_store(theirs, &other);
  }
}

/* What another signer brought without a result stays: a GPU that answers by its name, and a problem on it. */
TEST(forget_leaves_what_others_brought_without_results) {
  static const struct merge_options from_bob = {.origin = {"imported", "b.json", "bob", "08", ""}};
  static const char only_a_gpu[] = "delete from finalist; delete from measurement; delete from best; delete from run;"
                                   " delete from variant; delete from template; update device set uuid = 'GPU-foo',"
                                   " name = 'NVIDIA FOO 900'";
  for (int is_used = 0; is_used < 2; is_used++) {
    struct bench_case of_bob, other;
    struct store *theirs = begin_store(&other), *bob = begin_store(&of_bob), *ours;
    CHECK_OK(store_open_memory(&ours));
    sql(bob, only_a_gpu);
    CHECK_OK(store_merge(ours, bob, &from_bob, NULL));
    case_tune(&other, theirs, 1, 1, 0.3);
    if (is_used) sql(theirs, "update device set uuid = 'GPU-foo', name = 'NVIDIA FOO 900'");
    merge_signed(ours, theirs);
    CHECK_EQ(is_used ? 1 : 2, number_of(ours, "select count(*) from device"), "GPUs");
    CHECK_OK(store_forget(ours, &of_signer, NULL));
    CHECK_EQ(0, number_of(ours, "select count(*) from run") + number_of(ours, "select count(*) from template"), "gone");
    CHECK_EQ(1,
             number_of(ours, "select count(*) from problem p join device d on d.id = p.device_id where d.name ="
                             " 'NVIDIA FOO 900'"),
             "the GPU and its problem, used %d", is_used);
    CHECK_EQ(1, number_of(ours, "select count(*) from device") * number_of(ours, "select count(*) from stencil_text"),
             "with its stencil's text");
    check_whole(ours);
    store_close(ours);
    end_store(bob, &of_bob);
    end_store(theirs, &other);
  }
}

/* All texts, sources and codes of the document are trusted already. What it makes of them is not. */
TEST(known_parts_in_another_place_are_shown_as_new) {
  static const struct {
    const char *what, *change, *kind;
    int fresh, known;
  } rows[] = {
      {"the same", "", "code", 0, 2},
      {"the same", "", "winner", 0, 2},
      {"the same", "", "wrong", 0, 0},
      {"code of another source", "update best set cubin = cast('code of ' || (3 - id) as blob)", "code", 2, 0},
      {"code of another architecture", "update best set arch = 'sm_80' where id = 1", "code", 1, 1},
      {"another launch", "update best set launch = json_set(launch, '$.shared_bytes', 16) where id = 1", "winner", 1,
       1},
      {"another grid", "update problem set nx = 513", "winner", 2, 0},
      {"other parameters", "update variant set parameters = json_set(parameters, '$.vector', 2) where id = 1", "winner",
       1, 1},
      {"a verdict", "update measurement set outcome = 'wrong' where id = 1", "wrong", 1, 0},
      {"out of bounds", "update measurement set outcome = 'out_of_bounds'", "wrong", 2, 0},
      {"a failure that may be chance", "update measurement set outcome = 'crashed'", "wrong", 0, 0},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct store *stores[2];
    struct bench_case cases[2];
    for (int k = 0; k < 2; k++) {
      stores[k] = begin_store(&cases[k]);
      case_tune(&cases[k], stores[k], 1, 1, 0.3);
      case_tune(&cases[k], stores[k], 2, 1, 0.2);
      sql(stores[k], "update best set cubin = cast('code of ' || id as blob)");
    }
    sql(stores[1], rows[i].change);
    struct content_known *known;
    struct counted counted = {rows[i].kind, 0, 0};
    CHECK_OK(content_known_read(stores[0], &known));
    CHECK_OK(content_each(stores[1], known, "imported ", count_kind, &counted));
    content_known_free(known);
    CHECK_EQ(rows[i].fresh, counted.fresh, "%s: new %s", rows[i].what, rows[i].kind);
    CHECK_EQ(rows[i].known, counted.known, "%s: known %s", rows[i].what, rows[i].kind);
    for (int k = 0; k < 2; k++) end_store(stores[k], &cases[k]);
  }
}

/* Make a second text, and in the table `newer` a newer winner of it. */
#define SECOND_TEXT                                                                                     \
  "update best set date = '2026-01-01T00:00:00.000Z';"                                                  \
  " insert into stencil_text select 9, stencil_id, 'newer', text, origin_id from stencil_text limit 1;" \
  " create temp table newer as select * from best limit 1;"                                             \
  " update newer set id = 9, text_id = 9, date = '2026-01-02T00:00:00.000Z';"

/* Make the first variant wrong at a date. */
#define VERDICT(date)                                             \
  "update run set started = '" date "T00:00:00.000Z', seed = id;" \
  " update measurement set outcome = 'wrong', at_s = 0 where id = 1"

/* Run 1 ends at this hour. It says that it measured the variant after that. */
#define END(hour)                                                           \
  "; update run set ended = '2026-01-03T" hour ":00:00.000Z' where id = 1;" \
  " update measurement set at_s = 36000 where id = 1"

/* Rows of an imported file. */
#define GIVEN_BY(key)                                                                                       \
  "; insert into origin (id, kind, name, date, signer_key) values (9, 'imported', 'other', '', '" key "');" \
  " update run set origin_id = 9"

/* The variant is wrong on the GPU of another model, and has been measured again on this one. */
#define OTHER_MODEL                                                                                             \
  "; create temp table d as select * from device; update d set id = 9, uuid = 'GPU-9', name = 'other';"         \
  " insert into device select * from d; create temp table p as select * from problem;"                          \
  " update p set id = 9, device_id = 9; insert into problem select * from p;"                                   \
  " create temp table r as select * from run where id = 1; update r set id = 9, problem_id = 9, seed = 9;"      \
  " insert into run select * from r; update r set id = 8, problem_id = 1, seed = 8,"                            \
  " started = '2026-01-05T00:00:00.000Z', ended = '2026-01-05T01:00:00.000Z'; insert into run select * from r;" \
  " create temp table m as select * from measurement where id = 1; update m set id = 109, run_id = 9;"          \
  " insert into measurement select * from m; update m set id = 108, run_id = 8, outcome = 'measured';"          \
  " insert into measurement select * from m"

/* Rows that change an answer although all texts, sources and winners of the document are trusted already. */
TEST(what_would_answer_anew_is_shown_as_new) {
  static const char newer_text[] = SECOND_TEXT " update best set is_current = 0; insert into best select * from newer";
  static const char slower_text[] =
      SECOND_TEXT " update newer set is_current = 0; insert into best select * from newer";
  static const char their_text[] = "update stencil_text set hash = 'newer'";
  static const char is_wrong[] = "update measurement set outcome = 'wrong' where id = 1";
  static const char is_close[] = "update finalist set rank = 2, ratio = 0.9 where variant_id = 1";
  static const struct {
    const char *what, *ours, *theirs, *kind;
    int fresh, known;
  } rows[] = {
      {"no verdict", "", "", "right", 0, 0},
      {"a verdict that the document lifts", is_wrong, "", "right", 1, 0},
      {"one that both have", is_wrong, is_wrong, "right", 0, 0},
      {"a finalist", "", is_close, "finalist", 1, 0},
      {"the same here", is_close, is_close, "finalist", 0, 1},
      {"the same, wrong here", "update finalist set rank = 2; update measurement set outcome = 'wrong'", is_close,
       "finalist", 1, 0},
      {"finalists that won", "", "", "finalist", 0, 0},
      {"a GPU of the same facts", "", "update device set clock_khz = 1, memory_bytes = 1", "device", 0, 1},
      {"one of other facts", "", "update device set max_threads = 32", "device", 1, 0},
      {"a second one", "",
       "insert into device select 9, 'h200', name, capability, sm_count, clock_khz, memory_clock_khz, bus_bits, l2_bytes,"
       " memory_bytes, max_threads, max_threads_sm, max_registers, registers_sm, max_shared_bytes, warp_size, is_emulation, origin_id from device",
       "device", 1, 1},
      {"the text that answers", "", "", "stencil", 0, 1},
      {"a stencil without a text", "",
       "insert into stencil select 9, printf('%064x', 9), 'other', origin_id from stencil", "stencil", 1, 1},
      {"an earlier text", newer_text, "", "stencil", 1, 0},
      {"the text of a newer row that is history", slower_text, their_text, "stencil", 1, 0},
      {"the text that answers beside it", slower_text, "", "stencil", 0, 1},
      {"a verdict", VERDICT("2026-01-03"), VERDICT("2026-01-03"), "wrong", 0, 1},
      {"a later one", VERDICT("2026-01-03"), VERDICT("2026-01-04"), "wrong", 1, 0},
      {"one that a later end of its run makes later", VERDICT("2026-01-03") END("01"), VERDICT("2026-01-03") END("02"),
       "wrong", 1, 0},
      {"one of a run with that end", VERDICT("2026-01-03") END("01"), VERDICT("2026-01-03") END("01"), "wrong", 0, 1},
      {"one of the same giver", VERDICT("2026-01-03") GIVEN_BY(""), VERDICT("2026-01-03"), "wrong", 0, 1},
      {"one of another giver", VERDICT("2026-01-03") GIVEN_BY("aa"), VERDICT("2026-01-03"), "wrong", 1, 0},
      {"one that holds on another model alone", VERDICT("2026-01-03") OTHER_MODEL, VERDICT("2026-01-03"), "wrong", 1,
       0},
      {"right, with another source", is_wrong, "update variant set source_hash = 'other'", "right", 1, 0},
      {"right, of another template", is_wrong, "update template set hash = 'other'", "right", 1, 0},
      {"right, under another name", is_wrong, "update stencil set name = 'other'", "right", 0, 0},
      {"right, of another source and template", is_wrong,
       "update variant set source_hash = 'other'; update template set hash = 'other'", "right", 0, 0},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct bench_case mine, other;
    struct store *theirs = begin_store(&other), *ours = begin_store(&mine);
    struct content_known *known;
    struct counted counted = {rows[i].kind, 0, 0};
    for (int k = 1; k <= 2; k++) {
      case_tune(&mine, ours, (uint64_t)k, 1, 0.3);
      case_tune(&other, theirs, (uint64_t)k, 1, 0.3);
    }
    sql(ours, rows[i].ours);
    sql(theirs, rows[i].theirs);
    CHECK_OK(content_known_read(ours, &known));
    CHECK_OK(content_each(theirs, known, "imported ", count_kind, &counted));
    content_known_free(known);
    CHECK_EQ(rows[i].fresh, counted.fresh, "%s: new", rows[i].what);
    CHECK_EQ(rows[i].known, counted.known, "%s: known", rows[i].what);
    end_store(theirs, &other);
    end_store(ours, &mine);
  }
}

/* This user measured the time of the first variant, and then the energy of the second one. A document claims that the
 * first one needs next to none. */
TEST(a_claimed_energy_does_not_count_beside_an_own_time) {
  for (int is_own = 0; is_own < 2; is_own++) {
    struct bench_case mine, other;
    struct store *theirs = begin_store(&other), *ours = begin_store(&mine);
    if (is_own) case_tune(&mine, ours, 1, 1, 0.3);
    case_tune(&mine, ours, 2, 1, 0.4);
    sql(ours, "update run set started = '2026-01-0' || id || 'T00:00:00.000Z', ended = null, state = 'complete';"
              " update best set date = '2026-01-0' || id || 'T01:00:00.000Z';"
              " update best set objective = 'energy', energy_mj = 5 where id = (select max(id) from best)");
    case_tune(&other, theirs, 1, 1, 0.3);
    sql(theirs, "update run set host = 'theirs', started = '2026-01-04T00:00:00.000Z';"
                " update best set date = '2026-01-04T01:00:00.000Z', objective = 'energy', energy_mj = 1e-9");
    merge_signed(ours, theirs);
    CHECK_EQ(is_own ? 400 : 300, current_us(ours), "with an own time: %d", is_own);
    end_store(theirs, &other);
    end_store(ours, &mine);
  }
}

/* Make 300 bests of one variant. */
static const char many_bests_sql[] =
    "create temp table b as select * from best; create temp table p as select * from problem;"
    " create temp table numbers as with recursive n (i) as (select 2 union all select i + 1 from n where i < 300) select i from n;"
    " insert into problem select numbers.i, device_id, stencil_id, dtype, 512 + numbers.i, ny, nz, launch, cache,"
    " is_reproducible, origin_id, steps from p, numbers;"
    " update b set run_id = null, cubin = zeroblob(0), source = '';"
    " create temp table many as select b.*, numbers.i from b, numbers; update many set id = i, problem_id = i;"
    " alter table many drop column i; insert into best select * from many";

/* The text of a template is read once for all bests of it, also if it cannot be parsed. A long text that is read again
 * for each row, one from which each row's source is generated, and one that is longer than a template's file may be,
 * end the check: a file of some MB would be checked for hours. */
TEST(one_long_text_of_many_rows) {
  static const struct {
    const char *change, *message;
    bool is_refused;
  } rows[] = {
      {"update template set cuda = cuda || printf('// %50000c\n', 'x')", NULL, false},
      {"update template set yaml = yaml || printf('# %500000c\n', 'x')", NULL, false},
      {"update template set yaml = yaml || printf('# %500000c\n', 'x') || 'oops: 1'", NULL, true},
      {"update stencil_text set text = text || printf('# %500000c\n', 'x') || 'oops: 1'", NULL, true},
      {"update stencil_text set text = text || printf('# %200000c\n', 'x')", "many rows name one long text", false},
      {"update variant set parameters = parameters || printf('%2000000c', ' ')", "many rows name one long text", false},
      {"update template set cuda = cuda || printf('// %1000000c\n', 'x')", "many rows name one long text", false},
      {"update template set yaml = yaml || printf('# %2000000c\n', 'x')", "at most 1048576 are allowed", false},
      {"update template set cuda = cuda || printf('// %2000000c\n', 'x')", "at most 1048576 are allowed", false},
      {"update stencil_text set text = text || printf('# %2000000c\n', 'x')", "at most 1048576 are allowed", false},
  };
  long before = -1;
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct bench_case c;
    struct store *store = begin_store(&c);
    char first[512] = "";
    long found = 0;
    case_tune(&c, store, 1, 1, 0.3);
    sql(store, many_bests_sql);
    CHECK_EQ(300, number_of(store, "select count(*) from best"), "bests");
    if (before < 0) CHECK_OK(store_check(store, keep_text, first, &before));
    sql(store, rows[i].change);
    CHECK_EQ(rows[i].message ? HALOTUNE_DB : HALOTUNE_OK, store_check(store, keep_text, first, &found), "%s: %s",
             rows[i].change, first);
    if (rows[i].message) CHECK(strstr(fail_text(), rows[i].message), "%s: %s", rows[i].change, fail_text());
    else if (rows[i].is_refused) CHECK(found > 0, "%s", rows[i].change);
    else CHECK_EQ(before, found, "%s: %s", rows[i].change, first);
    end_store(store, &c);
  }
}

/* A document says that a variant of this user takes 10 ns. The user's own time of it counts against other variants, in
 * the next run and in the next merge. */
TEST(a_claimed_time_keeps_no_own_winner_away) {
  static const struct {
    const char *what;
    double time_ms;
    int64_t want_us;
  } rows[] = {{"slower than the user's own time", 0.35, 300}, {"faster than the user's own time", 0.25, 250}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct bench_case c, other;
    struct store *store = begin_store(&c), *from = begin_store(&other);
    case_tune(&c, store, 1, 1, 0.3);
    case_tune(&other, from, 1, 1, 0.3);
    sql(store,
        "update run set started = '2026-01-01T00:00:00.000Z'; update best set date = '2026-01-01T00:00:01.000Z'");
    sql(from, "update run set started = '2026-01-02T00:00:00.000Z'; update best set date = '2026-01-02T00:00:01.000Z',"
              " time_ms = 1e-5, low_ms = 1e-5, high_ms = 1e-5");
    merge_signed(store, from);
    CHECK_EQ(300, current_us(store), "%s: this user's own row", rows[i].what);
    case_tune(&c, store, 2, 1, rows[i].time_ms);
    CHECK_EQ(rows[i].want_us, current_us(store), "%s", rows[i].what);
    merge_signed(store, from);
    CHECK_EQ(rows[i].want_us, current_us(store), "%s: after another merge", rows[i].what);
    CHECK_EQ(1, number_of(store, "select count(*) from best where is_current"), "%s", rows[i].what);
    check_whole(store);
    end_store(from, &other);
    end_store(store, &c);
  }
}

/* The final rounds of a run measured the winner of an earlier run, which lost, although it was faster on that earlier
 * day. Neither a merge nor `db forget` chooses otherwise. */
TEST(a_merge_keeps_what_final_rounds_decided) {
  struct bench_case c, other;
  struct store *store = begin_store(&c), *from = begin_store(&other);
  const int64_t earlier = case_tune(&c, store, 1, 1, 0.3);
  sql(store, "update run set started = '2026-01-01T00:00:00.000Z'; update best set date = '2026-01-01T00:00:01.000Z'");
  const int64_t run = case_run(&c, store, "580.1");
  struct measurement measurement = case_measurement(1);
  struct variant_key second = case_variant(&c, 2);
  int64_t variant = 0;
  CHECK_OK(store_measurement(store, run, &second, &measurement, &variant));
  const struct finalist finalists[] = {
      {variant, 1, {3, 0.32, 0.32, 0.32, 0.32, case_samples}, 1, 1, 1, true, false, NAN, NAN, NAN},
      {earlier, 2, {3, 0.33, 0.33, 0.33, 0.33, case_samples}, 1.03, 1.03, 1.03, false, false, NAN, NAN, NAN}};
  struct best best = case_best(&c, run, variant, 2, 0.32);
  CHECK_OK(store_final(store, run, finalists, 2, &best, &case_end, NULL));
  CHECK_EQ(320, current_us(store), "after the final rounds");
  case_tune(&other, from, 3, 1, 0.5);
  sql(from, "update run set host = 'theirs'");
  merge_signed(store, from);
  CHECK_EQ(320, current_us(store), "after a merge");
  CHECK_OK(store_forget(store, &of_signer, NULL));
  CHECK_EQ(320, current_us(store), "after the signer is forgotten");
  check_whole(store);
  end_store(from, &other);
  end_store(store, &c);
}

/* A complete run, one with another driver, and then a partial one with the first driver: the partial one loses against
 * the first, and makes no other history. */
TEST(a_partial_winner_leaves_a_winner) {
  static const char *const changes[] = {
      "update best set date = '2026-01-01T00:00:00.000Z'",
      "update best set date = '2026-01-02T00:00:00.000Z', driver = '2' where date > '2026-01-01T00:00:00.000Z'",
      ("update best set date = '2026-01-03T00:00:00.000Z' where date > '2026-01-02T00:00:00.000Z';"
       " update run set state = 'partial' where id = (select max(id) from run)")};
  struct bench_case c, other;
  struct store *store = begin_store(&c), *from = begin_store(&other);
  for (size_t i = 0; i < COUNT(changes); i++) {
    case_tune(&c, store, 1 + i, 1, 0.3 + 0.1 * (double)i);
    sql(store, changes[i]);
  }
  case_tune(&other, from, 9, 1, 0.9);
  sql(from, "update run set host = 'theirs'");
  merge_signed(store, from);
  CHECK_EQ(400, current_us(store), "the run with the second driver");
  check_whole(store);
  end_store(from, &other);
  end_store(store, &c);
}

/* 2,000 wrong verdicts about a variant are older than 2,000 others, which say that it is right. What is known to be
 * wrong is found with some steps of SQLite for each verdict, not for each pair. */
TEST(many_verdicts_take_a_step_each) {
  static const char verdicts_sql[] =
      "create temp table r as select * from run; create temp table m as select * from measurement;"
      " create temp table numbers as with recursive n (i) as (select 2 union all select i + 1 from n where i < 4000) select i from n;"
      " create temp table runs as select r.*, i from r, numbers; update runs set id = i, seed = i, started = iif(i <= 2000,"
      " '2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'); alter table runs drop column i; insert into run select * from runs;"
      " create temp table rows as select m.*, i from m, numbers; update rows set id = i, run_id = i, outcome = iif(i <= 2000,"
      " 'wrong', 'measured'); alter table rows drop column i; insert into measurement select * from rows";
  static const struct {
    const char *sql;
    long want;
  } rows[] = {
      {"select count(*) from (" SQL_REFUTED_VARIANTS ")", 0},
      {"select count(*) from best b where " SQL_IS_REFUTED("b"), 0},
      {"select count(*) from best b where not " SQL_IS_REFUTED("b"), 1},
  };
  struct bench_case c;
  struct store *store = begin_store(&c);
  case_tune(&c, store, 1, 1, 0.3);
  sql(store, "update run set started = '2025-01-01T00:00:00.000Z'; update best set date = '2025-01-01T00:00:00.000Z'");
  sql(store, verdicts_sql);
  for (size_t i = 0; i < COUNT(rows); i++) {
    sqlite3_stmt *query = NULL;
    CHECK_OK(query_prepare(store_connection(store), rows[i].sql, &query));
    CHECK_EQ(SQLITE_ROW, sqlite3_step(query), "%zu", i);
    CHECK_EQ(rows[i].want, sqlite3_column_int64(query, 0), "%zu", i);
    const int steps = sqlite3_stmt_status(query, SQLITE_STMTSTATUS_VM_STEP, 0);
    CHECK(steps < 4000 * 500, "%zu: %d steps", i, steps);
    sqlite3_finalize(query);
  }
  end_store(store, &c);
}

/* The variants of all templates are read in one pass, in the order of their templates. */
TEST(variants_of_each_template_are_checked) {
  static const struct {
    const char *change;
    long want;
  } rows[] = {
      {"", 0},
      {"update variant set parameters = '{\"none\":1}' where id = 1", 1},
      {"update variant set parameters = '{\"none\":1}'", 4},
      {"update variant set template_id = 2 where id in (1, 3)", 0},
      {"update variant set template_id = 2 where id in (1, 3); update variant set parameters = '{\"none\":1}' where id < 3",
       2},
      {"update variant set template_id = 2, parameters = '{\"none\":1}'", 4},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct bench_case c;
    struct store *store = begin_store(&c);
    char first[512] = "";
    long found = 0;
    for (uint64_t v = 1; v <= 4; v++) put_result(store, &c, v, OUTCOME_MEASURED, "2026-01-01T00:00:00.000Z");
    sql(store, "insert into template select 2, hash || 'x', common_hash, 'other', yaml, cuda, origin_id from template");
    CHECK_OK(store_check(store, keep_text, first, &found));
    const long before = found;
    sql(store, rows[i].change);
    CHECK_OK(store_check(store, keep_text, first, &found));
    CHECK_EQ(rows[i].want, found - before, "%s: %s", rows[i].change, first);
    end_store(store, &c);
  }
}

/* What was disproved here would count again, if a document says that it is newer. */
TEST(what_was_disproved_is_shown_as_new) {
  static const struct {
    const char *what, *kind;
    enum outcome theirs, ours[2]; /* what the document says of the first variant, and what is found here, in turn */
    int fresh, known;
    int want; /* 1000 times the time of the current best after the merge */
  } rows[] = {
      {"a winner that is wrong here", "winner", OUTCOME_MEASURED, {OUTCOME_WRONG, OUTCOME_WRONG}, 1, 1, 400},
      {"one that is right again", "winner", OUTCOME_MEASURED, {OUTCOME_WRONG, OUTCOME_MEASURED}, 0, 2, 300},
      {"a later one than what holds here", "wrong", OUTCOME_WRONG, {OUTCOME_MEASURED, OUTCOME_WRONG}, 1, 0, 400},
      {"one that does not hold", "wrong", OUTCOME_WRONG, {OUTCOME_WRONG, OUTCOME_MEASURED}, 1, 0, 400},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct bench_case mine, other;
    struct store *theirs = begin_store(&other), *ours = begin_store(&mine);
    struct content_known *known;
    struct counted counted = {rows[i].kind, 0, 0};
    case_tune(&mine, ours, 1, 1, 0.3);
    case_tune(&mine, ours, 2, 1, 0.4);
    sql(ours, "update run set started = '2026-01-01T00:00:00.000Z', ended = '2026-01-01T01:00:00.000Z';"
              " update best set date = '2026-01-01T01:00:00.000Z'");
    put_result(ours, &mine, 1, rows[i].ours[0], "2026-01-02T00:00:00.000Z");
    put_result(ours, &mine, 1, rows[i].ours[1], "2026-01-03T00:00:00.000Z");
    if (rows[i].theirs == OUTCOME_MEASURED) {
      case_tune(&other, theirs, 1, 1, 0.3);
      case_tune(&other, theirs, 2, 1, 0.4);
    } else {
      put_result(theirs, &other, 1, rows[i].theirs, "2026-01-04T00:00:00.000Z");
    }
    sql(theirs, "update run set host = 'theirs', seed = id"); /* no two runs have one key */
    CHECK_OK(content_known_read(ours, &known));
    CHECK_OK(content_each(theirs, known, "imported ", count_kind, &counted));
    content_known_free(known);
    CHECK_EQ(rows[i].fresh, counted.fresh, "%s: new", rows[i].what);
    CHECK_EQ(rows[i].known, counted.known, "%s: known", rows[i].what);
    merge_signed(ours, theirs);
    CHECK_EQ(rows[i].want, current_us(ours), "%s: what answers", rows[i].what);
    end_store(theirs, &other);
    end_store(ours, &mine);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_document_names_no_variant_of_the_user),
      cmocka_unit_test(only_own_results_are_those_of_earlier_runs),
      cmocka_unit_test(own_parameters_of_one_source_share_a_variant),
      cmocka_unit_test(a_variant_of_the_same_parameters_goes_first),
      cmocka_unit_test(another_order_of_parameters_makes_no_other_variant),
      cmocka_unit_test(a_document_gives_an_installed_template_no_other_order),
      cmocka_unit_test(variants_follow_the_order_of_an_installed_template),
      cmocka_unit_test(the_driver_says_what_a_gpu_is),
      cmocka_unit_test(another_model_of_a_uuid_is_another_device),
      cmocka_unit_test(a_result_is_about_all_variants_that_are_alike),
      cmocka_unit_test(forget_takes_back_what_a_signer_called_wrong),
      cmocka_unit_test(a_right_result_in_another_mode_brings_a_winner_back),
      cmocka_unit_test(a_verdict_is_forgotten_with_its_run),
      cmocka_unit_test(a_signer_takes_back_no_verdict_of_the_user),
      cmocka_unit_test(who_takes_back_a_wrong_verdict),
      cmocka_unit_test(claims_take_no_winner_away),
      cmocka_unit_test(a_claimed_energy_does_not_count_where_the_user_measured_it),
      cmocka_unit_test(a_claimed_complete_run_keeps_no_winner_of_the_user_away),
      cmocka_unit_test(forget_chooses_as_a_merge_does),
      cmocka_unit_test(a_signers_newer_row_of_the_winner_is_history),
      cmocka_unit_test(forget_takes_what_a_signer_brought_without_results),
      cmocka_unit_test(what_a_signer_says_of_a_gpu_or_template_can_be_forgotten),
      cmocka_unit_test(forget_leaves_what_others_brought_without_results),
      cmocka_unit_test(known_parts_in_another_place_are_shown_as_new),
      cmocka_unit_test(one_long_text_of_many_rows),
      cmocka_unit_test(what_was_disproved_is_shown_as_new),
      cmocka_unit_test(what_would_answer_anew_is_shown_as_new),
      cmocka_unit_test(a_claimed_energy_does_not_count_beside_an_own_time),
      cmocka_unit_test(variants_of_each_template_are_checked),
      cmocka_unit_test(a_claimed_time_keeps_no_own_winner_away),
      cmocka_unit_test(a_merge_keeps_what_final_rounds_decided),
      cmocka_unit_test(a_partial_winner_leaves_a_winner),
      cmocka_unit_test(many_verdicts_take_a_step_each),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
