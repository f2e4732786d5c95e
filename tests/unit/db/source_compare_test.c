/* source_compare_test.c: sources are compared with what installed templates generate, if they have the identity of the
 * file's templates. */
#include "db/exchange/source_compare.h"

#include "base/text/text.h"
#include "db/store/query.h"
#include "stencil/template/template_read.h"
#include "tests/unit/stores.h"

/* The "installed" zmarch: the texts of the repository, with other words in front of a kernel. */
static struct {
  const char *yaml; /* NULL: no template is installed */
  char *cuda;
} installed;

static halotune_status find_installed(const char *name, struct template **out) {
  *out = NULL;
  if (!installed.yaml) return HALOTUNE_OK;
  const struct source yaml = source_of(name, installed.yaml, strlen(installed.yaml));
  return template_parse(&yaml, installed.cuda, out);
}

/* A copy of a CUDA text with words in front of its kernel. The caller frees it. */
static char *with_words(const char *cuda, const char *words) {
  const char *kernel = strstr(cuda, "__global__ void");
  char *out = NULL;
  CHECK(kernel != NULL, "a kernel");
  CHECK(asprintf(&out, "%.*s%s%s", (int)(kernel - cuda), cuda, words, kernel) > 0, "memory");
  return out;
}

/* A store with one best, whose template has a comment of a peer in its text. */
static struct store *fill(struct bench_case *c) {
  struct store *store;
  struct generated made;
  int64_t winner = 0;
  CHECK_OK(store_open_memory(&store));
  case_load(c);
  case_put(c, store, 512);
  c->configuration = configuration_default(c->template);
  CHECK_OK(case_source_make(c, 512, &made));
  source_strip_lines(made.source);
  const struct variant_key key = {c->stencil_id, c->template_id, c->template, &c->configuration, made.hash};
  const struct measurement measurement = case_measurement(1);
  const int64_t run = case_run(c, store, "580.1");
  CHECK_OK(store_measurement(store, run, &key, &measurement, &winner));
  struct best best = case_best(c, run, winner, 0, 0.3);
  const struct finalist finalist = {winner, 1,  {3, 0.3, 0.3, 0.3, 0.3, case_samples}, 1, 1, 1, true, false, NAN,
                                    NAN,    NAN};
  best.launch = &made.launch;
  best.source = made.source;
  CHECK_OK(store_final(store, run, &finalist, 1, &best, &case_end, NULL));
  generated_free(&made);
  CHECK_OK(
      query_script(store_connection(store),
                   "update template set cuda = replace(cuda, '__global__ void', '/* of the peer */ __global__ void')"));
  return store;
}

struct seen {
  int count;
  bool is_same, is_installed, has_peer_text;
};

static void see(void *context, const struct compared_source *source) {
  struct seen *seen = context;
  *seen = (struct seen){seen->count + 1, source->is_same, source->is_installed,
                        strstr(source->generated, "of the peer") != NULL};
}

static const struct {
  const char *what, *words; /* NULL: no template is installed */
  bool is_installed;
} rows[] = {
    {"the same template", "", true},
    {"another comment", "/* of this installation */ ", true},
    {"another template", "__device__ int spare;\n", false},
    {"no template", NULL, false},
};

TEST(a_text_of_the_installed_identity_comes_from_the_installation) {
  struct bench_case c;
  struct store *store = fill(&c);
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct seen seen = {0};
    installed.yaml = rows[i].words ? c.template->yaml : NULL;
    installed.cuda = with_words(c.template->cuda, rows[i].words ? rows[i].words : "");
    CHECK_OK(sources_compare(store, find_installed, see, &seen));
    free(installed.cuda);
    CHECK_EQ(1, seen.count, "%s", rows[i].what);
    CHECK_EQ(true, seen.is_same, "%s", rows[i].what);
    CHECK_EQ(rows[i].is_installed, seen.is_installed, "%s", rows[i].what);
    CHECK_EQ(!rows[i].is_installed, seen.has_peer_text, "%s: whose text generates", rows[i].what);
  }
  case_free(&c);
  store_close(store);
}

struct shown {
  int count;
  bool has_stored, has_left_out;
};

static void show(void *context, const struct compared_source *source) {
  struct shown *shown = context;
  shown->count++;
  if (source->is_same) return;
  if (*source->stored) shown->has_stored = true;
  else shown->has_left_out = true;
}

/* A variant can have bests with their source and without. A left-out one must not stand for a source that is there,
 * nor for one that would be generated for another grid. */
TEST(a_source_that_was_left_out_hides_no_other) {
  static const struct {
    const char *what, *change;
    int count;
    bool has_stored, has_left_out;
  } seen[] = {
      {"the same, twice", "", 1, false, false},
      {"another source", "update variant set source_hash = 'other'", 2, true, true},
      {"one for another grid",
       "update problem set nx = 1024 where id = 2; update variant set parameters ="
       " json_set(parameters, '$.extents', 'literal'), source_hash = 'other'",
       2, true, true},
      {"both left out", "update variant set source_hash = 'other'; update best set source = ''", 1, false, true},
      {"both left out, of two grids",
       "update variant set source_hash = 'other'; update best set source = ''; update problem set nx = 1024 where id = 2",
       2, false, true},
  };
  for (size_t i = 0; i < COUNT(seen); i++) {
    struct bench_case c;
    struct store *store = fill(&c);
    struct shown shown = {0};
    installed.yaml = NULL;
    /* The first row by id is the one without its source. */
    CHECK_OK(query_script(store_connection(store),
                          "create temp table b as select * from best; create temp table p as select * from problem;"
                          " update p set id = 2, cache = 'cold'; insert into problem select * from p;"
                          " update b set id = 2, problem_id = 2, run_id = null; update best set source = '';"
                          " insert into best select * from b"));
    CHECK_OK(query_script(store_connection(store), seen[i].change));
    CHECK_OK(sources_compare(store, find_installed, show, &shown));
    CHECK_EQ(seen[i].count, shown.count, "%s", seen[i].what);
    CHECK_EQ(seen[i].has_stored, shown.has_stored, "%s: the source that is there", seen[i].what);
    CHECK_EQ(seen[i].has_left_out, shown.has_left_out, "%s: the one that was left out", seen[i].what);
    case_free(&c);
    store_close(store);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_text_of_the_installed_identity_comes_from_the_installation),
      cmocka_unit_test(a_source_that_was_left_out_hides_no_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
