/* content.c: two statements for each kind of content. One reads the texts, the other one reads the identities of this
 * kind from the trusted database. The identities are read once and sorted: a search in that database for each text
 * would read all of its rows each time. */
#include "db/exchange/content.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "db/store/query.h"
#include "db/store/refuted.h"

/* A text after its length in bytes, as identity_add hashes a field. */
#define SQL_FIELD(text) "length(cast(" text " as blob)) || ':' || " text
#define SQL_GPU SQL_FIELD("d.uuid")
#define SQL_COEFFICIENT SQL_FIELD("coefficient") " || " SQL_FIELD("printf('%!.17g', value)")

/* All coefficients of a device as one value. */
#define SQL_PREDICTIONS                                                                                     \
  "(select d.name as name, cast(" SQL_GPU " || group_concat(p.fields, '') as blob) as content from (select" \
  " device_id, " SQL_COEFFICIENT " as fields from prediction order by device_id, coefficient) p"            \
  " join device d on d.id = p.device_id group by d.id)"

#define SQL_NAMES "s.name || ' ' || t.name"
#define SQL_PLACE SQL_NAMES " || ' ' || p.dtype || ' ' || p.nx || 'x' || p.ny || 'x' || p.nz"
/* A variant on a problem: what decides which numbers it computes, and for which question. Two stencils of one meaning
 * have the same hash, and each answers by its own name. */
#define SQL_VARIANT                                                                                        \
  SQL_FIELD("v.source_hash")                                                                               \
  " || " SQL_FIELD("t.hash") " || " SQL_FIELD("v.parameters") " || " SQL_FIELD("s.hash") " || " SQL_FIELD( \
      "s.name") " || " SQL_FIELD("p.dtype") " || " SQL_FIELD("p.nx") " || " SQL_FIELD("p.ny") " || " SQL_FIELD("p.nz")
/* Parameters by their names, so that neither their order nor the spelling of numbers counts: a merge writes them in the
 * words of the database (merge_words.h). */
#define SQL_BY_NAME                                                                                       \
  "(select json_group_object(key, value) from (select key, iif(type = 'text', atom, atom + 0.0) as value" \
  " from json_each(v.parameters) order by key))"
#define SQL_MODEL \
  SQL_FIELD("d.name") " || " SQL_FIELD("d.capability") " || " SQL_FIELD("d.sm_count") " || " SQL_FIELD("d.is_emulation")

/* Machine code together with the source and the architecture that it is said to be of. A code that is trusted for one
 * source is not trusted for another. */
#define SQL_CODE "cast(" SQL_FIELD("v.source_hash") " || " SQL_FIELD("b.arch") " || b.cubin as blob)"
#define SQL_CODES                                                                                               \
  " from best b join variant v on v.id = b.variant_id join stencil s on s.id = v.stencil_id join template t on" \
  " t.id = v.template_id where length(b.cubin) > 0 group by b.cubin, v.id, b.arch"

/* A winner without its time: what a lookup of its problem would run. */
#define SQL_WINNER                                                                                             \
  "cast(" SQL_VARIANT " || " SQL_MODEL                                                                         \
  " || " SQL_FIELD("x.hash") " || " SQL_FIELD("b.coefficients") " || " SQL_FIELD("b.launch") " || " SQL_FIELD( \
      "b.steps") " || " SQL_FIELD("p.launch") " || " SQL_FIELD("p.cache") " || " SQL_FIELD("p.is_reproducible") " as blob)"
#define SQL_WINNERS                                                                                               \
  " from best b join stencil_text x on x.id = b.text_id join problem p on p.id = b.problem_id join device d on"   \
  " d.id = p.device_id join variant v on v.id = b.variant_id join stencil s on s.id = v.stencil_id join template" \
  " t on t.id = v.template_id"

/* A finalist that lost by little: lookups of other grids may run it. */
#define SQL_FINALIST                                                                                              \
  "cast(" SQL_VARIANT " || " SQL_MODEL " || " SQL_FIELD("p.steps") " || " SQL_FIELD("p.launch") " || " SQL_FIELD( \
      "p.cache") " || " SQL_FIELD("p.is_reproducible") " as blob)"
#define SQL_FINALISTS                                                                                               \
  " from finalist f join run r on r.id = f.run_id join problem p on p.id = r.problem_id join device d on"           \
  " d.id = p.device_id join variant v on v.id = f.variant_id join stencil s on s.id = v.stencil_id join template t" \
  " on t.id = v.template_id where " SQL_IS_RUNNER_UP("f")

