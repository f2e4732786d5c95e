/* store_trust_test.c: a list of what a document brings hides nothing. */
#include "db/exchange/content.h"
#include "db/exchange/forget.h"
#include "db/exchange/merge.h"
#include "db/store/check.h"
#include "db/store/query.h"
#include "tests/unit/stores.h"

static void sql(struct store *store, const char *text) { CHECK_OK(query_script(store_connection(store), text)); }

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

/* All texts, sources and codes of the document are trusted already. What it makes of them is not. */
TEST(known_parts_in_another_place_are_shown_as_new) {
  static const struct {
    const char *what, *change, *kind;
    int fresh, known;
  } rows[] = {
      {"the same", "", "code", 0, 2},
      {"the same", "", "winner", 0, 2},
      {"the same", "", "wrong", 0, 0},
      {"code of another source", "update best set cubin = cast('code of ' || (3 - id) as blob)", "code", 2,
       0},
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
    CHECK_OK(content_each(stores[1], known, count_kind, &counted));
    content_known_free(known);
    CHECK_EQ(rows[i].fresh, counted.fresh, "%s: new %s", rows[i].what, rows[i].kind);
    CHECK_EQ(rows[i].known, counted.known, "%s: known %s", rows[i].what, rows[i].kind);
    for (int k = 0; k < 2; k++) end_store(stores[k], &cases[k]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_parts_in_another_place_are_shown_as_new),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
