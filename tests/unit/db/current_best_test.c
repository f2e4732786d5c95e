/* current_best_test.c: which best is current depends on the rows alone: not on the commands that brought them, nor on
 * those that removed others. */
#include "base/numbers/random.h"
#include "db/exchange/forget.h"
#include "db/exchange/merge.h"
#include "db/exchange/refresh.h"
#include "db/store/check.h"
#include "db/store/current_best.h"
#include "db/store/query.h"
#include "stencil/template/template_read.h"
#include "tests/unit/stores.h"

enum { PROBLEMS = 4, CONFIGURATIONS = 3, VERSIONS = 2 };

static const char *const assignments[CONFIGURATIONS] = {"points_y=1", "points_y=2", "points_y=4"};

/* The template in two versions that generate the same code. The last one is installed. */
static struct {
  struct template *templates[VERSIONS];
  struct generated generated[CONFIGURATIONS];
} versions;

static halotune_status find_installed(const char *name, struct template **out) {
  const struct template *installed = versions.templates[VERSIONS - 1];
  const struct source yaml = source_of(name, installed->yaml, strlen(installed->yaml));
  return template_parse(&yaml, installed->cuda, out);
}

static void sql(struct store *store, const char *text) { CHECK_OK(query_script(store_connection(store), text)); }

static void configure(struct bench_case *c, int configuration) {
  c->configuration = configuration_default(c->template);
  CHECK_OK(configuration_set(c->template, assignments[configuration], &c->configuration));
}

static void begin_versions(struct bench_case *c) {
  static const char rules[] = "\nrules:\n";
  case_load(c);
  for (int i = 0; i < VERSIONS; i++) {
    char *yaml = NULL;
    const char *at = strstr(c->template->yaml, rules);
    CHECK(at != NULL, "the template has rules");
    const char *const more = i == VERSIONS - 1 ? "" : "  - {keep: block_x < 1000, otherwise: never}\n";
    CHECK(asprintf(&yaml, "%.*s%s%s%s", (int)(at - c->template->yaml), c->template->yaml, rules, more,
                   at + strlen(rules)) > 0,
          "memory");
    const struct source source = source_of("zmarch", yaml, strlen(yaml));
    CHECK_OK(template_parse(&source, c->template->cuda, &versions.templates[i]));
    free(yaml);
  }
  for (int i = 0; i < CONFIGURATIONS; i++) {
    configure(c, i);
    CHECK_OK(case_source_make(c, 512, &versions.generated[i]));
    source_strip_lines(versions.generated[i].source);
  }
}

static void end_versions(struct bench_case *c) {
  for (int i = 0; i < CONFIGURATIONS; i++) generated_free(&versions.generated[i]);
  for (int i = 0; i < VERSIONS; i++) template_free(versions.templates[i]);
  case_free(c);
}

/* Random numbers of a seed. */
struct draws {
  uint64_t seed, count;
};

static int draw(struct draws *draws, int below) {
  return (int)(random_bits(draws->seed, draws->count++) % (uint64_t)below);
}

/* A database with four problems of star7: two modes on one GPU, another GPU of its model, and another name. */
struct base {
  struct store *store;
  int64_t problems[PROBLEMS], templates[VERSIONS], renamed, renamed_text;
};

/* Find or add these rows: a command may have removed them. */
static void base_put(struct base *base, struct bench_case *c) {
  struct device_facts second = case_device;
  snprintf(second.uuid, sizeof second.uuid, "GPU-2");
  case_put(c, base->store, 512);
  const int64_t other = store_device(base->store, &second, false);
  struct stencil renamed = *c->stencil;
  renamed.name = "renamed";
  base->renamed = store_stencil(base->store, &renamed, c->analysis);
  base->renamed_text = store_stencil_text(base->store, base->renamed, c->stencil_text);
  for (int i = 0; i < PROBLEMS; i++) {
    const struct problem_key key = {.stencil = i == 3 ? base->renamed : c->stencil_id,
                                    .device = i == 2 ? other : c->device,
                                    .dtype = DTYPE_F32,
                                    .grid = {{512, 256, 128}},
                                    .launch = i == 1 ? LAUNCH_GRAPH : LAUNCH_STREAM,
                                    .cache = CACHE_STEADY,
                                    .steps = 1};
    CHECK((base->problems[i] = store_problem(base->store, &key)) > 0, "%s", fail_text());
  }
  for (int i = 0; i < VERSIONS; i++) {
    CHECK((base->templates[i] = store_template(base->store, versions.templates[i])) > 0, "%s", fail_text());
  }
}