/* What a verdict is about: a source and a configuration, each on a grid and a model of GPU, under a name of the stencil
 * (refuted.h). */
#define SQL_VERDICT_PLACE                                                                           \
  SQL_FIELD("s.hash")                                                                               \
  " || " SQL_FIELD("s.name") " || " SQL_FIELD("p.dtype") " || " SQL_FIELD("p.nx") " || " SQL_FIELD( \
      "p.ny") " || " SQL_FIELD("p.nz") " || " SQL_MODEL
#define SQL_JUDGED_SOURCE "cast('source ' || " SQL_FIELD("v.source_hash") " || " SQL_VERDICT_PLACE " as blob)"
#define SQL_JUDGED_CONFIGURATION \
  "cast('configuration ' || " SQL_FIELD("t.hash") " || " SQL_FIELD(SQL_BY_NAME) " || " SQL_VERDICT_PLACE " as blob)"

/* A verdict that a variant is wrong, with its date: lookups of its problem do not run the variant. A verdict that is
 * later than the known one also holds for a winner that was measured in between, also in another database.
 *   who  says so. The verdicts of two givers hold for different winners. So a verdict of this user makes only the very
 *        same run known, which a merge does not take again */
#define SQL_WRONG(who) \
  "cast(" SQL_VARIANT " || " SQL_MODEL " || " SQL_FIELD(SQL_CLAIMED_DATE("w", "r")) " || " who " as blob)"
#define SQL_WHICH_RUN                                                                                              \
  "'run' || " SQL_GPU                                                                                              \
  " || " SQL_FIELD("p.launch") " || " SQL_FIELD("p.cache") " || " SQL_FIELD("p.is_reproducible") " || " SQL_FIELD( \
      "p.steps") " || " SQL_FIELD("r.started") " || " SQL_FIELD("r.seed") " || " SQL_FIELD("r.host") " || " SQL_FIELD("r.command")
#define SQL_WHICH_GIVER(giver) "'giver' || " SQL_FIELD(giver)
#define SQL_VERDICTS_OF(is_kind)                                                                                    \
  " from measurement w join run r on r.id = w.run_id join problem p on p.id = r.problem_id join device d on"        \
  " d.id = p.device_id join variant v on v.id = w.variant_id join stencil s on s.id = v.stencil_id join template t" \
  " on t.id = v.template_id where " is_kind("w")

/* The facts of a GPU, except its clocks and memory, which can change. Without a driver, defaults and the rules of
 * templates depend on these facts. */
#define SQL_DEVICE                                                                                                \
  "cast(" SQL_MODEL " || " SQL_GPU " || printf('%d %d %d %d %d %d %d %d', d.bus_bits, d.l2_bytes, d.max_threads," \
  " d.max_threads_sm, d.max_registers, d.registers_sm, d.max_shared_bytes, d.warp_size) as blob) from device d"

/* The sources and configurations that a trusted database knows to be wrong. A file that calls one right may let it
 * answer again. */
#define SQL_KNOWN_WRONGS                                                                          \
  " from (" SQL_REFUTED_VARIANTS ") p join device d on d.id = p.device_id join variant v on v.id" \
  " = p.variant_id join stencil s on s.id = v.stencil_id join template t on t.id = v.template_id"

/* Verdicts of the trusted database, each with its date, about variants that their giver calls wrong now. One that a
 * later run has disproved would take the winner away again, if a file says that it is newer. So it is not known. */
#define SQL_KNOWN_VERDICTS                                                                                                       \
  SQL_VERDICTS_OF(SQL_IS_WRONG)                                                                                                  \
  " and (w.variant_id, p.dtype, p.nx, p.ny, p.nz, d.name, d.capability, d.sm_count, d.is_emulation, " SQL_GIVER_OF(              \
      "r") ") in (select k.variant_id, k.dtype, k.nx, k.ny, k.nz, kd.name, kd.capability, kd.sm_count, kd.is_emulation, k.giver" \
           " from (" SQL_REFUTED_VARIANTS ") k join device kd on kd.id = k.device_id)"

/* The date of a text `x`: that of its newest winner. As in lookups, only current winners count. */
#define SQL_DATE_OF_TEXT "(select max(" SQL_DATE("b.date") ") from best b where b.text_id = x.id and b.is_current)"

/* The text of each name of a stencil that answers by this name. A newer winner of an earlier text would make it answer
 * again, so that such a text is not known. */
#define SQL_ANSWERING_TEXTS                                                                 \
  " from (select x.hash, row_number() over (partition by s.name order by " SQL_DATE_OF_TEXT \
  " desc, x.id desc) as place from stencil_text x join stencil s on s.id = x.stencil_id) where place = 1"

/* A stencil that has results, but no winner. */
#define SQL_WITHOUT_TEXT "cast(" SQL_FIELD("s.hash") " || " SQL_FIELD("s.name") " as blob)"

/* `one` and `several` are the words of counts. `select` has the columns name, hash, content (or NULL), and maybe
 * another content: the same is known if one of both is. Its place ?1, if it has one, is the giver of the file. `known`
 * has hash and content (or NULL). `hashed` is the kind of the content's identity. */
static const struct {
  const char *kind, *one, *several, *hashed, *select, *known;
  bool is_against; /* only what is against a known content is told, and is new */
} kinds[CONTENT_KINDS] = {
    {"device", "device", "devices", "device", "select d.name || ' ' || d.uuid, '', " SQL_DEVICE " order by 1, 3",
     "select '', " SQL_DEVICE, false},
    {"stencil", "stencil", "stencils", "stencil without a text",
     "select s.name, coalesce(x.hash, ''), iif(x.id is null, " SQL_WITHOUT_TEXT ", null) from stencil s left join"
     " stencil_text x on x.stencil_id = s.id order by 1, 2",
     "select hash, null" SQL_ANSWERING_TEXTS " union all select '', " SQL_WITHOUT_TEXT " from stencil s", false},
    {"template", "template", "templates", NULL, "select name, hash, null from template order by 1, 2",
     "select hash, null from template", false},
    {"source", "source", "sources", NULL,
     "select distinct " SQL_NAMES ", v.source_hash, null from best b join variant v on v.id = b.variant_id"
     " join stencil s on s.id = v.stencil_id join template t on t.id = v.template_id order by 1, 2",
     "select distinct v.source_hash, null from best b join variant v on v.id = b.variant_id", false},
    {"code", "machine code", "machine codes", "machine code",
     "select " SQL_NAMES ", '', " SQL_CODE SQL_CODES " order by 1", "select '', " SQL_CODE SQL_CODES, false},
    {"winner", "winner", "winners", "winner",
     "select distinct " SQL_PLACE ", '', " SQL_WINNER SQL_WINNERS " order by 1, 3",
     "select distinct '', " SQL_WINNER SQL_WINNERS " where not " SQL_IS_REFUTED("b"), false},
    {"finalist", "finalist", "finalists", "finalist",
     "select distinct " SQL_PLACE ", '', " SQL_FINALIST SQL_FINALISTS " order by 1, 3",
     "select distinct '', " SQL_FINALIST SQL_FINALISTS " and f.variant_id not in (" SQL_REFUTED_ALIKE ")", false},
    {"wrong", "wrong variant", "wrong variants", "wrong variant",
     "select distinct " SQL_PLACE ", '', " SQL_WRONG(SQL_WHICH_RUN) ", " SQL_WRONG(SQL_WHICH_GIVER("?1"))
         SQL_VERDICTS_OF(SQL_IS_WRONG) " order by 1, 3",
     "select distinct '', iif(" SQL_GIVER_OF("r") " = '', " SQL_WRONG(SQL_WHICH_RUN) ", " SQL_WRONG(
         SQL_WHICH_GIVER(SQL_GIVER_OF("r"))) ")" SQL_KNOWN_VERDICTS,
     false},
    {"right", "known wrong variant that it calls right", "known wrong variants that it calls right", "right variant",
     "select distinct " SQL_PLACE ", '', " SQL_JUDGED_CONFIGURATION
     ", " SQL_JUDGED_SOURCE SQL_VERDICTS_OF(SQL_IS_RIGHT) " order by 1, 3",
     "select distinct '', iif(p.key > 0, " SQL_JUDGED_CONFIGURATION ", " SQL_JUDGED_SOURCE ")" SQL_KNOWN_WRONGS, true},
    {"times", "set of times", "sets of times", "coefficients of predicted times",
     "select name, '', content from " SQL_PREDICTIONS " order by 1, 3", "select '', content from " SQL_PREDICTIONS,
     false},
};

const char *content_word(int kind, long count) { return count == 1 ? kinds[kind].one : kinds[kind].several; }

/* An identity of a kind. */
struct key {
  size_t kind;
  char hash[IDENTITY_HEX_BYTES];
};