/* A run of one variant. */
struct made_run {
  int problem, configuration, version, driver;
  enum outcome outcome;
  double time_ms; /* of its finals; 0: it has none */
  bool is_complete;
};

static void put_run(struct base *base, struct bench_case *c, const struct made_run *made) {
  static const char *const drivers[] = {"580.1", "590.2"};
  const struct generated *generated = &versions.generated[made->configuration];
  int64_t variant = 0;
  base_put(base, c);
  c->template_id = base->templates[made->version];
  c->problem = base->problems[made->problem];
  if (made->problem == 3) {
    c->stencil_id = base->renamed;
    c->text_id = base->renamed_text;
  }
  configure(c, made->configuration);
  const struct variant_key key = {c->stencil_id, c->template_id, versions.templates[made->version], &c->configuration,
                                  generated->hash};
  struct measurement measurement = case_measurement(1);
  measurement.outcome = made->outcome;
  measurement.at_s = 0;
  if (made->outcome != OUTCOME_MEASURED) measurement.timing.sample_count = 0;
  const int64_t run = case_run(c, base->store, drivers[made->driver]);
  CHECK_OK(store_measurement(base->store, run, &key, &measurement, &variant));
  if (made->time_ms > 0) {
    const double t = made->time_ms;
    const struct finalist finalist = {variant, 1, {3, t, t, t, t, case_samples}, 1, 1, 1, true, false, NAN, NAN, NAN};
    struct best best = case_best(c, run, variant, 0, t);
    struct run_end end = case_end;
    best.launch = &generated->launch;
    best.source = generated->source;
    best.driver = drivers[made->driver];
    end.is_complete = made->is_complete;
    CHECK_OK(store_final(base->store, run, &finalist, 1, &best, &end, NULL));
  }
}

static void put_random_run(struct base *base, struct bench_case *c, struct draws *draws) {
  static const enum outcome outcomes[] = {OUTCOME_MEASURED, OUTCOME_MEASURED, OUTCOME_WRONG};
  struct made_run made = {.problem = draw(draws, PROBLEMS),
                          .configuration = draw(draws, CONFIGURATIONS),
                          .version = draw(draws, VERSIONS),
                          .driver = draw(draws, 4) == 0,
                          .outcome = outcomes[draw(draws, COUNT(outcomes))],
                          .is_complete = draw(draws, 4) > 0};
  if (made.outcome == OUTCOME_MEASURED && draw(draws, 4) > 0) made.time_ms = 0.1 * (1 + draw(draws, 4));
  put_run(base, c, &made);
}

/* Move the last run to a day of its own, which an earlier run can have used with another second. */
static void date_last_run(struct base *base, struct draws *draws, const char *host, uint64_t second) {
  char text[512], day[32];
  snprintf(day, sizeof day, "2025-03-%02d", 1 + draw(draws, 8));
  snprintf(
      text, sizeof text,
      "update run set started = '%sT10:00:%02d.000Z', ended = iif(ended is null, null, '%sT10:05:00.000Z'), host = '%s'"
      " where id = (select max(id) from run); update best set date = '%sT10:04:%02d.000Z'"
      " where run_id = (select max(id) from run)",
      day, (int)second % 60, day, host, day, (int)second % 60);
  sql(base->store, text);
}

/* Merge a document of a random giver. */
static void merge_random(struct base *base, struct bench_case *c, struct draws *draws) {
  static const struct origin givers[] = {{"imported", "a.json", "alice", "07", ""},
                                         {"imported", "m.json", "mallory", "08", ""},
                                         {"imported", "u.json", "", "", ""}};
  static const char *const hosts[] = {"host", "h1", "h2"};
  struct merge_options options = {.origin = givers[draw(draws, COUNT(givers))]};
  struct base theirs;
  char document[32];
  snprintf(document, sizeof document, "%d", (int)draws->count);
  options.origin.document = document;
  CHECK_OK(store_open_memory(&theirs.store));
  for (int i = draw(draws, 3); i >= 0; i--) {
    put_random_run(&theirs, c, draws);
    if (draw(draws, 4) > 0) date_last_run(&theirs, draws, hosts[draw(draws, COUNT(hosts))], draws->count);
    else sql(theirs.store, "update run set seed = id + 100 where id = (select max(id) from run)");
  }
  const halotune_status status = store_merge(base->store, theirs.store, &options, NULL);
  CHECK(status == HALOTUNE_OK, "%s", fail_text());
  store_close(theirs.store);
}

static void forget(struct store *store, const struct choice *choice) { CHECK_OK(store_forget(store, choice, NULL)); }

static void tell_nothing(void *context, const struct refreshed *refreshed) { (void)context, (void)refreshed; }

enum command { TUNE, MERGE, FORGET_SIGNER, FORGET_OLD, FORGET_DEVICE, REFRESH, COMMAND_COUNT };
static const char *const command_names[] = {"tune",   "merge", "forget --signer", "forget --before", "forget --device",
                                            "refresh"};

static enum command run_random_command(struct base *base, struct bench_case *c, struct draws *draws) {
  static const enum command commands[] = {TUNE,  TUNE,  TUNE,          MERGE,      MERGE,         MERGE,
                                          MERGE, MERGE, FORGET_SIGNER, FORGET_OLD, FORGET_DEVICE, REFRESH};
  const enum command command = commands[draw(draws, COUNT(commands))];
  char before[32];
  snprintf(before, sizeof before, "2025-03-%02d", 1 + draw(draws, 8));
  switch (command) {
  case TUNE: put_random_run(base, c, draws); break;
  case MERGE: merge_random(base, c, draws); break;
  case FORGET_SIGNER: forget(base->store, &(struct choice){.signer = draw(draws, 2) ? "alice" : "mallory"}); break;
  case FORGET_OLD: forget(base->store, &(struct choice){.before = before}); break;
  case FORGET_DEVICE:
    forget(base->store, &(struct choice){.device = draw(draws, 4) ? "GPU-2" : case_device.uuid});
    break;
  default: CHECK_OK(store_refresh(base->store, find_installed, NULL, false, tell_nothing, NULL)); break;
  }
  return command;
}

/* The ids of the current bests, as one number that tells sets apart. */
static int64_t current_sum(struct store *store) {
  return number_of(store, "select coalesce(sum(id * id * 31 + problem_id), 0) from best where is_current");
}

/* After each command of a random sequence, the current bests are those that the rule chooses from the rows. */
TEST(bests_depend_on_the_rows_alone) {
  enum { SEEDS = 4, COMMANDS = 12 };
  long used[COMMAND_COUNT] = {0}, changed[COMMAND_COUNT] = {0};
  struct bench_case c;
  begin_versions(&c);
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    struct draws draws = {.seed = seed};
    struct base base;
    CHECK_OK(store_open_memory(&base.store));
    for (int i = 0; i < 4; i++) {
      put_random_run(&base, &c, &draws);
      date_last_run(&base, &draws, "host", (uint64_t)i);
    }
    CHECK_OK(bests_choose(base.store, "problem"));
    for (int i = 0; i < COMMANDS; i++) {
      const int64_t before = current_sum(base.store);
      const enum command command = run_random_command(&base, &c, &draws);
      const int64_t after = current_sum(base.store);
      used[command]++;
      changed[command] += before != after;
      CHECK_OK(bests_choose(base.store, "problem"));
      CHECK_EQ(after, current_sum(base.store), "seed %d, command %d: %s", (int)seed, i, command_names[command]);
    }
    store_close(base.store);
  }
  for (int i = 0; i < COMMAND_COUNT; i++)
    CHECK(changed[i] > 0, "%s: of %ld none changes a best", command_names[i], used[i]);
  end_versions(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bests_depend_on_the_rows_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