struct content_known {
  struct key *keys;
  int count, room;
};

static int compare_keys(const void *a, const void *b) {
  const struct key *left = a, *right = b;
  if (left->kind != right->kind) return left->kind < right->kind ? -1 : 1;
  return strcmp(left->hash, right->hash);
}

static struct key key_of_content(sqlite3_stmt *row, int column, size_t kind) {
  struct key key = {.kind = kind};
  const void *bytes = sqlite3_column_blob(row, column);
  identity_hex(identity_of(kinds[kind].hashed, bytes, (size_t)sqlite3_column_bytes(row, column)), key.hash);
  return key;
}

/* The key of a row, whose columns `at` and `at` + 1 are hash and content. */
static struct key key_of(sqlite3_stmt *row, int at, size_t kind) {
  struct key key = {.kind = kind};
  if (sqlite3_column_type(row, at + 1) == SQLITE_BLOB) return key_of_content(row, at + 1, kind);
  sqlite3_snprintf((int)sizeof key.hash, key.hash, "%s", column_text(row, at));
  return key;
}

static halotune_status known_read_kind(struct store *to, size_t kind, struct content_known *known) {
  sqlite3_stmt *query = NULL;
  int code = SQLITE_DONE;
  halotune_status status = query_prepare(store_connection(to), kinds[kind].known, &query);
  while (status == HALOTUNE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) {
    if (!array_room(known->keys, known->count, known->room)) status = fail_memory();
    else known->keys[known->count++] = key_of(query, 0, kind);
  }
  if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(store_connection(to));
  sqlite3_finalize(query);
  return status;
}

halotune_status content_known_read(struct store *to, struct content_known **out) {
  struct content_known *known = *out = calloc(1, sizeof *known);
  halotune_status status = known ? HALOTUNE_OK : fail_memory();
  for (size_t kind = 0; kind < COUNT(kinds) && to && status == HALOTUNE_OK; kind++)
    status = known_read_kind(to, kind, known);
  if (status == HALOTUNE_OK && known->count > 0)
    qsort(known->keys, (size_t)known->count, sizeof *known->keys, compare_keys);
  if (status == HALOTUNE_OK) return status;
  content_known_free(known);
  *out = NULL;
  return status;
}

void content_known_free(struct content_known *known) {
  if (!known) return;
  free(known->keys);
  free(known);
}

static bool is_known(const struct content_known *known, const struct key *key) {
  return known->count > 0 && bsearch(key, known->keys, (size_t)known->count, sizeof *known->keys, compare_keys);
}

/* Whether the content of a row is known, or the other one, if the row has another. */
static bool is_any_known(const struct content_known *known, const struct key *key, sqlite3_stmt *row) {
  enum { OTHER = 3 };
  if (is_known(known, key)) return true;
  if (sqlite3_column_count(row) <= OTHER) return false;
  const struct key other = key_of_content(row, OTHER, key->kind);
  return is_known(known, &other);
}

static bool has_kind(const struct content_known *known, size_t kind) {
  for (int i = 0; i < known->count; i++) {
    if (known->keys[i].kind == kind) return true;
  }
  return false;
}

halotune_status content_each(struct store *from, const struct content_known *known, const char *giver,
                             void (*tell)(void *context, const struct content *content), void *context) {
  halotune_status status = HALOTUNE_OK;
  for (size_t kind = 0; kind < COUNT(kinds) && status == HALOTUNE_OK; kind++) {
    sqlite3_stmt *select = NULL;
    int code = SQLITE_DONE;
    if (kinds[kind].is_against && !has_kind(known, kind)) continue; /* a document may have very many results */
    status = query_prepare(store_connection(from), kinds[kind].select, &select);
    if (status == HALOTUNE_OK && sqlite3_bind_parameter_count(select) > 0 &&
        sqlite3_bind_text(select, 1, giver, -1, SQLITE_STATIC) != SQLITE_OK)
      status = query_fail(store_connection(from));
    while (status == HALOTUNE_OK && (code = sqlite3_step(select)) == SQLITE_ROW) {
      const struct key key = key_of(select, 1, kind);
      const bool has_same = is_any_known(known, &key, select), is_against = kinds[kind].is_against;
      const struct content content = {(int)kind, kinds[kind].kind, column_text(select, 0), key.hash,
                                      has_same && !is_against};
      if (has_same || !is_against) tell(context, &content);
    }
    if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(store_connection(from));
    sqlite3_finalize(select);
  }
  return status;
}
